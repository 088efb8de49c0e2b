/* The hooks of libleat.so in a test: called as the engine calls them, over system calls that a test
 * may answer itself, and with a small daemon that lets every call on its files go on. */
#ifndef LEAT_TESTS_PRELOAD_WORLD_H
#define LEAT_TESTS_PRELOAD_WORLD_H

#include "preload/core/call.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

/* Set: asked before each system call of the hooks; true: *result is what the kernel says. Of any
 * thread. */
extern bool (*world_raw)(const struct leat_syscall *c, long *result);

/* The test's own segment, which the hooks map as well. */
extern struct leat_shm *world_shm;

/* A session directory, a workflow's directory and a daemon; the hooks are started. For the whole
 * program, once. 0 or -1. */
int world_begin(void **state);
int world_end(void **state);

/* A file of that kind, fresh; returns its slot. What opens it first has to make it. */
uint32_t world_file(const char *name, enum leat_kind kind);
struct leat_shm_file *world_record(uint32_t slot);

/* How many CLOSED there were for that description; how many descriptions there were. */
unsigned world_closed(uint64_t ofd);
uint64_t world_ofds(void);
/* How often a descriptor was asked about. */
unsigned world_identified(void);
/* Descriptors that were open before the hooks began: of a plain file that only counts, and of one
 * that has the lock of a producer's description. */
int world_log(void);
int world_held(void);
/* Until the daemon has heard all that was sent on this thread. */
void world_settle(void);

/* As a program of the workflow. */
int world_open(const char *name, int flags);
long world_write(int fd, const void *data, size_t length);
long world_close(int fd);
/* A fork as libc makes it: 0 in the child. */
int world_fork(void);

#endif
