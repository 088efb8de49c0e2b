/* Patches the system calls of libc and the dynamic loader (glibc, x86-64), or maps texts that
 * another process of the run has patched.
 *
 * All or nothing: libc's text is made writable (and stays executable, other code of it may be
 * running); sites are found and stubs written first, then the jumps; then libc's functions are
 * called to see whether they arrive; then it is as before. */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/engine/area_x86_64.h"
#include "preload/engine/code_x86_64.h"
#include "preload/engine/flow_x86_64.h"
#include "preload/engine/image_x86_64.h"
#include "preload/engine/library_x86_64.h"
#include "preload/engine/object_x86_64.h"
#include "preload/engine/patch.h"
#include "preload/engine/proof_x86_64.h"
#include "preload/engine/scan_x86_64.h"
#include "preload/engine/kept.h"
#include "preload/engine/sites_x86_64.h"
#include "preload/engine/stub_x86_64.h"

/* stub_area_x86_64.S */
extern uint8_t leat_stub_area[LEAT_STUB_AREA];

/* too large for the stack of a small program's main thread */
static struct leat_patch_sites sites;
static struct leat_code_flow flow;

/* libpthread and librt are part of libc since glibc 2.34. */
static bool is_wanted(const char *path)
{
	static const char *const names[] = {"libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.",
					    "librt.so."};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct leat_texts *texts = context;
	struct leat_code code;

	(void)size;
	leat_library_note(info);
	/* Objects without an id make the whole unknown; so do other versions of this library, which
	 * look for other calls. */
	if (leat_object_holds(info, &sites))
		texts->id = leat_object_add_id(texts->id, leat_object_id(info));
	if (!info->dlpi_name || !is_wanted(info->dlpi_name))
		return 0;
	texts->id = leat_object_add_id(texts->id, leat_object_id(info));
	for (int i = 0; texts->count < LEAT_MAX_TEXTS && leat_object_code(info, &i, &code);) {
		code.is_libc = true;
		code.space = &flow;
		texts->text[texts->count++].code = code;
	}
	return 0;
}

/* Without one of these it is no glibc that is known here. */
static int check_complete(void)
{
	static const uint16_t needed[] = {SYS_lseek,  SYS_openat, SYS_mmap,      SYS_newfstatat,
					  SYS_execve, SYS_clone,  SYS_getdents64};

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
		error = leat_scan_text(&texts->text[i].code, &sites);
	if (!error)
		error = check_complete();
	return error == -ENOENT && texts->count > 0 ? -ENOEXEC : error;
}

static int scan_exit(void)
{
	uint8_t *function = leat_libc_function("_exit");

	return function ? leat_scan_exit(function, &sites) : -ENOEXEC;
}

/* *found: they were searched for, and nobody has shown yet that they are all. */
static int find_sites(const struct leat_texts *texts, const char *kept_in, bool *found)
{
	int error = 0;

	*found = !leat_sites_load(kept_in, texts, &sites) || check_complete() != 0;
	if (*found) {
		sites.count = 0;
		error = scan(texts);
	}
	if (!error)
		error = scan_exit();
	return error;
}

static void seal(const struct leat_texts *texts, size_t count)
{
	while (count-- > 0)
		leat_area_seal(&texts->text[count].code);
}

/* Where writing text is refused nothing has been lost. */
static int unseal(const struct leat_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		int error = leat_area_unseal(&texts->text[i].code);

		if (error) {
			seal(texts, i);
			return error;
		}
	}
	return 0;
}

/* The area of the text that `at` is in. */
static uint8_t *area_of(const struct leat_texts *texts, const uint8_t *at)
{
	for (size_t i = 0; i < texts->count; i++) {
		const struct leat_code *code = &texts->text[i].code;

		if (at >= code->text && at < code->text + code->size && texts->text[i].area)
			return texts->text[i].area;
	}
	return leat_stub_area;
}

/* The stubs that go into one area. */
static int write_area(const struct leat_texts *texts, uint8_t *area,
		      uint8_t jumps[][LEAT_JUMP_SIZE])
{
	struct leat_stub_code stubs = {0};
	int error = leat_area_open(area, &stubs);

	if (error)
		return error;
	for (size_t i = 0; i < sites.count; i++) {
		uint8_t *stub;

		if (area_of(texts, sites.site[i].patch) != area)
			continue;
		stub = leat_stub_write(&stubs, &sites.site[i]);
		if (!leat_stub_jump(jumps[i], sites.site[i].patch, stub))
			stubs.failed = true;
	}
	return leat_area_close(area, &stubs);
}

