/* The model checker: every order of what the steps of a workflow may do, within bounds, played
 * to the rules themselves (stream/stream.h), and what they say compared with what the declared
 * rules mean. What is looked for, what the bounds leave out and why the reductions are sound:
 * docs/explanation/model-checker.md. One thread. */
#ifndef LEAT_STREAM_VERIFY_VERIFY_H
#define LEAT_STREAM_VERIFY_VERIFY_H

#include "stream/stream.h"

/* How a producer writes a file. */
enum leat_verify_style {
	LEAT_VERIFY_DIRECT,    /* open, write, close */
	LEAT_VERIFY_TWICE,     /* open, close empty, open again, write, close */
	LEAT_VERIFY_TEMPORARY, /* under another name, then rename */
};

struct leat_verify_bounds {
	unsigned closes;   /* of a file by each producer where its rule gives no number; 0: 1 */
	unsigned files;    /* at most so many in a directory or for a pattern; 0: 2 */
	unsigned open;     /* files a step is at work with at one time; 0: 2 */
	unsigned failures; /* steps that may fail, at any moment */
	uint64_t states;   /* give up after so many; 0: a million */
	enum leat_verify_style style;
	bool looks;     /* consumers stat a file before they open it */
	bool empty;     /* producers write nothing to their files */
	bool omissions; /* producers may leave files out */
	bool children;  /* a step may end while a child of it has files open */
	bool full;      /* without the reductions */
};

enum leat_verify_kind {
	LEAT_VERIFY_DEADLOCK,   /* steps wait for each other */
	LEAT_VERIFY_STARVATION, /* a call waits although nothing is in its way any more */
	LEAT_VERIFY_EARLY,      /* incomplete data is passed off as complete */
	LEAT_VERIFY_WRONG,      /* the rules say something else that they must not */
	LEAT_VERIFY_VIOLATION,  /* the programs break what the workflow file promises */
	LEAT_VERIFY_KINDS
};

/* Something found: the first of its kind with the same steps and files. */
struct leat_verify_finding {
	enum leat_verify_kind kind;
	bool shortest;     /* there is no shorter way to it */
	unsigned length;   /* actions on the way */
	uint32_t *way;     /* owned by the search */
	uint64_t stuck;    /* DEADLOCK: these steps, a bit each */
	uint64_t waits[2]; /* for this: a bit for each task whose call waits */
	char text[200];    /* in words */
};

enum { LEAT_VERIFY_MAX_FINDINGS = 32 };

struct leat_verify_result {
	uint64_t states;
	uint64_t transitions;
	uint64_t ends;  /* states where all steps have ended */
	unsigned depth; /* actions on the longest way that was gone */
	bool complete;  /* all states within the bounds were seen */
	unsigned n_findings;
	struct leat_verify_finding findings[LEAT_VERIFY_MAX_FINDINGS];
};

struct leat_verify;

/* Prepare; `m` and `wf` are borrowed. NULL and errno: ENOMEM, E2BIG when the workflow has more
 * steps, files or uses of files than the search has space for. */
struct leat_verify *leat_verify_new(struct leat_matcher *m, const struct leat_workflow *wf,
				    const struct leat_verify_bounds *bounds);
void leat_verify_free(struct leat_verify *v);

/* Search, once. 0 or -ENOMEM. The findings are valid until leat_verify_free. */
int leat_verify_run(struct leat_verify *v, struct leat_verify_result *result);

/* Tell how a finding comes about: on `people`, if not NULL, a line an action; on `log`, if not
 * NULL, the event log that `leat replay` reads. 0 or -errno. */
int leat_verify_trace(struct leat_verify *v, const struct leat_verify_finding *f, FILE *people,
		      FILE *log);

/* "deadlock"... */
const char *leat_verify_kind_name(enum leat_verify_kind kind);

#endif
