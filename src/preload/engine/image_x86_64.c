/* A file is a page that says what follows, and for each text its area of stubs, with an empty
 * table, and its pages. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/engine/image_x86_64.h"

#include "preload/core/call.h"
#include "preload/engine/kept.h"
#include "preload/engine/sites_x86_64.h"
#include "preload/engine/stub_x86_64.h"

/* From the beginning of an area to its text. Far enough not to meet the libraries that most
 * programs load next to it, near enough for a jump. */
#define DISTANCE (UINT64_C(64) << 20)

#define SUFFIX ".image"

struct head {
	uint64_t id;
	uint64_t count;
	uint64_t size[LEAT_MAX_TEXTS];
};

static uint8_t *begin_of(const struct leat_text_segment *text)
{
	return text->code.text - (uintptr_t)text->code.text % LEAT_STUB_PAGE;
}

static size_t pages_of(const struct leat_text_segment *text)
{
	size_t size = (size_t)(text->code.text - begin_of(text)) + text->code.size;

	return (size + LEAT_STUB_PAGE - 1) / LEAT_STUB_PAGE * LEAT_STUB_PAGE;
}

static void *map(void *at, size_t size, int protection, int flags, long fd, uint64_t offset)
{
	long got = leat_raw(SYS_mmap, (long)at, (long)size, protection, MAP_PRIVATE | flags, fd,
			    (long)offset);

	if (got < 0 && got > -4096)
		return NULL;
	if (at && got != (long)at) { /* a kernel that does not know MAP_FIXED_NOREPLACE */
		leat_raw(SYS_munmap, got, (long)size, 0, 0, 0, 0);
		return NULL;
	}
	return (void *)got;
}

