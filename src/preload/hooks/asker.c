/* Who asks for a size is known by where his call returns to: the buffers of stdio, a program, a
 * library. Which file is mapped there the kernel says, and what it holds is in memory. */
#include "preload/hooks/asker.h"

#include "client/intent.h"
#include "client/sizes.h"
#include "preload/core/call.h"
#include "preload/core/maps.h"
#include "preload/engine/patch.h"
#include "shm/word.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* stdio makes a buffer as large as the block. A glibc has this function by its name; of its
 * instructions there are fewer. */
extern char leat_stdio_buffer[] __asm__("_IO_file_doallocate") __attribute__((weak));
enum { STDIO_BUFFER_CODE = 512 };

static bool is_stdio(uintptr_t caller)
{
	return leat_stdio_buffer && caller - (uintptr_t)leat_stdio_buffer < STDIO_BUFFER_CODE;
}

/* --- which file is mapped there --- */

/* A line of /proc/self/maps: "<first>-<end> <rights> <offset> <device> <inode> <path>". */
struct mapping {
	uintptr_t first, end;
	uintptr_t device[2], inode; /* 0: of no file */
	bool is_code;
	bool is_constant; /* may be read and not written */
	const char *path; /* "": none; in the line */
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : UINT8_MAX;
}

/* Where the number ends, NULL: it is none. */
static const char *read_number(const char *at, int base, uintptr_t *value)
{
	const char *from = at;

	for (*value = 0; digit_of(*at) < base; at++)
		*value = *value * (uintptr_t)base + (uintptr_t)digit_of(*at);
	return at > from ? at : NULL;
}

/* Behind the next `n` spaces. */
static const char *skip_words(const char *at, int n)
{
	while (n && *at)
		n -= *at++ == ' ';
	return at;
}

static bool parse(const char *line, struct mapping *m)
{
	const char *rights = read_number(line, 16, &m->first), *at;

	rights = rights && *rights == '-' ? read_number(rights + 1, 16, &m->end) : NULL;
	if (!rights || strlen(rights) < 5)
		return false;
	m->is_constant = rights[1] == 'r' && rights[2] != 'w';
	m->is_code = rights[3] == 'x';
	at = read_number(skip_words(rights, 3), 16, &m->device[0]);
	at = at && *at == ':' ? read_number(at + 1, 16, &m->device[1]) : NULL;
	at = at && *at == ' ' ? read_number(at + 1, 10, &m->inode) : NULL;
	while (at && *at == ' ')
		at++;
	m->path = at;
	return at;
}

/* --- whose code, or which file, that is --- */

enum { MOST_PARTS = 8, NAME_SIZE = 64 };

/* A program or a library: what the kernel has mapped of its file, one part after the other. */
struct object {
	uintptr_t device[2], inode;
	const uint8_t *code; /* what comes next where it asks */
	size_t size;
	size_t n;
	struct part {
		const uint8_t *at;
		size_t size;
		bool is_code;
	} parts[MOST_PARTS];  /* that it does not change */
	char name[NAME_SIZE]; /* the last component, or the beginning of it */
};

static void copy_name(struct object *o, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n;

	path = slash ? slash + 1 : path;
	n = strlen(path);
	n = n < NAME_SIZE ? n : NAME_SIZE - 1;
	memcpy(o->name, path, n);
	o->name[n] = 0;
}

/* Is it the object that is looked for: by an address in it or, without, by its path? */
static bool is_sought(const struct mapping *m, uintptr_t caller, const char *path)
{
	if (caller)
		return caller >= m->first && caller < m->end;
	return strcmp(m->path, path) == 0;
}

static bool is_of(const struct mapping *m, const struct object *o)
{
	return m->inode == o->inode && m->device[0] == o->device[0] && m->device[1] == o->device[1];
}

static void begin(struct object *o, const struct mapping *m)
{
	o->device[0] = m->device[0];
	o->device[1] = m->device[1];
	o->inode = m->inode;
	o->n = 0;
}

static void add_part(struct object *o, const struct mapping *m)
{
	if (m->is_constant && o->n < MOST_PARTS)
		o->parts[o->n++] =
			(struct part){(const uint8_t *)m->first, m->end - m->first, m->is_code};
}

static void note_code(struct object *o, const struct mapping *m, uintptr_t caller)
{
	if (!caller || !m->is_constant)
		return;
	o->code = (const uint8_t *)caller;
	o->size = m->end - caller < LEAT_INTENT_CODE ? m->end - caller : LEAT_INTENT_CODE;
}

/* Follow the lines until what is looked for, and all that is mapped of its file, has gone by. */
static bool find_object(struct leat_maps *maps, uintptr_t caller, const char *path,
			struct object *o)
{
	struct mapping m;
	bool found = false;
	char *line;

	while ((line = leat_maps_next(maps))) {
		if (!parse(line, &m) || !m.inode)
			continue;
		if (!is_of(&m, o)) {
			if (found)
				break;
			begin(o, &m);
		}
		add_part(o, &m);
		if (!found && is_sought(&m, caller, path)) {
			found = true;
			copy_name(o, m.path);
			note_code(o, &m, caller);
		}
	}
	return found;
}

/* Constants first: there is less of them than of code, with which old linkers mix them. */
static bool holds(void *context, const char *text)
{
	const struct object *o = context;

	for (int code = 0; code < 2; code++)
		for (size_t i = 0; i < o->n; i++)
			if (o->parts[i].is_code == code &&
			    leat_size_text_in(o->parts[i].at, o->parts[i].size, text))
				return true;
	return false;
}

static struct leat_size_looks looks_of(uintptr_t caller, const char *path)
{
	struct leat_maps maps;
	struct leat_size_looks looks = {0};
	struct object o = {0};

	if (!leat_maps_open(&maps))
		return looks;
	if (find_object(&maps, caller, path, &o))
		looks = leat_size_looks_of(&(struct leat_size_asker){.file = o.name,
								     .code = o.code,
								     .size = o.size,
								     .holds = holds,
								     .context = &o});
	leat_maps_close(&maps);
	return looks;
}

/* Without callers, where libc is wrapped: the program itself. */
static struct leat_size_looks looks_by_program(void)
{
	char path[1024];
	long n = raw(SYS_readlink, "/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = 0;
	return n > 0 ? looks_of(0, path) : (struct leat_size_looks){0};
}

/* --- what was found --- */

enum { KEPT = 16 };

/* An address, which has less than 48 bits, and 16 bits. */
static struct leat_word kept[KEPT];

struct leat_size_looks leat_asker_looks(const struct leat_syscall *c)
{
	uintptr_t caller = leat_caller(c);
	struct leat_word *word = &kept[(caller ^ caller >> 4 ^ caller >> 8) % KEPT];
	uint64_t known = leat_word_get(word);
	struct leat_size_looks looks = {(uint8_t)(known >> 8), (uint8_t)known};

	if (is_stdio(caller))
		return (struct leat_size_looks){LEAT_SIZE_UNUSED, LEAT_SIZE_UNUSED};
	if (known && known >> 16 == caller)
		return looks;
	looks = caller ? looks_of(caller, NULL) : looks_by_program();
	leat_word_set(word, (uint64_t)caller << 16 | (uint64_t)looks.at_open << 8 | looks.of_stdin);
	return looks;
}
