/* Versions and MPI jobs: all ranks of a step are given the same ones, each at its own pace. Each
 * scenario is a workflow and a script (stream_world.h says how they are written). */
#include "stream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct scenario {
	const char *name;
	const char *workflow;
	const char *script;
};

#define FLOW(flow, job) "step A\nout x\nrule x on_close\nstep B\n" job "in x\nview x " flow " 0=x\n"
#define JOB "nprocs 3\n"
#define WRITERS(n) "nprocs 3\nnwriters " n "\n"

static const struct scenario scenarios[] = {
	{"one after the other: the same version", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "@ B@0 x x\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "@ B@0 x x@2\n"
	 "@ B@2 x x\n"
	 "take B@2 x 12;read 12;back 12\n"
	 "@ B@2 x x@2\n"
	 "@ B@1 x x\n"
	 "? B@1 open x go\n"
	 "wait B@2 open x"},
	{"rank 0 only: it holds nobody up, and one version more is kept", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "? A write x wait\n"
	 "take B x 11;read 11;back 11\n"
	 "? A write x go\n"
	 "creat A x 2;close 2 5\n"
	 "= x=produced x=committed x@2=produced x@2=committed\n"
	 "take B x 12\n"
	 "= \n"
	 "read 12;back 12\n"
	 "= -x\n"
	 "creat A x 3;close 3 5;take B x 13;read 13;back 13\n"
	 "= x@3=produced x@3=committed -x@2\n"
	 "end A\n"
	 "? B open x noent\n"
	 "= x@4=gone"},
	{"a rank that has come is waited for", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;take B@1 x 12;read 11;back 11\n"
	 "wait A write x\n"
	 "read 12\n"
	 "= x=produced x=committed\n"
	 "back 12\n"
	 "= !x@2\n"
	 "creat A x 2;close 2 5\n"
	 "take B@0 x 13;read 13;back 13\n"
	 "@ B@1 x x@2\n"
	 "? A write x wait\n"
	 "take B@1 x 14;read 14;back 14\n"
	 "? A write x go"},
	{"a rank that comes late, and when it is too late", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "creat A x 2;close 2 5\n"
	 "@ B@1 x x\n"
	 "take B@1 x 12\n"
	 "take B@0 x 13;read 13;back 13\n"
	 "= x=produced x=committed x@2=produced x@2=committed\n"
	 "? A write x wait\n"
	 "@ B@2 x x\n"
	 "read 12;back 12\n"
	 "= -x\n"
	 "@ B@1 x x@2\n"
	 "@ B@2 x gone\n"
	 "? B@2 look x go\n"
	 "? B@2 open x noent"},
	{"all ranks have come: nothing more is kept", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;take B@1 x 12;take B@2 x 13\n"
	 "read 11;read 12;read 13;back 11;back 12;back 13\n"
	 "creat A x 2\n"
	 "= x=produced x=committed -x x@2=produced"},
	{"nwriters: each is kept until those ranks have taken it", FLOW("all", WRITERS("2")),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "? A write x wait\n"
	 "wait B@0 open x\n"
	 "@ B@1 x x\n"
	 "take B@1 x 12;read 12;back 12\n"
	 "= x=produced x=committed\n"
	 "? A write x go\n"
	 "creat A x 2\n"
	 "= -x x@2=produced"},
	{"nwriters, latest: the slowest rank is given what the first was",
	 FLOW("latest", WRITERS("2")),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "creat A x 2;close 2 5;creat A x 3;close 3 5\n"
	 "= x=produced x=committed x@2=produced x@2=committed x@3=produced x@3=committed -x@2\n"
	 "@ B@0 x x@3\n"
	 "take B@0 x 12;read 12;back 12\n"
	 "creat A x 4;close 4 5\n"
	 "= x@4=produced x@4=committed\n"
	 "? B@0 look x go\n"
	 "@ B@1 x x\n"
	 "take B@1 x 13;read 13;back 13\n"
	 "= -x\n"
	 "@ B@1 x x@3\n"
	 "take B@1 x 14;read 14;back 14\n"
	 "= -x@3\n"
	 "@ B@1 x x@4\n"
	 "end A\n"
	 "take B@1 x 15;read 15;back 15\n"
	 "? B@1 open x noent\n"
	 "@ B@0 x x@4"},
	{"some: the same for all", FLOW("some:2", JOB),
	 "start A;start B;creat A x 1;close 1 5;creat A x 2;close 2 5\n"
	 "take B@0 x 11;read 11;back 11;creat A x 3;close 3 5\n"
	 "@ B@0 x x@4\n"
	 "@ B@1 x x@2\n"
	 "take B@1 x 12;read 12;back 12\n"
	 "@ B@1 x x@4\n"
	 "creat A x 4;close 4 5\n"
	 "@ B@2 x x@2"},
	{"a file that is open together may be read by some for all", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;take B@1 x 12;take B@2 x 13\n"
	 "read 11;back 12;back 13\n"
	 "? A write x wait\n"
	 "back 11\n"
	 "? A write x go\n"
	 "@ B@1 x x@2\n"
	 "@ B@2 x x@2"},
	{"open together: who looked what it is, or has opened it again, is still to read it",
	 FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;take B@1 x 12;take B@2 x 13;look 12\n"
	 "read 11;back 12;back 13;take B@2 x 14;back 11;back 14\n"
	 "@ B@0 x x@2\n"
	 "@ B@1 x x\n"
	 "@ B@2 x x\n"
	 "? A write x wait"},
	{"a look is for the rank itself", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@1 x 11;back 11\n"
	 "take B@0 x 12;read 12;back 12\n"
	 "@ B@1 x x\n"
	 "? A write x wait"},
	{"a rank that has ended holds nobody up", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@1 x 11;back 11;take B@0 x 12;read 12;back 12\n"
	 "wait A write x\n"
	 "leave B@1 7\n"
	 "= x=produced x=committed !x@2\n"
	 "creat A x 2;close 2 5\n"
	 "take B@0 x 13;read 13;back 13\n"
	 "= x@2=produced x@2=committed -x\n"
	 "? A write x go\n"
	 "@ B@1 x gone"},
	{"nwriters: one that has ended without having come", FLOW("all", WRITERS("2")),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "leave B@2 7\n"
	 "take B@0 x 12;read 12;back 12\n"
	 "wait A write x\n"
	 "leave B@1 8\n"
	 "= x=produced x=committed !x@2"},
	{"nwriters: all have ended, and nobody has taken it", FLOW("all", WRITERS("2")),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "leave B@0 7;leave B@1 8\n"
	 "wait A write x\n"
	 "end B\n"
	 "= x=produced x=committed !x@2"},
	{"one that was taken for ended, and is not", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11;leave B@0 7\n"
	 "@ B@0 x x@2\n"
	 "creat A x 2;close 2 5\n"
	 "take B@0 x 12\n"
	 "take B@1 x 13;read 13;back 13;take B@1 x 14;read 14;back 14\n"
	 "? A write x wait\n"
	 "read 12;back 12\n"
	 "? A write x go"},
	{"a step that is no job has one place", FLOW("all", ""),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "@ B@3 x x@2\n"
	 "leave B@3 7\n"
	 "@ B@0 x x@2"},
	{"a launch takes one when each rank has taken one", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11;take B@1 x 12;read 12;back 12\n"
	 "take B@2 x 13;back 13\n"
	 "over B\n"
	 "wait B more .\n"
	 "creat A x 2;close 2 5\n"
	 "? B more . go\n"
	 "again B\n"
	 "= x=produced x=committed -x x@2=produced x@2=committed !\n"
	 "@ B@2 x x@2\n"
	 "take B@2 x 14;read 14;back 14\n"
	 "@ B@2 x x@2\n"
	 "take B@0 x 15;read 15;back 15\n"
	 "over B\n"
	 "? A write x go\n"
	 "end A\n"
	 "? B more . noent"},
	{"no further launch when a rank has taken two", FLOW("all", JOB),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11;take B@1 x 12;read 12;back 12\n"
	 "creat A x 2;close 2 5;take B@0 x 13;read 13;back 13\n"
	 "over B\n"
	 "? B more . noent"},
	{"a rank that comes with the second launch", FLOW("all", JOB "relaunch always\n"),
	 "start A;creat A x 1;close 1 5;start B\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "@ B@0 x x\n"
	 "over B\n"
	 "creat A x 2;close 2 5\n"
	 "again B\n"
	 "@ B@1 x x@2\n"
	 "@ B@0 x x@2\n"
	 "take B@1 x 12;back 12\n"
	 "over B;creat A x 3;close 3 5;again B\n"
	 "@ B@1 x x@3\n"
	 "@ B@0 x x@3"},
	{"a launch that only looked was for the version all the same",
	 FLOW("all", "relaunch always\n"),
	 "start A;creat A x 1;close 1 5;start B\n"
	 "take B x 11;back 11\n"
	 "over B\n"
	 "creat A x 2;close 2 5\n"
	 "= x=produced x=committed -x x@2=produced x@2=committed\n"
	 "next B x\n"
	 "again B\n"
	 "@ B x x@2"},
	{"names of a pattern: each has its own ranks",
	 "step A\nout p*\nrule p* on_close\n"
	 "step B\nnprocs 2\nin p*\nview p* all 0=p*\n",
	 "start A;start B;creat A p1 1;close 1 5\n"
	 "take B@0 p1 11;read 11;back 11\n"
	 "creat A p2 2;close 2 5\n"
	 "= p1=produced p1=committed p2=produced p2=committed\n"
	 "show B@0\n"
	 "= +p2\n"
	 "show B@1\n"
	 "= +p2 +p1\n"
	 "take B@1 p2 12;read 12;back 12\n"
	 "@ B@1 p1 gone\n"
	 "@ B@0 p2 p2\n"
	 "creat A p3 3;close 3 5;take B@0 p3 13;read 13;back 13\n"
	 "@ B@0 p2 gone"},
	{"an ensemble of producers: in the same turn",
	 "step A\nat A\nout A/x\nrule A/x on_close\nstep C\nat C\nout C/x\nrule C/x on_close\n"
	 "step B\nnprocs 2\nnwriters 2\nin A/x C/x\nview x latest 0=A/x 1=C/x\n",
	 "start A;start B;start C;creat C C/x 1;close 1 5\n"
	 "take B@0 x 11;read 11;back 11\n"
	 "creat A A/x 2;close 2 5\n"
	 "take B@0 x 12;read 12;back 12\n"
	 "@ B@1 x C/x\n"
	 "take B@1 x 13;read 13;back 13\n"
	 "@ B@1 x A/x"},
};

static void run(void **state)
{
	const struct scenario *sc = *state;
	struct world w;

	world_init(&w, sc->workflow);
	world_script(&w, sc->script);
	world_release(&w);
}

int main(void)
{
	enum { N = sizeof(scenarios) / sizeof(scenarios[0]) };
	struct CMUnitTest tests[N];

	for (size_t i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){scenarios[i].name, run, NULL, NULL,
					       (void *)(uintptr_t)&scenarios[i]};
	return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
