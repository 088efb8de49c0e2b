/* Each function is called as in a process with one thread and as in one with several: glibc has two
 * ways into the kernel for calls that can be cancelled. What does not arrive is made by the kernel,
 * and fails there: the descriptor is not open, and nothing can be made or changed in /proc/self. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "preload/engine/proof_x86_64.h"

#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/engine/stub_x86_64.h"

/* enter_x86_64.S; entered by jump only */
void leat_enter_proof(void);
long leat_proof_hook(const struct leat_syscall *c);
extern const uint8_t leat_every_fd[LEAT_MAX_FD];

#define FD (LEAT_MAX_FD - 1)

typedef long function(long, ...);

static char path[] = "/proc/self/leat";
static char buffer[512] __attribute__((aligned(16)));
static struct iovec vector = {buffer, 1};
static struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
static bool has_arrived;

/* Without addresses, for which its pages would be copied at each start. */
struct probe {
	char name[20];
	int32_t a[5];
};

/* Arguments that stand for addresses, and for who this process is. */
enum { P = INT32_MIN, B, V, M, U, G };

#define NOBODY 0x7ffffff0 /* no process has this number */

static const struct probe probes[] = {
	{"read", {FD, B, 1}},
	{"__read_chk", {FD, B, 1, 512}},
	{"write", {FD, B, 1}},
	{"close", {FD}},
	{"open", {P}},
	{"open64", {P}},
	{"__open_2", {P}},
	{"openat", {AT_FDCWD, P}},
	{"openat64", {AT_FDCWD, P}},
	{"creat", {P, 0600}},
	{"pread", {FD, B, 1}},
	{"pread64", {FD, B, 1}},
	{"pwrite", {FD, B, 1}},
	{"pwrite64", {FD, B, 1}},
	{"readv", {FD, V, 1}},
	{"writev", {FD, V, 1}},
	{"preadv", {FD, V, 1}},
	{"pwritev", {FD, V, 1}},
	{"preadv2", {FD, V, 1, 0, 1}},
	{"pwritev2", {FD, V, 1, 0, 1}},
	{"fsync", {FD}},
	{"fdatasync", {FD}},
	{"syncfs", {FD}},
	{"readahead", {FD, 0, 1}},
	{"sync_file_range", {FD}},
	{"splice", {FD, 0, FD, 0, 1}},
	{"tee", {FD, FD, 1}},
	{"vmsplice", {FD, V, 1}},
	{"sendfile", {FD, FD, 0, 1}},
	{"sendfile64", {FD, FD, 0, 1}},
	{"copy_file_range", {FD, 0, FD, 0, 1}},
	{"fstat", {FD, B}},
	{"stat", {P, B}},
	{"lstat", {P, B}},
	{"fstatat", {AT_FDCWD, P, B}},
	{"__fxstat", {1, FD, B}},
	{"__xstat", {1, P, B}},
	{"__lxstat", {1, P, B}},
	{"__fxstatat", {1, AT_FDCWD, P, B}},
	{"statx", {AT_FDCWD, P, 0, 0, B}},
	{"lseek", {FD}},
	{"lseek64", {FD}},
	{"dup", {FD}},
	{"dup2", {FD, FD - 1}},
	{"dup3", {FD, FD - 1}},
	{"fcntl", {FD, F_GETFL}},
	{"fcntl64", {FD, F_GETFL}},
	{"ioctl", {FD}},
	{"flock", {FD}},
	{"access", {P}},
	{"faccessat", {AT_FDCWD, P, 0, AT_EACCESS}},
	{"rename", {P, P}},
	{"renameat", {AT_FDCWD, P, AT_FDCWD, P}},
	{"renameat2", {AT_FDCWD, P, AT_FDCWD, P}},
	{"unlink", {P}},
	{"unlinkat", {AT_FDCWD, P}},
	{"rmdir", {P}},
	{"remove", {P}},
	{"mkdir", {P}},
	{"mkdirat", {AT_FDCWD, P}},
	{"mknod", {P, S_IFREG}},
	{"mknodat", {AT_FDCWD, P, S_IFREG}},
	{"mkfifo", {P}},
	{"mkfifoat", {AT_FDCWD, P}},
	{"link", {P, P}},
	{"linkat", {AT_FDCWD, P, AT_FDCWD, P}},
	{"symlink", {P, P}},
	{"symlinkat", {P, AT_FDCWD, P}},
	{"readlink", {P, B, 1}},
	{"readlinkat", {AT_FDCWD, P, B, 1}},
	{"chmod", {P}},
	{"fchmod", {FD}},
	{"fchmodat", {AT_FDCWD, P}},
	{"chown", {P}},
	{"lchown", {P}},
	{"fchown", {FD}},
	{"fchownat", {AT_FDCWD, P}},
	{"truncate", {P}},
	{"ftruncate", {FD}},
	{"fallocate", {FD, 0, 0, 1}},
	{"posix_fallocate", {FD, 0, 1}},
	{"posix_fadvise", {FD}},
	{"utimensat", {AT_FDCWD, P}},
	{"futimens", {FD}},
	{"utimes", {P}},
	{"utime", {P}},
	{"lutimes", {P}},
	{"futimes", {FD}},
	{"futimesat", {AT_FDCWD, P}},
	{"getcwd", {B, 512}},
	{"chdir", {P}},
	{"fchdir", {FD}},
	{"getdents64", {FD, B, 512}},
	{"statfs", {P, B}},
	{"fstatfs", {FD, B}},
	{"getxattr", {P, P}},
	{"lgetxattr", {P, P}},
	{"fgetxattr", {FD, P}},
	{"setxattr", {P, P}},
	{"lsetxattr", {P, P}},
	{"fsetxattr", {FD, P}},
	{"listxattr", {P}},
	{"llistxattr", {P}},
	{"flistxattr", {FD}},
	{"removexattr", {P, P}},
	{"lremovexattr", {P, P}},
	{"fremovexattr", {FD, P}},
	{"mmap", {0, 4096, PROT_READ, MAP_PRIVATE, FD}},
	{"bind", {FD, B, 2}},
	{"connect", {FD, B, 2}},
	{"sendmsg", {FD, M}},
	{"recvmsg", {FD, M}},
	{"sendmmsg", {FD, B, 1}},
	{"recvmmsg", {FD, B, 1}},
	{"pidfd_getfd", {FD, FD}},
	{"execve", {P}},
	{"execveat", {AT_FDCWD, P}},
	{"close_range", {FD, FD}},
	{"name_to_handle_at", {AT_FDCWD, P, B, B}},
	{"open_by_handle_at", {FD, B}},
	{"inotify_add_watch", {FD, P, 1}},
	{"waitpid", {NOBODY, 0, WNOHANG}},
	{"wait4", {NOBODY, 0, WNOHANG}},
	{"waitid", {P_PID, NOBODY, 0, WEXITED | WNOHANG}},
	/* -1 is nobody, or leaves it as it is; and so does what it is already */
	{"setuid", {-1}},
	{"setgid", {-1}},
	{"seteuid", {U}},
	{"setegid", {G}},
	{"setreuid", {-1, -1}},
	{"setregid", {-1, -1}},
	{"setresuid", {-1, -1, -1}},
	{"setresgid", {-1, -1, -1}},
	{"setfsuid", {-1}},
	{"setfsgid", {-1}},
	{"setgroups", {NGROUPS_MAX + 1, B}},
	{"chroot", {P}},
	{"pivot_root", {P, P}},
	{"mount", {P, P, P}},
	{"umount", {P}},
	{"umount2", {P}},
	{"move_mount", {FD, P, FD, P}},
	{"open_tree", {AT_FDCWD, P}},
	{"unshare", {0}},
	{"setns", {FD}},
	{"prctl", {PR_GET_DUMPABLE}},
	{"syscall", {SYS_read, FD, B, 1}},
};

