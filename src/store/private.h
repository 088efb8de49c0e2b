/* Private directories of a daemon in places shared with others: a lock tells those
 * of a live daemon from what a killed one has left. */
#ifndef LEAT_STORE_PRIVATE_H
#define LEAT_STORE_PRIVATE_H

/* Make one from `path`, which ends in XXXXXX and receives the name (mode 0700). The
 * descriptor, which holds the lock until it is closed, or -errno. */
int leat_private_make(char *path);

/* Remove those of this user in the directory `base` whose names begin with
 * `prefix` and that nobody holds. */
void leat_private_clean_stale(const char *base, const char *prefix);

#endif
