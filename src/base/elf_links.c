#include "base/elf_links.h"
#include "base/elf_machine.h"

#include <linux/elf.h> /* <elf.h> would find our own */
#include <string.h>

#ifndef DT_RUNPATH
#define DT_RUNPATH 29
#endif

#define MAX_HEADERS 128 /* more than any linker makes */
#define MAX_DYNAMIC 512 /* entries looked at */
#define AT_ONCE 32

struct file {
	int fd;
	leat_elf_read_at *read_at;
};

static bool read_exactly(const struct file *f, void *to, size_t size, uint64_t at)
{
	return f->read_at(f->fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Headers of segments, some at once. */
struct headers {
	const struct file *file;
	Elf64_Ehdr eh;
	unsigned n, first, have;
	Elf64_Phdr some[AT_ONCE / 2];
};

static const Elf64_Phdr *header(struct headers *h, unsigned i)
{
	const unsigned most = sizeof h->some / sizeof *h->some;

	if (i >= h->n)
		return NULL;
	if (i < h->first || i >= h->first + h->have) {
		unsigned n = h->n - i < most ? h->n - i : most;

		if (!read_exactly(h->file, h->some, n * sizeof *h->some,
				  h->eh.e_phoff + i * sizeof *h->some))
			return NULL;
		h->first = i;
		h->have = n;
	}
	return &h->some[i - h->first];
}

static bool open_headers(const struct file *f, struct headers *h)
{
	h->file = f;
	h->first = h->have = 0;
	if (!read_exactly(f, &h->eh, sizeof h->eh, 0) ||
	    memcmp(h->eh.e_ident, ELFMAG, SELFMAG) != 0 || h->eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->eh.e_machine != OWN_MACHINE || h->eh.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	h->n = h->eh.e_phnum < MAX_HEADERS ? h->eh.e_phnum : MAX_HEADERS;
	return true;
}

/* Where in the file is what will be at this address? */
static bool find_offset(struct headers *h, uint64_t address, uint64_t *offset)
{
	const Elf64_Phdr *ph;

	for (unsigned i = 0; (ph = header(h, i)); i++)
		if (ph->p_type == PT_LOAD && address >= ph->p_vaddr &&
		    address - ph->p_vaddr < ph->p_filesz) {
			*offset = ph->p_offset + (address - ph->p_vaddr);
			return true;
		}
	return false;
}

/* One entry of the dynamic section; its last: false. */
static bool take(struct leat_elf_links *links, const Elf64_Dyn *entry, uint64_t *address)
{
	uint32_t value = (uint32_t)entry->d_un.d_val;

	switch (entry->d_tag) {
	case DT_NULL:
		return false;
	case DT_NEEDED:
		if (links->n_needed < LEAT_ELF_MAX_NEEDED)
			links->needed[links->n_needed++] = value;
		break;
	case DT_RPATH:
		links->rpath = value;
		break;
	case DT_RUNPATH:
		links->runpath = value;
		break;
	case DT_STRTAB:
		*address = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		links->text_size = entry->d_un.d_val;
		break;
	default:
		break;
	}
	return true;
}

static uint64_t take_all(const struct file *f, const Elf64_Phdr *ph, struct leat_elf_links *links)
{
	size_t n = ph->p_filesz / sizeof(Elf64_Dyn);
	uint64_t address = 0;

	n = n < MAX_DYNAMIC ? n : MAX_DYNAMIC;
	for (size_t i = 0; i < n; i += AT_ONCE) {
		Elf64_Dyn some[AT_ONCE];
		size_t most = n - i < AT_ONCE ? n - i : AT_ONCE;

		if (!read_exactly(f, some, most * sizeof *some, ph->p_offset + i * sizeof *some))
			return 0;
		for (size_t k = 0; k < most; k++)
			if (!take(links, &some[k], &address))
				return address;
	}
	return address;
}

bool leat_elf_links_read(int fd, leat_elf_read_at *read_at, struct leat_elf_links *links)
{
	const struct file f = {fd, read_at};
	const Elf64_Phdr *ph;
	struct headers h;
	uint64_t address;

	links->rpath = links->runpath = links->n_needed = 0;
	links->text = links->text_size = 0;
	if (!open_headers(&f, &h))
		return false;
	for (unsigned i = 0; (ph = header(&h, i)); i++)
		if (ph->p_type == PT_DYNAMIC)
			break;
	if (!ph)
		return false;
	address = take_all(&f, ph, links);
	return address && find_offset(&h, address, &links->text);
}

bool leat_elf_links_text(int fd, leat_elf_read_at *read_at, const struct leat_elf_links *links,
			 uint32_t offset, char *out, size_t size)
{
	ssize_t n;

	if (offset >= links->text_size || size == 0)
		return false;
	if (size > links->text_size - offset)
		size = (size_t)(links->text_size - offset);
	n = read_at(fd, out, size, (off_t)(links->text + offset));
	return n > 0 && strnlen(out, (size_t)n) < (size_t)n;
}
