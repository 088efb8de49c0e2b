#include "trace/mounts.h"

#include "base/fd.h"
#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

enum { MAX_MOUNTINFO = 64 << 20 };

struct known {
	UT_hash_handle hh;
	struct leat_mount_view view; /* key: its namespace */
	char *raw;                   /* as read, to see changes */
	size_t size;
	char *text;     /* taken apart */
	bool doubtful;  /* to be read anew before it is used */
	bool reported;  /* leat_mounts_look has given them out */
	bool fuse;      /* one of them is FUSE */
	uint64_t event; /* that they are known to be of; 0 unknown */
};

struct leat_mounts {
	struct known *views; /* owned, by namespace */
	uint64_t own;
	int own_fd; /* mountinfo of the tracer, which tells of changes; -1 */
};

/* ---- reading ---- */

/* "36 35 98:0 /root /at options [tag...] - type source options", proc_pid_mountinfo(5). */
static bool parse_mount(char *line, struct leat_mounted_at *m)
{
	char *field[6], *dash, *rest = line;

	dash = strstr(line, " - ");
	if (!dash)
		return false;
	*dash = 0;
	for (size_t i = 0; i < 6; i++)
		if (!(field[i] = strsep(&rest, " ")))
			return false;
	m->id = strtoull(field[0], NULL, 10);
	if (sscanf(field[2], "%u:%u", &m->major, &m->minor) != 2)
		return false;
	rest = dash + 3;
	m->root = field[3];
	m->at = field[4];
	m->type = strsep(&rest, " ");
	m->source = rest ? strsep(&rest, " ") : "";
	leat_str_unescape(field[3]);
	leat_str_unescape(field[4]);
	leat_str_unescape((char *)(uintptr_t)m->source);
	return true;
}

static bool parse(struct known *k)
{
	struct leat_mount_view *v = &k->view;
	size_t lines = 0;

	for (const char *p = k->text; *p; p++)
		lines += *p == '\n';
	v->mounts = calloc(lines + 1, sizeof(*v->mounts));
	if (!v->mounts)
		return false;
	for (char *rest = k->text, *line; (line = strsep(&rest, "\n"));)
		if (*line && v->n <= lines && parse_mount(line, &v->mounts[v->n]))
			k->fuse |= leat_str_begins(v->mounts[v->n++].type, "fuse");
	return true;
}

static void forget(struct known *k)
{
	if (!k)
		return;
	free(k->view.mounts);
	free(k->view.root);
	free(k->raw);
	free(k->text);
	free(k);
}

uint64_t leat_mounts_space_of(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

char *leat_mounts_root_of(pid_t pid)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = 0;
	return strdup(strcmp(target, "/") == 0 ? "" : target);
}

static struct known *find(const struct leat_mounts *m, uint64_t space)
{
	struct known *k;

	HASH_FIND(hh, m->views, &space, sizeof(space), k);
	return k;
}

static struct known *read_known(uint64_t space, char *raw, size_t size, char *root)
{
	struct known *k = calloc(1, sizeof(*k));

	if (k) {
		k->view = (struct leat_mount_view){.space = space, .root = root};
		k->raw = raw;
		k->size = size;
		k->text = strdup(raw);
		if (k->text && parse(k))
			return k;
		forget(k);
		return NULL;
	}
	free(raw);
	free(root);
	return NULL;
}

/* Read them as the process sees them. False: it has ended, or is in that namespace no more; what
 * was known of this stays. */
static bool read_now(struct leat_mounts *m, uint64_t space, pid_t pid)
{
	struct known *k = find(m, space), *new;
	char path[64], *raw = NULL, *root;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	/* The namespace last: the process may leave it meanwhile. */
	root = leat_mounts_root_of(pid);
	if (!root || leat_read_file(path, MAX_MOUNTINFO, &raw, &size) < 0 || !size ||
	    leat_mounts_space_of(pid) != space) {
		free(root);
		free(raw);
		return false;
	}
	if (k && k->size == size && memcmp(k->raw, raw, size) == 0 &&
	    strcmp(k->view.root, root) == 0) {
		free(raw);
		free(root);
		k->doubtful = false;
		return true;
	}
	new = read_known(space, raw, size, root);
	if (!new)
		return false;
	if (k) {
		HASH_DEL(m->views, k);
		forget(k);
	}
	HASH_ADD(hh, m->views, view.space, sizeof(new->view.space), new);
	return true;
}

static struct known *look(struct leat_mounts *m, uint64_t space, pid_t pid)
{
	read_now(m, space, pid);
	return find(m, space);
}

const struct leat_mount_view *leat_mounts_look(struct leat_mounts *m, uint64_t space, pid_t pid,
					       bool *changed)
{
	struct known *k = look(m, space, pid);

	*changed = k && !k->reported;
	if (!k)
		return NULL;
	k->reported = true;
	return &k->view;
}

const struct leat_mount_view *leat_mounts_find(const struct leat_mounts *m, uint64_t space)
{
	struct known *k = find(m, space);

	return k ? &k->view : NULL;
}

void leat_mounts_doubt(struct leat_mounts *m)
{
	for (struct known *k = m->views; k; k = k->hh.next)
		k->doubtful = k->view.space != m->own;
}

