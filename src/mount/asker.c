/* Who asks for a size is known by where his call returns to: glibc's fstat, fstatat and statx have
 * no frame when they enter the kernel, so that the word on top of the caller's stack is the address
 * in the code that wants to know. Of other C libraries, and of programs that make the call
 * themselves, nothing is known: they go by the size. */
#include "base/fd.h"
#include "base/memory_of.h"
#include "mount/internal.h"
#include "record/intent.h"
#include "record/sizes.h"

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
	const char *line; /* its text, which has no end of its own */
	bool is_readable;
};

static bool parse(const char *line, struct mapping *m)
{
	char readable;

	m->line = line;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &m->first, &m->end, &readable) != 3)
		return false;
	m->is_readable = readable == 'r';
	return true;
}

/* What is mapped at `address`; `maps` ends its line there. */
static bool find_mapping(char *maps, uint64_t address, struct mapping *m)
{
	for (char *line = maps, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return false;
		if (parse(line, m) && address >= m->first && address < m->end) {
			*end = 0;
			return true;
		}
	}
	return false;
}

/* The code behind the call: how much of it there is. */
static size_t read_code(pid_t tid, const struct mapping *m, uint64_t caller,
			uint8_t code[LEAT_INTENT_CODE])
{
	size_t size = m->end - caller;

	if (size > LEAT_INTENT_CODE)
		size = LEAT_INTENT_CODE;
	return m->is_readable && !leat_memory_of(tid, caller, code, size) ? size : 0;
}

static bool has_glibc(const char *maps)
{
	return strstr(maps, "/libc.so.6\n");
}

/* The list of names speaks of programs with a libc of their own file; stdio is known by its code,
 * wherever it is. */
static struct leat_size_looks looks_at(pid_t tid, uint64_t caller)
{
	struct leat_size_looks looks = {0};
	uint8_t code[LEAT_INTENT_CODE];
	char path[64], *maps = NULL;
	struct mapping m;
	bool named;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	if (leat_read_file(path, MAX_MAPS, &maps, NULL))
		return looks;
	named = has_glibc(maps);
	if (find_mapping(maps, caller, &m)) {
		size = read_code(tid, &m, caller, code);
		if (leat_intent_is_buffer(code, size))
			looks = (struct leat_size_looks){LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED};
		else if (named)
			looks = leat_size_looks_of(m.line, code, size);
	}
	free(maps);
	return looks;
}

/* The descriptor that a stat is of; -1: of a path. False: it does not ask for the size. */
static bool wants_size(const struct leat_call_of *c, int *fd)
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
	struct leat_call_of c;
	uint64_t caller;
	int fd;

	if (tid <= 0 || !leat_caller_call(tid, &c) || c.stack <= UINT32_MAX)
		return 0;
	if (!wants_size(&c, &fd))
		return LEAT_SIZE_UNUSED;
	if (leat_memory_of(tid, c.stack, &caller, sizeof(caller)))
		return 0;
	looks = looks_at(tid, caller);
	return fd == STDIN_FILENO ? looks.of_stdin : looks.at_open;
}

#else
unsigned leat_caller_looks(pid_t tid)
{
	(void)tid;
	return 0;
}
#endif
