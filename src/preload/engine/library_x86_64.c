#include "preload/engine/library_x86_64.h"

#include "preload/core/call.h"
#include "preload/core/environment.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "preload/engine/area_x86_64.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/flow_x86_64.h"
#include "preload/engine/object_x86_64.h"
#include "preload/engine/patch.h"
#include "preload/engine/scan_x86_64.h"
#include "preload/engine/kept.h"
#include "preload/engine/sites_x86_64.h"
#include "preload/engine/stub_x86_64.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SUFFIX ".seen"

/* What all objects of this process together are called, without this library: the start of every id
 * that is kept. */
static uint64_t own_id = 1;
/* Of all the others that are to be looked at. */
static uint64_t others_id = 1;

/* ---- what was found before ---- */

static bool is_seen(const char *dir, uint64_t id)
{
	char path[PATH_MAX];

	return dir && id && leat_kept_path(path, dir, id, SUFFIX) &&
	       leat_raw(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0, 0, 0) == 0;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/* Of a file that has no build id, or has not been loaded. */
static uint64_t id_of_stat(const struct stat *st)
{
	uint64_t id = mix(own_id, st->st_dev);

	id = mix(id, st->st_ino);
	id = mix(id, (uint64_t)st->st_size);
	id = mix(id, (uint64_t)st->st_mtim.tv_sec);
	id = mix(id, (uint64_t)st->st_mtim.tv_nsec);
	id = mix(id, (uint64_t)st->st_ctim.tv_sec);
	return mix(id, (uint64_t)st->st_ctim.tv_nsec) | 1;
}

static uint64_t id_of(const struct dl_phdr_info *info)
{
	uint64_t id = leat_object_id(info);
	struct stat st;

	if (!id && leat_raw(SYS_newfstatat, AT_FDCWD, (long)leat_object_file(info), (long)&st, 0, 0,
			    0) == 0)
		id = id_of_stat(&st);
	return id;
}

/* ---- patching ---- */

/* What takes more space than a stack has. */
struct space {
	struct leat_patch_sites sites;
	uint8_t jumps[LEAT_MAX_SITES][LEAT_JUMP_SIZE];
	struct leat_code_flow flow;
};

static struct space *make_space(void)
{
	long at = leat_raw(SYS_mmap, 0, sizeof(struct space), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at < 0 && at > -4096 ? NULL : (struct space *)at;
}

static void free_space(struct space *space)
{
	leat_raw(SYS_munmap, (long)space, sizeof *space, 0, 0, 0, 0);
}

static int write_stubs(uint8_t *area, struct space *space)
{
	struct leat_stub_code stubs = {0};
	int error = leat_area_open(area, &stubs);

	if (error)
		return error;
	for (size_t i = 0; i < space->sites.count; i++) {
		const struct leat_patch_site *site = &space->sites.site[i];
		const uint8_t *stub = leat_stub_write(&stubs, site);

		if (!leat_stub_jump(space->jumps[i], site->patch, stub))
			stubs.failed = true;
	}
	return leat_area_close(area, &stubs);
}

/* The sites found in the code, all or none. */
static int patch(const struct leat_code *code, struct space *space)
{
	uint8_t *area = leat_area_find(code);
	int error = area ? write_stubs(area, space) : -ENOMEM;

	if (!error)
		error = leat_area_unseal(code);
	if (error)
		return error;
	for (size_t i = 0; i < space->sites.count; i++)
		memcpy(space->sites.site[i].patch, space->jumps[i], LEAT_JUMP_SIZE);
	leat_area_seal(code);
	return 0;
}

/* ---- at the start ---- */

struct walk {
	struct space *space;
	const char *culprit;
	bool is_patched;
};

static bool starts_name(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

/* libc and the loader are patched already; the sanitizers' libraries write reports, and call libc
 * for their programs; the kernel's own page reads clocks. */
static bool is_known(const struct dl_phdr_info *info)
{
	static const char *const names[] = {"libc.so.6",   "ld-linux-x86-64.so.2", "libpthread.so.",
					    "librt.so.",   "libasan.so.",          "libtsan.so.",
					    "liblsan.so.", "libubsan.so.",         "libhwasan.so."};

	if (info->dlpi_addr && info->dlpi_addr == leat_auxval(AT_SYSINFO_EHDR))
		return true;
	if (leat_object_holds(info, &own_id))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (starts_name(leat_object_file(info), names[i]))
			return true;
	return false;
}

void leat_library_note(const struct dl_phdr_info *info)
{
	if (leat_object_holds(info, &own_id))
		own_id = leat_object_add_id(own_id, leat_object_id(info));
	else if (!is_known(info))
		others_id = leat_object_add_id(others_id, id_of(info));
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct walk *walk = context;
	struct space *space = walk->space;
	struct leat_code code;

	(void)size;
	if (is_known(info))
		return 0;
	for (int i = 0; leat_object_code(info, &i, &code);) {
		int error;

		code.space = &space->flow;
		space->sites.count = 0;
		error = leat_scan_text(&code, &space->sites);
		if (!error && space->sites.count > 0) {
			walk->is_patched = true;
			error = patch(&code, space);
		}
		if (error) {
			walk->culprit = leat_object_file(info);
			return 1;
		}
	}
	return 0;
}

const char *leat_library_patch_all(const char *kept_in)
{
	const uint64_t id = own_id ? mix(own_id, others_id) : 0;
	struct walk walk = {0};

	if (is_seen(kept_in, id))
		return NULL;
	walk.space = make_space();
	if (!walk.space)
		return "(no memory)";
	dl_iterate_phdr(look_at_object, &walk);
	free_space(walk.space);
	if (!walk.culprit && !walk.is_patched)
		leat_kept_note(kept_in, id, SUFFIX, true);
	return walk.culprit;
}

/* ---- later ---- */

/* A file on its way into memory, seen as a whole. */
struct file {
	const uint8_t *at;
	size_t size;
	char name[LEAT_FD_PATH];
};

static const uint8_t *in_file(const struct file *f, uint64_t offset, uint64_t size)
{
	return offset <= f->size && size <= f->size - offset ? f->at + offset : NULL;
}

/* The unwind tables of the library whose segment of code begins at code->offset. */
static void find_frames(const struct file *f, struct leat_code *code)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)(const void *)in_file(f, 0, sizeof *head);
	const ElfW(Phdr) * ph, *frames = NULL, *text = NULL;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof *ph)
		return;
	ph = (const ElfW(Phdr) *)(const void *)in_file(f, head->e_phoff,
						       head->e_phnum * sizeof *ph);
	for (int i = 0; ph && i < head->e_phnum; i++) {
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			frames = &ph[i];
		else if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X &&
			 code->offset - ph[i].p_offset / LEAT_STUB_PAGE * LEAT_STUB_PAGE <
				 ph[i].p_filesz + LEAT_STUB_PAGE)
			text = &ph[i];
	}
	if (!frames || !text || !in_file(f, frames->p_offset, frames->p_filesz))
		return;
	code->frames = f->at + frames->p_offset;
	code->frames_size = f->size - frames->p_offset;
	code->skew = (ptrdiff_t)(text->p_offset - text->p_vaddr) -
		     (ptrdiff_t)(frames->p_offset - frames->p_vaddr);
}

