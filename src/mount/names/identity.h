/* What tells one file from another at the same name. */
#ifndef LEAT_MOUNT_NAMES_IDENTITY_H
#define LEAT_MOUNT_NAMES_IDENTITY_H

#include "mount/internal.h"

/* What tells one file from another at the same name. All 0: not known yet. */
struct leat_identity {
	uint64_t dev, ino, born_ns;
	uint32_t slot; /* 0: nobody knows whether the file may have moved */
};

/* lstat of dirfd/path ("": of dirfd itself), with what tells it from other files. */
int leat_identify(int dirfd, const char *path, struct stat *st, struct leat_identity *id);

#endif
