#include "trace/preload/programs.h"

#include "base/elf.h"
#include "base/log.h"
#include "base/timespec.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

enum { MOST_SAID = 8, MOST_SCRIPTS = 5, MOST_KNOWN = 1024 };

void leat_trace_start_clear(struct leat_trace_start *s)
{
	free(s->program);
	free(s->dir);
	*s = (struct leat_trace_start){0};
}

void leat_trace_start_set(struct leat_trace_start *s, int64_t time_ns, const char *program,
			  const char *dir, bool elsewhere)
{
	leat_trace_start_clear(s);
	*s = (struct leat_trace_start){time_ns, strdup(program), strdup(dir), elsewhere};
	if (!s->program || !s->dir)
		leat_trace_start_clear(s);
}

/* --- why --- */

/* The interpreter of a script into `out`, or "". */
static void read_interpreter(int fd, char *out, size_t size)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	const char *word;
	size_t length;

	*out = 0;
	line[n > 0 ? n : 0] = 0;
	if (strncmp(line, "#!", 2) != 0)
		return;
	word = line + 2 + strspn(line + 2, " \t");
	length = strcspn(word, " \t\n");
	if (length && length < size) {
		memcpy(out, word, length);
		out[length] = 0;
	}
}

static bool gains_rights(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
		((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid()));
}

const char *leat_trace_program_obstacle(const char *program)
{
	char name[256];
	const char *why = NULL;

	for (int depth = 0; program && *program && !why && depth <= MOST_SCRIPTS; depth++) {
		int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return NULL;
		why = gains_rights(fd) ? "it gains rights (set-id)"
				       : leat_elf_obstacle(leat_elf_inspect(fd, pread));
		read_interpreter(fd, name, sizeof(name));
		close(fd);
		program = name;
	}
	return why;
}

/* --- what runs --- */

struct leat_trace_known {
	char *program; /* owned: as it was called */
	char *run;     /* owned */
	bool unheard;
	struct stat st; /* of the file that has the name */
	UT_hash_handle hh;
};

/* *is_script: also what runs depends on other files. */
static char *find_run(const char *program, bool *is_script)
{
	char name[256];
	char *path = NULL;

	for (int depth = 0; *program && depth <= MOST_SCRIPTS; depth++) {
		int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			break;
		free(path);
		path = realpath(program, NULL);
		read_interpreter(fd, name, sizeof(name));
		close(fd);
		program = name;
		*is_script = *is_script || *name;
	}
	return path;
}

static void forget(struct leat_trace_programs *p, struct leat_trace_known *k)
{
	HASH_DEL(p->known, k);
	free(k->program);
	free(k->run);
	free(k);
}

static void forget_all(struct leat_trace_programs *p)
{
	struct leat_trace_known *k, *next;

	HASH_ITER(hh, p->known, k, next)
	forget(p, k);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       leat_timespec_is_same(a->st_ctim, b->st_ctim);
}

const char *leat_trace_programs_run(struct leat_trace_programs *p, const char *program,
				    bool *unheard)
{
	struct leat_trace_known *k;
	bool is_script = false;
	struct stat st;

	if (stat(program, &st) < 0)
		return NULL;
	HASH_FIND_STR(p->known, program, k);
	if (k && is_same_file(&k->st, &st)) {
		*unheard = k->unheard;
		return k->run;
	}
	if (k)
		forget(p, k);
	if (HASH_COUNT(p->known) >= MOST_KNOWN)
		forget_all(p);
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->program = strdup(program);
	k->run = find_run(program, &is_script);
	if (!k->program || !k->run) {
		free(k->program);
		free(k->run);
		free(k);
		return NULL;
	}
	k->unheard = *unheard = leat_trace_program_obstacle(k->run) != NULL;
	if (!is_script)
		k->st = st;
	HASH_ADD_KEYPTR(hh, p->known, k->program, strlen(k->program), k);
	return k->run;
}

/* --- who --- */

struct leat_trace_program {
	char *program;   /* owned */
	const char *why; /* static */
	uint64_t times;
	struct leat_trace_program *next;
};

const char leat_trace_past_mount[] = "it began behind a mount with a file of the workflow open (a "
				     "redirection)";

void leat_trace_programs_add(struct leat_trace_programs *p, const char *program, uint64_t times,
			     const char *why)
{
	struct leat_trace_program *u;

	LL_FOREACH(p->list, u)
	if (u->why == why && strcmp(u->program, program) == 0) {
		u->times += times;
		return;
	}
	u = calloc(1, sizeof(*u));
	if (u)
		u->program = strdup(program);
	if (!u || !u->program) {
		free(u);
		return;
	}
	u->times = times;
	u->why = why;
	LL_APPEND(p->list, u);
}

void leat_trace_programs_report(const struct leat_trace_programs *p, struct leat_trace_sink *sink)
{
	const struct leat_trace_program *u;
	unsigned reported = 0;

	LL_FOREACH(p->list, u)
	{
		const char *why = u->why ? u->why : leat_trace_program_obstacle(u->program);
		struct leat_trace_unseen unseen = {u->times, u->program,
						   why ? why : "it did not load the library"};

		leat_trace_sink_unseen(sink, &unseen);
		if (reported++ < MOST_SAID)
			leat_warn("%s ran %llu time%s unseen%s: %s; %s not in the trace, "
				  "--tracer ptrace sees them",
				  u->program, (unsigned long long)u->times,
				  u->times == 1 ? "" : "s",
				  u->why == leat_trace_past_mount ? " in part" : "", unseen.why,
				  u->why == leat_trace_past_mount ? "its calls on that are"
								  : "its calls are");
	}
	if (reported > MOST_SAID)
		leat_warn("and %u other programs ran unseen", reported - MOST_SAID);
}

void leat_trace_programs_release(struct leat_trace_programs *p)
{
	struct leat_trace_program *u, *next;

	LL_FOREACH_SAFE(p->list, u, next)
	{
		LL_DELETE(p->list, u);
		free(u->program);
		free(u);
	}
	forget_all(p);
}
