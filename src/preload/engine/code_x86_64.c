#include "preload/engine/code_x86_64.h"

#include "preload/core/call.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* .eh_frame_hdr as linkers write it: a table of pairs, sorted, relative to its own beginning. */
enum { HEADER = 12, AS_4_BYTES = 0x03, SIGNED_FROM_HEADER = 0x3b };

struct entry {
	int32_t function, frame;
};

static struct entry load_entry(const struct leat_code *code, size_t i)
{
	struct entry e;

	memcpy(&e, code->frames + HEADER + i * sizeof e, sizeof e);
	return e;
}

static size_t count_entries(const struct leat_code *code)
{
	const uint8_t *h = code->frames;
	size_t n;

	if (!h || code->frames_size < HEADER || h[0] != 1 || h[2] != AS_4_BYTES ||
	    h[3] != SIGNED_FROM_HEADER)
		return 0;
	n = leat_code_load32(h + 8);
	return n <= (code->frames_size - HEADER) / sizeof(struct entry) ? n : 0;
}

static const uint8_t *address_of(const struct leat_code *code, struct entry e)
{
	return code->frames + e.function + code->skew;
}

/* The frame of a signal handler's return begins one byte before its code: what looks up a return
 * address looks there. The letter is in the common part, which lies a given distance before. */
static bool is_of_signal(const struct leat_code *code, struct entry e)
{
	size_t back = (size_t)(uint32_t)e.frame + 4, common;
	const char *letters;

	if (e.frame < 0 || back + 4 > code->frames_size)
		return false;
	/* counted from the header: the distance may lead to before it */
	common = back - leat_code_load32(code->frames + back);
	if (common > code->frames_size - 16)
		return false;
	letters = (const char *)code->frames + common + 9;
	for (size_t i = 0; i < 7 && letters[i]; i++)
		if (letters[i] == 'S')
			return true;
	return false;
}

/* Length of the frame, distance of its common part, first address, how many bytes. */
static size_t size_of(const struct leat_code *code, struct entry e)
{
	size_t at = (size_t)(uint32_t)e.frame;

	if (e.frame < 0 || at > code->frames_size || code->frames_size - at < 16)
		return 0;
	return leat_code_load32(code->frames + at + 12);
}

const uint8_t *leat_code_function(const struct leat_code *code, const uint8_t *at,
				  const uint8_t **end)
{
	size_t low = 0, high = count_entries(code);
	const uint8_t *start;

	if (!high)
		return NULL;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (address_of(code, load_entry(code, middle)) <= at)
			low = middle;
		else
			high = middle;
	}
	start = address_of(code, load_entry(code, low));
	*end = start + size_of(code, load_entry(code, low));
	start += is_of_signal(code, load_entry(code, low));
	if (at < start || at >= *end || start < code->text || *end > code->text + code->size)
		return NULL;
	return start;
}

static bool is_within(const uint8_t *target, const uint8_t *from, const uint8_t *to)
{
	return target > from && target <= to;
}

static bool is_entered_nearby(const uint8_t *start, const uint8_t *end, const uint8_t *from,
			      const uint8_t *to)
{
	for (const uint8_t *p = start; p + 2 <= end; p++) {
		bool is_short = (p[0] & 0xf0) == 0x70 || p[0] == 0xeb || (p[0] & 0xfc) == 0xe0;

		if (is_short && is_within(p + 2 + (int8_t)p[1], from, to))
			return true;
	}
	return false;
}

static bool is_entered_from_afar(const uint8_t *start, const uint8_t *end, const uint8_t *from,
				 const uint8_t *to)
{
	/* jmp, or the last byte of a jcc; before a distance of four bytes */
	for (const uint8_t *p = start + 2; p + 4 <= end; p++) {
		if (p[-1] != 0xe9 && ((p[-1] & 0xf0) != 0x80 || p[-2] != 0x0f))
			continue;
		if (is_within(p + 4 + (int32_t)leat_code_load32(p), from, to))
			return true;
	}
	return false;
}

bool leat_code_is_entered(const uint8_t *start, const uint8_t *end, const uint8_t *from,
			  const uint8_t *to)
{
	return is_entered_nearby(start, end, from, to) ||
	       is_entered_from_afar(start, end, from, to);
}

/* Does the file say that the byte at `offset` is code? */
static bool is_in_code_section(long fd, uint64_t offset)
{
	Elf64_Shdr section;
	Elf64_Ehdr head;

	if (leat_raw(SYS_pread64, fd, (long)&head, sizeof head, 0, 0, 0) != sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof section)
		return true;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		uint64_t at = head.e_shoff + i * sizeof section;

		if (leat_raw(SYS_pread64, fd, (long)&section, sizeof section, (long)at, 0, 0) !=
		    sizeof section)
			return true;
		if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS &&
		    offset - section.sh_offset < section.sh_size)
			return section.sh_flags & SHF_EXECINSTR;
	}
	return head.e_shnum == 0;
}

bool leat_code_is_text(const struct leat_code *code, const uint8_t *at)
{
	long fd = leat_raw(SYS_openat, AT_FDCWD, (long)code->file, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	bool is_text;

	if (fd < 0)
		return true;
	is_text = is_in_code_section(fd, code->offset + (uint64_t)(at - code->text));
	leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return is_text;
}