/* Sites found in a file, as they are in memory. */
static void move_sites(struct leat_patch_sites *sites, ptrdiff_t distance)
{
	for (size_t i = 0; i < sites->count; i++) {
		sites->site[i].patch += distance;
		if (sites->site[i].call)
			sites->site[i].call += distance;
	}
}

static long map_and_patch(const struct leat_syscall *c, const struct leat_code *code,
			  struct space *space)
{
	struct leat_code loaded = *code;
	long at = leat_as_is(c), error;

	if (at < 0 && at > -4096)
		return at;
	loaded.text = (uint8_t *)at;
	move_sites(&space->sites, loaded.text - code->text);
	error = patch(&loaded, space);
	if (!error)
		return at;
	leat_raw(SYS_munmap, at, c->a[1], 0, 0, 0, 0);
	return error;
}

/* Scan the part of the file that is to be mapped, then map it. */
static long look_and_map(const struct leat_syscall *c, const struct file *f, bool *is_clean)
{
	struct leat_code code = {.text = (uint8_t *)(uintptr_t)f->at + c->a[5],
				 .size = (size_t)c->a[1],
				 .file = f->name,
				 .offset = (uint64_t)c->a[5]};
	struct space *space;
	long result;

	if (code.offset >= f->size)
		return leat_as_is(c);
	if (code.size > f->size - code.offset)
		code.size = f->size - code.offset;
	space = make_space();
	if (!space)
		return -ENOMEM;
	code.space = &space->flow;
	find_frames(f, &code);
	result = leat_scan_text(&code, &space->sites);
	*is_clean = result == 0 && space->sites.count == 0;
	if (*is_clean)
		result = leat_as_is(c);
	else if (!result)
		result = map_and_patch(c, &code, space);
	free_space(space);
	return result;
}

static long look_at_file(const struct leat_syscall *c, const struct stat *st, bool *is_clean)
{
	struct file f = {.size = (size_t)st->st_size};
	long at = leat_raw(SYS_mmap, 0, st->st_size, PROT_READ, MAP_PRIVATE, c->a[4], 0), result;

	if (at < 0 && at > -4096)
		return at;
	f.at = (const uint8_t *)at;
	leat_fd_path((int)c->a[4], f.name);
	result = look_and_map(c, &f, is_clean);
	leat_raw(SYS_munmap, at, st->st_size, 0, 0, 0, 0);
	return result;
}

long leat_code_map(const struct leat_syscall *c)
{
	const char *kept_in = leat_environment_kept("LEAT_SITES");
	bool is_clean = false;
	struct stat st;
	uint64_t id;
	long result;

	if (leat_raw(SYS_fstat, c->a[4], (long)&st, 0, 0, 0, 0) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size == 0)
		return leat_as_is(c);
	id = mix(id_of_stat(&st), (uint64_t)c->a[5]);
	if (is_seen(kept_in, id))
		return leat_as_is(c);
	result = look_at_file(c, &st, &is_clean);
	if (is_clean)
		leat_kept_note(kept_in, id, SUFFIX, false);
	return result;
}
