/* Access control lists of POSIX, as the kernel takes them (linux/posix_acl_xattr.h). */
#ifndef LEAT_BASE_ACL_H
#define LEAT_BASE_ACL_H

#include <stddef.h>

#define LEAT_ACL_NAME "system.posix_acl_access"

/* The bits 0777 of the mode that a file has with the list of `size` bytes, or -1: it is none.
 * Async-signal-safe, any thread. */
int leat_acl_mode(const void *list, size_t size);

#endif
