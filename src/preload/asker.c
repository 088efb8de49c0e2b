/* Who asks for a size is known by where his call returns to: the buffers of stdio, a program, a
 * library. Which file is mapped there the kernel says. */
#include "preload/asker.h"
#include "preload/hooks.h"
#include "record/intent.h"

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

/* A line of /proc/self/maps begins "<first>-<end> "; where the number ends, NULL: it is none. */
static const char *read_hex(const char *at, uintptr_t *value)
{
	const char *from = at;

	for (*value = 0;; at++) {
		if (*at >= '0' && *at <= '9')
			*value = *value << 4 | (uintptr_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*value = *value << 4 | (uintptr_t)(*at - 'a' + 10);
		else
			return at > from ? at : NULL;
	}
}

/* *end: of the mapping, 0 if it may not be read. */
static bool is_mapped_by(const char *line, uintptr_t address, uintptr_t *end)
{
	uintptr_t first;
	const char *at = read_hex(line, &first);

	at = at && *at == '-' ? read_hex(at + 1, end) : NULL;
	if (!at || address < first || address >= *end)
		return false;
	if (at[0] != ' ' || at[1] != 'r')
		*end = 0;
	return true;
}

/* Lines of /proc/self/maps. */
struct lines {
	int fd;
	size_t begin, used; /* of what was read */
	char text[4096];
};

/* The next one, without its end; NULL: there is none, or it is too long. */
static char *next_line(struct lines *l)
{
	for (;;) {
		char *line = l->text + l->begin, *end;
		long n;

		l->text[l->used] = 0;
		end = strchr(line, '\n');
		if (end) {
			*end = 0;
			l->begin = (size_t)(end + 1 - l->text);
			return line;
		}
		l->used -= l->begin;
		memmove(l->text, line, l->used);
		l->begin = 0;
		n = raw(SYS_read, l->fd, l->text + l->used, sizeof(l->text) - 1 - l->used);
		if (n <= 0)
			return NULL;
		l->used += (size_t)n;
	}
}

static struct leat_size_looks looks_at(uintptr_t caller)
{
	struct lines maps = {
		.fd = (int)raw(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	struct leat_size_looks looks = {0};
	uintptr_t end = 0;
	char *line;

	if (maps.fd < 0)
		return looks;
	while ((line = next_line(&maps)))
		if (is_mapped_by(line, caller, &end)) {
			size_t size = end ? end - caller : 0;

			if (size > LEAT_INTENT_CODE)
				size = LEAT_INTENT_CODE;
			looks = leat_size_looks_of(line, (const uint8_t *)caller, size);
			break;
		}
	raw(SYS_close, maps.fd);
	return looks;
}

/* Without callers, where libc is wrapped: the program itself. */
static struct leat_size_looks looks_by_program(void)
{
	char name[PATH_MAX];
	long n = raw(SYS_readlink, "/proc/self/exe", name, sizeof(name) - 1);

	name[n < 0 ? 0 : n] = 0;
	return leat_size_looks_of(name, NULL, 0);
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
	looks = caller ? looks_at(caller) : looks_by_program();
	leat_word_set(word, (uint64_t)caller << 16 | (uint64_t)looks.at_open << 8 | looks.of_stdin);
	return looks;
}
