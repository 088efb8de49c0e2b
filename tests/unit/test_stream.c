/* docs/explanation/semantics.md, sentence by sentence: each scenario is a workflow and a
 * script (stream_world.h says how they are written). */
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

#define A_TO_B(rule) "step A\nout x\n" rule "step B\nin x\n"
#define AMENDED "step A\nout x\nrule x on_close\nstep B\nin x\nout x\nrule x on_close\n"
#define AMENDED_BEGUN "start A;start B;creat A x 1;close 1 5\n= x=produced\n"
#define AB_TO_C(rule) "step A\nout x\n" rule "step B\nout x\nstep C\nin x\n"

static const struct scenario scenarios[] = {
	/* ---- on termination ---- */
	{"termination: commits when the producer ended well", A_TO_B(""),
	 "start A;start B\n"
	 "wait B open x\n"
	 "creat A x 1;close 1 5\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed !x\n"
	 "? B open x go"},
	{"termination: a description still open delays it", A_TO_B(""),
	 "start A;creat A x 1;end A\n"
	 "= x=produced\n"
	 "wait B open x\n"
	 "close 1 5\n"
	 "= x=committed !x"},
	{"termination: all producers", AB_TO_C(""),
	 "start A;start B;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "end B\n"
	 "= x=committed"},
	{"termination: one failed of two", AB_TO_C(""),
	 "start A;start B;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "wait C open x\n"
	 "fail B\n"
	 "= x=failed !x\n"
	 "? C open x failed"},
	{"termination: N of the producers", AB_TO_C("rule x on_termination:1\n"),
	 "start A;start B;creat A x 1;close 1 5;end A\n"
	 "= x=produced x=committed"},
	{"termination: N counts only those that ended well", AB_TO_C("rule x on_termination:1\n"),
	 "start A;start B;creat A x 1;close 1 5;fail A\n"
	 "= x=produced\n"
	 "end B\n"
	 "= x=committed"},
	{"termination: N out of reach", AB_TO_C("rule x on_termination:2\n"),
	 "start A;start B;creat A x 1;close 1 5;fail A\n"
	 "= x=produced x=failed"},
	{"termination: N reached before the file is there", AB_TO_C("rule x on_termination:1\n"),
	 "start A;start B;wait C open x;end A\n"
	 "= \n"
	 "creat B x 1\n"
	 "= x=produced\n"
	 "close 1 3\n"
	 "= x=committed !x"},
	{"termination: N instances of one step", "step A 3\nout x\nrule x on_termination:2\n",
	 "start A;start A;start A;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"instances: all that are expected", "step A 2\nout x\nstep B\nin x\n",
	 "start A;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "start A;end A\n"
	 "= x=committed"},
	{"instances: no further one starts", "step A 4\nout x\nstep B\nin x\n",
	 "start A;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "closed A\n"
	 "= x=committed"},
	{"instances: one that started late is waited for", A_TO_B(""),
	 "start A;start A;creat A x 1;close 1 5;end A\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"step: could not be started", A_TO_B(""),
	 "wait B open x\n"
	 "fail A\n"
	 "= x=failed !x\n"
	 "invalid end A"},
	{"step: files of a failed one are failed also when first asked for later", A_TO_B(""),
	 "start A;fail A\n"
	 "? B open x failed\n"
	 "= x=failed"},
	{"failure: what was committed stays good", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 5;fail A\n"
	 "= x=produced x=committed\n"
	 "? B open x go"},
	{"failure: a dying consumer hurts nobody", A_TO_B(""),
	 "start A;start B;creat A x 1;close 1 5;fail B;end A\n"
	 "= x=produced x=committed"},

	/* ---- what is never created, what was there before ---- */
	{"never created: ENOENT once all producers ended", AB_TO_C(""),
	 "start A;start B;wait C look x;end A\n"
	 "= \n"
	 "end B\n"
	 "= x=gone !x\n"
	 "? C open x noent\n"
	 "? C look x noent\n"
	 "? C write x go"},
	{"both: another producer opens it again", AMENDED,
	 AMENDED_BEGUN "? B open x go\nopen A x 2\n= \n! amended 1"},
	{"both: another producer opens it before", AMENDED,
	 AMENDED_BEGUN "open A x 2\n= \n? B open x wait\n! amended 0"},
	{"both: another producer removes it", AMENDED,
	 AMENDED_BEGUN "? B open x go\nrm A x\n= x=absent\n! amended 1"},
	{"both: another producer renames it", AMENDED,
	 AMENDED_BEGUN "? B look x go\nmv A x y\n= x=absent\n! amended 1"},
	{"both: another producer replaces it", AMENDED,
	 AMENDED_BEGUN "? B open x go\ncreat A y 2;close 2 5;mv A y x\n= \n! amended 1"},
	{"both: in a loop there is no batch",
	 "step A\nin z\nout x\nrule x on_close\nstep B\nin x\nout x z\nrule x on_close\n",
	 AMENDED_BEGUN "? B open x go\nopen A x 2\n= \n! amended 0"},
	{"never created: a plain file made of that name later is a plain file", A_TO_B(""),
	 "start A;end A\n"
	 "? B open x noent\n"
	 "creat B x 1;close 1 3\n"
	 "? B open x go\n"
	 "! undeclared 1"},
	{"present: hidden until the producer ended", A_TO_B(""),
	 "present x 10;start A\n"
	 "wait B open x\n"
	 "end A\n"
	 "= x=committed !x\n"
	 "? B open x go"},
	{"present: replaced by the producer", A_TO_B("rule x on_close\n"),
	 "present x 10;start A\n"
	 "= \n"
	 "trunc A x 1;close 1 4\n"
	 "= x=produced x=committed"},
	{"present: a failed producer fails it all the same", A_TO_B(""),
	 "present x 10;start A;fail A\n"
	 "= x=failed"},
	{"present: told after it was given up", A_TO_B(""),
	 "start A;end A\n"
	 "? B open x noent\n"
	 "= x=gone\n"
	 "present x 3\n"
	 "= x=absent x=committed"},
	{"present: told after it was given up, by a step that goes on after all", A_TO_B(""),
	 "start A;end A\n"
	 "? B open x noent\n"
	 "start A;present x 3\n"
	 "= x=gone x=absent\n"
	 "rm A x\n"
	 "= \n"
	 "end A\n"
	 "= x=gone"},
	{"present: removed by the producer", A_TO_B(""),
	 "present x 3;start A;rm A x;end A\n"
	 "= x=gone"},
	{"present: an input that nobody produces is a plain file", "step B\nin x\n",
	 "present x 3\n"
	 "? B open x go\n"
	 "? B look y go\n"
	 "= "},

	/* ---- on close ---- */
	{"close: the first one, by the only producer", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1\n"
	 "wait B open x\n"
	 "close 1 5\n"
	 "= x=produced x=committed !x"},
	{"close: not while another description is open", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;open A x 2;close 1 5\n"
	 "= x=produced\n"
	 "close 2 5\n"
	 "= x=committed"},
	{"close: once by every producer that opened it, or its end", AB_TO_C("rule x on_close\n"),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "= x=produced\n"
	 "end B\n"
	 "= x=committed"},
	{"close: by every producer", AB_TO_C("rule x on_close\n"),
	 "start A;start B;creat A x 1;close 1 5\n"
	 "= x=produced\n"
	 "open B x 2;close 2 7\n"
	 "= x=committed"},
	{"close: never closed, so at the end", A_TO_B("rule x on_close\n"),
	 "start A;symlink A y;creat A x 1;abort 1 3;end A\n"
	 "= x=produced x=committed"},
	{"close: N in total over all producers", AB_TO_C("rule x on_close:3\n"),
	 "start A;start B;creat A x 1;close 1 5;open B x 2;close 2 7\n"
	 "= x=produced\n"
	 "open A x 3;close 3 7\n"
	 "= x=committed"},
	{"close: too few, so at the end", A_TO_B("rule x on_close:3\n"),
	 "start A;creat A x 1;close 1 5;end A\n"
	 "= x=produced x=committed"},
	{"close: the Nth counts when nobody has it open", A_TO_B("rule x on_close:1\n"),
	 "start A;creat A x 1;open A x 2;close 1 5\n"
	 "= x=produced\n"
	 "close 2 6\n"
	 "= x=committed\n"
	 "! closes 1"},
	{"close: one too many is a violation", A_TO_B("rule x on_close:2\n"),
	 "start A;creat A x 1;open A x 2;open A x 3;close 1 5;close 2 5\n"
	 "! closes 0\n"
	 "close 3 5\n"
	 "! closes 1"},
	{"close: abnormal death does not count", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;abort 1 5\n"
	 "= x=produced\n"
	 "trunc A x 2;close 2 9\n"
	 "= x=committed"},
	{"close: abnormal death after a good close", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;open A x 2;close 1 5;abort 2 6\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"close: of a failed step fails the file", AB_TO_C("rule x on_close:2\n"),
	 "start A;start B;creat A x 1;close 1 5;fail A;open B x 2;close 2 5\n"
	 "= x=produced x=failed"},
	{"close: by a step that is no producer counts nowhere",
	 "step U\nout u\nstep A\nin u\nout x\nrule x on_close\nstep B\nin x\n",
	 "start U;start A;creat U x 1;close 1 5\n"
	 "= \n"
	 "open A x 2;close 2 5\n"
	 "= x=produced x=committed"},
	{"close: unknown description", A_TO_B(""), "invalid close 7 1"},
	{"open: a description twice", A_TO_B(""), "creat A x 1\ninvalid open A x 1"},

	/* ---- empty closes ---- */
	{"empty close: counts when its process ends", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;close 1 0\n"
	 "= x=produced\n"
	 "exit A 8\n"
	 "= \n"
	 "exit A 7\n"
	 "= x=committed"},
	{"empty close: opened again, the last close decides", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;close 1 0;trunc A x 2 @7\n"
	 "= x=produced\n"
	 "close 2 9\n"
	 "= x=committed\n"
	 "exit A 7\n"
	 "! closes 0"},
	{"empty close: opened again by another process", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;close 1 0;open A x 2 @8;exit A 7\n"
	 "= x=produced\n"
	 "close 2 0\n"
	 "= \n"
	 "exit A 8\n"
	 "= x=committed"},
	{"empty close: of two processes both must end", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;open A x 2 @8;close 1 0;close 2 0;exit A 7\n"
	 "= x=produced\n"
	 "exit A 8\n"
	 "= x=committed"},
	{"empty close: of a process that is killed does not count", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;close 1 0;killed A 7\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"empty close: by a child after its opener ended", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;exit A 7;close 1 0\n"
	 "= x=produced x=committed"},
	{"empty close: of a process whose death is heard of first", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;killed A 7;close 1 0\n"
	 "= x=produced\n"
	 "open A x 2 @8;close 2 4\n"
	 "= x=committed"},
	{"empty close: and the step ends well", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1 @7;killed A 7;close 1 0\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"empty close: with N above one every close counts", A_TO_B("rule x on_close:2\n"),
	 "start A;creat A x 1 @7;close 1 0;open A x 2 @7\n"
	 "= x=produced\n"
	 "close 2 4\n"
	 "= x=committed"},
	{"empty close: with N above one the last may be empty too", A_TO_B("rule x on_close:2\n"),
	 "start A;creat A x 1 @7;close 1 0;open A x 2 @7;close 2 0\n"
	 "= x=produced x=committed"},
	{"empty close: with N of one it does not", A_TO_B("rule x on_close:1\n"),
	 "start A;creat A x 1 @7;close 1 0;open A x 2 @7;close 2 4\n"
	 "= x=produced x=committed\n"
	 "! closes 0"},

	/* ---- on file ---- */
	{"file: commits with its dependency",
	 "step A\nout x y\nrule x on_file=y\nrule y on_close\n",
	 "start A;creat A x 1;close 1 5\n"
	 "= x=produced\n"
	 "creat A y 2;close 2 1\n"
	 "= y=produced y=committed x=committed"},
	{"file: all of them, of other steps",
	 "step A\nout x\nrule x on_file=y,z\nstep B\nout y z\nrule y on_close\nrule z on_close\n",
	 "start A;start B;creat A x 1;close 1 5;creat B y 2;close 2 1\n"
	 "= x=produced y=produced y=committed\n"
	 "creat B z 3;close 3 1\n"
	 "= z=produced z=committed x=committed"},
	{"file: not while it is open", "step A\nout x y\nrule x on_file=y\nrule y on_close\n",
	 "start A;creat A x 1;creat A y 2;close 2 1\n"
	 "= x=produced y=produced y=committed\n"
	 "close 1 5\n"
	 "= x=committed"},
	{"file: created after its dependency",
	 "step A\nout x y\nrule x on_file=y\nrule y on_close\n",
	 "start A;creat A y 2;close 2 1;creat A x 1\n"
	 "= y=produced y=committed x=produced\n"
	 "close 1 5\n"
	 "= x=committed"},
	{"file: a chain",
	 "step A\nout x y z\nrule x on_file=y\nrule y on_file=z\nrule z on_close\n",
	 "start A;creat A x 1;close 1 5;creat A y 2;close 2 1\n"
	 "= x=produced y=produced\n"
	 "creat A z 3;close 3 1\n"
	 "= z=produced z=committed y=committed x=committed"},
	{"file: a dependency that fails", "step A\nout x\nrule x on_file=y\nstep B\nout y\n",
	 "start A;start B;creat A x 1;close 1 5;creat B y 2;fail B\n"
	 "= x=produced y=produced y=failed\n"
	 "end A\n"
	 "= x=committed"},
	{"file: a dependency that never comes", "step A\nout x\nrule x on_file=y\nstep B\nout y\n",
	 "start A;start B;creat A x 1;close 1 5;end B\n"
	 "= x=produced y=gone\n"
	 "end A\n"
	 "= x=committed"},
	{"file: the step ends first", "step A\nout x\nrule x on_file=y\nstep B\nout y\n",
	 "start A;start B;creat A x 1;close 1 5;end A\n"
	 "= x=produced x=committed"},
	{"file: a cycle falls back to the end",
	 "step A\nout x y\nrule x on_file=y\nrule y on_file=x\n",
	 "start A;creat A x 1;close 1 5;creat A y 2;close 2 1\n"
	 "= x=produced y=produced\n"
	 "end A\n"
	 "= y=committed x=committed"},
	{"file: a pattern is done when its producers ended",
	 "step A\nout x\nrule x on_file=p*\nstep B\nout p*\nrule p* on_close\n",
	 "start A;start B;creat A x 1;close 1 5;creat B p1 2;close 2 1\n"
	 "= x=produced p1=produced p1=committed\n"
	 "end B\n"
	 "= x=committed"},
	{"file: a pattern waits for what is left open",
	 "step A\nout x\nrule x on_file=p*\nstep B\nout p*\n",
	 "start A;start B;creat A x 1;close 1 5;creat B p1 2;end B\n"
	 "= x=produced p1=produced\n"
	 "close 2 1\n"
	 "= p1=committed x=committed"},
	{"file: a directory that is complete",
	 "step A\nout x\nrule x on_file=d\nstep B\nout d\ndir d n_files:1\n",
	 "start A;start B;creat A x 1;close 1 5;mkdir B d;creat B d/1 2;close 2 1\n"
	 "= x=produced d=produced d/1=produced d/1=committed d=committed x=committed"},
	{"file: a directory that only holds outputs",
	 "step A\nout x\nrule x on_file=d\nstep B\nout d/1 d/2\nrule d/1 on_close\n",
	 "start A;start B;creat A x 1;close 1 5;mkdir B d;creat B d/1 2;close 2 1\n"
	 "= x=produced d/1=produced d/1=committed\n"
	 "end B\n"
	 "= x=committed"},

	/* ---- directories ---- */
	{"n_files: complete at N committed files, at any depth",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;start B;mkdir A d;wait B list d;creat A d/1 1;close 1 5;mkdir A d/e\n"
	 "= d=produced d/1=produced d/1=committed d/e=produced\n"
	 "creat A d/e/2 2\n"
	 "= d/e/2=produced\n"
	 "close 2 5\n"
	 "= d/e/2=committed d=committed !d\n"
	 "? B list d go\n"
	 "? B list d/e go"},
	{"n_files: a complete directory completes those below",
	 "step A\nout d\ndir d n_files:1\nstep B\nin d\n",
	 "start A;start B;mkdir A d;mkdir A d/e;wait B list d/e;creat A d/1 1;close 1 5\n"
	 "= d=produced d/e=produced d/1=produced d/1=committed d=committed !d/e\n"
	 "? B list d/e go"},
	{"n_files: too few, so at the end", "step A\nout d\ndir d n_files:9\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;end A\n"
	 "= d=produced d/1=produced d/1=committed d=committed"},
	{"n_files: beside on_close", "step A\nout d\ndir d on_close n_files:1\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5\n"
	 "= d=produced d/1=produced d/1=committed d=committed"},
	{"n_files: a file's own rule holds",
	 "step A\nout d\ndir d n_files:1\nrule d/1 on_termination\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5\n"
	 "= d=produced d/1=produced\n"
	 "end A\n"
	 "= d/1=committed d=committed"},
	{"n_files: failed files do not count",
	 "step A\nout d\ndir d n_files:1\nstep B\nout d/1\nstep C\nin d\n",
	 "start A;start B;mkdir A d;creat B d/1 1;close 1 5;fail B\n"
	 "= d=produced d/1=produced d/1=failed"},
	{"n_files: one more is a violation", "step A\nout d\ndir d n_files:1\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;creat A d/2 2;close 2 5\n"
	 "! late 1"},
	{"n_files: a temporary name counts once", "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/t 1;close 1 5;mv A d/t d/1\n"
	 "= d=produced d/t=produced d/t=committed d/t=absent d/1=committed\n"
	 "creat A d/t 2;close 2 5;mv A d/t d/2\n"
	 "! late 0"},
	{"n_files: a temporary name that completed it never was",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;creat A d/t 2;close 2 5;mv A d/t d/2\n"
	 "= d=produced d/1=produced d/1=committed d/t=produced d/t=committed d=committed "
	 "d/t=absent d/2=committed\n"
	 "? B list d go\n"
	 "! listed 0\n! late 0"},
	{"n_files: a temporary name that completed it, and was listed",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;creat A d/t 2;close 2 5\n"
	 "? B list d go\n"
	 "mv A d/t d/2\n"
	 "! listed 1\n! late 0"},
	{"n_files: one that was removed does not count",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;start B;mkdir A d;creat A d/t 1;close 1 5;creat A d/1 2;close 2 5\n"
	 "= d=produced d/t=produced d/t=committed d/1=produced d/1=committed d=committed\n"
	 "rm A d/t\n"
	 "= d/t=absent d=produced\n"
	 "wait B list d;creat A d/2 3;close 3 5\n"
	 "= d/2=produced d/2=committed d=committed !d\n"
	 "? B list d go\n"
	 "! listed 0\n! late 0"},
	{"n_files: one that was renamed away does not count",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;start B;mkdir A d;creat A d/t 1;close 1 5;creat A d/1 2;close 2 5;mv A d/t u;end "
	 "A\n"
	 "= d=produced d/t=produced d/t=committed d/1=produced d/1=committed d=committed "
	 "d/t=absent d=produced d/t=gone d=committed"},
	{"n_files: one that was removed when it was listed",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/t 1;close 1 5;creat A d/1 2;close 2 5\n"
	 "? B list d go\n"
	 "rm A d/t\n"
	 "! listed 1"},
	{"n_files: one that was removed, of which no listing told, when another was given",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;mkdir A d/e;creat A d/e/t 1;close 1 5;creat A d/1 2;close 2 5\n"
	 "? B list d go\n"
	 "rm A d/e/t\n"
	 "! listed 0\n! late 1"},
	{"n_files: what a consumer removes was complete all the same",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;creat A d/2 2;close 2 5\n"
	 "? B list d go\n"
	 "rm B d/1\n"
	 "? B list d go\n"
	 "! listed 0\n! late 0"},
	{"n_files: a listing by its producer is no use of it",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5;creat A d/t 2;close 2 5\n"
	 "? A list d go\n"
	 "mv A d/t d/2\n"
	 "! listed 0"},
	{"n_files: directories in it, with files or without, are there when it is complete",
	 "step A\nout d\ndir d n_files:1\nstep B\nin d\n",
	 "start A;start B;mkdir A d;mkdir A d/e;mkdir A d/e/f;wait B open d/e\n"
	 "creat A d/1 1;close 1 5\n"
	 "? B open d/e go\n? B look d/e/f go\n? B list d/e/f go\n"
	 "! listed 0\n! late 0"},
	{"n_files: one of them that goes, or comes, when it was listed",
	 "step A\nout d\ndir d n_files:1\nstep B\nin d\n",
	 "start A;start B;mkdir A d;mkdir A d/e;creat A d/1 1;close 1 5\n"
	 "mkdir A d/f\n"
	 "! late 0\n"
	 "? B list d go\n"
	 "rm A d/e\n"
	 "! listed 1\n"
	 "mkdir A d/g\n"
	 "! late 1"},
	{"n_files: what was there before the run is there when it is complete, and is not counted",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;start B;present d/old 3;creat A d/1 1;close 1 5;wait B open d/old\n"
	 "= d/1=produced d=produced d/1=committed\n"
	 "creat A d/2 2;close 2 5\n"
	 "= d/2=produced d/2=committed d=committed d/old=committed !d/old\n"
	 "present d/older 3\n"
	 "= d/older=committed\n"
	 "? B list d go\n"
	 "! listed 0\n! late 0\n"
	 "rm A d/old\n"
	 "! listed 1"},
	{"n_files: an exact output that was there before the run waits for its producer",
	 "step A\nout d d/x\ndir d n_files:1\nstep B\nin d\n",
	 "start A;start B;present d/x 3;creat A d/1 1;close 1 5\n? B open d/x wait"},
	{"n_files: a file that only moves in it, when it was listed",
	 "step A\nout d\ndir d n_files:1\nstep B\nin d\n",
	 "start A;start B;mkdir A d;mkdir A d/e;creat A d/e/1 1;close 1 5\n"
	 "? B list d go\n"
	 "mv A d/e/1 d/1\n"
	 "! late 1"},
	{"directory: on termination by default", "step A\nout d\ndir d on_close\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;close 1 5\n"
	 "= d=produced d/1=produced d/1=committed\n"
	 "wait B list d\n"
	 "wait B look d\n"
	 "? B open d/1 go\n"
	 "end A\n"
	 "= d=committed !d"},
	{"directory: waits for files still open below", "step A\nout d\nstep B\nin d\n",
	 "start A;mkdir A d;creat A d/1 1;end A\n"
	 "= d=produced d/1=produced\n"
	 "close 1 5\n"
	 "= d/1=committed d=committed"},
	{"directory: one that holds outputs is waited for until it is there",
	 "step A\nout d/1\nstep B\nin d/1\n",
	 "start A;start B;wait B look d\n"
	 "mkdir A d\n"
	 "= !d\n"
	 "? B look d go"},
	{"directory: one that would hold outputs, if its steps made it",
	 "step A\nout d/1\nstep B\nin d/1\n",
	 "start A;start B;wait B open d\n"
	 "end A\n"
	 "= !d\n"
	 "? B open d go"},
	{"directory: an input and an output, of which another step makes what is in it",
	 "step A\nout d/*\nstep B\nin d\nout d\n",
	 "start A;start B;wait B open d\nwait B look d\n? B write d go\n"
	 "mkdir A d\n"
	 "= !d\n"
	 "? B open d go\n? B list d wait\n"},
	{"directory: an input and an output, of which another step might have made what is in it",
	 "step A\nout d/*\nstep B\nin d\nout d\n",
	 "start A;start B;wait B open d;end A\n"
	 "= !d\n"
	 "? B open d go\n? B look d go\n"},
	{"directory: from before the run, as if it were not there",
	 "step A\nout d/*\nstep B\nin d/*\n",
	 "presentdir d;present d/1 3;start A;start B;wait B open d\nwait B look d\n? A open d go\n"
	 "rm A d/1;rm A d\n"
	 "= \n"
	 "mkdir A d\n"
	 "= !d\n"
	 "? B open d go\n"},
	{"directory: from before the run, and kept", "step A\nout d/*\nstep B\nin d/*\n",
	 "present d/1 3;start A;start B;wait B open d;creat A d/2 1\n"
	 "= d/2=produced !d\n"
	 "? B open d go\n"},
	{"directory: from before the run, in which nothing is made",
	 "step A\nout d/*\nstep B\nin d/*\n",
	 "presentdir d;start A;start B;wait B open d;end A\n"
	 "= !d\n"
	 "? B open d go\n"},
	{"directory: from before the run, of one that declares it",
	 "step A\nout d\nstep B\nin d/*\nout d\n",
	 "presentdir d;start A;start B;wait B open d\n? A open d go\n"
	 "creat A d/2 1\n"
	 "= d/2=produced d=produced !d\n"
	 "? B open d go\n"},
	{"directory: made on the way to a file", "step A\nout d/1\nstep B\nin d/1\n",
	 "start A;start B;wait B open d;creat A d/1 1\n"
	 "= d/1=produced !d"},

	/* ---- fire on commit: every call ---- */
	{"on commit: every call of a consumer", A_TO_B("rule x on_close\n"),
	 "start A;start B\n"
	 "wait B open x\nwait B look x\nwait B read x 0 1\nwait B whole x\nwait B write x\n"
	 "wait B remove x\n"
	 "creat A x 1;extent x 0 9\n"
	 "= x=produced\n"
	 "close 1 9\n"
	 "= x=committed !x\n"
	 "? B open x go\n? B look x go\n? B read x 0 99 go\n? B whole x go\n? B write x go\n"
	 "? B remove x go"},
	{"on commit: every call on a failed file", A_TO_B(""),
	 "start A;creat A x 1;close 1 3;fail A\n"
	 "? B open x failed\n? B look x failed\n? B read x 0 1 failed\n? B whole x failed\n"
	 "? B write x failed\n? B remove x failed"},

	/* ---- fire on no update ---- */
	{"no update: opens once there are bytes", A_TO_B("rule x on_termination no_update\n"),
	 "start A;start B;wait B open x\n"
	 "creat A x 1\n"
	 "= x=produced\n"
	 "extent x 0 4\n"
	 "= !x\n"
	 "? B open x stream"},
	{"no update: an empty file at its commit", A_TO_B("rule x on_close no_update\n"),
	 "start A;creat A x 1 @7;wait B open x;close 1 0;exit A 7\n"
	 "= x=produced x=committed !x\n"
	 "? B open x go"},
	{"no update: reads wait for all bytes asked for",
	 A_TO_B("rule x on_termination no_update\n"),
	 "start A;creat A x 1;extent x 0 4;wait B read x 2 4\n"
	 "extent x 5 1\n"
	 "= x=produced\n"
	 "extent x 4 1\n"
	 "= !x\n"
	 "? B read x 2 4 stream\n"
	 "? B read x 2 5 wait\n"
	 "? B read x 18446744073709551615 9 wait\n"
	 "close 1 6;end A\n"
	 "? B read x 2 99 go"},
	{"no update: holes are not yet written", A_TO_B("rule x on_termination no_update\n"),
	 "start A;creat A x 1;extent x 10 4\n"
	 "? B read x 0 1 wait\n"
	 "? B read x 10 4 stream\n"
	 "? B read x 9 2 wait"},
	{"no update: truncation takes bytes away", A_TO_B("rule x on_termination no_update\n"),
	 "start A;creat A x 1;extent x 0 9;cut A x 5\n"
	 "? B read x 0 5 stream\n"
	 "? B read x 0 6 wait\n"
	 "cut A x 100\n"
	 "? B read x 0 6 wait\n"
	 "trunc A x 2\n"
	 "? B read x 0 1 wait\n"
	 "? B open x wait"},
	{"no update: sizes and whole files wait for the commit",
	 A_TO_B("rule x on_close no_update\n"),
	 "start A;creat A x 1;extent x 0 9\n"
	 "? B look x wait\n? B whole x wait\n? B write x wait\n? B remove x wait\n"
	 "close 1 9\n"
	 "? B look x go\n? B whole x go\n? B write x go\n? B remove x go"},
	{"no update: a failed file fails also what is covered",
	 A_TO_B("rule x on_termination no_update\n"),
	 "start A;creat A x 1;extent x 0 9;wait B read x 0 10;fail A\n"
	 "= x=produced x=failed !x\n"
	 "? B read x 0 1 failed"},
	{"no update: what is there before is written when appended to",
	 A_TO_B("rule x on_termination no_update\n"),
	 "present x 10;start A\n"
	 "? B open x wait\n"
	 "open A x 1\n"
	 "? B open x stream\n"
	 "? B read x 0 10 stream"},
	{"no update: a directory may be looked at as soon as it is there",
	 "step A\nout d\ndir d n_files:2 no_update\nstep B\nin d\n",
	 "start A;wait B look d\n"
	 "mkdir A d\n"
	 "= d=produced !d\n"
	 "? B look d stream\n? B open d stream"},

	/* ---- listings ---- */
	{"list: a declared directory under no update",
	 "step A\nout d\ndir d n_files:2 no_update\nstep B\nin d\n",
	 "start A;mkdir A d;wait B list d\n"
	 "creat A d/1 1;extent d/1 0 4\n"
	 "= d=produced d/1=produced\n"
	 "close 1 4\n"
	 "= d/1=committed !d\n"
	 "? B list d stream\n"
	 "wait B list d 1 0\n"
	 "creat A d/2 2;close 2 4\n"
	 "= d/2=produced d/2=committed d=committed !d\n"
	 "? B list d 1 0 go"},
	{"list: never temporaries",
	 "step A\nout d d/1\ndir d n_files:1 no_update\nrule d/1 on_close no_update\nstep B\nin "
	 "d\n",
	 "start A;mkdir A d;creat A d/t 1;extent d/t 0 4;wait B list d\n"
	 "creat A d/1 2;extent d/1 0 4\n"
	 "= d=produced d/t=produced d/1=produced !d"},
	{"list: a directory that holds inputs",
	 "step A\nout d/*\nrule d/* on_close\nstep B\nin d/*\n",
	 "start A;start B;mkdir A d;creat A d/1 1;close 1 4;wait B list d\n"
	 "= d/1=produced d/1=committed\n"
	 "end A\n"
	 "= !d\n"
	 "? B list d go"},
	{"list: inputs as they come, if all are no update",
	 "step A\nout d/*\nrule d/* on_close no_update\nstep B\nin d/*\n",
	 "start A;start B;mkdir A d;wait B list d;creat A d/1 1;close 1 4\n"
	 "= d/1=produced d/1=committed !d\n"
	 "? B list d stream\n"
	 "wait B list d 1 0\n"
	 "end A\n"
	 "= !d"},
	{"list: a name that was given is renamed",
	 "step A\nout d\ndir d on_close no_update\nstep B\nin d\n",
	 "start A;start B;mkdir A d;creat A d/t 1;close 1 4\n"
	 "? B list d stream\n"
	 "mv A d/t d/1\n"
	 "! listed 1"},
	{"list: a name that was not given yet is renamed",
	 "step A\nout d\ndir d on_close no_update\nstep B\nin d\n",
	 "start A;start B;mkdir A d;creat A d/1 1;close 1 4\n"
	 "? B list d stream\n"
	 "creat A d/t 2;close 2 4;mv A d/t d/2\n"
	 "? B list d 1 0 stream\n"
	 "! listed 0"},
	{"list: a name that was given and comes again is given again",
	 "step A\nout d/*\nrule d/* on_close no_update\nstep B\nin d/*\n",
	 "start A;start B;mkdir A d;creat A d/t 1;close 1 4\n"
	 "? B list d stream\n"
	 "rm A d/t\n"
	 "! listed 1\n"
	 "creat A d/t 2;close 2 4;rm A d/t\n"
	 "! listed 1"},
	{"list: a directory that was given is removed",
	 "step A\nout d\ndir d on_close no_update\nstep B\nin d\n",
	 "start A;start B;mkdir A d;mkdir A d/t\n"
	 "? B list d stream\n"
	 "rm A d/t\n"
	 "! listed 1"},
	{"list: who looks for other files there need not care",
	 "step A\nout x*\nrule x* on_close\nstep Z\nout z\n",
	 "start A;start Z;creat A x1 1;close 1 4\n"
	 "? Z list . go\n"
	 "mv A x1 y\n"
	 "! listed 0"},
	{"list: streamed as soon as the inputs that are not are decided",
	 "step A\nout d/*\nrule d/* on_close no_update\nstep B\nout x\nrule x on_close no_update\n"
	 "step C\nout y\nstep D\nin d/1 x y\n",
	 "start A;start B;start C;creat B x 1;extent x 0 4;wait D list .\n"
	 "end C\n"
	 "= x=produced y=gone !\n"
	 "? D list . stream"},
	{"list: exact inputs must be decided", "step A\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;start B;wait B list .\n"
	 "creat A x 1;close 1 4\n"
	 "= x=produced x=committed !\n"
	 "? B list . go"},
	{"list: an exact input that grows is there", A_TO_B("rule x on_close no_update\n"),
	 "start A;creat A x 1;wait B list .\n"
	 "extent x 0 1\n"
	 "= x=produced !"},
	{"list: shows one level, so only the directory on the way counts",
	 "step A\nout d/x\nstep B\nin d/x\n",
	 "start A;wait B list .\n"
	 "mkdir A d\n"
	 "= !\n"
	 "? B list . go\n"
	 "? B list d wait"},
	{"list: a directory without inputs of the step",
	 "step A\nout d/x\nstep B\nin d/x\nout e/y\n",
	 "start A;start B\n? B list e go\n? A list d go"},
	{"list: what a step without an order is to make, which the batch runs before",
	 "step A\nout d/x\nstep B\nout y\nstep C\nout d/z\nstep D\nout d/*\n",
	 "start A;start B;start C\n? A list d go\n? C list d go\nwait B list d\n"
	 "= \n"
	 "creat A d/x 1\n"
	 "= d/x=produced\n"
	 "? B list . go\n"
	 "end A\n"
	 "= !d"},
	{"list: a failed input", "step A\nout d/*\nstep B\nin d/*\n",
	 "start A;wait B list d;fail A\n"
	 "= !d\n"
	 "? B list d failed"},
	{"list: a step that consumes and produces in one directory",
	 "step A\nout a\nstep B\nin a\nout b\nrule a on_close\n",
	 "start A;start B;wait B list .\n"
	 "creat B b 1;close 1 1\n"
	 "= b=produced\n"
	 "creat A a 2;close 2 1;end A\n"
	 "= a=produced a=committed !"},

	/* ---- actions ---- */
	{"actions: a close counts once they pass it on",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;start B;wait B open x;creat A x 1;close 1 4\n"
	 "= x=produced\n"
	 "serve A x\n"
	 "= x=committed !x"},
	{"actions: written anew before that, it is the same file",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;start B;wait B open x;creat A x 1;close 1 4;trunc A x 2\n"
	 "= x=produced\n"
	 "close 2 9\n"
	 "= \n"
	 "serve A x\n"
	 "= x=committed !x"},
	{"actions: passed on while it is open, it is complete when it is closed",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;creat A x 1;open A x 2;close 1 4;serve A x\n"
	 "= x=produced\n"
	 "close 2 4\n"
	 "= x=committed"},
	{"actions: opened again, they are asked again",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;creat A x 1;open A x 2;close 1 4;serve A x;open A x 3;close 2 4;close 3 4\n"
	 "= x=produced\n"
	 "serve A x\n"
	 "= x=committed"},
	{"actions: at the end of the step all is passed on",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\n",
	 "start A;creat A x 1;close 1 4;end A\n"
	 "= x=produced x=committed"},
	{"actions: of another producer's they know nothing",
	 "step A\nactions\nout x\nrule x on_close:1\nstep C\nout x\nstep B\nin x\n",
	 "start A;start C;creat C x 1;close 1 4\n"
	 "= x=produced x=committed"},
	{"actions: who updates the file waits for them, too",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\nout x\n",
	 "start A;start B;wait B open x;creat A x 1;close 1 4\n"
	 "= x=produced\n"
	 "serve A x\n"
	 "= !x"},
	{"actions: each version",
	 "step A\nactions\nout x\nrule x on_close\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B;creat A x 1;close 1 4;trunc A x 2;close 2 5;serve A x\n"
	 "= x=produced x=committed\n"
	 "take B x 3;read 3;back 3\n"
	 "creat A x 4;close 4 4\n"
	 "= -x x@2=produced\n"
	 "wait B open x"},

	/* ---- roles ---- */
	{"roles: a producer sees plain POSIX", AB_TO_C(""),
	 "start A;start B\n"
	 "? B open x go\n"
	 "creat A x 1\n"
	 "? B write x go\n? A open x go\n? A read x 0 9 go"},
	{"roles: a producer waits for one that the batch runs before, and reads what that has made",
	 AB_TO_C(""),
	 "start A;start B;creat A x 1\n"
	 "? B look x wait\n"
	 "wait B open x;close 1 4\n"
	 "= x=produced\n"
	 "? B open x wait\n"
	 "end A\n"
	 "= !x\n"
	 "? B open x go\n? B look x go"},
	{"roles: and also if it has a part of it; what it has made alone is its own", AB_TO_C(""),
	 "start A;start B;creat B x 1\n"
	 "? B open x go\n? A open x go\n"
	 "open A x 2\n"
	 "? B open x wait\n? B write x go\n? A open x go"},
	{"roles: both waits for the other producers, and downstream for it",
	 "step A\nout x\nstep B\nin x\nout x\nstep C\nin x\n",
	 "start A;start B;start C;wait B open x;wait C open x;creat A x 1;close 1 4\n"
	 "= x=produced\n"
	 "end A\n"
	 "= !x\n"
	 "? B open x go\n? B write x go\n"
	 "open B x 2;close 2 9\n"
	 "= \n"
	 "end B\n"
	 "= x=committed !x"},
	{"roles: both, on close",
	 "step A\nout x\nrule x on_close\nstep B\nin x\nout x\nstep C\nin x\n",
	 "start A;start B;wait B open x;creat A x 1;close 1 4\n"
	 "= x=produced !x\n"
	 "open B x 2;close 2 9\n"
	 "= x=committed"},
	{"roles: both, on_close:N",
	 "step A\nout x\nrule x on_close:3\nstep B\nin x\nout x\nstep C\nin x\n",
	 "start A;start B;wait B open x;creat A x 1;close 1 4\n"
	 "= x=produced\n"
	 "open A x 2;close 2 5\n"
	 "= !x\n"
	 "open B x 3;close 3 9\n"
	 "= x=committed"},
	{"roles: both, the other one gives it a second name",
	 "step A\nout x d\nrule x on_close\nstep B\nin x\nout x\n",
	 "start A;start B;wait B open x;creat B x 1;close 1 4\n"
	 "= x=produced\n"
	 "link A x d\n"
	 "= d=produced x=committed !x"},
	{"roles: both, the only producer", "step A\nin x\nout x\n",
	 "start A\n? A open x go\n? A look x go"},
	{"roles: both, the other one fails", "step A\nout x\nstep B\nin x\nout x\n",
	 "start A;start B;wait B look x;fail A\n"
	 "= x=failed !x\n"
	 "? B look x failed"},
	{"roles: upstream sees plain POSIX", "step U\nout u\nstep A\nin u\nout x\nstep B\nin x\n",
	 "start U\n? U open x go\n? U look x go\n? U list . go"},
	{"roles: everybody else is a consumer", "step A\nout x\nstep Z\nout z\n",
	 "start A;start Z;wait Z open x;creat A x 1;close 1 3;end A\n"
	 "= x=produced x=committed !x"},
	{"roles: a cycle: declared consumers wait though they are upstream",
	 "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "start A;start B\n? B open a wait\n? A open b wait"},
	{"roles: excluded files are plain", "step A\nout x*\nexclude x1\nstep B\nin x*\n",
	 "start A;start B;creat A x1 1\n"
	 "? B open x1 go\n"
	 "= "},

	/* ---- undeclared files ---- */
	{"undeclared: of an upstream step, until it ended", A_TO_B(""),
	 "start A;start B\n"
	 "? B open u go\n"
	 "creat A u 1;wait B open u;close 1 3\n"
	 "= \n"
	 "end A\n"
	 "= !u\n"
	 "? B open u go"},
	{"undeclared: still open when it ended", A_TO_B(""),
	 "start A;creat A u 1;end A;wait B look u;close 1 3\n"
	 "= !u"},
	{"undeclared: of an upstream step that failed", A_TO_B(""),
	 "start A;creat A u 1;close 1 3;wait B open u;fail A\n"
	 "= !u\n"
	 "? B open u failed"},
	{"undeclared: of a step that is not upstream", A_TO_B(""),
	 "start B;creat B u 1\n? A open u go"},
	{"undeclared: directories do not wait", A_TO_B(""), "start A;mkdir A u\n? B open u go"},
	{"undeclared: follows a rename", A_TO_B(""),
	 "start A;creat A u 1;close 1 3;mv A u v;wait B open v;end A\n"
	 "= !v"},

	/* ---- rename, link, unlink ---- */
	{"rename: onto a declared name publishes", A_TO_B("rule x on_close\n"),
	 "start A;wait B open x;creat A t 1;close 1 3\n"
	 "= \n"
	 "mv A t x\n"
	 "= x=committed !x"},
	{"rename: with a writer left, its close commits", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;mv A t x\n"
	 "= x=produced\n"
	 "close 1 3\n"
	 "= x=committed"},
	{"rename: closes already counted stay", A_TO_B("rule x on_close:2\n"),
	 "start A;creat A t 1;close 1 3;mv A t x\n"
	 "= x=produced\n"
	 "open A x 2;close 2 4\n"
	 "= x=committed"},
	{"rename: of a file never opened counts as its close", A_TO_B("rule x on_close\n"),
	 "start A;mv A t x\n"
	 "= x=committed"},
	{"rename: an empty file is published too", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1 @7;close 1 0;mv A t x\n"
	 "= x=committed"},
	{"rename: of what was cut short does not commit", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;abort 1 3;mv A t x\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"rename: many closes under the old name are not too many", A_TO_B("rule x on_close:1\n"),
	 "start A;creat A t 1;close 1 3;open A t 2;close 2 4;mv A t x\n"
	 "= x=committed\n"
	 "! closes 0"},
	{"rename: with the end's rule it waits for the end", A_TO_B(""),
	 "start A;creat A t 1;close 1 3;mv A t x\n"
	 "= x=produced\n"
	 "end A\n"
	 "= x=committed"},
	{"rename: away from a declared name", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;mv A x y;close 1 3\n"
	 "= x=produced x=absent\n"
	 "end A\n"
	 "= x=gone"},
	{"rename: by one producer of what another closed",
	 "step A\nout x t\nrule x on_close\nstep B\nout x t\n",
	 "start A;start B;creat A t 1;close 1 3;mv B t x\n"
	 "= t=produced t=absent x=committed"},
	{"rename: a declared name's bytes are not counted twice",
	 "step A\nout x t\nrule x on_close:2\nstep B\nout x t\n",
	 "start A;start B;creat A t 1;close 1 3;mv B t x\n"
	 "= t=produced t=absent x=produced\n"
	 "open A x 2;close 2 3\n"
	 "= x=committed"},
	{"rename: onto a committed file", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;creat A t 2;close 2 3;mv A t x\n"
	 "! late 1\n"
	 "? B open x go"},
	{"rename: by a step that is no producer", "step A\nout x\nstep B\nin x\n",
	 "start A;start B;mv B t x\n"
	 "! undeclared 1\n"
	 "? B open x wait"},
	{"rename: of a directory, each file takes its new rule",
	 "step A\nout d\ndir d n_files:2\nstep B\nin d\n",
	 "start A;mkdir A t;creat A t/1 1;close 1 3;mkdir A t/e;creat A t/e/2 2;close 2 3;wait B "
	 "list d\n"
	 "= \n"
	 "mvdir A t d\n"
	 "= d/e=produced d/e/2=committed d=produced d/1=committed "
	 "d=committed !d"},
	{"rename: of a directory with an open file",
	 "step A\nout d/x\nrule d/x on_close\nstep B\nin d/x\n",
	 "start A;mkdir A t;creat A t/x 1;mvdir A t d\n"
	 "= d/x=produced\n"
	 "close 1 3\n"
	 "= d/x=committed"},
	{"rename: into itself", A_TO_B(""), "invalid mvdir A d d/e\ninvalid mv A d/e d"},
	{"rename: two names of one file", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;close 1 3;link A t x\n"
	 "= x=committed\n"
	 "mv A t x\n"
	 "= \n"
	 "! late 0"},
	{"link: onto a declared name publishes", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;link A t x\n"
	 "= x=produced\n"
	 "close 1 3\n"
	 "= x=committed\n"
	 "rm A t\n"
	 "? B open x go"},
	{"symlink: publishes", A_TO_B("rule x on_close\n"),
	 "start A;symlink A x\n"
	 "= x=committed"},
	{"unlink: by the producer before the commit: absent again, counts reset",
	 A_TO_B("rule x on_close:2\n"),
	 "start A;creat A x 1;close 1 3;rm A x\n"
	 "= x=produced x=absent\n"
	 "creat A x 2;close 2 3\n"
	 "= x=produced\n"
	 "open A x 3;close 3 3\n"
	 "= x=committed"},
	{"unlink: the descriptions of what was removed count nowhere", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;rm A x;close 1 3\n"
	 "= x=produced x=absent\n"
	 "creat A x 2\n"
	 "= x=produced"},
	{"unlink: of bytes that a consumer has begun to read",
	 A_TO_B("rule x on_termination no_update\n"),
	 "start A;creat A x 1;extent x 0 4\n"
	 "? B open x stream\n"
	 "rm A x\n"
	 "! rewrite 1"},
	{"unlink: by a consumer, after the commit", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B remove x go\n"
	 "rm B x\n"
	 "= x=produced x=committed\n"
	 "? B open x go"},
	{"unlink: committed, but seen by nobody", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;rm A x;creat A x 2;close 2 3\n"
	 "= x=produced x=committed x=absent x=produced x=committed\n"
	 "! late 0"},
	{"unlink: committed and seen, then made again", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B open x go\n"
	 "rm A x\n"
	 "! late 1\n"
	 "creat A x 2\n"
	 "! late 2"},
	{"rename: committed, but seen by nobody: it never was", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;mv A x y;wait B open x;end A\n"
	 "= x=produced x=committed x=absent x=gone !x\n"
	 "? B open x noent\n"
	 "! late 0"},
	{"rename: committed and seen", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B look x go\n"
	 "mv A x y\n"
	 "! late 1"},
	{"rename: of a directory with a file that was seen",
	 "step A\nout d/x\nrule d/x on_close\nstep B\nin d/x\n",
	 "start A;mkdir A d;creat A d/x 1;close 1 3\n"
	 "? B open d/x go\n"
	 "mvdir A d e\n"
	 "! late 1"},
	{"rename, unlink: when its producers have ended it is anybody's",
	 A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;end A\n"
	 "? B open x go\n"
	 "rm A x\n"
	 "! late 0"},
	{"unlink: of a version that was taken is its producer's affair",
	 "step A\nout x\nrule x on_close\nstep B\nin x\nview x all 0=x\n",
	 "start A;start B;creat A x 1;close 1 4;take B x 3;read 3;back 3;rm A x\n"
	 "! late 0"},

	/* ---- rights: 1 to read it, 2 to run it ---- */
	{"rights: changed before anybody has used it", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;rights A x 3\n"
	 "! late 0"},
	{"rights: to run it concerns who has looked", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B open x go\n"
	 "rights A x 2\n"
	 "! late 0\n"
	 "? B look x go\n"
	 "rights A x 2\n"
	 "! late 1"},
	{"rights: to read it concerns who has read", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B open x go\n"
	 "rights A x 1\n"
	 "! late 1"},
	{"rights: before the commit, and when all producers have ended", A_TO_B(""),
	 "start A;creat A x 1;close 1 3;rights A x 3;end A\n"
	 "? B look x go\n"
	 "rights A x 3\n"
	 "! late 0"},
	{"rights: of another step's file, of none", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3\n"
	 "? B look x go\n"
	 "rights B x 3;rights A y 3\n"
	 "! late 0\n"
	 "invalid rights A x 0\ninvalid rights A x 8"},

	/* ---- violations ---- */
	{"violation: opened for writing after the commit", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;open A x 2\n"
	 "! late 1\n"
	 "close 2 4\n"
	 "! closes 0"},
	{"violation: opened for writing by another name after the commit",
	 A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;close 1 3;link A t x\n"
	 "= x=committed\n"
	 "open A t 2\n"
	 "! late 1"},
	{"violation: truncated by another name after the commit", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;close 1 3;link A t x\n"
	 "= x=committed\n"
	 "cut A t 0\n"
	 "! late 1"},
	{"no violation: the other name is a file of its own by now", A_TO_B("rule x on_close\n"),
	 "start A;creat A t 1;close 1 3;link A t x;rm A t;creat A t 2;close 2 3;end A\n"
	 "= x=committed"},
	{"violation: truncated after the commit", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;cut A x 1\n"
	 "! late 1"},
	{"violation: created after it was given up", A_TO_B(""),
	 "start A;end A\n"
	 "? B open x noent\n"
	 "creat A x 1\n"
	 "! late 1"},
	{"violation: a consumer truncates", A_TO_B("rule x on_close\n"),
	 "start A;creat A x 1;close 1 3;open B x 2\n"
	 "! undeclared 0\n"
	 "cut B x 0\n"
	 "! undeclared 1"},

	/* ---- launch ---- */
	{"launch: what was to be a directory is none any more",
	 "step A\nout d\ndir d n_files:2\nstep B\nout y\nstep C\nin d y\n",
	 "start A;start B;wait C launch .;end A\n"
	 "= d=gone\n"
	 "symlink A d;start A;fail A\n"
	 "= \n"
	 "rm A d\n"
	 "= !\n"
	 "? C launch . failed"},
	{"launch: all inputs final",
	 "step A\nout x\nrule x on_close\nstep Z\nout z\nstep B\nin x z\n",
	 "start A;start Z;wait B launch .\n"
	 "creat A x 1;close 1 3\n"
	 "= x=produced x=committed\n"
	 "end Z\n"
	 "= z=gone !\n"
	 "? B launch . go"},
	{"launch: staged, after all that in the batch are before it",
	 "step A\nout a\nstep B\nout b\nstaged\nstep C\nout c\n",
	 "start A;start C;wait B launch .\n"
	 "end C\n"
	 "= \n"
	 "end A\n"
	 "= !\n"
	 "? B launch . go"},
	{"launch: staged, but concurrent",
	 "step A\nout a\nstep B\nout b\nconcurrent\nstep C\nout c\n",
	 "start A;start C\n"
	 "= \n"
	 "? B launch . go\n"
	 "? C write t go"},
	{"launch: two that are staged, and make one file, even if concurrent",
	 "step A\nout x\nconcurrent\nstep B\nout x\nconcurrent\n",
	 "start A;wait B launch .\n"
	 "= \n"
	 "end A\n"
	 "= !\n"
	 "? B launch . go"},
	{"launch: later steps change what nobody declared when the staged one has ended",
	 "step A\nout a\nstaged\nstep B\nout b\nin a\nstep C\nout c\n",
	 "start B;start C\n"
	 "? A launch . go\n"
	 "start A;wait B write t;wait C write u\n"
	 "? B look t go\n"
	 "end A\n"
	 "= !t !u\n"
	 "? C write u go"},
	{"launch: later steps make files on disk that it may make, too, when it has ended",
	 "step A\nout x*\nstaged\nstep B\nout x*\nfs x*\n",
	 "start B\n"
	 "? A launch . go\n"
	 "start A;wait B write x1\n"
	 "end A\n"
	 "= !x1\n"
	 "? B write x1 go"},
	{"launch: patterns until their producers ended",
	 "step A\nout d/*\nrule d/* on_close no_update\nstep B\nin d/*\n",
	 "start A;wait B launch .;creat A d/1 1;close 1 3\n"
	 "= d/1=produced d/1=committed\n"
	 "end A\n"
	 "= !"},
	{"launch: a directory complete by count",
	 "step A\nout d\ndir d n_files:1 no_update\nstep B\nin d\n",
	 "start A;wait B launch .;mkdir A d;creat A d/1 1;close 1 3\n"
	 "= d=produced d/1=produced d/1=committed d=committed !\n"
	 "? B launch . go"},
	{"launch: a failed input at once", "step A\nout x\nstep Z\nout z\nstep B\nin z x\n",
	 "start A;start Z;wait B launch .;fail A\n"
	 "= x=failed !\n"
	 "? B launch . failed"},
	{"launch: a failed input at once, wherever it is",
	 "step A\nout d/x e/*\nstep Z\nout z\nstep B\nin z d/x e/*\n",
	 "start A;start Z;wait B launch .;wait B list .;fail A\n"
	 "= d/x=failed !\n"
	 "? B launch . failed\n? B list . failed"},
	{"launch: a failed pattern at once", "step A\nout e/*\nstep Z\nout z\nstep B\nin z e/*\n",
	 "start A;start Z;wait B launch .;fail A\n"
	 "= !"},
	{"launch: an input out of reach at once",
	 "step A 3\nout x\nrule x on_termination:2\nstep Z\nout z\nstep B\nin z x\n",
	 "start A;start Z;wait B launch .;end A;closed A\n"
	 "= x=failed !"},
	{"launch: what was a directory is removed", "step A\nout x\nstep B\nin x\nout x\n",
	 "mkdir A x;open A t 1;closed A;wait B launch .\n"
	 "= x=produced\n"
	 "rm A x\n"
	 "= x=absent !"},
	{"launch: inputs nobody produces", "step B\nin x y*\n", "? B launch . go"},

	/* ---- walks ---- */
	{"walk: all below a directory, and no other", "step A\nout d/* dx\nstep B\nin d/* dx\n",
	 "start A;mkdir A d;creat A d/x 1;mkdir A d/e;creat A d/e/y 2;creat A dx 3\n"
	 "= d/x=produced d/e=produced d/e/y=produced dx=produced\n"
	 "below d\n"
	 "= *d *d/e *d/e/y *d/x\n"
	 "below d/e\n"
	 "= *d/e *d/e/y\n"
	 "below d/x\n"
	 "= *d/x\n"
	 "below nothing\n"
	 "= "},
	{"walk: what a step may make, until it has seen enough",
	 "step A\nout x last y\nstep B\nin x last y\nout z\n",
	 "start A;start B;creat A x 1;creat A last 2;creat A y 3;creat B z 4\n"
	 "= x=produced last=produced y=produced z=produced\n"
	 "outputs A\n"
	 "= *y *last\n"
	 "outputs B\n"
	 "= *z"},

	/* ---- waiting ---- */
	{"cancel: a waiter that gave up is not woken", A_TO_B(""),
	 "start A;wait B open x;cancel 1;creat A x 1;close 1 3;end A\n"
	 "= x=produced x=committed"},
	{"told violations are passed on", A_TO_B(""),
	 "invalid violate x 0\nviolate x 1\n! rewrite 1"},
};

static void run_scenario(void **state)
{
	const struct scenario *sc = *state;
	struct world w;

	world_init(&w, sc->workflow);
	world_script(&w, sc->script);
	world_release(&w);
}

int main(void)
{
	static struct scenario copies[sizeof(scenarios) / sizeof(scenarios[0])];
	static struct CMUnitTest tests[sizeof(scenarios) / sizeof(scenarios[0])];

	memcpy(copies, scenarios, sizeof(copies));
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		tests[i] = (struct CMUnitTest){.name = copies[i].name,
					       .test_func = run_scenario,
					       .initial_state = &copies[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
