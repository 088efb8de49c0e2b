/* Directories are listed by the daemon, which knows both places and what the step may see. */
#include "mount/files/listing.h"
#include "mount/daemon/wait.h"
#include "mount/files/open_files.h"
#include "mount/names/node.h"

#include "client/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_mount_listing {
	pthread_mutex_t lock;
	uint64_t handle; /* the daemon's, 0: none */
	uint64_t first;  /* number of the part's first name */
	uint32_t count;
	char *part; /* owned; `count` names as the daemon packs them */
	size_t part_size;
	char path[];
};

struct leat_mount_listing *leat_listing_new(const char *path)
{
	struct leat_mount_listing *l = calloc(1, sizeof(*l) + strlen(path) + 1);

	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	strcpy(l->path, path);
	return l;
}

static void release(struct leat_mount_call *call, struct leat_mount_listing *l)
{
	if (!l->handle || !call->connection)
		return;
	leat_channel_forget_list(leat_mount_channel(call), l->handle);
	l->handle = 0;
}

void leat_listing_free(struct leat_mount_call *call, struct leat_mount_listing *l)
{
	if (!l)
		return;
	release(call, l);
	pthread_mutex_destroy(&l->lock);
	free(l->part);
	free(l);
}

static int keep_part(struct leat_mount_listing *l, const struct leat_msg_names *m, uint64_t cookie)
{
	size_t size = m->h.size - sizeof(*m);
	char *part = malloc(size ? size : 1);

	if (!part)
		return -ENOMEM;
	memcpy(part, (const char *)m + sizeof(*m), size);
	free(l->part);
	l->part = part;
	l->part_size = size;
	l->count = m->count;
	l->first = cookie;
	return 0;
}

/* The names behind the first `cookie` ones, waiting for them. */
static int fetch(struct leat_mount_call *call, struct leat_mount_listing *l, uint64_t cookie)
{
	const struct leat_msg_names *names = (const struct leat_msg_names *)call->connection->msg;

	for (;;) {
		int rc = leat_channel_list(leat_mount_channel(call), l->handle, cookie, l->path);

		if (rc)
			return rc;
		rc = names->error;
		if (names->handle)
			l->handle = names->handle;
		if (!rc)
			return keep_part(l, names, cookie);
		if (rc == -ESTALE && l->handle)
			l->handle = 0;
		else if (rc != -EAGAIN)
			return rc;
		else if ((rc = leat_mount_sleep(call, names->slot, names->seq)))
			return rc;
	}
}

static size_t add_entry(fuse_req_t req, char *out, size_t space,
			const struct leat_listed_name *listed, uint64_t next)
{
	const struct stat st = {.st_mode = (mode_t)listed->type << 12, .st_ino = listed->ino};

	return fuse_add_direntry(req, out, space, listed->name, &st, (off_t)next);
}

/* What fits of the part behind the first `cookie` names: bytes or -EIO. */
static ssize_t fill(fuse_req_t req, const struct leat_mount_listing *l, uint64_t cookie, char *out,
		    size_t space)
{
	const char *at = l->part, *end = at + l->part_size;
	size_t used = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		struct leat_listed_name listed;
		size_t n;

		if (!leat_listed_next(&at, end, &listed))
			return -EIO;
		if (l->first + i < cookie)
			continue;
		n = add_entry(req, out + used, space - used, &listed, l->first + i + 1);
		if (n > space - used)
			return (ssize_t)used;
		used += n;
	}
	return (ssize_t)used;
}

static ssize_t read_part(struct leat_mount_call *call, struct leat_mount_listing *l,
			 uint64_t cookie, char *out, size_t space)
{
	int rc = 0;

	if (cookie == 0 && (l->first || l->count))
		release(call, l); /* a rewound stream sees what is new */
	if (cookie == 0 || cookie < l->first || cookie >= l->first + l->count)
		rc = fetch(call, l, cookie);
	return rc ? rc : fill(call->req, l, cookie, out, space);
}

ssize_t leat_listing_read(struct leat_mount_call *call, struct leat_mount_listing *l,
			  uint64_t cookie, char *out, size_t space)
{
	ssize_t n;

	pthread_mutex_lock(&l->lock);
	n = read_part(call, l, cookie, out, space);
	pthread_mutex_unlock(&l->lock);
	return n;
}

int leat_listing_settle(struct leat_mount_call *call, fuse_ino_t ino)
{
	struct leat_mount_listing *l;
	char path[PATH_MAX];
	int rc;

	if (!leat_handles_list(call->m, ino))
		return 0;
	rc = leat_node_path(call->m, ino, NULL, path);
	if (rc)
		return 0; /* removed: it is what it is */
	l = leat_listing_new(path);
	rc = l ? fetch(call, l, 0) : -ENOMEM;
	leat_listing_free(call, l);
	return rc == -EINTR ? rc : 1;
}
