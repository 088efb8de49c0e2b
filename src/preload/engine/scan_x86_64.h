/* Finding the system calls in a library's text. */
#ifndef LEAT_PRELOAD_ENGINE_SCAN_X86_64_H
#define LEAT_PRELOAD_ENGINE_SCAN_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAT_MAX_SITES 384
#define LEAT_JUMP_SIZE 5 /* jmp rel32 */

enum leat_patch_kind {
	LEAT_PATCH_NUMBER, /* mov $nr,%eax; ...; syscall: the mov becomes the jump */
	LEAT_PATCH_READ,   /* xor %eax,%eax; syscall; cmp $-4096,%rax: all of it becomes the jump */
	LEAT_PATCH_READ_AFTER_LOAD, /* mov d8(%rsp),%edi; xor %eax,%eax; syscall: the first two */
	LEAT_PATCH_ANY,             /* a number from elsewhere: the instructions before the call */
	LEAT_PATCH_EXIT,            /* _exit(): mov $exit_group,%reg */
};

/* One place to patch. Where `call` is set, the syscall instruction there stays
 * as it is: calls that are not ours are made by it, with libc's own unwind
 * tables around them, and a jump to it from elsewhere does no harm. */
struct leat_patch_site {
	uint8_t *patch; /* the first LEAT_JUMP_SIZE bytes from here become the jump */
	uint8_t *call;  /* the syscall instruction; NULL: it is overwritten or far */
	uint16_t nr;
	uint16_t kind;
	bool is_moved; /* no jump from another part of the code may lead between patch and call */
};

struct leat_patch_sites {
	size_t count;
	struct leat_patch_site site[LEAT_MAX_SITES];
};

struct leat_code;

/* Add the sites in the code whose calls have a class (leat_call_class). 0; -E2BIG; -ENOEXEC: there
 * is a call that cannot be read. Reads only. Not for two threads at once. */
int leat_scan_text(const struct leat_code *code, struct leat_patch_sites *sites);

/* Is there at `distance` the one of a jump from elsewhere into a site of the code, from number
 * `first` on? */
bool leat_look_for_jump(const struct leat_code *code, const struct leat_patch_sites *sites,
			size_t first, const uint8_t *distance);

/* Add the site whose system call instruction is at `call`, if it is one and the hooks want to see
 * it. As leat_scan_text. */
int leat_look_at(const struct leat_code *code, uint8_t *call, struct leat_patch_sites *sites);

/* Add the site whose system call instruction is `offset` bytes into the code. False: there is none
 * that a scan would find. */
bool leat_scan_at(const struct leat_code *code, size_t offset, struct leat_patch_sites *sites);

/* Where the system call instruction of a site is, or was; NULL for the exit. */
const uint8_t *leat_scan_call(const struct leat_patch_site *site);

/* Add the exit of the process, found in the code of _exit. 0 or -ENOENT. */
int leat_scan_exit(uint8_t *function, struct leat_patch_sites *sites);

#endif
