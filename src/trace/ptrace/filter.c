/* The seccomp filter: SECCOMP_RET_TRACE for the calls of the table, all others pass at once. */
#include "trace/ptrace/internal.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "the ptrace tracer does not know this architecture"
#endif

#define LOAD(member)                                                                               \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, member))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define IF(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))

/* Instructions for a row, and around all. */
enum { PER_CALL = 7, AROUND = 64 };

struct program {
	struct sock_filter code[256 * PER_CALL + AROUND];
	unsigned short n;
};

static void add(struct program *p, const struct sock_filter *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->code[p->n++] = code[i];
}

/* The number is loaded, before and after. */
static void add_call(struct program *p, const struct call *c)
{
	/* The low half of an argument comes first: both architectures are little-endian. */
	unsigned at = (unsigned)(offsetof(struct seccomp_data, args) + c->arg * sizeof(uint64_t) +
				 (c->above ? sizeof(uint32_t) : 0));
	const struct sock_filter always[] = {
		IF((unsigned)c->nr, 1),
		RETURN(SECCOMP_RET_TRACE),
	};
	const struct sock_filter conditional[] = {
		IF((unsigned)c->nr, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, c->mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c->value, c->differs, !c->differs),
		RETURN(SECCOMP_RET_TRACE),
		LOAD(nr),
	};

	if (c->conditional)
		add(p, conditional, sizeof(conditional) / sizeof(*conditional));
	else
		add(p, always, sizeof(always) / sizeof(*always));
}

#ifdef __x86_64__
/* Of 32-bit programs only counted, so that what is missing is known: read write open creat unlink
 * rename truncate ftruncate mmap readv writev pread64 pwrite64 sendfile mmap2 truncate64
 * ftruncate64 sendfile64 openat unlinkat renameat splice preadv pwritev renameat2 copy_file_range
 * preadv2 pwritev2 openat2 io_uring_enter. */
static const unsigned short foreign_calls[] = {
	3,   4,   5,   8,   10,  38,  92,  93,  90,  145, 146, 180, 181, 187, 192,
	193, 194, 239, 295, 301, 302, 313, 333, 334, 353, 377, 378, 379, 437, 426,
};

static void add_foreign(struct program *p)
{
	const struct sock_filter begin[] = {LOAD(nr)};
	const struct sock_filter pass[] = {RETURN(SECCOMP_RET_ALLOW)};

	add(p, begin, 1);
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(*foreign_calls); i++) {
		const struct sock_filter row[] = {
			IF(foreign_calls[i], 1),
			RETURN(SECCOMP_RET_TRACE),
		};

		add(p, row, 2);
	}
	add(p, pass, 1);
}
#else
static void add_foreign(struct program *p)
{
	const struct sock_filter pass[] = {RETURN(SECCOMP_RET_ALLOW)};

	add(p, pass, 1);
}
#endif

static void make(struct program *p)
{
	/* A jump of BPF is too short to pass over all of it at once. */
	const struct sock_filter begin[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
		BPF_STMT(BPF_JMP | BPF_JA, 0),
		LOAD(nr),
	};
	const struct sock_filter pass[] = {RETURN(SECCOMP_RET_ALLOW)};

	p->n = 0;
	add(p, begin, sizeof(begin) / sizeof(*begin));
	for (size_t i = 0; i < leat_ptrace_n_calls; i++)
		add_call(p, &leat_ptrace_calls[i]);
	add(p, pass, 1);
	p->code[2].k = p->n - 3u;
	add_foreign(p);
}

int leat_ptrace_filter_install(void)
{
	struct program p;
	struct sock_fprog program = {.filter = p.code};
	int rc;

	make(&p);
	program.len = p.n;
	rc = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
	/* Without rights over its namespace a process has to give up those to come. */
	if (rc == -EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		rc = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
	return rc;
}
