/* The inside of a node, for who has it open, too. The mount's lock is held. */
#ifndef LEAT_MOUNT_NAMES_NODE_INSIDE_H
#define LEAT_MOUNT_NAMES_NODE_INSIDE_H

#include "mount/names/handle.h"
#include "mount/names/identity.h"

#include <uthash.h>

enum { LEAT_LOOKS = 4 };

struct leat_node {
	UT_hash_handle hh;
	struct leat_node *parent; /* held by a reference; NULL: the root */
	char *key;                /* owned; parent and name; NULL: it has no name any more */
	size_t key_size;
	bool listed; /* the name leads to it */
	uint64_t lookups;
	uint64_t children;
	uint64_t generation;
	mode_t type;
	struct leat_identity id;
	struct timespec cached_mtime; /* of the pages the kernel may have */
	off_t cached_size;
	bool cached;
	uint64_t reported_size; /* the least the kernel was told */
	struct leat_handle *handles;
	int32_t backing; /* passthrough: shared by all its opens that have it */
	unsigned backing_users;
	pid_t looks[LEAT_LOOKS];
	unsigned next_look;
	pid_t missed;    /* who found nothing to open behind it, and looks again */
	unsigned unread; /* closes of an empty version of which nothing was read */
};

#endif
