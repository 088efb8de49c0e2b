/* Flow control, sentence by sentence: which versions a consumer is given, who waits for whom, and
 * what is kept. Each scenario is a workflow and a script (stream_world.h says how they are
 * written). */
#include "stream_world.h"

#include "model/version.h"
#include "model/view.h"

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

#define ON_CLOSE "rule x on_close\n"
#define FLOW(flow) "step A\nout x\n" ON_CLOSE "step B\nin x\nview x " flow " 0=x\n"
#define MAKE(ofd) "creat A x " ofd ";close " ofd " 5\n"
#define TAKE(ofd) "take B x " ofd ";read " ofd ";back " ofd "\n"

static const struct scenario scenarios[] = {
	{"all: one after another, the producer waits until the one before is taken", FLOW("all"),
	 "start A;start B\n"
	 "wait B open x\n"
	 "? A write x go\n" MAKE("1") "= x=produced x=committed !x\n"
				      "? B open x go\n"
				      "@ B x x\n"
				      "wait A write x\n"
				      "take B x 11\n"
				      "= \n"
				      "read 11;back 11\n"
				      "= !x@2\n"
				      "? A write x go\n"
				      "wait B open x\n"
				      "@ B x x@2\n" MAKE(
					      "2") "= -x x@2=produced x@2=committed !x@2\n"
						   "@ B x x@2\n" TAKE("12") "wait B open x\n"
									    "end A\n"
									    "= x@3=gone !x@3\n"
									    "? B open x noent"},
	{"all: what is open, or only looked at, is not taken", FLOW("all"),
	 "start A;start B\n" MAKE("1") "? B look x go\n"
				       "? A write x wait\n"
				       "take B x 11;back 11\n"
				       "@ B x x\n"
				       "take B x 12;take B x 13;read 12;back 12\n"
				       "@ B x x\n"
				       "? A write x wait\n"
				       "back 13\n"
				       "? A write x go\n"
				       "@ B x x@2\n"
				       "? B look x go"},
	{"all: what was taken is seen until there is a next one, or it is gone", FLOW("all"),
	 "start A;start B\n" MAKE("1")
		 TAKE("11") "? B look x go\n"
			    "? B open x wait\n" MAKE(
				    "2") "= x=produced x=committed -x x@2=produced x@2=committed\n"
					 "@ B x x@2"},
	{"all: a step that ends holds nobody up", FLOW("all"),
	 "start A;start B\n" MAKE(
		 "1") "wait A write x\n"
		      "end B\n"
		      "= x=produced x=committed !x@2\n" MAKE(
			      "2") "= -x x@2=produced x@2=committed\n" MAKE("3") "= -x@2 "
										 "x@3=produced "
										 "x@3=committed"},
	{"all: a step that fails holds nobody up", FLOW("all"),
	 "start A;start B\n" MAKE("1") "wait A write x\n"
				       "fail B\n"
				       "= x=produced x=committed !x@2"},
	{"all: the producer fails in the second", FLOW("all"),
	 "start A;start B\n" MAKE("1")
		 TAKE("11") "creat A x 2\n"
			    "wait B open x\n"
			    "abort 2 3;fail A\n"
			    "= x=produced x=committed -x x@2=produced x@2=failed !x@2\n"
			    "? B open x failed"},
	{"all: the producer fails between two", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE("11") "wait B open x\n"
						  "fail A\n"
						  "= x=produced x=committed x@2=failed !x@2\n"
						  "? B open x failed"},
	{"all: empty and opened again is one version", FLOW("all"),
	 "start A;start B\n"
	 "creat A x 1;close 1 0;open A x 2;close 2 5\n"
	 "= x=produced x=committed\n"
	 "@ B x x\n"
	 "? A write x wait"},
	{"all: an open for writing that changes nothing is no version", FLOW("all"),
	 "start A;start B\n" MAKE("1") "? A write x wait\n" TAKE(
		 "11") "? A write x go\n"
		       "edit A x 2\n"
		       "@ A x x@2\n"
		       "wait B open x\n"
		       "close 2 5\n"
		       "= x=produced x=committed -x@2\n"
		       "@ A x x\n"
		       "edit A x 3;creat A x 4;close 3 5;close 4 5\n"
		       "= -x x@2=produced x@2=committed !x@2\n" TAKE(
			       "12") "edit A x 5;close 5 5;end A\n"
				     "= -x@3 x@3=gone\n"
				     "? B open x noent"},
	{"all: one that changes something is, from then on", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE("11") "edit A x 2\n"
						  "= x=produced x=committed\n"
						  "wait B open x\n"
						  "write 2\n"
						  "= -x x@2=produced\n"
						  "write 2\n"
						  "close 2 6\n"
						  "= x@2=committed !x@2\n"
						  "@ B x x@2"},
	{"all: closed when somebody else has made it empty, and before he has written", FLOW("all"),
	 "start A;start B\n" MAKE("1")
		 TAKE("11") "edit A x 2;trunc A x 3;close 2 0;close 3 5\n"
			    "= x=produced x=committed -x x@2=produced x@2=committed\n"},
	{"all: opened only when the producer ends, and removed", FLOW("all"),
	 "start A;start B\n" MAKE("1")
		 TAKE("11") "edit A x 2\n"
			    "rm A .leat.versions/2/x\n"
			    "= x=produced x=committed -x\n"
			    "close 2 5\n"
			    "wait B open x\n" MAKE("3") "= x@2=produced x@2=committed !x@2\n"},
	{"all: what was there before, and is only opened, is one version", FLOW("all"),
	 "start A;start B\n"
	 "present x;edit A x 1;close 1 5\n"
	 "wait B open x\n"
	 "end A\n"
	 "= x=committed !x\n" TAKE("11") "? B open x noent"},
	{"all: removed before it is complete and made again is one version", FLOW("all"),
	 "start A;start B\n"
	 "creat A x 1;rm A x;close 1 5\n"
	 "? A write x go\n" MAKE("2") "@ B x x\n"
				      "= x=produced x=absent x=produced x=committed"},
	{"all: a name given by rename is a version", FLOW("all"),
	 "start A;start B\n"
	 "creat A t 1;close 1 5;mv A t x\n"
	 "= x=committed\n" TAKE("11") "creat A t 2;close 2 5;mv A t x\n"
				      "= -x x@2=committed\n"
				      "@ B x x@2"},
	{"all: a version that is renamed away holds nobody up", FLOW("all"),
	 "start A;start B\n"
	 "creat A x 1;close 1 5\n"
	 "wait A write x\n"
	 "mv A x y\n"
	 "= x=produced x=committed x=absent !x@2"},
	{"all, growing: read as it is written, and taken when it is complete",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "wait B open x\n"
	 "creat A x 1;extent x 0 3\n"
	 "= x=produced !x\n"
	 "? B open x stream\n"
	 "take B x 11;read 11\n"
	 "close 1 5\n"
	 "? A write x wait\n"
	 "back 11\n"
	 "? A write x go"},
	{"all, growing: who had all there was has taken it, if that was all",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "creat A x 1;extent x 0 8\n"
	 "take B x 11;had 11 8 8\n"
	 "? B open x stream\n"
	 "back 11\n"
	 "? B look x wait\n"
	 "wait B open x\n"
	 "close 1 8\n"
	 "= x=produced x=committed !x\n"
	 "@ B x x@2\n"
	 "? A write x go"},
	{"all, growing: and has not, if more came",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "creat A x 1;extent x 0 8\n"
	 "take B x 11;had 11 8 8;back 11\n"
	 "wait B open x\n"
	 "extent x 8 1;close 1 9\n"
	 "= x=produced x=committed !x\n"
	 "@ B x x\n"
	 "? B open x go\n"
	 "? A write x wait"},
	{"all, growing: it is told after the commit",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "creat A x 1;extent x 0 8\n"
	 "take B x 11;close 1 8;had 11 8 8\n"
	 "? A write x wait\n"
	 "back 11\n"
	 "? A write x go"},
	{"all, growing: a look at its header waits for nothing",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "creat A x 1;extent x 0 8\n"
	 "take B x 11;glance 11 4;back 11\n"
	 "? B open x stream"},
	{"all, two consumers: the slower one decides",
	 "step A\nout x\n" ON_CLOSE "step B\nin x\nview x all 0=x\nstep C\nin x\nview x all 0=x\n",
	 "start A;start B;start C\n" MAKE("1") TAKE("11") "? A write x wait\n"
							  "take C x 12;read 12;back 12\n"
							  "? A write x go\n"},
	{"some: 3, 6, 9 of ten, and only those hold the producer up", FLOW("some:3"),
	 "start A;start B\n"
	 "@ B x x@3\n"
	 "wait B open x\n" MAKE("1")
		 MAKE("2") "= x=produced x=committed -x x@2=produced x@2=committed\n" MAKE(
			 "3") "= -x@2 x@3=produced x@3=committed !x@3\n" MAKE("4")
			 MAKE("5") "= x@4=produced x@4=committed -x@4 x@5=produced x@5=committed\n"
				   "wait A write x\n"
				   "@ B x x@3\n" TAKE(
					   "11") "= -x@3 !x@6\n"
						 "@ B x x@6\n" MAKE("6") "@ B x x@6\n" TAKE("12")
							 MAKE("7") MAKE("8") MAKE("9") TAKE("13")
								 MAKE("10") "@ B x x@12\n"
									    "end A\n"
									    "? B open x noent"},
	{"latest: never waits, the newest that is complete, the last for certain", FLOW("latest"),
	 "start A;start B\n" MAKE("1") "? A write x go\n" MAKE(
		 "2") "= x=produced x=committed x@2=produced x@2=committed -x\n"
		      "@ B x x@2\n"
		      "take B x 11;read 11\n" MAKE("3") MAKE(
			      "4") "= x@3=produced x@3=committed x@4=produced x@4=committed -x@3\n"
				   "@ B x x@2\n"
				   "back 11\n"
				   "= -x@2\n"
				   "@ B x x@4\n"
				   "creat A x 5\n"
				   "@ B x x@4\n" TAKE("12") "= x@5=produced -x@4\n"
							    "@ B x x@5\n"
							    "wait B open x\n"
							    "close 5 5;end A\n"
							    "= x@5=committed !x@5\n"
							    "@ B x x@5\n" TAKE(
								    "13") "? B open x noent"},
	{"latest, growing: nothing before it is complete",
	 "step A\nout x\nrule x on_close no_update\nstep B\nin x\nview x latest 0=x\n",
	 "start A;start B\n"
	 "creat A x 1;extent x 0 3\n"
	 "? B open x wait\n"
	 "close 1 5\n"
	 "? B open x go"},
	{"names of a pattern are versions, too",
	 "step A\nout p*\nrule p* on_close\n"
	 "step B\nin p*\nview p* some:2 0=p*\n",
	 "start A;start B\n"
	 "wait B open p1\n"
	 "creat A p1 1;close 1 5\n"
	 "= p1=produced p1=committed !p1\n"
	 "? B open p1 noent\n"
	 "wait B open p2\n"
	 "creat A p2 2;close 2 5\n"
	 "= p2=produced p2=committed !p2\n"
	 "? B open p2 go\n"
	 "next B p2\n"
	 "creat A p3 3;close 3 5\n"
	 "? A write p4 wait\n"
	 "take B p2 12;read 12;back 12\n"
	 "next B none\n"
	 "? A write p4 go\n"
	 "creat A p4 4;close 4 5;end A\n"
	 "next B p4\n"
	 "? B open p3 noent\n"
	 "? B open p5 noent\n"
	 "? B open p4 go"},
	{"an ensemble of producers: in turn, and to the end of each",
	 "step A\nat A\nout A/x\nrule A/x on_close\nstep C\nat C\nout C/x\nrule C/x on_close\n"
	 "step B\nin A/x C/x\nview x all 0=A/x 1=C/x\n",
	 "start A;start B;start C\n"
	 "@ B x A/x\n"
	 "wait B open x\n"
	 "creat C C/x 1;close 1 5\n"
	 "? C write C/x wait\n"
	 "creat A A/x 2;close 2 5\n"
	 "@ B x A/x\n" TAKE("11") "@ B x C/x\n" TAKE("12") "? C write C/x go\n"
							   "end A\n"
							   "@ B x C/x@2\n"
							   "creat C C/x 3;close 3 5;end C\n"
							   "? B open x go\n" TAKE(
								   "13") "? B open x noent"},
	{"an ensemble of producers, latest: whoever has something",
	 "step A\nat A\nout A/x\nrule A/x on_close\nstep C\nat C\nout C/x\nrule C/x on_close\n"
	 "step B\nin A/x C/x\nview x latest 0=A/x 1=C/x\n",
	 "start A;start B;start C\n"
	 "wait B open x\n"
	 "= \n"
	 "creat C C/x 1;close 1 5\n"
	 "= C/x=produced C/x=committed !A/x\n"
	 "@ B x C/x\n"},
	{"by another name, whole",
	 "step A\nat A\nout A/x\nstep B\nat B\nin A/x\nview B/x batch 0=A/x\n",
	 "start A;start B\n"
	 "@ B B/x A/x\n"
	 "wait B open B/x\n"
	 "creat A A/x 1;close 1 5;end A\n"
	 "= A/x=produced A/x=committed !A/x\n"
	 "? B open B/x go"},
	{"relaunched when each launch takes one", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE(
		 "11") "over B\n"
		       "? B more . wait\n"
		       "wait B more .\n" MAKE(
			       "2") "= x=produced x=committed -x x@2=produced x@2=committed !\n"
				    "? B more . go\n"
				    "next B x\n"
				    "again B\n"
				    "@ B x x@2\n"
				    "take B x 12;read 12;back 12;take B x 13;read 13;back 13\n"
				    "@ B x x@2\n"
				    "? A write x wait\n"
				    "over B\n"
				    "? A write x go\n"
				    "wait B more .\n"
				    "end A\n"
				    "= x@3=gone !\n"
				    "? B more . noent"},
	{"not relaunched when a launch takes two, or none", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE("11") MAKE("2") TAKE("12") "over B\n"
								       "? B more . noent"},
	{"relaunched when a launch only looks at one", FLOW("all"),
	 "start A;start B\n" MAKE("1") "take B x 11;glance 11 4;back 11\n"
				       "@ B x x\n"
				       "? A write x wait\n"
				       "over B\n"
				       "? A write x go\n" MAKE("2") "? B more . go\n"},
	{"a launch has taken one, and not the next, which it looks at", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE("11") MAKE("2") "take B x 12;glance 12 4;back 12\n"
							    "over B\n"
							    "? B more . go\n"
							    "again B\n"
							    "@ B x x@2\n"},
	{"not relaunched when it is told not to be", FLOW("all") "relaunch never\n",
	 "start A;start B\n" MAKE("1") TAKE("11") "over B\n"
						  "? B more . noent"},
	{"launched once, when there is a version, if it is told so", FLOW("all") "relaunch never\n",
	 "start A\n"
	 "wait B more .\n" MAKE("1") "= x=produced x=committed !\n"
				     "? B more . go\n"
				     "start B\n" TAKE("11") "over B\n" MAKE(
					     "2") "? B more . noent"},
	{"not relaunched when a launch takes none", FLOW("all"),
	 "start A;start B\n" MAKE("1") "over B\n"
				       "? B more . noent"},
	{"a launch for each: the first, too, and whether it looks or not",
	 FLOW("all") "relaunch always\n",
	 "start A\n"
	 "wait B more .\n" MAKE("1") "= x=produced x=committed !\n"
				     "? B more . go\n"
				     "start B\n" TAKE("11") "@ B x x\n"
							    "over B\n" MAKE(
								    "2") "? B more . go\n"
									 "again B;over B\n"
									 "? A write x go\n"
									 "end A\n"
									 "? B more . noent"},
	{"more: a producer that failed", FLOW("all"),
	 "start A;start B\n" MAKE("1") TAKE("11") "over B\n"
						  "wait B more .\n"
						  "fail A\n"
						  "= x=produced x=committed !\n"
						  "? B more . failed"},
	{"others see the newest", FLOW("some:2") "step C\n",
	 "start A;start B;start C\n" MAKE("1") "@ C x x\n" MAKE("2") "@ C x x@2"},
	{"a cycle of steps, each round a version",
	 "step A\nout x\n" ON_CLOSE "in y\nview y all 1=y\n"
	 "step B\nout y\nrule y on_close\nin x\nview x all 0=x\n",
	 "start A;start B\n"
	 "wait B open x\n" MAKE("1") TAKE("11") "wait A open y\n"
						"creat B y 2;close 2 5\n"
						"take A y 12;read 12;back 12\n" MAKE("3")
							TAKE("13") "wait A open y\n"
								   "end B\n"
								   "? A open y noent"},
};

