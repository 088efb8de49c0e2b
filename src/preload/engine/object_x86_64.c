#include "preload/engine/object_x86_64.h"

#include "preload/engine/code_x86_64.h"

#include <string.h>

const char *leat_object_file(const struct dl_phdr_info *info)
{
	return info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
}

bool leat_object_holds(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    (uintptr_t)address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

static uint64_t id_in(const struct dl_phdr_info *info, const ElfW(Phdr) * ph)
{
	const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr), *end = at + ph->p_memsz;
	uint64_t id = 0;

	while ((size_t)(end - at) > sizeof(ElfW(Nhdr)) && !id) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
		const char *name = at + sizeof *note, *value = name + (note->n_namesz + 3) / 4 * 4;

		if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz >= sizeof id &&
		    note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
			memcpy(&id, value, sizeof id);
		at = value + (note->n_descsz + 3) / 4 * 4;
	}
	return id;
}

uint64_t leat_object_id(const struct dl_phdr_info *info)
{
	uint64_t id = 0;

	for (int i = 0; i < info->dlpi_phnum && !id; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			id = id_in(info, &info->dlpi_phdr[i]);
	return id;
}

/* The unwind tables, and how far one may read in them. */
static void find_frames(const struct dl_phdr_info *info, struct leat_code *code)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			code->frames =
				(const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (int i = 0; i < info->dlpi_phnum && code->frames; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		size_t at = (size_t)(code->frames - (const uint8_t *)info->dlpi_addr) - ph->p_vaddr;

		if (ph->p_type == PT_LOAD && at < ph->p_filesz)
			code->frames_size = ph->p_filesz - at;
	}
}

bool leat_object_code(const struct dl_phdr_info *info, int *i, struct leat_code *code)
{
	for (; *i < info->dlpi_phnum; ++*i) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[*i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		*code = (struct leat_code){
			.text = (uint8_t *)(info->dlpi_addr + ph->p_vaddr),
			.size = ph->p_filesz,
			.file = leat_object_file(info),
			.offset = ph->p_offset,
		};
		find_frames(info, code);
		++*i;
		return true;
	}
	return false;
}
