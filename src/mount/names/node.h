/* The names the kernel knows. A node is a name in a directory, and stands for the file that was
 * seen there last: when another file takes the name, the kernel is given another node, because it
 * keeps lengths and pages by node. */
#ifndef LEAT_MOUNT_NAMES_NODE_H
#define LEAT_MOUNT_NAMES_NODE_H

#include "mount/names/identity.h"
#include "mount/internal.h"

/* The file of files/alive.h. No node: those are addresses. */
#define LEAT_ALIVE_INO 2

/* NULL: LEAT_ALIVE_INO. */
struct leat_node *leat_node_of(struct leat_mount *m, fuse_ino_t ino);
fuse_ino_t leat_node_ino(const struct leat_mount *m, const struct leat_node *node);
uint64_t leat_node_generation(const struct leat_node *node);
struct leat_node *leat_node_root(struct leat_mount *m);
/* Frees what nobody knows any more, and its parents with it. NULL is allowed. */
void leat_node_settle(struct leat_mount *m, struct leat_node *node);
/* Path of `name` in the directory `node`, or of the node itself if NULL, below the root. 0, -ESTALE
 * (it has no name any more) or -ENAMETOOLONG. */
int leat_node_name(const struct leat_mount *m, const struct leat_node *node, const char *name,
		   char out[PATH_MAX]);
/* Path below the workflow's directory of `name` in `ino`, or of `ino` itself (name NULL) into
 * `out` (PATH_MAX bytes). -ESTALE: it has no name any more. */
int leat_node_path(struct leat_mount *m, fuse_ino_t ino, const char *name, char *out);
/* The node of that name, made if there is none or it stands for another file; its count of
 * lookups is one more. NULL: no memory. */
struct leat_node *leat_node_look(struct leat_mount *m, fuse_ino_t parent, const char *name,
				 const struct stat *st, const struct leat_identity *id, pid_t tid);
/* Forget `n` lookups; the node may be gone after it. */
void leat_node_forget(struct leat_mount *m, fuse_ino_t ino, uint64_t n);
/* Has `tid` come to the node by its path, and done nothing with it since? Clears it. */
bool leat_node_by_path(struct leat_mount *m, fuse_ino_t ino, pid_t tid);
/* There was nothing to open, though the name was there: true if the caller is to look for the name
 * again. Of a file in versions there is nothing the second time, either. */
bool leat_node_missed(struct leat_mount *m, fuse_ino_t ino, pid_t tid);
/* Does the node stand for no file yet? */
bool leat_node_is_awaited(struct leat_mount *m, fuse_ino_t ino);
/* Does the node stand for this file? A node that stood for none does from now on, as one whose file
 * has moved while it was open. */
bool leat_node_is(struct leat_mount *m, fuse_ino_t ino, const struct stat *st,
		  const struct leat_identity *id);
/* The kernel is about to get the answer that the file has so many bytes. */
void leat_node_note_size_reported(struct leat_mount *m, fuse_ino_t ino, uint64_t size);
/* May it believe that there are fewer? Of two answers on their way it drops either, so the least it
 * was answered counts. From now on it knows. */
bool leat_node_was_reported_less(struct leat_mount *m, fuse_ino_t ino, uint64_t size);
/* May the pages the kernel has of this file be kept: same length and times as at the last open? */
bool leat_node_keep_cache(struct leat_mount *m, fuse_ino_t ino, const struct stat *st);
/* The name was removed, or renamed (exchange: both stay). */
void leat_node_removed(struct leat_mount *m, fuse_ino_t parent, const char *name);
void leat_node_renamed(struct leat_mount *m, fuse_ino_t parent, const char *name,
		       fuse_ino_t to_parent, const char *to_name, bool exchange);
void leat_nodes_free(struct leat_mount *m);

#endif
