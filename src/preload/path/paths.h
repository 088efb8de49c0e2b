/* Is a path inside the workflow's directory? */
#ifndef LEAT_PRELOAD_PATH_PATHS_H
#define LEAT_PRELOAD_PATH_PATHS_H

#include "preload/connection/client.h"

#include <stdbool.h>

/* Cheap and without a guard: false means outside for certain (but for a last
 * component that is a symlink, see leat_path_follow). */
bool leat_path_maybe(int dirfd, const char *path);

/* Cheap, without a guard: what follows the workflow's directory in the text of this path
 * (points into it), or NULL if that is not plain to see. */
const char *leat_path_below(int dirfd, const char *path);

/* Under a guard: 1 if inside; then `below` (PATH_MAX bytes, in the scratch area) is
 * the path below the workflow's directory, not normalised. 0 outside, -EIO if
 * the daemon had to be asked and is not there. */
int leat_path_find(struct leat_thread *t, int dirfd, const char *path, char *below);

/* The same for a path outside whose last component is a symlink: where does it
 * lead? */
bool leat_path_follow(struct leat_thread *t, int dirfd, const char *path, char *below);

/* The kernel found nothing behind this path outside: is it a symlink that has a
 * target at all, to be followed by us? Without a guard. */
bool leat_path_dangles(int dirfd, const char *path);

/* Cheap, without a guard: this symlink is known to lead nowhere inside. */
bool leat_path_leads_out(int dirfd, const char *path);

/* Absolute form of a path outside, for the daemon. 0 or -errno. */
int leat_path_absolute(struct leat_thread *t, int dirfd, const char *path, char *out);

/* May the working directory be inside? */
bool leat_path_cwd_inside(void);
/* The working directory has changed. */
void leat_path_moved(bool inside);
/* A directory or symlink was made, renamed or removed: forget what is outside. */
void leat_path_forget(void);

/* Look where the process starts. */
void leat_path_init(void);

#endif
