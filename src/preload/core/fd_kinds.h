/* One byte a descriptor: whose it is. Descriptors of this library's own are hidden: to the program
 * they are not there. */
#ifndef LEAT_PRELOAD_CORE_FD_KINDS_H
#define LEAT_PRELOAD_CORE_FD_KINDS_H

#include "shm/word.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>

#define LEAT_MAX_FD 65536

/* 0: not ours, else enum leat_kind + 1. The stubs test it before they save a single register, so
 * calls on other descriptors cost a few ns. */
extern uint8_t leat_fd_kinds[LEAT_MAX_FD];

/* Kind of a descriptor of ours that the program must not see. */
#define LEAT_FD_KIND_HIDDEN 255
/* Of one that was open when the program started, and that nobody has asked the daemon about. */
#define LEAT_FD_KIND_UNASKED 254
/* Of one that a thread is just asking about. */
#define LEAT_FD_KIND_ASKING 253

/* Kind of a descriptor; LEAT_KIND_NONE also for hidden ones, and as long as nobody has asked. */
static inline enum leat_kind leat_fd_kind(int fd)
{
	uint8_t kind = (unsigned)fd < LEAT_MAX_FD ? leat_byte_get(&leat_fd_kinds[fd]) : 0;

	return kind && kind < LEAT_FD_KIND_ASKING ? (enum leat_kind)(kind - 1) : LEAT_KIND_NONE;
}

/* Is it, perhaps, one of ours, which is still to be found out? */
static inline bool leat_fd_is_unasked(int fd)
{
	uint8_t kind = (unsigned)fd < LEAT_MAX_FD ? leat_byte_get(&leat_fd_kinds[fd]) : 0;

	return kind == LEAT_FD_KIND_UNASKED || kind == LEAT_FD_KIND_ASKING;
}

/* Does it concern us, or may it? */
static inline bool leat_fd_may_be_ours(int fd)
{
	return leat_fd_kind(fd) || leat_fd_is_unasked(fd);
}

static inline bool leat_fd_hidden(int fd)
{
	return (unsigned)fd < LEAT_MAX_FD &&
	       leat_byte_get(&leat_fd_kinds[fd]) == LEAT_FD_KIND_HIDDEN;
}

/* Has it a number that a kind can be kept of? */
static inline bool leat_fd_in_range(int fd)
{
	return fd >= 0 && fd < LEAT_MAX_FD;
}

/* Set its byte in leat_fd_kinds, other than 0. */
void leat_fd_set_kind(int fd, uint8_t kind);

/* No descriptor from here on has a kind. */
int leat_fd_end(void);

/* Move a descriptor of ours out of the program's way and hide it; returns its
 * new number, the old one is closed. */
int leat_fd_hide(int fd);
/* Hide it where it is. 0, -EMFILE: its number is too high, or -EBADF: nothing is open there. */
int leat_fd_hide_here(int fd);
/* Close a hidden descriptor. */
void leat_fd_unhide(int fd);
/* The program has closed it: its number is the program's. */
void leat_fd_reveal(int fd);

#endif