/* These are not called: what does not arrive would be another process. Their code holds the call.
 */
static const struct {
	char name[8], instead[8];
	uint16_t number;
} unproven[] = {
	{"_Fork", "fork", SYS_clone}, /* libc before 2.34 has no _Fork */
	{"vfork", "", SYS_vfork},
	{"clone", "", SYS_clone},
};

static long argument(int32_t a)
{
	switch (a) {
	case P:
		return (long)path;
	case B:
		return (long)buffer;
	case V:
		return (long)&vector;
	case M:
		return (long)&message;
	case U:
		return leat_raw(SYS_geteuid, 0, 0, 0, 0, 0, 0);
	case G:
		return leat_raw(SYS_getegid, 0, 0, 0, 0, 0, 0);
	default:
		return a;
	}
}

void leat_proof_fill(struct leat_stub_table *table)
{
	static const uint8_t yes = 1;

	leat_stub_fill(table);
	table->enter = table->enter_cancellable = leat_enter_proof;
	table->fd_kinds = leat_every_fd;
	table->active = &yes;
}

/* Opening succeeds, and opens what may be a directory: so readdir gets as far as to ask. */
long leat_proof_hook(const struct leat_syscall *c)
{
	static const struct stat directory = {.st_mode = S_IFDIR, .st_blksize = 512};

	has_arrived = true;
	switch (c->nr) {
	case SYS_open:
	case SYS_openat:
		return FD;
	case SYS_fstat:
		memcpy((void *)c->a[1], &directory, sizeof directory);
		return 0;
	case SYS_newfstatat:
		memcpy((void *)c->a[2], &directory, sizeof directory);
		return 0;
	default:
		return -EBADF;
	}
}