/* The areas in use, one after the other from *i on; NULL: no more. */
static uint8_t *next_area(const struct leat_texts *texts, size_t *i)
{
	bool is_shared = texts->count == 0;

	for (; *i < texts->count; ++*i) {
		if (texts->text[*i].area)
			return texts->text[(*i)++].area;
	}
	for (size_t k = 0; k < texts->count; k++)
		is_shared |= !texts->text[k].area;
	return ++*i == texts->count + 1 && is_shared ? leat_stub_area : NULL;
}

static int write_stubs(const struct leat_texts *texts, uint8_t jumps[][LEAT_JUMP_SIZE])
{
	uint8_t *area;
	int error = 0;

	for (size_t i = 0; !error && (area = next_area(texts, &i)) != NULL;)
		error = write_area(texts, area, jumps);
	return error;
}

/* The jumps, or again what was there. */
static void exchange(uint8_t jumps[][LEAT_JUMP_SIZE])
{
	for (size_t i = 0; i < sites.count; i++) {
		uint8_t was[LEAT_JUMP_SIZE];

		memcpy(was, sites.site[i].patch, LEAT_JUMP_SIZE);
		memcpy(sites.site[i].patch, jumps[i], LEAT_JUMP_SIZE);
		memcpy(jumps[i], was, LEAT_JUMP_SIZE);
	}
}

/* Stubs lead to the proof and, after it, to the hooks again. */
static int fill_tables(const struct leat_texts *texts, void (*fill)(struct leat_stub_table *))
{
	uint8_t *area;
	int error = 0;

	for (size_t i = 0; !error && (area = next_area(texts, &i)) != NULL;) {
		error = leat_area_protect(area, LEAT_STUB_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		if (!error)
			fill((struct leat_stub_table *)(void *)area);
		if (!error)
			error = leat_area_protect(area, LEAT_STUB_PAGE, PROT_READ | PROT_EXEC);
	}
	return error;
}

static int prove(const struct leat_texts *texts, const char **missing)
{
	int error = fill_tables(texts, leat_proof_fill);

	if (!error)
		*missing = leat_proof_run(&sites);
	if (!error)
		error = fill_tables(texts, leat_stub_fill);
	return error || !*missing ? error : -ENOEXEC;
}

/* `clean`: the texts may be kept. */
static int patch(struct leat_texts *texts, const char *kept_in, bool *clean, const char **missing)
{
	static uint8_t jumps[LEAT_MAX_SITES][LEAT_JUMP_SIZE];
	bool found;
	int error = find_sites(texts, kept_in, &found);

	if (!error && kept_in && texts->id) {
		leat_image_reserve(texts);
		*clean = leat_image_is_clean(texts);
	}
	if (!error)
		error = write_stubs(texts, jumps);
	if (error)
		return error;
	exchange(jumps);
	if (found)
		error = prove(texts, missing);
	if (error)
		exchange(jumps);
	else if (found)
		leat_sites_save(kept_in, texts, &sites);
	return error;
}

static int patch_anew(struct leat_texts *texts, const char *kept_in, const char **missing)
{
	bool clean = false;
	int error = unseal(texts);

	if (error)
		return error;
	error = patch(texts, kept_in, &clean, missing);
	seal(texts, texts->count);
	if (!error && clean)
		leat_image_keep(kept_in, texts);
	return error;
}

static int patch_libc(const char *kept_in, const char **missing)
{
	struct leat_texts texts = {.id = 1};
	int error;

	dl_iterate_phdr(note_object, &texts);
	if (leat_image_map(kept_in, &texts))
		return 0;
	error = patch_anew(&texts, kept_in, missing);
	leat_image_done(kept_in, &texts);
	return error;
}

int leat_patch_libc(const struct leat_stub_table *entries, const char *kept_in,
		    struct leat_unseen *unseen)
{
	int error;

	leat_stub_lead_to(entries);
	error = patch_libc(kept_in, &unseen->function);
	if (error == -ENOEXEC && !unseen->function)
		unseen->function = "(one of its own)";
	if (error)
		return error;
	unseen->file = leat_library_patch_all(kept_in);
	return unseen->file ? -ENOEXEC : 0;
}

uintptr_t leat_caller(const struct leat_syscall *c)
{
	uintptr_t caller = 0;

	/* A wrapper calls the hooks by itself, and not from libc's frame. */
	if (!leat_has_wrappers)
		memcpy(&caller, (const char *)c + LEAT_ENTER_STACK, sizeof(caller));
	return caller;
}
