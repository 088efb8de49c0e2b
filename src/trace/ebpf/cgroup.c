#include "trace/ebpf/cgroup.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <uthash.h>

enum { FILEID_KERNFS = 0xfe };

struct emitted {
	UT_hash_handle hh;
	uint64_t id; /* key */
};

struct leat_ebpf_cgroups {
	struct leat_trace_sink *sink; /* borrowed */
	struct emitted *emitted;      /* owned */
	const char *root;             /* where cgroups of v2 are mounted; "" nowhere */
	int fd;                       /* of it; -1 */
};

struct leat_ebpf_cgroups *leat_ebpf_cgroups_new(struct leat_trace_sink *sink)
{
	static const char *const paths[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct leat_ebpf_cgroups *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sink = sink;
	c->root = "";
	c->fd = -1;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && c->fd < 0; i++) {
		struct statfs st;

		if (statfs(paths[i], &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC) {
			c->root = paths[i];
			c->fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		}
	}
	return c;
}

void leat_ebpf_cgroups_free(struct leat_ebpf_cgroups *c)
{
	struct emitted *s, *next;

	if (!c)
		return;
	HASH_ITER(hh, c->emitted, s, next)
	{
		HASH_DEL(c->emitted, s);
		free(s);
	}
	leat_close(&c->fd);
	free(c);
}

/* A cgroup's id is a handle to its directory. */
static int open_by_id(const struct leat_ebpf_cgroups *c, uint64_t id)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} by;

	by.handle.handle_bytes = sizeof(id);
	by.handle.handle_type = FILEID_KERNFS;
	memcpy(by.bytes + sizeof(struct file_handle), &id, sizeof(id));
	return open_by_handle_at(c->fd, &by.handle, O_PATH | O_CLOEXEC);
}

static void emit(struct leat_ebpf_cgroups *c, uint64_t id)
{
	char link[64], path[PATH_MAX];
	size_t root = strlen(c->root);
	int fd = c->fd < 0 ? -1 : open_by_id(c, id);
	ssize_t n;

	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n < (ssize_t)root)
		return;
	path[n] = 0;
	leat_trace_sink_cgroup(c->sink, &(struct leat_trace_cgroup){
						.id = id, .path = path[root] ? path + root : "/"});
}

bool leat_ebpf_cgroups_note_written(struct leat_ebpf_cgroups *c, uint64_t id)
{
	struct emitted *s;

	HASH_FIND(hh, c->emitted, &id, sizeof(id), s);
	if (s)
		return false;
	s = malloc(sizeof(*s));
	if (s) { /* else it is said once more */
		s->id = id;
		HASH_ADD(hh, c->emitted, id, sizeof(s->id), s);
	}
	return true;
}

void leat_ebpf_cgroups_write(struct leat_ebpf_cgroups *c, uint64_t id)
{
	if (id && leat_ebpf_cgroups_note_written(c, id))
		emit(c, id);
}