static void unmap(void *at, size_t size)
{
	leat_raw(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

static void close_file(long fd)
{
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* ---- areas ---- */

static uint8_t *map_text(const struct leat_text_segment *text, int flags, long fd, uint64_t offset)
{
	return map(begin_of(text) - DISTANCE, LEAT_STUB_AREA, PROT_READ | PROT_WRITE, flags, fd,
		   offset);
}

void leat_image_reserve(struct leat_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		texts->text[i].area =
			map_text(&texts->text[i], MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* ---- mapping ---- */

static void describe(struct head *head, const struct leat_texts *texts)
{
	*head = (struct head){.id = texts->id, .count = texts->count};
	for (size_t i = 0; i < texts->count; i++)
		head->size[i] = pages_of(&texts->text[i]);
}

static bool is_described(long fd, const struct leat_texts *texts)
{
	struct head expected, found;
	uint64_t size = LEAT_STUB_PAGE;

	describe(&expected, texts);
	for (size_t i = 0; i < texts->count; i++)
		size += LEAT_STUB_AREA + expected.size[i];
	return leat_raw(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) == (long)size &&
	       leat_raw(SYS_pread64, fd, (long)&found, sizeof(found), 0, 0, 0) == sizeof(found) &&
	       memcmp(&found, &expected, sizeof(found)) == 0;
}

static bool map_area(const struct leat_text_segment *text, int flags, long fd, uint64_t offset)
{
	uint8_t *area = map_text(text, flags, fd, offset);

	if (!area)
		return false;
	leat_stub_fill((struct leat_stub_table *)(void *)area);
	if (leat_raw(SYS_mprotect, (long)area, LEAT_STUB_AREA, PROT_READ | PROT_EXEC, 0, 0, 0) == 0)
		return true;
	unmap(area, LEAT_STUB_AREA); /* the file may not be executed where it lies */
	return false;
}

/* All of them, or none. */
static bool map_areas(const struct leat_texts *texts, int flags, long fd)
{
	uint64_t offset = LEAT_STUB_PAGE;

	for (size_t i = 0; i < texts->count; i++) {
		if (!map_area(&texts->text[i], flags, fd, offset)) {
			while (i-- > 0)
				unmap(begin_of(&texts->text[i]) - DISTANCE, LEAT_STUB_AREA);
			return false;
		}
		offset += LEAT_STUB_AREA + pages_of(&texts->text[i]);
	}
	return true;
}

/* What can still go wrong is that the kernel has no memory for the mapping itself: the process is
 * at its end then in any case. */
static void map_texts(const struct leat_texts *texts, long fd)
{
	uint64_t offset = LEAT_STUB_PAGE;

	for (size_t i = 0; i < texts->count; i++) {
		size_t size = pages_of(&texts->text[i]);

		offset += LEAT_STUB_AREA;
		if (!map(begin_of(&texts->text[i]), size, PROT_READ | PROT_EXEC, MAP_FIXED, fd,
			 offset))
			__builtin_trap();
		offset += size;
	}
}

bool leat_image_map(const char *dir, const struct leat_texts *texts)
{
	long fd = leat_kept_await(dir, texts->id, SUFFIX);
	bool done;

	if (fd < 0)
		return false;
	done = is_described(fd, texts) && map_areas(texts, MAP_FIXED_NOREPLACE, fd);
	if (done)
		map_texts(texts, fd);
	close_file(fd);
	return done;
}

void leat_image_done(const char *dir, const struct leat_texts *texts)
{
	leat_kept_done(dir, texts->id, SUFFIX);
}

/* ---- keeping ---- */

/* By words: memcmp here is one of the simple ones of string.c. */
static bool is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
	const uint64_t *x = (const uint64_t *)(const void *)a;
	const uint64_t *y = (const uint64_t *)(const void *)b;
	uint64_t other = 0;

	for (size_t i = 0; i < size / sizeof(*x); i++)
		other |= x[i] ^ y[i];
	return !other;
}

static bool is_as_in_file(const struct leat_text_segment *text)
{
	uint64_t skew = (uint64_t)(text->code.text - begin_of(text));
	long fd = leat_raw(SYS_openat, AT_FDCWD, (long)text->code.file, O_RDONLY | O_CLOEXEC, 0, 0,
			   0);
	uint8_t *file;
	bool same;

	if (fd < 0)
		return false;
	file = map(NULL, pages_of(text), PROT_READ, 0, fd, text->code.offset - skew);
	close_file(fd);
	if (!file)
		return false;
	same = is_same(file, begin_of(text), pages_of(text));
	unmap(file, pages_of(text));
	return same;
}

bool leat_image_is_clean(const struct leat_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!texts->text[i].area || !is_as_in_file(&texts->text[i]))
			return false;
	return true;
}

static bool write_all(long fd, const void *from, size_t size)
{
	return leat_raw(SYS_write, fd, (long)from, (long)size, 0, 0, 0) == (long)size;
}

static bool write_image(long fd, const struct leat_texts *texts)
{
	static union {
		struct head head;
		uint8_t page[LEAT_STUB_PAGE];
	} first, no_table;
	bool good;

	describe(&first.head, texts);
	good = write_all(fd, &first, sizeof(first));
	for (size_t i = 0; i < texts->count && good; i++) {
		const struct leat_text_segment *text = &texts->text[i];

		good = write_all(fd, &no_table, sizeof(no_table)) &&
		       write_all(fd, text->area + LEAT_STUB_PAGE,
				 LEAT_STUB_AREA - LEAT_STUB_PAGE) &&
		       write_all(fd, begin_of(text), pages_of(text));
	}
	return good;
}

static bool is_executable(long fd)
{
	void *page = map(NULL, LEAT_STUB_PAGE, PROT_READ | PROT_EXEC, 0, fd, 0);

	if (page)
		unmap(page, LEAT_STUB_PAGE);
	return page;
}

/* Use it like all others: our own pages are copies that each fork would have to hand on. No code
 * of the texts runs meanwhile, and what is in the file is what is in memory. */
static void take_over(const struct leat_texts *texts, long fd)
{
	if (!map_areas(texts, MAP_FIXED, fd))
		__builtin_trap(); /* no memory, as above */
	map_texts(texts, fd);
}

void leat_image_keep(const char *dir, const struct leat_texts *texts)
{
	long fd = leat_kept_begin(dir, texts->id, SUFFIX);

	if (fd < 0)
		return;
	if (leat_kept_end(is_executable(fd) && write_image(fd, texts)))
		take_over(texts, fd);
	close_file(fd);
}
