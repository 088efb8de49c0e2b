/* A program that takes its way to the daemon away from libleat, unseen, and copies a file then: for
 * t/1580-attaching.bats.
 *   detach closed|filtered|filtered-later FROM TO
 * It ends well, whatever becomes of the copy. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
/* Without libc, by an instruction that is in no file: a program with one of its own would be put
 * behind a mount. */
static long unseen(long nr, long a, long b, long c, long d)
{
	/* mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx; mov %r8,%r10; syscall; ret,
	 * each byte with its lowest bit the other way */
	static const unsigned char bytes[] = {0x49, 0x88, 0xf9, 0x49, 0x88, 0xf6, 0x49, 0x88, 0xd7,
					      0x49, 0x88, 0xcb, 0x4c, 0x88, 0xc3, 0x0e, 0x04, 0xc2};
	static unsigned char *page;
	long (*call)(long, long, long, long, long);

	if (!page) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < sizeof(bytes); i++)
			page[i] = bytes[i] ^ 1;
	}
	memcpy(&call, &page, sizeof(call));
	return call(nr, a, b, c, d);
}
#else
static long unseen(long nr, long a, long b, long c, long d)
{
	return syscall(nr, a, b, c, d);
}
#endif

/* No sockets: EPERM. */
static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int filter(int seen)
{
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (seen)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return unseen(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0) ? -1 : 0;
}

static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	char buffer[4096];
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)n) != n)
			return -1;
	return n == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "closed") == 0) {
		close(open(argv[2], O_RDONLY)); /* libleat connects */
		for (int fd = 3; fd < 2000; fd++)
			unseen(SYS_close, fd, 0, 0, 0);
	} else if (filter(strcmp(argv[1], "filtered-later") == 0) < 0) {
		perror("filter");
	}
	if (copy(argv[2], argv[3]) < 0)
		perror("copy");
	return 0;
}
