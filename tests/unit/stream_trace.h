/* What a trace of actions leaves behind: files, and what was done to them. Only
 * for the oracle. */
#ifndef LEAT_TESTS_STREAM_TRACE_H
#define LEAT_TESTS_STREAM_TRACE_H

#include "stream_oracle.h"

enum { MAX_OBJECTS = 16, NONE = -1 };

/* What the trace did to one file, in order. */
struct act {
	enum { OPENED, CLOSED_BY, PUBLISHED } what;
	int at; /* index in the trace */
	int step, process, ofd;
	uint64_t length;
	bool abnormal;
	bool undid;  /* the open undid an empty close */
	bool intact; /* of a description that has changed nothing */
	bool none;   /* and says nothing */
};

struct object {
	struct act acts[MAX_TRACE];
	int n;
	uint64_t extent; /* bytes [0, extent) were written */
	uint64_t size;
	bool foreign;
	bool is_dir;
};

struct view {
	const struct oracle *o;
	struct object objects[MAX_OBJECTS];
	int n_objects;
	int name[MAX_NAMES];      /* object it shows, or NONE */
	int of_ofd[MAX_OFDS + 1]; /* object an open description was opened on; NONE closed */
};

/* What became of a close: does it count, does it not (yet, or ever)? */
enum fate { COUNTS, PENDING, NEVER_COUNTS, CUTS };

static inline bool is_in(unsigned set, int step)
{
	return set >> step & 1;
}

/* How often `verb` was done by `step`. */
int trace_count(const struct oracle *o, enum verb verb, int step);
/* How many instances `step` has. */
int trace_instances(const struct oracle *o, int step);
/* How many began / ended. */
int trace_started(const struct oracle *o, int step);
int trace_ended(const struct oracle *o, int step);
/* All ended, and none is to come. */
bool trace_step_over(const struct oracle *o, int step);
bool trace_step_failed(const struct oracle *o, int step);
/* Was description `ofd` opened, and has it changed nothing? */
bool trace_is_intact(const struct oracle *o, int ofd);
/* Descriptions open for writing. */
int trace_open_count(const struct object *obj);
/* When process {step, process} was gone (and whether it was killed), or the length of the trace. */
int trace_process_end(const struct oracle *o, int step, int process, bool *killed);
/* Was the last end of a description or of its process an abnormal one? */
bool trace_is_cut(const struct view *v, const struct object *obj);
/* Was a process killed in writing it when its step was over? */
bool trace_is_lost(const struct view *v, const struct object *obj);
/* Is there an empty close that may yet count? */
bool trace_has_pending(const struct view *v, const struct object *obj);
/* Closes of `step` that count; with `every`, empty ones too. */
int trace_closes_by(const struct view *v, const struct object *obj, int step, bool every);
/* Did `step` give the finished file its name? */
bool trace_published_by(const struct object *obj, int step);
/* Does each close count, however empty? */
bool trace_every_counts(const struct plan_name *n);
/* Closes that count for `n`, but those of step `except`. */
int trace_closes_for(const struct view *v, const struct object *obj, const struct plan_name *n,
		     int except);
/* What the trace leaves. */
void trace_look(struct view *v, const struct oracle *o);
/* What became of the close obj->acts[i]. */
enum fate trace_fate_of(const struct view *v, const struct object *obj, int i);

#endif
