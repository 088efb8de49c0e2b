/* A small world to try the rules in: a workflow built in the test, the stream
 * under test, and a log of what it said. Helpers fail the test on errors. */
#ifndef LEAT_TESTS_STREAM_WORLD_H
#define LEAT_TESTS_STREAM_WORLD_H

#include "stream/stream.h"

struct world {
	struct leat_workflow *wf;
	struct leat_matcher *m;
	struct leat_stream *s;
	uint64_t next_waiter;
	char said[8192]; /* since the last world_said: "x=committed !x ..." */
	unsigned violations[LEAT_VIOLATION_KINDS];
};

/* A workflow in lines:
 *   step A
 *   in  x*  dir
 *   out y z
 *   rule y on_close:2 no_update     commit[:N], then update or no_update
 *   rule z on_file=y,w update
 *   dir  d n_files:3 no_update      as `rule`, for a `dirname`
 *   exclude tmp*
 *   staged                          the step runs without interception
 *   at  d                           its directory, of an instance of an ensemble
 *   view x* some:3 0=x* 1=y*        it sees x* in versions (all, some:N, latest; batch: by that
 *                                   name), which step number 0 makes as x*, and 1 as y*
 *   relaunch always                 or never
 *   nprocs 4                        it is an MPI job
 *   nwriters 2                      of which so many ranks do I/O
 */
struct leat_workflow *world_parse(const char *text);
void world_init(struct world *w, const char *text);
void world_release(struct world *w);

/* Apply an event given in words, steps by name, as in
 *   "start A", "end A", "fail A", "closed A", "exit A 7", "killed A 7",
 *   "present x", "present x/", "mkdir A d", "symlink A x", "link A x y" (y is new),
 *   "open A x 1" (step, name, ofd; pid = 100 + step unless @pid follows),
 *   "edit A x 1" (an open that changes nothing; "write 1" is its first change),
 *   "stray x 1" (an open by a process of no step), "creat A x 1", "trunc A x 1", "close 1 10"
 * (length), "abort 1 10", "extent x 0 10", "cut A x 5", "mv A x y", "mvdir A d e", "rm A x".
 * "take B x 1" (step, name as it sees it, ofd), "look 1" (at a few
 * bytes of it), "glance 1 80" (up to there), "had 1 80 80" (which was all there was), "read 1",
 * "back 1", "over B" (its launch), "again B" (the next one begins). A name opened stands for the
 * version that the step would make. "take B@3 x 1" is rank 3, "leave B@3 7" the end of process 7,
 * its last. Several events are separated by ";". */
void world_do(struct world *w, const char *events);
/* One event of the above, into `ev`; strings live in `buf` (256 bytes). */
void world_event(const struct world *w, const char *text, struct leat_event *ev, char *buf);

/* Ask as step of that name; no waiter is remembered. */
enum leat_answer world_ask(struct world *w, const char *step, enum leat_call call, const char *name,
			   uint64_t offset, uint64_t length);
/* Ask as a new waiter, which is returned; the answer must be LEAT_WAIT. */
uint64_t world_wait(struct world *w, const char *step, enum leat_call call, const char *name,
		    uint64_t offset, uint64_t length);
/* Run a script, one line after another:
 *   event;event            as for world_do, and
 *   wait B open x [o l]    ask as a new waiter; must wait
 *   = x=committed !x       what was said since the last such line, exactly; x@2 is the second
 *                          version of x, -x is one that nobody wants any more
 *   @ B x x@3              the version that B (or rank 3 of it: B@3) is given, or would be, as
 *                          x; "none", or "gone"
 *   show B                 "+x@3" is said for each version that it is shown
 *   below d                "*d/x" is said for d and each name known below it
 *   outputs B              the same for each name that B may make, up to one called "last"
 *   next B x               the file its next launch is for; "none"
 *   ? B open x [o l] go    ask; calls open look read whole write list remove launch more,
 *                          answers go stream wait noent failed
 *   ! closes 1             so many violations of that kind so far: rewrite late closes
 *                          undeclared size again linked listed
 *   invalid EVENT          the event must be refused */
void world_script(struct world *w, const char *script);
/* What was said since the last call; valid until the next event. */
const char *world_said(struct world *w);
int world_step(const struct world *w, const char *name);

#endif
