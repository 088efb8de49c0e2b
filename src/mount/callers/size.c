/* Who asks for a size is known by where his call returns to: glibc's fstat, fstatat and statx have
 * no frame when they enter the kernel, so that the word on top of the caller's stack is the address
 * in the code that wants to know. Of other C libraries, and of programs that make the call
 * themselves, nothing is known: they go by the size. */
#include "mount/callers/size.h"
#include "mount/callers/lookup.h"

#include "base/fd.h"
#include "base/memory_of.h"
#include "client/intent.h"
#include "client/sizes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__

enum { MAX_MAPS = 4 << 20 };

/* A line of /proc/PID/maps. */
struct mapping {
	uint64_t first, end;
	char rights[5];
	unsigned major, minor;
	uint64_t inode;   /* 0: of no file */
	const char *path; /* in the line; NULL: none */
};

/* Takes the line, and what leads on to the next one: false, there is none. */
static bool next_mapping(char **maps, struct mapping *m)
{
	char *line = strsep(maps, "\n");
	int path = 0;

	if (!line || sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n", &m->first,
			    &m->end, m->rights, &m->major, &m->minor, &m->inode, &path) != 6)
		return false;
	m->path = path && line[path] ? line + path : NULL;
	return true;
}

/* A program or a library: what the kernel has mapped of its file, one part after the other. */
enum { MOST_PARTS = 8 };

struct object {
	pid_t tid;
	struct mapping at;                /* where it asks */
	struct mapping parts[MOST_PARTS]; /* that it does not change */
	size_t n;
};

static bool is_same_file(const struct mapping *m, const struct mapping *other)
{
	return m->inode == other->inode && m->major == other->major && m->minor == other->minor;
}

/* What is mapped at `caller`, with all that is mapped of its file. `maps` is taken apart. */
static bool find_object(char *maps, uint64_t caller, struct object *o)
{
	struct mapping m, of = {0};
	bool found = false;

	while (next_mapping(&maps, &m)) {
		if (!m.inode || !m.path)
			continue;
		if (!is_same_file(&m, &of)) {
			if (found)
				break;
			of = m;
			o->n = 0;
		}
		if (m.rights[0] == 'r' && m.rights[1] != 'w' && o->n < MOST_PARTS)
			o->parts[o->n++] = m;
		if (caller >= m.first && caller < m.end) {
			o->at = m;
			found = true;
		}
	}
	return found;
}

/* By pieces, each of which begins within the one before: a text may lie across their border. */
static bool part_holds(pid_t tid, const struct mapping *m, const char *text)
{
	enum { PIECE = 256 << 10 };
	const size_t overlap = strlen(text) - 1;
	char *bytes = malloc(PIECE);
	uint64_t at = m->first;
	bool found = false;

	while (bytes && !found) {
		size_t size = m->end - at < PIECE ? m->end - at : PIECE;

		if (leat_memory_of(tid, at, bytes, size))
			break;
		found = leat_size_text_in(bytes, size, text);
		if (at + size == m->end)
			break;
		at += size - overlap;
	}
	free(bytes);
	return found;
}

/* Constants first: there is less of them than of code, with which old linkers mix them. */
static bool holds(void *context, const char *text)
{
	const struct object *o = context;

	for (int code = 0; code < 2; code++)
		for (size_t i = 0; i < o->n; i++)
			if ((o->parts[i].rights[2] == 'x') == code &&
			    part_holds(o->tid, &o->parts[i], text))
				return true;
	return false;
}

/* The code behind the call: how much of it there is. */
static size_t read_code(const struct object *o, uint64_t caller, uint8_t code[LEAT_INTENT_CODE])
{
	size_t size = o->at.end - caller;

	if (size > LEAT_INTENT_CODE)
		size = LEAT_INTENT_CODE;
	return o->at.rights[0] == 'r' && !leat_memory_of(o->tid, caller, code, size) ? size : 0;
}

static bool has_glibc(const char *maps)
{
	return strstr(maps, "/libc.so.6\n");
}

/* Which tools are known is said of programs with a libc of their own file; stdio is known by its
 * code, wherever it is. */
static struct leat_size_looks looks_at(pid_t tid, uint64_t caller)
{
	struct object o = {.tid = tid};
	struct leat_size_looks looks = {0};
	uint8_t code[LEAT_INTENT_CODE];
	char path[64], *maps = NULL;
	bool named;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	if (leat_read_file(path, MAX_MAPS, &maps, NULL))
		return looks;
	named = has_glibc(maps);
	if (find_object(maps, caller, &o)) {
		size = read_code(&o, caller, code);
		if (leat_intent_is_buffer(code, size))
			looks = (struct leat_size_looks){LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED};
		else if (named)
			looks = leat_size_looks_of(&(struct leat_size_asker){.file = o.at.path,
									     .code = code,
									     .size = size,
									     .holds = holds,
									     .context = &o});
	}
	free(maps);
	return looks;
}

/* The descriptor that a stat is of; -1: of a path. False: it does not ask for the size. */
static bool wants_size(const struct leat_caller_syscall *c, int *fd)
{
	const bool by_fd = c->nr == SYS_fstat ||
			   (c->nr == SYS_newfstatat && c->args[3] & AT_EMPTY_PATH) ||
			   (c->nr == SYS_statx && c->args[2] & AT_EMPTY_PATH);

	*fd = by_fd ? (int)c->args[0] : -1;
	return c->nr != SYS_statx || c->args[3] & STATX_SIZE;
}

unsigned leat_caller_looks(pid_t tid)
{
	struct leat_size_looks looks;
	struct leat_caller_syscall c;
	uint64_t caller;
	int fd;

	if (tid <= 0 || !leat_caller_syscall_of(tid, &c) || c.stack <= UINT32_MAX)
		return 0;
	if (!wants_size(&c, &fd))
		return LEAT_SIZE_UNUSED;
	if (leat_memory_of(tid, c.stack, &caller, sizeof(caller)))
		return 0;
	looks = looks_at(tid, caller);
	return fd == STDIN_FILENO ? looks.of_stdin : looks.at_open;
}

#else

#endif