static void run(void **state)
{
	const struct scenario *sc = *state;
	struct world w;

	world_init(&w, sc->workflow);
	world_script(&w, sc->script);
	world_release(&w);
}

static void test_names(void **state)
{
	static const struct {
		const char *base;
		uint64_t number;
		const char *name;
	} table[] = {
		{"x", 1, "x"},
		{"x", 2, ".leat.versions/2/x"},
		{"d/x", 12, ".leat.versions/12/d/x"},
	};
	char name[PATH_MAX];
	uint64_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		assert_true(leat_version_put(name, table[i].base, table[i].number));
		assert_string_equal(name, table[i].name);
		assert_string_equal(leat_version_base(name, &number), table[i].base);
		assert_int_equal(number, table[i].number);
	}
	assert_string_equal(leat_version_base(".leat.versions/2", &number), ".leat.versions/2");
	assert_int_equal(number, 1);
	assert_string_equal(leat_version_base(".leat.versions/x/y", &number), ".leat.versions/x/y");
}

int main(void)
{
	enum { N = sizeof(scenarios) / sizeof(scenarios[0]) };
	struct CMUnitTest tests[N + 1];

	for (size_t i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){scenarios[i].name, run, NULL, NULL,
					       (void *)(uintptr_t)&scenarios[i]};
	tests[N] = (struct CMUnitTest)cmocka_unit_test(test_names);
	return cmocka_run_group_tests_name("versions", tests, NULL, NULL);
}
