/* Between the program's process and its server, before the program starts. */
#ifndef LEAT_MOUNT_DAEMON_HANDSHAKE_H
#define LEAT_MOUNT_DAEMON_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A result (0 or -errno) with a text. 0 or -errno. */
int leat_handshake_send(int fd, int result, const char *text);
/* Up to `size` bytes, and with them `n_fds` (at most 2) descriptors, or none: then *fds stay as
 * they are. Bytes, 0: the other is gone, or -errno. */
ssize_t leat_handshake_receive_with(int fd, void *data, size_t size, int *fds, size_t n_fds);
/* The other's result, with the exchanges it asks for before made; *text (PATH_MAX bytes) is set
 * when it is 0. -EPIPE: the other is gone. */
int leat_handshake_receive(int fd, char *text);
/* Before the result: `new` (taken over) is to take the place of descriptor `number`, in the other
 * process as in this one. 0 or -errno. */
int leat_handshake_exchange(int fd, int number, int new);
/* Bytes with a descriptor. 0 or -errno. */
int leat_handshake_send_with(int fd, const void *data, size_t size, int sent);
/* A descriptor, with a flag. 0 or -errno. */
int leat_handshake_send_fd(int fd, int sent, bool flag);
/* The descriptor, or -errno. */
int leat_handshake_receive_fd(int fd, bool *flag);

#endif
