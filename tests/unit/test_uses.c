/* Steps that get in each other's way: docs/explanation/conflicts.md. */
#include "stream_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Both make it. */
#define BOTH "step A\nout x\nstep B\nout x\n"
#define TAKEN "step A\nout d/x\nrule d/x on_close\nstep B\nin d/x\nout o\n"
#define TAKEN_BEGUN "start A;start B;creat A d/x 1;close 1 5\n= d/x=produced d/x=committed\n"
#define BOTH_STAGED BOTH "staged\n"
#define BOTH_OPEN "start A;start B;openat A x 1 0;openat B x 2 0\n= x=produced\n"
#define ORDERED "step A\nout a x\nstep B\nin a\nout x\n"
#define ORDERED_OPEN BOTH_OPEN

/* B changes by the one name what C, which comes later, or has no order with it, reads by the other.
 */
#define LINKED "step A\nout x x2\nstep B\nin x2\nout x2 y\nstep C\nin x y\nout z\n"
#define LINKED_TWO "step A\nout x x2\nstep B\nin x2\nout x2\nstep C\nin x\nout z\n"
#define LINKED_BEGUN                                                                               \
	"start A;start B;start C;creat A x 1;close 1 5;link A x x2;end A\n= x=produced "           \
	"x2=produced x=committed\n"

struct scenario {
	const char *name;
	const char *workflow;
	const char *script;
};

/* No order between them. */
#define TWO "step A\nout a\nstep B\nout b\n"
/* A before B. */
#define A_TO_B "step A\nout a\nstep B\nin a\nout b\n"
/* A and B before C. */
#define AB_TO_C "step A\nout a\nstep B\nout b\nstep C\nin a b\nout c\n"

