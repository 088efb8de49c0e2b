/* What the files of the preload tracer share: taking records from the trace buffer, and making a
 * trace of them. One thread. */
#ifndef LEAT_TRACE_PRELOAD_INTERNAL_H
#define LEAT_TRACE_PRELOAD_INTERNAL_H

#include "shm/tracebuf.h"
#include "trace/sink.h"
#include "trace/who.h"

#include <stdbool.h>
#include <stdint.h>

#define LEAT_SECOND_NS INT64_C(1000000000)

/* --- files.c: which files and handles there are, and what is kept of them --- */

struct leat_trace_files;

/* NULL: no memory. The sink is borrowed. */
struct leat_trace_files *leat_trace_files_new(const struct leat_trace_sink *sink);
void leat_trace_files_free(struct leat_trace_files *f);

struct leat_trace_handle {
	uint64_t inode;
	uint32_t flags; /* of its open */
	bool kept;      /* the filter lets it through */
};

/* The file's id in the trace; `is_new`: it was just made, whatever had its inode before. 0: it is
 * not known which (`inode` 0), or there is no memory. */
uint64_t leat_trace_files_inode(struct leat_trace_files *f, const struct leat_tracebuf_record *r,
				bool is_new);
/* The file has lost its last name: what has its inode next is another. */
void leat_trace_files_gone(struct leat_trace_files *f, const struct leat_tracebuf_record *r);
/* Does the filter let the file through? `device` 0: unknown. */
bool leat_trace_files_kept(struct leat_trace_files *f, const char *path, uint64_t device);
/* 0 or -ENOMEM. */
int leat_trace_files_open(struct leat_trace_files *f, uint64_t id,
			  const struct leat_trace_handle *handle);
/* NULL: its open was lost. Borrowed until it is closed. */
const struct leat_trace_handle *leat_trace_files_find(struct leat_trace_files *f, uint64_t id);
void leat_trace_files_close(struct leat_trace_files *f, uint64_t id);

/* --- emit.c: records of the trace --- */

struct leat_trace_emitter {
	struct leat_trace_sink sink;
	struct leat_trace_files *files; /* owned */
	struct leat_trace_who *who;     /* owned */
	int64_t wall_ns;                /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	char *text[2];                  /* owned, `capacity` bytes each: names put together */
	size_t capacity;
};

/* 0 or -ENOMEM. */
int leat_trace_emitter_init(struct leat_trace_emitter *e, const struct leat_trace_request *request);
void leat_trace_emitter_release(struct leat_trace_emitter *e);
/* Look at the wall clock, which may have been set. */
void leat_trace_emitter_tick(struct leat_trace_emitter *e);
/* A call, of a process that the filter lets through. `texts` as the record has. */
void leat_trace_emit_call(struct leat_trace_emitter *e, const struct leat_tracebuf_record *r,
			  const char *const *texts);
/* The last close of a handle by a process that has died. */
void leat_trace_emit_close(struct leat_trace_emitter *e, int32_t pid, uint64_t handle,
			   int64_t time_ns);
/* Times of `p` are CLOCK_MONOTONIC. */
void leat_trace_emit_process(struct leat_trace_emitter *e, const struct leat_trace_process *p);
/* --- processes.c --- */

struct leat_trace_processes;

struct leat_trace_processes *leat_trace_processes_new(struct leat_tracebuf *tracebuf,
						      struct leat_trace_emitter *emitter);
void leat_trace_processes_free(struct leat_trace_processes *l);
/* A record about processes, of the process with that index. */
void leat_trace_processes_note(struct leat_trace_processes *l, uint32_t process,
			       const struct leat_tracebuf_record *r, const char *const *texts);
/* Do calls of the process with that index pass the filter? */
bool leat_trace_processes_kept(const struct leat_trace_processes *l, uint32_t process);
/* Look who is new and who has died, at `now_ns`. */
void leat_trace_processes_watch(struct leat_trace_processes *l, int64_t now_ns);
/* `pid` has ended so. */
void leat_trace_processes_reaped(struct leat_trace_processes *l, int32_t pid, int status);
/* Is there a server that records what others do? */
bool leat_trace_processes_serve(const struct leat_trace_processes *l);
/* Is the process dead, since before `before_ns`? */
bool leat_trace_processes_dead(const struct leat_trace_processes *l, uint32_t process,
			       int64_t before_ns);
/* All its records have been taken: close what it left open, and forget it. */
void leat_trace_processes_bury(struct leat_trace_processes *l, uint32_t process);
/* Nobody is left: close what was sent and never received. */
void leat_trace_processes_end(struct leat_trace_processes *l);
/* Say what has not been seen. Once, at the end. */
void leat_trace_processes_report(struct leat_trace_processes *l);

/* --- collect.c: taking, in the order of time --- */

struct leat_trace_collector;

struct leat_trace_collector *leat_trace_collector_new(struct leat_tracebuf *tracebuf,
						      struct leat_trace_emitter *emitter,
						      struct leat_trace_processes *processes);
void leat_trace_collector_free(struct leat_trace_collector *c);
/* Take what is there; `all`: nobody records any more. How many records it were. */
uint64_t leat_trace_collect(struct leat_trace_collector *c, bool all);

/* --- session.c: all of it --- */

struct leat_trace_session {
	struct leat_tracebuf *tracebuf; /* owned */
	int tracebuf_fd;
	struct leat_trace_emitter emitter;
	struct leat_trace_processes *processes; /* owned */
	struct leat_trace_collector *collector; /* owned */
};

/* 0, or -errno after a message; to be released in any case. */
int leat_trace_session_init(struct leat_trace_session *s, const struct leat_trace_request *request);
void leat_trace_session_release(struct leat_trace_session *s);
/* Take what is there now: how many records. */
uint64_t leat_trace_session_round(struct leat_trace_session *s);
/* Until the next round, after one that took so many. */
void leat_trace_session_sleep(uint64_t taken);
/* Take what is left, and say what was not seen. */
void leat_trace_session_finish(struct leat_trace_session *s);

#endif
