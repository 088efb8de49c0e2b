#include "base/elf.h"
#include "base/elf_machine.h"

#include <linux/elf.h> /* <elf.h> would find our own */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GO_BUILD_ID 4   /* type of the note "Go" */
#define MAX_HEADERS 128 /* more than any linker makes */
#define MAX_NOTES 1024  /* bytes of a note segment looked at */
#define MAX_DYNAMIC 256 /* entries of a dynamic section looked at */
#define MAX_LOADER 1024 /* bytes of its path looked at */

/* How its names begin on x86-64, aarch64 and RISC-V. */
#define GLIBC_LOADER "ld-linux"

/* The first bytes are read at once: of most programs they are all that is looked at. */
struct image {
	int fd;
	leat_elf_read_at *read_at;
	size_t n_first;
	uint8_t first[1024];
};

static bool read_exactly(const struct image *image, void *to, size_t size, uint64_t at)
{
	if (at <= image->n_first && size <= image->n_first - at) {
		memcpy(to, image->first + at, size);
		return true;
	}
	return image->read_at(image->fd, to, size, (off_t)at) == (ssize_t)size;
}

static void open_image(struct image *image, int fd, leat_elf_read_at *read_at)
{
	ssize_t n = read_at(fd, image->first, sizeof image->first, 0);

	image->fd = fd;
	image->read_at = read_at;
	image->n_first = n > 0 ? (size_t)n : 0;
}

/* Does a note segment hold Go's build id? */
static bool has_go_note(const struct image *image, const Elf64_Phdr *ph)
{
	uint8_t notes[MAX_NOTES];
	size_t size = ph->p_filesz < sizeof notes ? ph->p_filesz : sizeof notes;
	size_t at = 0;

	if (!read_exactly(image, notes, size, ph->p_offset))
		return false;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t length;

		memcpy(&note, notes + at, sizeof note);
		at += sizeof note;
		if (note.n_type == GO_BUILD_ID && note.n_namesz == 4 && size - at >= 4 &&
		    memcmp(notes + at, "Go\0", 4) == 0)
			return true;
		length = (((size_t)note.n_namesz + 3) & ~(size_t)3) +
			 (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (length > size - at)
			return false;
		at += length;
	}
	return false;
}

/* Only libraries have a name of their own; of those, only the loader is ever run. */
static bool has_soname(const struct image *image, const Elf64_Phdr *ph)
{
	for (unsigned i = 0; i < MAX_DYNAMIC && (i + 1) * sizeof(Elf64_Dyn) <= ph->p_filesz; i++) {
		Elf64_Dyn entry;

		if (!read_exactly(image, &entry, sizeof entry, ph->p_offset + i * sizeof entry) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_SONAME)
			return true;
	}
	return false;
}

/* Is the dynamic loader glibc's, as far as its name tells? */
static bool is_glibc(const struct image *image, const Elf64_Phdr *ph)
{
	char path[MAX_LOADER] = {0};
	size_t size = ph->p_filesz < sizeof path ? ph->p_filesz : sizeof path - 1;
	const char *slash;

	if (!read_exactly(image, path, size, ph->p_offset))
		return true;
	slash = strrchr(path, '/');
	return strncmp(slash ? slash + 1 : path, GLIBC_LOADER, strlen(GLIBC_LOADER)) == 0;
}

enum leat_elf_kind leat_elf_inspect(int fd, leat_elf_read_at *read_at)
{
	bool has_loader = false, is_other = false, is_go = false, is_library = false;
	struct image image;
	Elf64_Ehdr eh;

	open_image(&image, fd, read_at);
	if (!read_exactly(&image, &eh, sizeof eh, 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return LEAT_ELF_NONE;
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != OWN_MACHINE ||
	    eh.e_phentsize != sizeof(Elf64_Phdr))
		return LEAT_ELF_FOREIGN;
	for (unsigned i = 0; i < eh.e_phnum && i < MAX_HEADERS; i++) {
		Elf64_Phdr ph;

		if (!read_exactly(&image, &ph, sizeof ph, eh.e_phoff + i * sizeof ph))
			return LEAT_ELF_NONE;
		if (ph.p_type == PT_INTERP) {
			has_loader = true;
			is_other = !is_glibc(&image, &ph);
		} else if (ph.p_type == PT_NOTE && has_go_note(&image, &ph)) {
			is_go = true;
		} else if (ph.p_type == PT_DYNAMIC && !has_loader && has_soname(&image, &ph)) {
			is_library = true;
		}
	}
	if (is_go)
		return LEAT_ELF_GO;
	if (has_loader)
		return is_other ? LEAT_ELF_OTHER : LEAT_ELF_DYNAMIC;
	return is_library ? LEAT_ELF_LOADER : LEAT_ELF_STATIC;
}

const char *leat_elf_obstacle(enum leat_elf_kind kind)
{
	switch (kind) {
	case LEAT_ELF_STATIC:
		return "statically linked";
	case LEAT_ELF_OTHER:
		return "linked with another C library than glibc";
	case LEAT_ELF_GO:
		return "a Go program, which makes its system calls itself";
	case LEAT_ELF_FOREIGN:
		return "built for another machine or word size";
	default:
		return NULL;
	}
}