/* ---- libc's functions by their names ---- */

struct symbols {
	const ElfW(Sym) * symbol;
	const char *strings;
	const uint32_t *hash;
	uintptr_t base;
};

static uintptr_t address(uintptr_t base, uintptr_t value)
{
	return value < base ? base + value : value; /* the loader has made most of them absolute */
}

static void note_dynamic(struct symbols *s, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t at = address(s->base, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			s->symbol = (const ElfW(Sym) *)at;
		else if (d->d_tag == DT_STRTAB)
			s->strings = (const char *)at;
		else if (d->d_tag == DT_GNU_HASH)
			s->hash = (const uint32_t *)at;
	}
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct symbols *s = context;

	(void)size;
	if (!slash || strncmp(slash, "/libc.so.6", 10) != 0)
		return 0;
	s->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			note_dynamic(s, (const ElfW(Dyn) *)(s->base + info->dlpi_phdr[i].p_vaddr));
	return s->symbol && s->strings && s->hash;
}

/* Buckets of indices, chains of hashes whose last one is odd. */
static const ElfW(Sym) * find_entry(const struct symbols *s, const char *name, unsigned type)
{
	const uint32_t buckets = s->hash[0], first = s->hash[1], filters = s->hash[2];
	const uint32_t *bucket = s->hash + 4 + 2 * filters, *chain = bucket + buckets;
	uint32_t hash = 5381, i;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	i = bucket[hash % buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *symbol = &s->symbol[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_value &&
		    ELF64_ST_TYPE(symbol->st_info) == type &&
		    strcmp(s->strings + symbol->st_name, name) == 0)
			return symbol;
		if (chain[i - first] & 1)
			return NULL;
	}
}

static void *find_symbol(const struct symbols *s, const char *name, unsigned type)
{
	const ElfW(Sym) *symbol = find_entry(s, name, type);

	return symbol ? (void *)(s->base + symbol->st_value) : NULL;
}

static function *find_function(const struct symbols *s, const char *name)
{
	return (function *)(uintptr_t)find_symbol(s, name, STT_FUNC);
}

void *leat_libc_function(const char *name)
{
	struct symbols s = {0};

	return dl_iterate_phdr(find_libc, &s) ? find_symbol(&s, name, STT_FUNC) : NULL;
}

/* ---- calling them ---- */

