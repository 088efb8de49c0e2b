/* Starts a program in ways that libleat does not see, for t/1431-unseen.bats: by system calls from
 * code that is made while it runs, which nobody can have read before.
 *
 *     unseen WAY PROGRAM ARGUMENT... */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char **arguments;
static char *nothing[] = {NULL};

typedef long raw_call(long nr, long a, long b, long c, long d);

/* mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx; mov %r8,%r10; xor %r8d,%r8d;
 * syscall; ret */
static const unsigned char by_syscall[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48,
					   0x89, 0xd6, 0x48, 0x89, 0xca, 0x4d, 0x89,
					   0xc2, 0x45, 0x31, 0xc0, 0x0f, 0x05, 0xc3};
/* The same of 32 bits: push %rbx; mov %edi,%eax; mov %esi,%ebx; mov %edx,%r8d; mov %ecx,%edx;
 * mov %r8d,%ecx; int $0x80; pop %rbx; ret */
static const unsigned char by_int80[] = {0x53, 0x89, 0xf8, 0x89, 0xf3, 0x41, 0x89, 0xd0, 0x89,
					 0xca, 0x44, 0x89, 0xc1, 0xcd, 0x80, 0x5b, 0xc3};

static raw_call *make_code(const unsigned char *code, size_t size)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	raw_call *call;

	if (at == MAP_FAILED)
		exit(99);
	memcpy(at, code, size);
	memcpy(&call, &at, sizeof(call));
	return call;
}

static void become(void)
{
	make_code(by_syscall, sizeof(by_syscall))(SYS_execve, (long)arguments[0], (long)arguments,
						  (long)nothing, 0);
	_exit(98);
}

static void become_at(void)
{
	make_code(by_syscall, sizeof(by_syscall))(SYS_execveat, -100, (long)arguments[0],
						  (long)arguments, (long)nothing);
	_exit(98);
}

/* Below 4 GiB, with pointers of 32 bits. */
static void become_by_int80(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	unsigned *list = (unsigned *)(void *)low;
	char *text = low + 1024;
	int n = 0;

	for (; arguments[n]; n++) {
		list[n] = (unsigned)(unsigned long)text;
		text = stpcpy(text, arguments[n]) + 1;
	}
	make_code(by_int80, sizeof(by_int80))(11, list[0], (long)low, (long)&list[n], 0);
	_exit(98);
}

static void *become_in_thread(void *unused)
{
	(void)unused;
	become();
	return NULL;
}

static void by_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, become_in_thread, NULL);
	pthread_join(thread, NULL);
}

static pid_t in_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		become();
	return pid;
}

static void child(void)
{
	int status;

	waitpid(in_child(), &status, 0);
}

static void unasked(void)
{
	in_child();
	wait(NULL);
}

static void by_waitid(void)
{
	waitid(P_PID, (id_t)in_child(), NULL, WEXITED);
}

static void by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		become();
	waitpid(pid, NULL, 0);
}

/* Its parent is gone before it. */
static void orphan(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		exit(99);
	if (fork() == 0) {
		if (fork() == 0) {
			close(ends[0]);
			become(); /* the pipe ends with the program */
		}
		_exit(0);
	}
	close(ends[1]);
	wait(NULL);
	if (read(ends[0], &byte, 1) < 0)
		exit(99);
}

/* Leaves it behind, which lives on. */
static void left_behind(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			become();
		_exit(0);
	}
	wait(NULL);
	usleep(300000);
}

/* The last of two variables counts. */
static void twice(void)
{
	static char empty[] = "LD_PRELOAD=";
	char *envp[] = {getenv("LD_PRELOAD") - strlen("LD_PRELOAD="), empty, NULL};

	execve(arguments[0], arguments, envp);
}

/* The same by its descriptor, and from memory. */
static void by_descriptor(void)
{
	FILE *in = fopen(arguments[0], "r");

	if (in)
		fexecve(fileno(in), arguments, nothing);
}

static void from_memory(void)
{
	int fd = memfd_create("program", 0);
	FILE *in = fopen(arguments[0], "r");
	char buffer[65536];
	size_t n;

	while (in && (n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (write(fd, buffer, n) != (ssize_t)n)
			exit(99);
	fexecve(fd, arguments, nothing);
}

/* A mount namespace of its own, in which one has the other's name. */
static raw_call *in_namespace(const char *from, const char *to)
{
	raw_call *call = make_code(by_syscall, sizeof(by_syscall));

	if (call(SYS_unshare, CLONE_NEWNS, 0, 0, 0) < 0 ||
	    call(SYS_mount, (long)"none", (long)"/", 0, MS_REC | MS_PRIVATE) < 0 ||
	    call(SYS_mount, (long)from, (long)to, 0, MS_BIND) < 0)
		_exit(97);
	return call;
}

/* ROOT PROGRAM...: what engines do, with the working directory as /w. */
static void enter(void)
{
	char place[4096];
	raw_call *call;

	snprintf(place, sizeof(place), "%s/w", arguments[0]);
	call = in_namespace(".", place);
	if (call(SYS_chroot, (long)arguments[0], 0, 0, 0) < 0 ||
	    call(SYS_chdir, (long)"/w", 0, 0, 0) < 0)
		_exit(97);
	call(SYS_execve, (long)arguments[1], (long)(arguments + 1), (long)nothing, 0);
	_exit(98);
}

/* FILE LIBRARY PROGRAM...: another file is where the library was. */
static void exchanged(void)
{
	in_namespace(arguments[0], arguments[1]);
	execve(arguments[2], arguments + 2, environ);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"become", become},      {"become-at", become_at}, {"int80", become_by_int80},
	{"thread", by_thread},   {"child", child},         {"unasked", unasked},
	{"waitid", by_waitid},   {"vfork", by_vfork},      {"orphan", orphan},
	{"left", left_behind},   {"twice", twice},         {"descriptor", by_descriptor},
	{"memory", from_memory}, {"enter", enter},         {"exchanged", exchanged},
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	arguments = argv + 2;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			ways[i].run();
			return 0;
		}
	return 2;
}