bool leat_mounts_are_of(struct leat_mounts *m, uint64_t space, pid_t pid, uint64_t event)
{
	struct known *k = find(m, space);

	if (space == m->own || (k && k->event == event))
		return true;
	if (!read_now(m, space, pid))
		return false;
	k = find(m, space);
	k->event = event;
	return true;
}

bool leat_mounts_have_fuse(struct leat_mounts *m, uint64_t space, pid_t pid)
{
	struct known *k = find(m, space);

	if (!k || k->doubtful)
		k = look(m, space, pid);
	return k && k->fuse;
}

/* ---- what we see ---- */

/* The tracer's own mounts, as they are now: the kernel tells when they have changed. */
static const struct leat_mount_view *own_view(struct leat_mounts *m)
{
	struct pollfd p = {.fd = m->own_fd, .events = POLLPRI};
	struct known *k = find(m, m->own);

	if (!k || (m->own_fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & POLLPRI))
		k = look(m, m->own, getpid());
	return k ? &k->view : NULL;
}

/* The mount that a path is in: the deepest, and of several at one place the last. */
static const struct leat_mounted_at *find_covering(const struct leat_mount_view *v,
						   const char *path)
{
	const struct leat_mounted_at *best = NULL;
	size_t length = 0;

	for (size_t i = 0; i < v->n; i++) {
		size_t n = strlen(v->mounts[i].at);

		if (n >= length && leat_path_behind(path, v->mounts[i].at)) {
			best = &v->mounts[i];
			length = n;
		}
	}
	return best;
}

static char *join(const char *dir, const char *rest)
{
	if (strcmp(rest, "/") == 0)
		rest = "";
	if (strcmp(dir, "/") == 0)
		dir = "";
	return *dir || *rest ? leat_strf("%s%s", dir, rest) : strdup("/");
}

/* What leat mounts by FUSE shows the directory that it is named after. */
static bool is_leats(const struct leat_fs_path *p)
{
	return p->source && *p->source == '/' && leat_str_begins(p->type, "fuse.leat");
}

char *leat_mounts_seen_by_us(struct leat_mounts *m, const struct leat_fs_path *p)
{
	const struct leat_mount_view *own = own_view(m);

	if (is_leats(p))
		return join(p->source, p->path);
	/* Of several names the oldest mount's: what was mounted later are other views of it. */
	for (size_t i = 0; own && i < own->n; i++) {
		const struct leat_mounted_at *o = &own->mounts[i];
		const char *rest;
		char *name;

		if (o->major != p->major || o->minor != p->minor)
			continue;
		rest = leat_path_behind(p->path, o->root);
		name = rest ? join(o->at, rest) : NULL;
		if (name && find_covering(own, name) == o)
			return name;
		free(name);
	}
	return NULL;
}

char *leat_mounts_name_of(struct leat_mounts *m, const struct leat_fs_path *p)
{
	char *name = leat_mounts_seen_by_us(m, p);

	return name ? name : leat_strf("%s[%u:%u]:%s", p->type, p->major, p->minor, p->path);
}

/* ---- what others see ---- */

/* The mount of a path in a view; NULL if the view cannot be right. */
static const struct leat_mounted_at *mount_of(const struct leat_mount_view *v, const char *path,
					      uint64_t mount, const char **below)
{
	const struct leat_mounted_at *at;

	*below = v ? leat_path_behind(path, v->root) : NULL;
	if (!*below)
		return NULL;
	at = find_covering(v, **below ? *below : "/");
	return at && (!mount || at->id == mount) ? at : NULL;
}

char *leat_mounts_name_outside(struct leat_mounts *m, uint64_t space, pid_t pid, const char *path,
			       uint64_t mount)
{
	struct known *k = find(m, space);
	const struct leat_mounted_at *at;
	const char *below, *rest;
	char *inner, *name;

	if (space == m->own)
		return strdup(path);
	if (!k || k->doubtful)
		k = look(m, space, pid);
	at = mount_of(k ? &k->view : NULL, path, mount, &below);
	if (!at) {
		k = look(m, space, pid);
		at = mount_of(k ? &k->view : NULL, path, mount, &below);
	}
	if (!at)
		return strdup("");
	rest = leat_path_behind(*below ? below : "/", at->at);
	inner = join(at->root, rest);
	name = inner ? leat_mounts_name_of(m, &(struct leat_fs_path){at->major, at->minor, at->type,
								     at->source, inner})
		     : NULL;
	free(inner);
	return name;
}

char *leat_mounts_other_name(char *outside, const char *inside)
{
	if (!outside || strcmp(outside, inside) != 0)
		return outside;
	free(outside);
	return NULL;
}

/* ---- all ---- */

uint64_t leat_mounts_own(const struct leat_mounts *m)
{
	return m->own;
}

struct leat_mounts *leat_mounts_new(void)
{
	struct leat_mounts *m = calloc(1, sizeof(*m));
	struct pollfd p;

	if (!m)
		return NULL;
	m->own = leat_mounts_space_of(getpid());
	m->own_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	/* What was before is no change. */
	p = (struct pollfd){.fd = m->own_fd, .events = POLLPRI};
	poll(&p, 1, 0);
	return m;
}

void leat_mounts_free(struct leat_mounts *m)
{
	struct known *k, *next;

	if (!m)
		return;
	HASH_ITER(hh, m->views, k, next)
	{
		HASH_DEL(m->views, k);
		forget(k);
	}
	leat_close(&m->own_fd);
	free(m);
}