static bool arrives(const struct symbols *s, const struct probe *p)
{
	const int32_t *a = p->a;
	function *f = find_function(s, p->name);

	has_arrived = false;
	if (f)
		f(argument(a[0]), argument(a[1]), argument(a[2]), argument(a[3]), argument(a[4]),
		  0L);
	return !f || has_arrived;
}

/* One that takes what another has made. */
static bool arrives_with(const struct symbols *s, const char *name, long a, long b, long c, long d)
{
	function *f = find_function(s, name);

	has_arrived = false;
	if (f)
		f(a, b, c, d);
	return !f || has_arrived;
}

static const char *prove_streams(const struct symbols *s)
{
	function *open = find_function(s, "fopen");
	long file;

	has_arrived = false;
	file = open ? (long)((void *(*)(const char *, const char *))(uintptr_t)open)(path, "r+")
		    : 0;
	if (!has_arrived || !file)
		return "fopen";
	if (!arrives_with(s, "fread", (long)buffer, 1, 1, file))
		return "fread";
	if (!arrives_with(s, "fseek", file, 0, 2, 0))
		return "fseek";
	return arrives_with(s, "fclose", file, 0, 0, 0) ? NULL : "fclose";
}

static const char *prove_directories(const struct symbols *s)
{
	function *open = find_function(s, "opendir");
	long dir;

	has_arrived = false;
	dir = open ? (long)((void *(*)(const char *))(uintptr_t)open)(path) : 0;
	if (!has_arrived || !dir)
		return "opendir";
	if (!arrives_with(s, "readdir", dir, 0, 0, 0))
		return "readdir";
	return arrives_with(s, "closedir", dir, 0, 0, 0) ? NULL : "closedir";
}

static const char *prove_all(const struct symbols *s)
{
	const char *missing;

	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
		if (!arrives(s, &probes[i]))
			return probes[i].name;
	missing = prove_streams(s);
	return missing ? missing : prove_directories(s);
}

/* What glibc's functions look at: before 2.36 a word of the thread, since then a variable. */
static const char *prove_among_threads(const struct symbols *s)
{
	char *single = find_symbol(s, "__libc_single_threaded", STT_OBJECT);
	char was = single ? *single : 0;
	const char *missing;
	uint32_t threads;

	__asm__("movl %%fs:0x18,%0" : "=r"(threads));
	__asm__ volatile("movl $1,%%fs:0x18" ::: "memory");
	if (single)
		*single = 0;
	missing = prove_all(s);
	if (single)
		*single = was;
	__asm__ volatile("movl %0,%%fs:0x18" ::"r"(threads) : "memory");
	return missing;
}

static bool holds(const struct symbols *s, const ElfW(Sym) * symbol, uint16_t number,
		  const struct leat_patch_sites *sites)
{
	const uint8_t *begin = (const uint8_t *)s->base + symbol->st_value;

	for (size_t i = 0; i < sites->count; i++)
		if (sites->site[i].nr == number && sites->site[i].patch >= begin &&
		    sites->site[i].patch < begin + symbol->st_size)
			return true;
	return false;
}

static const char *look_at_others(const struct symbols *s, const struct leat_patch_sites *sites)
{
	for (size_t i = 0; i < sizeof unproven / sizeof *unproven; i++) {
		const ElfW(Sym) *symbol = find_entry(s, unproven[i].name, STT_FUNC);

		if (!symbol)
			symbol = find_entry(s, unproven[i].instead, STT_FUNC);
		if (symbol && !holds(s, symbol, unproven[i].number, sites))
			return s->strings + symbol->st_name;
	}
	return NULL;
}

const char *leat_proof_run(const struct leat_patch_sites *sites)
{
	struct symbols s = {0};
	int error = errno;
	const char *missing;

	if (!dl_iterate_phdr(find_libc, &s))
		return "dl_iterate_phdr";
	missing = look_at_others(&s, sites);
	if (!missing)
		missing = prove_all(&s);
	if (!missing)
		missing = prove_among_threads(&s);
	errno = error;
	return missing;
}
