/* A real daemon and scripted clients of it. */
#ifndef LEAT_TESTS_PEER_H
#define LEAT_TESTS_PEER_H

#include "daemon/daemon.h"
#include "shm/state.h"
#include "stream/stream.h"
#include "wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* One connection, as one thread of a client has it. */
struct peer {
	int fd;
	int store_fd;
	int shm_fd;
	struct leat_shm *shm;
	char event[512]; /* the last one that came by, if it is not empty */
	int event_error;
	_Alignas(8) char buf[LEAT_WIRE_MAX];
};

/* A daemon, its workflow and its control connection. */
struct world {
	char base[64];
	char dir[80];
	char runtime[80];
	char log[80];
	int dir_fd;
	struct leat_workflow *wf;
	struct leat_daemon_options options;
	pid_t pid;
	struct peer control;
};

/* An open file as the library has one. */
struct file {
	int fd;
	unsigned slot;
	uint64_t ofd;
	uint32_t kind;
};

/* The next message, which must be of that type and size; EVENTs are put aside. */
void *peer_receive(struct peer *p, enum leat_msg_type type, size_t fixed);
/* Send what is in buf. */
void peer_say(struct peer *p);
void peer_dial(struct world *w, struct peer *p);
/* The welcome's error; descriptors and segment are kept if it is 0. Of a HELLO that was sent. */
int peer_take_welcome(struct peer *p);
/* The same, and the HELLO. */
int peer_hello(struct peer *p, const char *step, const char *workflow, unsigned control);
/* Connect as a process of the step. */
void peer_meet(struct world *w, struct peer *p, const char *step);
void peer_part(struct peer *p);
/* The same of one that was allocated, with its memory. */
void peer_free(struct peer *p);
const struct leat_msg_resolved *peer_resolve(struct peer *p, enum leat_op op, const char *path,
					     unsigned flags);
const char *peer_path(const struct leat_msg_resolved *m);
/* Send a message without strings. */
void peer_report(struct peer *p, const struct leat_msg *report);
void peer_closed(struct peer *p, unsigned slot, uint64_t ofd);
/* Questions; the error answered. */
int peer_ask_read(struct peer *p, unsigned slot, uint64_t offset, uint64_t length);
int peer_ask_whole(struct peer *p, unsigned slot);
int peer_ask_write(struct peer *p, unsigned slot);
int peer_ask_space(struct peer *p, unsigned slot, uint64_t attempt, uint64_t length);
int peer_ask_launch(struct peer *p, unsigned step);
int peer_change(struct peer *p, enum leat_change change, const char *a, const char *b);
/* The next part of a listing, behind its first `*cookie` names: those but for hidden ones, joined,
 * in `out`; the error answered. */
int peer_list(struct peer *p, const char *path, uint64_t *handle, uint64_t *cookie, char *out,
	      size_t size);
/* STEP_START, STEP_END, STEP_DONE; the error answered. */
int world_step(struct world *w, enum leat_msg_type type, const char *step, int status);
/* Steps A and B start, with a process each. */
void world_meet_both(struct world *w, struct peer *a, struct peer *b);
void peer_exiting(struct peer *p, int status);
/* The EVENT put aside, else the next one. */
const char *world_event(struct world *w, int *error);
/* The JSON that answers STATUS or FINISH; freed by the caller. */
char *world_text(struct world *w, enum leat_msg_type type, int *error);
/* 0 and the file, or the error answered. */
int peer_try_open(struct world *w, struct peer *p, const char *path, unsigned flags,
		  struct file *f);
/* The same, asking again while it is told to wait. */
struct file peer_open(struct world *w, struct peer *p, const char *path, unsigned flags);
void peer_write(struct file *f, const char *text);
/* Close and say so. */
void peer_close(struct peer *p, struct file *f);
/* Create, write, close. */
void peer_make(struct world *w, struct peer *p, const char *path, const char *text);
/* `path` in the workflow's directory holds `text`; NULL: is not there. */
void world_check_disk(struct world *w, const char *path, const char *text);
void world_start(struct world *w);
/* FINISH, and whether the summary says that all went well. */
void world_finish(struct world *w, bool ok);
/* Ends the daemon and looks for what it left; replays its log. */
int world_teardown(void **state);
/* Run `body` as a process of the step, which says EXITING if `announce` and then
 * exits with status `how`, or dies by signal -how. */
void world_in_process(struct world *w, const char *step,
		      void (*body)(struct world *, struct peer *), bool announce, int how);
/* Such bodies: leave mid open with "partial" in it; make out/final with "result". */
void write_mid(struct world *w, struct peer *p);
void write_final(struct world *w, struct peer *p);
/* Step A makes mid (on_close:1), grow (no_update), all of parts and late
 * (on termination); B reads them and makes out/final, which is permanent. */
struct leat_workflow *world_flow(void);
/* A world with a daemon for `wf`, which it owns. */
void world_setup(void **state, struct leat_workflow *wf, bool serve);
/* The same with so much memory for files. */
void world_setup_small(void **state, struct leat_workflow *wf, uint64_t memory_bytes);

#endif
