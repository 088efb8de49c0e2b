/* Who has a node open. */
#ifndef LEAT_MOUNT_FILES_OPEN_FILES_H
#define LEAT_MOUNT_FILES_OPEN_FILES_H

#include "mount/daemon/call.h"
#include "mount/names/handle.h"

/* Is nothing to be waited for? */
bool leat_handle_is_final(const struct leat_mount_call *call, const struct leat_handle *h);
/* Attach to a node: it was created with the open. */
void leat_handle_attach(struct leat_handle *h, fuse_ino_t ino);
/* Undo it. */
void leat_handle_detach(struct leat_handle *h);
/* Let the kernel read the file itself, where it can and the file is `final`, or is so
 * read already. True if it does. */
bool leat_handle_back(struct leat_handle *h, bool final);
/* A descriptor of some open file of the node, duplicated, of where that is now, and the file's
 * slot; -1: there is none. */
int leat_handle_any(struct leat_mount_call *call, fuse_ino_t ino, uint32_t *slot);
/* Somebody was shown the current size of a file that may be growing. */
void leat_handle_sized(struct leat_mount_call *call, fuse_ino_t ino, uint64_t size);
/* Somebody asks for the names of a directory. True: it is open, and nobody has asked yet. */
bool leat_handles_list(struct leat_mount *m, fuse_ino_t ino);
/* An empty version is closed of which nothing was read, or it is read after all. True: it was not
 * known of this handle. */
bool leat_handle_note_unread(struct leat_handle *h, bool unread);
/* Is the node an empty version that was closed again and again, and nothing read of it? FUSE is not
 * asked for reads of 0 bytes: nobody knows whether it was taken. */
bool leat_node_is_stuck(struct leat_mount *m, fuse_ino_t ino);
/* When the program has ended: the path of one that was closed so more than once. False: there is
 * none. */
bool leat_nodes_unread(struct leat_mount *m, char path[PATH_MAX]);
/* Does a consumer have the node open while the file still grows? *sized: was a size shown to all
 * who have? */
bool leat_handle_grows(struct leat_mount_call *call, fuse_ino_t ino, bool *sized);

#endif
