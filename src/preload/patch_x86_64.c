/* Patches the system calls of libc and the dynamic loader (glibc, x86-64), or maps texts that
 * another process of the run has patched.
 *
 * All or nothing: libc's text is made writable (and stays executable, other code of it may be
 * running); sites are found and stubs written first, then the jumps; then it is as before. */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/engine.h"
#include "preload/image_x86_64.h"
#include "preload/intercept.h"
#include "preload/sites_x86_64.h"
#include "preload/stub_x86_64.h"

#define PAGE 4096ul

/* enter_x86_64.S */
extern uint8_t leat_stub_area[LEAT_STUB_AREA];

static struct leat_patch_sites sites; /* too large for the stack of a small program's main thread */

/* Libraries that make file system calls of their own. libpthread and librt are part of libc since
 * glibc 2.34; the io libraries set up rings that must be refused. */
static bool is_wanted(const char *path)
{
	static const char *const names[] = {"libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.",
					    "librt.so.", "liburing.so.",         "libaio.so."};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The first 8 bytes of the build id; 0: it has none. */
static uint64_t build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * ph)
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

/* Objects without an id make the whole unknown. */
static void add_id(struct leat_texts *texts, const struct dl_phdr_info *info)
{
	uint64_t id = 0;

	for (int i = 0; i < info->dlpi_phnum && !id; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			id = build_id(info, &info->dlpi_phdr[i]);
	texts->id = id && texts->id ? (texts->id << 1 | texts->id >> 63) ^ id : 0;
}

static bool holds(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD &&
		    (uintptr_t)address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct leat_texts *texts = context;

	(void)size;
	if (holds(info, &sites)) /* other versions of this library look for other calls */
		add_id(texts, info);
	if (!info->dlpi_name || !is_wanted(info->dlpi_name))
		return 0;
	add_id(texts, info);
	for (int i = 0; i < info->dlpi_phnum && texts->count < LEAT_MAX_TEXTS; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		texts->text[texts->count++] = (struct leat_text_segment){
			.start = (uint8_t *)(info->dlpi_addr + ph->p_vaddr),
			.size = ph->p_memsz,
			.file = info->dlpi_name,
			.offset = ph->p_offset,
		};
	}
	return 0;
}

/* A libc whose important calls were not all recognised is better wrapped than half patched. */
static int check_complete(void)
{
	static const uint16_t needed[] = {SYS_read,   SYS_write,   SYS_close,     SYS_lseek,
					  SYS_openat, SYS_pread64, SYS_mmap,      SYS_newfstatat,
					  SYS_execve, SYS_clone,   SYS_getdents64};

	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
		size_t k = 0;

		while (k < sites.count && sites.site[k].nr != needed[i])
			k++;
		if (k == sites.count)
			return -ENOENT;
	}
	return 0;
}

static int scan(const struct leat_texts *texts)
{
	int error = 0;

	for (size_t i = 0; i < texts->count && !error; i++)
		error = leat_scan_text(texts->text[i].start, texts->text[i].size, &sites);
	return error;
}

static int find_sites(const struct leat_texts *texts, const char *kept_in)
{
	bool recalled = leat_sites_recall(kept_in, texts, &sites) && check_complete() == 0;
	int error = 0;

	if (!recalled) {
		sites.count = 0;
		error = scan(texts);
		if (!error)
			error = check_complete();
		if (!error)
			leat_sites_keep(kept_in, texts, &sites);
	}
	if (!error)
		error = leat_scan_exit((uint8_t *)(uintptr_t)_exit, &sites);
	return error;
}

static int protect(const void *start, size_t size, int protection)
{
	uintptr_t from = (uintptr_t)start & ~(PAGE - 1);
	uintptr_t to = ((uintptr_t)start + size + PAGE - 1) & ~(PAGE - 1);

	return (int)leat_raw(SYS_mprotect, (long)from, (long)(to - from), protection, 0, 0, 0);
}

/* Make the first `count` texts read and execute only again. Cannot fail: the kernel only merges
 * what it split before. */
static void seal(const struct leat_texts *texts, size_t count)
{
	while (count-- > 0)
		protect(texts->text[count].start, texts->text[count].size, PROT_READ | PROT_EXEC);
}

/* Text stays executable while it is written: where that is refused nothing has been lost. */
static int unseal(const struct leat_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		int error = protect(texts->text[i].start, texts->text[i].size,
				    PROT_READ | PROT_WRITE | PROT_EXEC);

		if (error) {
			seal(texts, i);
			return error;
		}
	}
	return 0;
}

static int open_area(uint8_t *area, struct leat_code *code)
{
	int error = protect(area, LEAT_STUB_AREA, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (error)
		return error;
	code->table = (const struct leat_stub_table *)(const void *)area;
	code->at = area + LEAT_STUB_PAGE;
	code->end = area + LEAT_STUB_AREA;
	leat_stub_fill((struct leat_stub_table *)(void *)area);
	return 0;
}

/* The area of the text that `at` is in. */
static uint8_t *area_of(const struct leat_texts *texts, const uint8_t *at)
{
	for (size_t i = 0; i < texts->count; i++)
		if (at >= texts->text[i].start && at < texts->text[i].start + texts->text[i].size &&
		    texts->text[i].area)
			return texts->text[i].area;
	return leat_stub_area;
}

/* The stubs that go into one area. */
static int write_area(const struct leat_texts *texts, uint8_t *area,
		      uint8_t jumps[][LEAT_JUMP_SIZE])
{
	struct leat_code code = {0};
	int error = open_area(area, &code);

	if (error)
		return error;
	for (size_t i = 0; i < sites.count; i++) {
		uint8_t *stub;

		if (area_of(texts, sites.site[i].patch) != area)
			continue;
		stub = leat_stub_write(&code, &sites.site[i]);
		if (!leat_stub_jump(jumps[i], sites.site[i].patch, stub))
			code.failed = true;
	}
	error = protect(area, LEAT_STUB_AREA, PROT_READ | PROT_EXEC);
	return code.failed ? -ERANGE : error;
}

static int write_stubs(const struct leat_texts *texts, uint8_t jumps[][LEAT_JUMP_SIZE])
{
	bool is_shared = texts->count == 0;
	int error = 0;

	for (size_t i = 0; i < texts->count && !error; i++) {
		if (texts->text[i].area)
			error = write_area(texts, texts->text[i].area, jumps);
		else
			is_shared = true;
	}
	return error || !is_shared ? error : write_area(texts, leat_stub_area, jumps);
}

/* `clean`: the texts may be kept. */
static int patch(struct leat_texts *texts, const char *kept_in, bool *clean)
{
	static uint8_t jumps[LEAT_MAX_SITES][LEAT_JUMP_SIZE];
	int error = find_sites(texts, kept_in);

	if (!error && kept_in && texts->id) {
		leat_image_place(texts);
		*clean = leat_image_is_clean(texts);
	}
	if (!error)
		error = write_stubs(texts, jumps);
	for (size_t i = 0; i < sites.count && !error; i++)
		memcpy(sites.site[i].patch, jumps[i], LEAT_JUMP_SIZE);
	return error;
}

int leat_patch_libc(const char *kept_in)
{
	struct leat_texts texts = {.id = 1};
	bool clean = false;
	int error;

	dl_iterate_phdr(note_object, &texts);
	if (leat_image_map(kept_in, &texts))
		return 0;
	error = unseal(&texts);
	if (error)
		return error;
	error = patch(&texts, kept_in, &clean);
	seal(&texts, texts.count);
	if (!error && clean)
		leat_image_keep(kept_in, &texts);
	return error;
}