static const struct scenario scenarios[] = {
	{"both create it", TWO, "use A create t\n= \nuse B create t\n= t:A/B"},
	{"told once", TWO,
	 "use A create t;use B create t\n= t:A/B\nuse A read t;use B write t\n= "},
	{"one creates, one reads", TWO, "use A create t;use B read t\n= t:A/B"},
	{"one reads, one changes", TWO, "use A read t;use B truncate t\n= t:A/B"},
	{"looked for in vain before it is made", TWO, "use A seek t;use B create t\n= t:A/B"},
	{"looked for in vain when it is removed", TWO,
	 "use A create t;use A remove t;use B seek t\n= t:A/B"},
	{"looked for by both", TWO, "use A seek t;use B seek t\n= "},
	{"read by both", TWO, "use A read t;use B read t;use A read t\n= "},
	{"its own uses", TWO, "use A seek t;use A create t;use A read t;use A remove t\n= "},
	{"each its own", TWO, "use A create t;use B create u;use A read t;use B remove u\n= "},
	{"made as a directory by both", TWO,
	 "use A seek d;use B seek d;usedir A mkdir d;usedir B read d;usedir B mkdir d\n= "},
	{"a directory that the one makes, and the other enters", TWO,
	 "usedir A mkdir d\n= \nuse B need d\n= d:A/B"},
	{"and looks at before", TWO, "usedir A mkdir d;use B read d;use B need d\n= "},
	{"and makes, too", TWO, "use B need d;usedir B mkdir d;usedir A mkdir d\n= "},
	{"missed where something was to be made, and made by the other", TWO,
	 "use A need d;usedir B mkdir d\n= d:A/B"},
	{"by a later step", A_TO_B, "usedir A mkdir d;use B need d\n= "},
	{"looked for before an earlier step makes it: told at the end", A_TO_B,
	 "start A;start B;use B seek d;usedir A mkdir d;end A\n= \nend B\n= d:B/A"},
	{"and by who has ended", TWO,
	 "start A;start B;use B seek d;end B\n= \nusedir A mkdir d\n= d:B/A"},
	{"or it makes that then", A_TO_B,
	 "start A;start B;use B seek d;usedir A mkdir d;usethere B mkdir d;end A;end B\n"
	 "= "},
	{"found when a later step has made it: told at the end", A_TO_B,
	 "start A;start B;usedir B mkdir d;usedir A read d;end A\n= d:B/A"},
	{"or an earlier one has, too", AB_TO_C,
	 "start A;start B;start C;usedir A mkdir d;usedir B mkdir d;usedir C read d;end A;end B;"
	 "end C\n= "},
	{"or an earlier one tries to after it was found", AB_TO_C,
	 "start A;start B;start C;usedir B mkdir d;usedir A read d;usedir C read d;"
	 "usethere A mkdir d;end A;end B;end C\n= "},
	{"found, and something is made in it: it would have been made", TWO,
	 "start A;start B;usedir A mkdir d;usedir B read d;usedir B need d;end A;end B\n= "},
	{"passed on the way to what is made in it: it would not", TWO,
	 "start A;start B;usedir A mkdir d;usethere B read d;use B need d\n= d:A/B"},
	{"and to what is looked for", TWO,
	 "start A;start B;usedir A mkdir d;usethere B read d;use B seek d/x;end A;end B\n= "},
	{"passed, and then looked at", TWO,
	 "start A;start B;usedir A mkdir d;usethere B read d;usedir B read d;usedir B need d;"
	 "end A;end B\n= "},
	{"passed, and then made, too", TWO,
	 "start A;start B;usedir A mkdir d;usethere B read d;usethere B mkdir d;use B need d;end A;"
	 "end B\n= "},
	{"or only looked at", TWO,
	 "start A;start B;usedir A mkdir d;usethere B read d;usedir B read d;end A;end B\n= d:A/B"},
	{"and so are those above it that were found", TWO,
	 "start A;start B;usedir A mkdir r;usedir A mkdir r/x;usedir B read r;usedir B read r/x;"
	 "usedir B need r/x;end A;end B\n= "},
	{"or one below it would have been made", TWO,
	 "start A;start B;usedir A mkdir r;usedir A mkdir r/x;usedir A mkdir r/x/y;usedir B read r;"
	 "usedir B read r/x;usedir B read r/x/y;usethere B mkdir r/x/y;end A;end B\n= "},
	{"but not those that were looked for in vain", TWO,
	 "start A;start B;usedir B seek r;usedir A mkdir r;usedir A mkdir r/x;usedir B read r/x;"
	 "usedir B need r/x;end A;end B\n= r:B/A"},
	{"looked for in vain, and something is made in it", TWO,
	 "start A;start B;usedir B seek d;usedir A mkdir d;usedir B need d;end A;end B\n= d:B/A"},
	{"looked for before an unordered one makes it, and removed", TWO,
	 "use B seek d;usedir A mkdir d;usedir A remove d\n= d:B/A"},
	{"a directory that the other removes", TWO,
	 "usedir A mkdir d;usedir B read d;usedir A remove d\n= d:B/A"},
	{"renamed onto", TWO,
	 "use A create t;use A move t;use A replace x;use B replace x\n= x:A/B"},
	{"renamed away", TWO, "use A read t;use B move t\n= t:A/B"},
	{"a symlink of both", TWO, "use A create l;use B replace l\n= l:A/B"},
	{"opened for writing, though nothing is written", TWO,
	 "use A read t;use B write t\n= t:A/B"},

	/* ---- appending ---- */
	{"only appended to", TWO, "use A append t;use B append t\n= t~A/B\nuse A append t\n= "},
	{"appended to, and read", TWO, "use A append t;use B read t\n= t:A/B"},
	{"appended to, and made anew", TWO, "use A append t;use B truncate t\n= t:A/B"},
	{"appended to by three, and written by the first",
	 "step A\nout a\nstep B\nin a\nout b\nstep C\nout c\n",
	 "use A write t;use B append t\n= \nuse C append t\n= t:A/C"},
	{"appended to by the first one again", A_TO_B,
	 "use A append t;use B append t\n= \nuse A append t\n= t~B/A"},
	{"read by the first one again", A_TO_B,
	 "use A read t;use B append t\n= \nuse A read t\n= t:B/A"},

	/* ---- with an order ---- */
	{"one after the other", A_TO_B,
	 "use A create t;use A read t;use B read t;use B truncate t;use B remove t\n= "},
	{"the other way round", A_TO_B, "use B create t\n= \nuse A create t\n= t:B/A"},
	{"a look at what a later step made", A_TO_B, "use B create t;use A read t\n= t:B/A"},
	{"in vain, then made by a later step", A_TO_B,
	 "use A seek t;use B create t\n= \nuse A seek t\n= t:B/A"},
	{"through a chain", "step A\nout a\nstep B\nin a\nout b\nstep C\nin b\nout c\n",
	 "use A create t;use C read t;use C remove t\n= "},
	{"one of the two before it", AB_TO_C,
	 "use A create t;use C remove t\n= \nuse B create t\n= t:C/B"},
	{"three, of which two have no order", AB_TO_C,
	 "use A read t;use B read t;use C truncate t\n= \nuse B read t\n= t:C/B"},
	{"a circle of steps", "step A\nin b\nout a\nstep B\nin a\nout b\n",
	 "use A create t;use B create t;use A read t\n= "},
	{"they would have to wait", A_TO_B,
	 "start A;start B;use A write t\n"
	 "wait B open t\n"
	 "? B write t wait\n"
	 "? A open t go\n"
	 "end A\n"
	 "= !t\n"
	 "? B open t go"},
	{"who changes it waits for who has read it", A_TO_B,
	 "start A;start B;use A read t\n"
	 "? B open t go\n"
	 "wait B write t\n"
	 "end A\n"
	 "= !t"},
	{"what a failed step has written", A_TO_B,
	 "start A;use A write t;fail A\n? B open t failed"},

	/* ---- outputs that a step before the producer has open, or uses ---- */
	{"held for reading", A_TO_B,
	 "start A;start B;present b 3;hold A b 7 0\n"
	 "? B open b go\n"
	 "wait B write b\n"
	 "letgo 7\n"
	 "= !b\n"
	 "? B write b go"},
	{"held for writing", A_TO_B,
	 "start A;start B;present b 3;hold A b 7 1;hold A b 8 1\n"
	 "wait B open b\n"
	 "? B remove b wait\n"
	 "letgo 8\n= \n"
	 "letgo 7\n"
	 "= !b\n"
	 "? B open b go"},
	{"held by the name that it had before", A_TO_B,
	 "start A;start B;present b 3;hold A b 7 1;rm A b;creat B b 1\n= b=produced\n"
	 "? B write b go\n"
	 "letgo 7\n= "},
	{"made by a step before the producer, and held", A_TO_B,
	 "start A;start B;use A create b;symlink A b;hold A b 7 1\n"
	 "wait B open b\n"
	 "letgo 7\n"
	 "= !b"},
	{"looked for by its producer, and then made before", A_TO_B,
	 "use B seek b\n= \nuse A create b\n= b:B/A"},
	{"read by its producer, and then changed before", A_TO_B,
	 "use A write b;use B read b\n= \nuse A append b\n= b:B/A"},
	{"looked for by its producer, and made by it", A_TO_B,
	 "use B seek b;start B;creat B b 1\n= b=produced"},
	{"used by two before the producer", AB_TO_C, "use A create c\n= \nuse B read c\n= c:A/B"},
	{"used by two before the producer, one after the other",
	 "step A\nout a\nstep B\nin a\nout b\nstep C\nin b\nout c\n",
	 "start A;start B;use A create c\n"
	 "wait B open c\n"
	 "end A\n"
	 "= !c"},

	/* ---- names ---- */
	{"two names of one file", TWO, "use A read t;use A link u t\n= \nuse B write t\n= t:A/B"},
	{"the other name of what was read", TWO,
	 "use B read t;use A link u t;use A write u\n= u:B/A"},
	{"a later step waits for who changes it by the other name", LINKED,
	 LINKED_BEGUN "wait C open x\n? B open x2 go\nedit B x2 2;write 2;close 2 7\n= \nend B\n"
		      "= x2=committed !x\n? C open x go\nuse C read x\n= "},
	{"until that is complete",
	 "step A\nout x x2\nrule x2 on_close\nstep B\nin x2\nout x2 y\nstep C\nin x y\nout z\n",
	 LINKED_BEGUN "wait C open x\nedit B x2 2;write 2;close 2 7\n= x2=committed !x"},
	{"and does not get what a step has left that has failed", LINKED,
	 LINKED_BEGUN "wait C open x\nfail B\n= x2=failed !x\n? C open x failed"},
	{"it has read before the link was made",
	 "step A\nout x\nstep B\nin x\nout x2 y\nstep C\nin x y\nout z\n",
	 "start A;start B;start C;creat A x 1;close 1 5;end A\n= x=produced x=committed\n"
	 "? C open x go\nlink B x x2;edit B x2 2\n= x2=produced\nwrite 2\n= x:C/B\n"
	 "trunc B x2 3\n= "},
	{"it has read before the link was made, which nobody declares",
	 "step A\nout x\nstep B\nin x\nout y\nstep C\nin x y\nout z\n",
	 "start A;start B;start C;creat A x 1;close 1 5;end A\n= x=produced x=committed\n"
	 "? C open x go\nlink B x t;edit B t 2\n= \nwrite 2\n= x:C/B"},
	{"without an order, read after the change", LINKED_TWO,
	 LINKED_BEGUN "edit B x2 2;write 2;close 2 7\n= \nuse C read x\n= x:B/C\nuse C read x\n= "},
	{"without an order, read after the end of a step that the batch runs before", LINKED_TWO,
	 LINKED_BEGUN "edit B x2 2;write 2;close 2 7;end B\n= x2=committed\nuse C read x\n= "},
	{"made by a step without an order, which is done with it",
	 "step A\nout x\nrule x on_close\nstep B\nout x2\nstep C\nin x2\nout z\n",
	 "start A;start B;start C;creat A x 1;close 1 5\n= x=produced x=committed\n? B open x go\n"
	 "link B x x2;edit B x2 2;write 2;close 2 7;end B\n= x2=produced x2=committed\n"
	 "use C read x2\n= "},
	{"without an order, changed after it was read", LINKED_TWO,
	 LINKED_BEGUN "? C look x go\nuse C read x\n= \ncut B x2 0\n= x:C/B"},
	{"the link is gone", LINKED_TWO,
	 LINKED_BEGUN "edit B x2 2;write 2;close 2 7;rm B x2\n= x2=absent\nuse C read x\n= x:B/C"},
	{"changed by both names", "step A\nout x x2\nstep B\nin x2\nout x2\nstep C\nin x\nout x\n",
	 "start A;start B;start C;creat A x 1;close 1 5;link A x x2;end A\n"
	 "= x=produced x2=produced\nedit B x2 2;write 2;close 2 7\n= \nedit C x 3\n= \n"
	 "write 3\n= x2:B/C"},
	{"not read by another name", LINKED_TWO,
	 LINKED_BEGUN "trunc B x2 2;close 2 0;end B\n= x2=committed\n! undeclared 0"},
	{"changed when who reads it has ended, which comes before",
	 "step A\nout x x2\nstep C\nin x\nout z\nrule z on_close\nstep B\nin x2 z\nout x2\n",
	 LINKED_BEGUN "? C open x go\nwait B write x2\nend C\n= !x2\n? B write x2 go"},
	{"changed by a name that is declared, read by one that nobody declares",
	 "step A\nout x\nstep B\nin x\nout x\nstep C\nout z\n",
	 "start A;start B;start C;creat A t 1;use A create t;close 1 5;link A t x\nuse C read t\n= "
	 "x=produced t:A/C"},
	{"below a directory that moves", TWO, "use B read d/x;usedir A move d\n= d/x:B/A"},
	{"below where a directory comes to", TWO,
	 "use B seek e/x;usedir A move d;usedir A replace e\n= e/x:B/A"},
	{"in a directory that was moved", TWO,
	 "usedir A move d;usedir A replace e\n= \nuse A read e/f/x;use B read e/f/x\n= e/f/x:A/B"},
	{"Python's compiled modules", TWO,
	 "use A replace __pycache__/m.pyc;use B replace __pycache__/m.pyc\n"
	 "use A replace p/__pycache__/m.pyc;use B replace p/__pycache__/m.pyc\n= \n"
	 "use A create x__pycache__;use B create x__pycache__\n= x__pycache__:A/B"},
	{"excluded", "step A\nout a\nexclude t*\nstep B\nout b\n",
	 "use A create t1;use B create t1\n= "},

	/* ---- private ---- */
	{"each its own", "step A\nprivate t\nout a\nstep B\nprivate t\nout b\n",
	 "use A seek t;use A own t;use B seek t;use B own t;use A read t;use B read t\n= "},
	{"of one step, looked for by another", "step A\nprivate t*\nout a\nstep B\nout b\n",
	 "use A own t1\n= \nuse B seek t1\n= t1:A/B"},
	{"of one step, looked for by another before", "step A\nprivate t*\nout a\nstep B\nout b\n",
	 "use B seek t1\n= \nuse A own t1\n= t1:A/B"},
	{"of one step, made by another for itself", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use A own t;use B create t;use B read t;use B remove t;use A own t\n= "},
	{"a directory of one step, made by another for all before",
	 "step A\nprivate d\nout a\nstep B\nout b\n",
	 "usedir B mkdir d;usedir A seek d;usedir A own d;usedir B read d;use B need d\n= "},
	{"and after", "step A\nprivate d\nout a\nstep B\nout b\n",
	 "usedir A own d;usedir B mkdir d;usedir B read d;use B need d\n= "},
	{"and after it was looked for", "step A\nprivate d\nout a\nstep B\nout b\n",
	 "usedir B seek d;usedir B mkdir d\n= \nusedir A own d\n= d:A/B"},
	{"and removed again", "step A\nprivate d\nout a\nstep B\nout b\n",
	 "usedir A own d;usedir B mkdir d;usedir B read d;usedir B remove d;use B seek d\n= "},
	{"removed again before", "step A\nprivate d\nout a\nstep B\nout b\n",
	 "usedir B mkdir d;usedir B remove d;use B seek d;usedir A own d\n= "},
	{"of one step, made and removed by another before",
	 "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use B create t;use B remove t;use B seek t;use A own t\n= "},
	{"of one step, looked for and then made by another before",
	 "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use B seek t;use B create t\n= \nuse A own t\n= t:A/B"},
	{"of one step, removed by another before", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use B remove t\n= \nuse A own t\n= t:A/B"},
	{"of one step, appended to by another", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use A own t;use B append t\n= t:A/B"},
	{"of one step, looked for by a later one",
	 "step A\nprivate t\nout a\nstep B\nin a\nout b\n", "use A own t;use B seek t\n= t:A/B"},
	{"of one step, and made as a symlink by another later",
	 "step A\nprivate t\nout a\nstep B\nout b\n", "use A own t;uselink B create t\n= t:A/B"},
	{"and before", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "uselink B create t;use A own t\n= "},
	{"and by a step after it", "step A\nprivate t\nout a\nstep B\nin a\nout b\n",
	 "use A own t;uselink B create t\n= "},
	{"a link of one step, made anew by another", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "uselink A own t\n= \nuse B create t\n= t:A/B"},
	{"and before", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use B create t\n= \nuselink A own t\n= t:A/B"},
	{"and before, of a directory", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "usedir B mkdir t;use B need t\n= \nuselink A own t\n= t:A/B"},
	{"and by a step after it", "step A\nprivate t\nout a\nstep B\nin a\nout b\n",
	 "uselink A own t;usedir B mkdir t\n= t:A/B"},
	{"and by one after it too early", "step A\nprivate t\nout a\nstep B\nin a\nout b\n",
	 "use B truncate t;uselink A own t\n= t:A/B"},
	{"and by a step before it", "step A\nout a\nstep B\nprivate t\nin a\nout b\n",
	 "uselink B own t;use A create t;use A remove t\n= "},
	{"and before, by a step before it", "step A\nout a\nstep B\nprivate t\nin a\nout b\n",
	 "use A create t;uselink B own t\n= "},
	{"and by one to which it is private, too",
	 "step A\nprivate t\nout a\nstep B\nprivate t\nin a\nout b\n",
	 "uselink A own t;uselink B own t;use A truncate t;use B truncate t\n= "},
	{"made a link when another has used it", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use A own t;use B create t\n= \nuselink A own t\n= t:A/B"},
	{"a link of one step, removed before another makes it anew",
	 "step A\nprivate t\nout a\nstep B\nin a\nout b\n",
	 "uselink A own t;use A own t;use B create t\n= "},
	{"a link of one step, replaced by a later one and by one after that",
	 "step A\nprivate t\nout a\nstep B\nin a\nout b\nstep C\nin b\nout c\n",
	 "use B create t;use C replace t;uselink A own t\n= t:A/C"},
	{"of a later step", "step A\nout a\nstep B\nprivate t\nin a\nout b\n",
	 "use A seek t;use B own t;use A seek t\n= "},
	{"what was there before, changed by another", "step A\nprivate t\nout a\nstep B\nout b\n",
	 "use A read t;use B truncate t\n= t:A/B"},

	/* ---- declared outputs ---- */
	{"by who makes and reads it", A_TO_B,
	 "use A create a;use B read a;use B read a;use A truncate a\n= "},
	{"not declared, but in the order of the batch", TWO, "use A create a;use B read a\n= "},
	{"not declared, and against it", TWO, "use A seek b\n= b:B/A"},
	{"not declared, of a later step, before it is made", A_TO_B, "use A seek b\n= "},
	{"not declared, of a later step that has made it: in a batch it was not there yet", A_TO_B,
	 "start B;creat B b 1\n= b=produced\nuse A read b\n= b:B/A\nuse A remove b\n= "},
	{"two make one file together", "step A\nout x\nstep B\nout x\n",
	 "start A;start B;creat A x 1\n= x=produced\nuse B write x;use B append x\n= "},
	{"two make one file each", "step A\nout x\nstep B\nout x\n",
	 "start A;start B;creat A x 1\n= x=produced\nuse B truncate x\n= x:A/B"},
	{"each file by one of them", "step A\nout d\nstep B\nout d\n",
	 "start A;start B;creat A d/x 1;creat B d/y 2\n= d=produced d/x=produced d/y=produced\n"
	 "use B create d/y;use A truncate d/x;usedir A mkdir d;usedir B mkdir d\n= "},

	{"looked for by one of two that make it, and then made by the one before", ORDERED,
	 "start A;start B;use B seek x\n= \ncreat A x 1\n= x:B/A x=produced\nuse B seek x\n= "},
	{"made by a rename", ORDERED,
	 "start A;start B;use B seek x;creat A y 1;close 1 5\n= \nmv A y x\n= x:B/A x=produced"},
	{"made as a link", ORDERED,
	 "start A;start B;use B seek x;creat A y 1;close 1 5\n= \nlink A y x\n= x:B/A x=produced"},
	{"and made by the one after", ORDERED,
	 "start A;start B;use A seek x\n= \ncreat B x 1\n= x=produced"},
	{"and made, and taken away again, by who has looked for it", ORDERED,
	 "start A;start B;use B seek x;creat B x 1\n= x=produced\nrm B x\n= x=absent\n"
	 "creat A x 2\n= x:B/A x=produced"},
	{"and made as a directory", "step A\nout a d\nstep B\nin a\nout d\n",
	 "start A;start B;use B seek d;mkdir A d\n= d=produced"},
	{"looked for in it", "step A\nout a d\nstep B\nin a\nout d\n",
	 "start A;start B;use B seek d/x;creat A d/x 1\n= d/x:B/A d=produced d/x=produced"},
	{"without an order, the one that the batch runs later", "step A\nout x\nstep B\nout x*\n",
	 "start A;start B;use B seek x;creat A x 1\n= x:B/A x=produced"},
	{"without an order, the one that the batch runs first", "step A\nout x\nstep B\nout x*\n",
	 "start A;start B;use A seek x;creat B x 1\n= x=produced"},
	{"looked for through a mount: told at the end", ORDERED,
	 "start A;start B;useguess B seek x;creat A x 1\n= x=produced\nend A;end B\n"
	 "= x:B/A"},
	{"or when it is made thereafter", ORDERED,
	 "start A;start B;useguess B seek x;end B\n= \ncreat A x 1\n= x:B/A x=produced"},
	{"or not, if it was to be opened to write", ORDERED,
	 "start A;start B;useguess B seek x;creat A x 1;openat B x 2 0\n= x=produced\nend A;"
	 "end B\n= "},
	{"found through a mount: told at the end", ORDERED,
	 "start A;start B;creat B x 1\n= x=produced\nuseguess A read x\n= \nend A\n= x:B/A"},
	{"or not, if it was to be opened to write", ORDERED,
	 "start A;start B;creat B x 1\n= x=produced\nuseguess A read x;openat A x 2 0;end A\n= "},
	{"found by one of two that make it, made by the one after", ORDERED,
	 "start A;start B;creat B x 1\n= x=produced\nuse A read x\n= x:B/A\nuse A read x\n= "},
	{"found, and made by the one before", ORDERED,
	 "start A;start B;creat A x 1\n= x=produced\nuse B read x\n= "},
	{"found, and made by itself", ORDERED,
	 "start A;start B;creat A x 1;openat B x 2 0\n= x=produced\nuse A read x\n= "},
	{"found without an order by the one that the batch runs first", BOTH,
	 "start A;start B;creat B x 1\n= x=produced\nuse A read x\n= x:B/A"},
	{"found without an order by the one that the batch runs later", BOTH,
	 "start A;start B;creat A x 1\n= x=produced\nuse B read x\n= "},

	{"from before the run, found by the later one, and then written by the one before", BOTH,
	 "present x 5;start A;start B;use B read x\n= \nopenat A x 1 5\n= x:B/A x=produced"},
	{"and by the one after", BOTH,
	 "present x 5;start A;start B;use A read x\n= \nopenat B x 1 5\n= x=produced"},
	{"or when it is over", BOTH, "present x 5;start A;start B;end A;use B read x\n= "},
	{"removed", BOTH, "present x 5;start A;start B;use B read x;rm A x\n= x:B/A"},
	{"renamed", BOTH, "present x 5;start A;start B;use B read x;mv A x y\n= x:B/A"},
	{"replaced", "step A\nout x y\nstep B\nout x\n",
	 "present x 5;start A;start B;use B read x;creat A y 1;close 1 5\n= y=produced\n"
	 "mv A y x\n= y=absent x:B/A x=produced"},
	{"given other permissions", BOTH,
	 "present x 5;start A;start B;use B read x;rights A x 1\n= x:B/A"},
	{"given other times or attributes", BOTH,
	 "present x 5;start A;start B;use B read x;rights A x 4\n= x:B/A"},
	{"truncated", BOTH,
	 "present x 5;start A;start B;use B read x;trunc A x 2\n= x:B/A x=produced"},
	{"found through a mount: told at the end", BOTH,
	 "present x 5;start A;start B;useguess B read x;openat A x 1 5\n= x=produced\n"
	 "end B\n= x:B/A"},
	{"or not, if it was to be opened to write", BOTH,
	 "present x 5;start A;start B;useguess B read x;openat A x 1 5;openat B x 2 5;end B\n"
	 "= x=produced"},
	{"written by the later one, and then found by the one before", BOTH,
	 "present x 5;start A;start B;openat B x 1 5\n= x=produced\nput B x 0 1\n= \nuse A read "
	 "x\n= x:B/A"},
	{"removed by the later one, and then looked for by the one before", BOTH,
	 "present x 5;start A;start B;rm B x\n= \nuse A seek x\n= x:B/A"},
	{"removed by the later one, and then made anew by the one before", BOTH,
	 "present x 5;start A;start B;rm B x\n= \ncreat A x 1\n= x:B/A x=produced"},
	{"or renamed", BOTH,
	 "present x 5;start A;start B;mv B x y\n= \ncreat A x 1\n= x:B/A x=produced"},
	{"removed by the one before, and then made anew by the later one", BOTH,
	 "present x 5;start A;start B;rm A x\n= \ncreat B x 1\n= x=produced"},
	{"truncated by another of its names", "step A\nout x y\nstep B\nout x y\nstep C\nout x y\n",
	 "present x 5;start A;start B;start C;link A x y;use C read x\n= y=produced x=produced\n"
	 "trunc B y 2\n= x:C/B"},
	{"given other permissions by the later one", BOTH,
	 "present x 5;start A;start B;rights B x 1\n= \nuse A read x\n= x:B/A"},
	{"its own part, looked at, and then written by the one before", BOTH,
	 "start A;start B;openat B x 1 0\n= x=produced\nuse B read x\n= \nopenat A x 2 0\n"
	 "= x:B/A"},
	{"its own part, and one that the later one has written", BOTH,
	 BOTH_OPEN "use A read x\n= \nput B x 5 1\n= \nuse A read x\n= x:B/A"},
	{"a directory, looked for, and then made by the one before: told at the end", BOTH,
	 "start A;start B;use B seek x;usedir A mkdir x;mkdir A x\n= x=produced\nend B\n"
	 "= x:B/A"},
	{"or renamed", BOTH,
	 "start A;start B;use B seek x;mkdir A y;mv A y x\n= x=produced\nend B\n= x:B/A"},
	{"or needed", BOTH,
	 "start A;start B;usedir B need x;usedir A mkdir x;mkdir A x\n= x=produced\nend B\n"
	 "= x:B/A"},
	{"or made by itself, too", BOTH,
	 "start A;start B;use B seek x;usedir A mkdir x;mkdir A x;usethere B mkdir x\n"
	 "= x=produced\nend B\n= "},
	{"a directory, made by the later one, and then found by the one before", BOTH,
	 "start A;start B;usedir B mkdir x;mkdir B x\n= x=produced\nusedir A read x\n= \nend A\n"
	 "= x:B/A"},
	{"or needed without a look", BOTH,
	 "start A;start B;usedir B mkdir x;mkdir B x\n= x=produced\nusedir A need x\n= x:B/A"},
	{"and then needed: it is taken for one that makes it, too", BOTH,
	 "start A;start B;usedir B mkdir x;mkdir B x\n= x=produced\nusedir A read x;usedir A need "
	 "x;end A\n= "},
	{"a directory, made by the one before, and then found", BOTH,
	 "start A;start B;usedir A mkdir x;mkdir A x\n= x=produced\nusedir B read x;end A;end B\n"
	 "= x=committed"},

	/* ---- declared by both, written by both ---- */
	{"parts that meet", BOTH, BOTH_OPEN "put A x 0 10;put B x 10 10;put A x 20 5\n= "},
	{"parts that overlap, told once", BOTH,
	 BOTH_OPEN "put A x 0 10;put B x 9 10\n= x:A/B\nput A x 9 10\n= "},
	{"a part in several pieces", BOTH,
	 BOTH_OPEN "put A x 0 1;put A x 1 1;put A x 8 1;put B x 2 6\n= \nput A x 3 1\n= x:B/A"},
	{"its own bytes again", BOTH, BOTH_OPEN "put A x 0 10;put A x 0 10;close 1 10\n= "},
	{"overlap, after the other has ended", BOTH,
	 BOTH_OPEN "put A x 0 10;close 1 10;end A;put B x 0 1\n= x:A/B"},
	{"both append", BOTH, BOTH_OPEN "add A x 0 5 1;add B x 5 5 1\n= x~A/B\nadd A x 10 5 1\n= "},
	{"appended to by the later one, and then cut by the one before to a greater length", BOTH,
	 BOTH_OPEN "add B x 0 5 1;cut A x 9 1\n= x:B/A"},
	{"cut by the one before, and then appended to by the later one", BOTH,
	 BOTH_OPEN "cut A x 9 1;add B x 9 5 1\n= "},
	{"one appends, the other writes", BOTH, BOTH_OPEN "put A x 0 5;add B x 5 5 1\n= x:A/B"},
	{"nothing but an empty file, and appending", BOTH, BOTH_OPEN "add A x 0 5 1\n= "},
	{"truncated below what the other wrote", BOTH,
	 BOTH_OPEN "put A x 0 10\n= \ncut B x 5\n= x:A/B"},
	{"truncated above that", BOTH, BOTH_OPEN "put A x 0 10;cut B x 10;cut B x 20\n= "},
	{"beyond what a later one has cut it to", "step A\nout x\nstep B\nout x\n",
	 "start A;start B;trunc B x 1;openat A x 2 0\n= x=produced\nput A x 0 1\n= x:B/A"},
	{"beyond what an earlier one has cut it to", "step A\nout x\nstep B\nout x\n",
	 "start A;start B;trunc A x 1;openat B x 2 0\n= x=produced\nput B x 0 1\n= "},
	{"cut to two lengths, the other way round", BOTH, BOTH_OPEN "cut B x 5;cut A x 9\n= x:B/A"},
	{"cut to two lengths, as in the batch", BOTH, BOTH_OPEN "cut A x 5;cut B x 9\n= "},
	{"cut to the same length", BOTH,
	 BOTH_OPEN "cut B x 9;cut A x 9;put A x 0 4;put B x 4 5\n= "},
	{"by an order: the later one over the earlier one's", ORDERED,
	 ORDERED_OPEN "put A x 0 9;put B x 0 5\n= "},
	{"by an order: the earlier one again", ORDERED,
	 ORDERED_OPEN "put A x 0 9;put B x 0 5;put A x 5 9\n= \nput A x 4 1\n= x:B/A"},
	{"by a pattern of both: what was there when the second one came",
	 "step A\nout x*\nstep B\nout x*\n",
	 "start A;start B;creat A x1 1\n= x1=produced\nopenat B x1 2 10\n= \nput B x1 10 5\n= "
	 "\nput B x1 9 1\n= x1:A/B"},
	{"by a pattern of both: appended to", "step A\nout x*\nstep B\nout x*\n",
	 "start A;start B;openapp A x1 1 0\n= x1=produced\nopenapp B x1 2 10;add B x1 10 5 1\n= "
	 "x1~A/B"},
	{"one is staged, and has made what the other wrote", BOTH_STAGED,
	 "start A;start B;openat A x 1 0\n= x=produced\nput A x 0 5;symlink B x\n= x:A/B"},
	{"one is staged, and the other made it before without a word of bytes", BOTH_STAGED,
	 "start A;start B;creat A y 1;close 1 5;mv A y x\n= x=produced\nsymlink B x\n= x:A/B"},
	{"one is staged, and ends first", BOTH_STAGED,
	 "start A;start B;found B x 5\n= x=produced\nopenat A x 1 5\n= \nput A x 4 1\n= x:B/A"},
	{"one is staged, ends first, and may have truncated it", BOTH_STAGED,
	 "start A;start B;found B x 5\n= x=produced\nopenat A x 1 5;put A x 5 1\n= x:B/A"},
	{"one is staged, ends first, and comes first", "step A\nout x\nstaged\nstep B\nout x\n",
	 "start A;start B;found A x 5\n= x=produced\nopenat B x 1 5;put B x 5 1\n= "},
	{"one is staged, and the other truncates what it made", BOTH_STAGED,
	 "start A;start B;found B x 5\n= x=produced\ntrunc A x 1\n= x:B/A"},
	{"one is staged, and only looked whether the other's can be written", BOTH_STAGED,
	 "start A;start B;edit A x 1;found B x 5\n= x=produced"},
	{"removed by a consumer, and then looked for by its producer", TAKEN,
	 TAKEN_BEGUN "rm B d/x\nuse A seek d/x\n= d/x=absent d/x:B/A"},
	{"moved away by a consumer", TAKEN,
	 TAKEN_BEGUN "mv B d/x y\nuse A seek d/x\n= d/x=absent d/x:B/A"},
	{"the consumer itself looks for it", TAKEN,
	 TAKEN_BEGUN "rm B d/x\nuse B seek d/x\n= d/x=absent"},
	{"a later step looks for it", TAKEN "step C\nin o\n",
	 TAKEN_BEGUN "rm B d/x\nuse C seek d/x\n= d/x=absent"},
	{"by several names", BOTH, BOTH_OPEN "put A x 0 5;link A x y\n= \nput B y 4 1\n= y:A/B"},
	{"anywhere", BOTH, BOTH_OPEN "put A x 0 18446744073709551615;put B x 7 1\n= x:A/B"},
	{"made anew after it was removed by its only writer", BOTH,
	 BOTH_OPEN "put A x 0 5;close 1 5;close 2 5;rm A x\n= x=absent\ncreat B x 3;put B x 0 5\n= "
		   "x=produced"},
};

static void run_scenario(void **state)
{
	const struct scenario *sc = *state;
	struct world w;

	world_init(&w, sc->workflow);
	world_script(&w, sc->script);
	world_release(&w);
}

/* ---- against who looks at all uses ---- */

enum { STEPS = 5, USES = 12, N_KINDS = 5 };

static const enum leat_use kinds[N_KINDS] = {LEAT_USE_READ, LEAT_USE_SEEK, LEAT_USE_APPEND,
					     LEAT_USE_WRITE, LEAT_USE_REMOVE};

struct use {
	int step;
	enum leat_use kind;
};

/* 0 no conflict between an earlier and a later use of one name, 1 their lines may be mixed, 2 one.
 */
static int judge(const struct world *w, const struct use *a, const struct use *b)
{
	bool changes = a->kind >= LEAT_USE_APPEND || b->kind >= LEAT_USE_APPEND;

	if (a->step == b->step || !changes || leat_is_upstream(w->m, a->step, b->step))
		return 0;
	return a->kind == LEAT_USE_APPEND && b->kind == LEAT_USE_APPEND ? 1 : 2;
}

static int judge_all(const struct world *w, const struct use *uses, int n)
{
	int worst = 0;

	for (int i = 0; i < n; i++) {
		int one = judge(w, &uses[i], &uses[n]);

		worst = one > worst ? one : worst;
	}
	return worst;
}

static void random_workflow(char *text, size_t size, unsigned *seed)
{
	int n = 0;

	for (int i = 0; i < STEPS; i++) {
		n += snprintf(text + n, size - (size_t)n, "step S%d\nout o%d\n", i, i);
		for (int j = 0; j < i; j++)
			if (rand_r(seed) % 4 == 0)
				n += snprintf(text + n, size - (size_t)n, "in o%d\n", j);
	}
}

/* Any uses of one name: told is the first that can be wrong, and never one that cannot; what is
 * said to be no news is none. */
static void test_against_all_uses(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		unsigned seed = round;
		struct use uses[USES];
		bool conflict = false, mixed = false;
		char text[512], expected[2] = "";
		struct world w;

		random_workflow(text, sizeof(text), &seed);
		world_init(&w, text);
		for (int i = 0; i < USES && !conflict; i++) {
			int verdict;
			bool news;

			uses[i] = (struct use){rand_r(&seed) % STEPS,
					       kinds[(unsigned)rand_r(&seed) % N_KINDS]};
			verdict = judge_all(&w, uses, i);
			news = leat_stream_use_is_news(w.s, uses[i].step, "t", uses[i].kind, false);
			*expected = verdict == 2 ? ':' : verdict == 1 && !mixed ? '~' : 0;
			if (news)
				leat_stream_apply(w.s, &(struct leat_event){.kind = LEAT_EV_USE,
									    .step = uses[i].step,
									    .name = "t",
									    .code = uses[i].kind});
			if (!!*expected != !!*w.said || (*expected && !strchr(w.said, *expected)))
				fail_msg("round %u, use %d (%s): expected '%s', told \"%s\"", round,
					 i, news ? "news" : "no news", expected, w.said);
			world_said(&w);
			conflict = verdict == 2;
			mixed |= verdict == 1;
		}
		world_release(&w);
	}
}

int main(void)
{
	enum { N = sizeof(scenarios) / sizeof(scenarios[0]) };
	static struct scenario copies[N];
	static struct CMUnitTest tests[N + 1];

	memcpy(copies, scenarios, sizeof(copies));
	for (size_t i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){.name = copies[i].name,
					       .test_func = run_scenario,
					       .initial_state = &copies[i]};
	tests[N] = (struct CMUnitTest)cmocka_unit_test(test_against_all_uses);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
