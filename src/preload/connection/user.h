/* A process of root's run that becomes another user. The daemon's socket lies in a
 * directory that only the run's owner may search: descriptors taken while the process was
 * root, hidden, and handed on to the programs it starts, lead such a process to it. Few
 * programs become somebody else: they are taken when the first call comes that leads there. */
#ifndef LEAT_PRELOAD_CONNECTION_USER_H
#define LEAT_PRELOAD_CONNECTION_USER_H

#include "preload/connection/client.h"

#include <stdbool.h>
#include <stddef.h>

/* --- init only --- */

/* Take what the program before this one handed on. */
void leat_user_inherit(char **envp);
/* Who this process is; where the calls that change it cannot all be seen, root takes its
 * descriptors now. */
void leat_user_begin(void);

/* --- any time; async-signal-safe --- */

/* O_PATH descriptors of the daemon's socket and of the workflow's directory; -1: none. */
int leat_user_socket(void);
int leat_user_dir(void);
/* Where the number of such a descriptor is kept, or NULL if `fd` is none. */
int *leat_user_holder(int fd);

/* Take them, while there is one thread, and before the user changes. */
void leat_user_take(void);
/* This process is, perhaps, another user than before. False: it never was root's. */
bool leat_user_changed(void);

void leat_user_note(struct leat_user_snapshot *snapshot);
/* True if the process is still the user that was noted. */
bool leat_user_is_same(const struct leat_user_snapshot *snapshot);

/* True if the user this process has become cannot get to the workflow's directory by its path, but
 * only from where it is. */
bool leat_user_is_shut_out(void);

/* Around an exec: a descriptor of the store that stays open in the program to come, or -errno. */
void leat_user_exec_begin(void);
int leat_user_store_for_exec(int store_fd);
void leat_user_exec_failed(void);

/* Before an exec of a program that could not find its way to the daemon by itself: let it inherit
 * the descriptors that lead there. True: `variable`, which has their numbers, is to be in its
 * environment. */
bool leat_hand_over(char *variable, size_t size);
/* That exec failed: the descriptors are closed by the next one again. */
void leat_hand_over_failed(void);

/* True if the paths by which root reaches the daemon are shut for this process. */
bool leat_user_is_other(void);

#endif
