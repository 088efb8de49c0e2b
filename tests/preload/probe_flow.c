/* Things that go wrong when calls are redirected carelessly: signals, jumps, small stacks, threads,
 * cancellation, and processes that share memory. Each test passes with and without the library:
 *   probe_flow TEST */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counts.h"

extern char **environ;
static struct test_counts *counts; /* NULL: not intercepted */
static bool wrapped;
static volatile sig_atomic_t signalled;
static sigjmp_buf back;

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition,  \
				errno);                                                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static bool exited_with(pid_t pid, int status)
{
	int s;

	return waitpid(pid, &s, 0) == pid && WIFEXITED(s) && WEXITSTATUS(s) == status;
}

static void test_spawn(void)
{
	char *const argv[] = {(char *)(size_t) "sh", (char *)(size_t) "-c",
			      (char *)(size_t) "exit 7", NULL};
	unsigned long before = counts ? counts->in_vfork : 0;
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 9, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addclose(&actions, 9);
	for (int i = 0; i < 100; i++) {
		REQUIRE(posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ) == 0);
		REQUIRE(exited_with(pid, 7));
	}
	REQUIRE(posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, environ) == ENOENT);
	if (counts && !wrapped) {
		REQUIRE(counts->in_vfork >= before + 100);
		before = counts->in_vfork;
		close(open("/dev/null", O_RDONLY));
		REQUIRE(counts->in_vfork == before); /* the parent is itself again */
	}
}

/* Apart from the loop, whose variables the child would share. */
static __attribute__((noinline)) pid_t vfork_once(bool run_shell)
{
	pid_t pid = vfork();

	if (pid == 0) {
		close(open("/dev/null", O_RDONLY));
		if (run_shell)
			execl("/bin/sh", "sh", "-c", "exit 5", NULL);
		_exit(5);
	}
	return pid;
}

static void test_vfork(void)
{
	unsigned long before = counts ? counts->in_vfork : 0;

	for (int i = 0; i < 200; i++)
		REQUIRE(exited_with(vfork_once(i % 2), 5));
	if (counts && !wrapped) {
		REQUIRE(counts->in_vfork >= before + 400);
		before = counts->in_vfork;
		close(open("/dev/null", O_RDONLY));
		REQUIRE(counts->in_vfork == before);
	}
}

static int in_clone(void *unused)
{
	(void)unused;
	close(open("/dev/null", O_RDONLY));
	_exit(counts && counts->in_vfork == 0 && counts->forks == 0 ? 1 : 3);
}

/* clone as fork with a stack of its own, as vfork, and through syscall() */
static void test_clone(void)
{
	size_t size = 65536;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	REQUIRE(stack != MAP_FAILED);
	REQUIRE(exited_with(clone(in_clone, stack + size, SIGCHLD, NULL), 3));
	REQUIRE(exited_with(clone(in_clone, stack + size, SIGCHLD | CLONE_VM | CLONE_VFORK, NULL),
			    3));
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(counts && counts->forks != 1 ? 1 : 4);
	REQUIRE(exited_with(pid, 4));
}

static void test_fork(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			close(open("/dev/null", O_RDONLY));
			exit(counts && (counts->forks != 1 || counts->in_vfork != 0) ? 1 : 2);
		}
		REQUIRE(pid > 0 && exited_with(pid, 2));
	}
	if (counts)
		REQUIRE(counts->forks == 0);
}

static void on_signal(int number)
{
	char byte;
	int fd = open("/dev/zero", O_RDONLY);

	signalled += number != 0 && read(fd, &byte, 1) == 1;
	close(fd);
}

static void set_handler(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
}

/* A signal after MS, and each AGAIN_MS after that; 0: none. */
static void alarm_ms(int ms, int again_ms)
{
	struct itimerval timer = {.it_value.tv_usec = ms * 1000,
				  .it_interval.tv_usec = again_ms * 1000};

	REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

/* Waits for bytes that do not come until a handler has run. On a slow machine the first signal may
 * come before the read does, and does not interrupt it. */
static void read_interrupted(int fd, int ms)
{
	char byte;

	alarm_ms(ms, ms);
	REQUIRE(read(fd, &byte, 1) == -1 && errno == EINTR);
	alarm_ms(0, 0);
	REQUIRE(signalled >= 1);
}

/* A read that a handler interrupts, and one that goes on after it. */
static void test_signal(void)
{
	int pipes[2];
	char byte;
	pid_t pid;

	REQUIRE(pipe(pipes) == 0);
	set_handler(on_signal, 0);
	read_interrupted(pipes[0], 20);
	signalled = 0;
	set_handler(on_signal, SA_RESTART);
	pid = fork();
	if (pid == 0) {
		usleep(60000);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	alarm_ms(20, 0);
	REQUIRE(read(pipes[0], &byte, 1) == 1 && byte == 'x' && signalled == 1);
	REQUIRE(exited_with(pid, 0));
}

static void jump_back(int number)
{
	siglongjmp(back, number);
}

static void test_longjmp(void)
{
	int pipes[2];
	volatile int rounds = 0;
	char byte;

	REQUIRE(pipe(pipes) == 0);
	set_handler(jump_back, 0);
	while (rounds < 20) {
		if (sigsetjmp(back, 1) == 0) {
			alarm_ms(2, 0);
			REQUIRE(read(pipes[0], &byte, 1) == 42);
		}
		rounds++;
		close(open("/dev/null", O_RDONLY));
	}
}

static void test_altstack(void)
{
	stack_t stack = {.ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096};
	int pipes[2];

	stack.ss_sp = malloc(stack.ss_size);
	REQUIRE(stack.ss_sp && sigaltstack(&stack, NULL) == 0 && pipe(pipes) == 0);
	set_handler(on_signal, SA_ONSTACK);
	read_interrupted(pipes[0], 10);
}

static void *read_a_little(void *unused)
{
	char bytes[64];
	int fd = open("/dev/zero", O_RDONLY);
	bool ok = read(fd, bytes, sizeof bytes) == sizeof bytes;

	close(fd);
	return ok ? unused : NULL;
}

static void test_threads(void)
{
	pthread_t thread[8];
	void *result;

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 8; i++)
			REQUIRE(pthread_create(&thread[i], NULL, read_a_little, thread) == 0);
		for (int i = 0; i < 8; i++)
			REQUIRE(pthread_join(thread[i], &result) == 0 && result == thread);
	}
}

static volatile int cleaned;

static void clean(int *unused)
{
	(void)unused;
	cleaned++;
}

static void *block(void *pipes)
{
	__attribute__((cleanup(clean))) int guard = 0;
	char byte;

	(void)guard;
	REQUIRE(read(((int *)pipes)[0], &byte, 1) == 42);
	return NULL;
}

/* A thread is cancelled in a read, and its frames are unwound: through the stubs, through the hook.
 */
static void test_cancel(void)
{
	int pipes[2];
	pthread_t thread;
	void *result;

	REQUIRE(pipe(pipes) == 0);
	for (int i = 0; i < 10; i++) {
		REQUIRE(pthread_create(&thread, NULL, block, pipes) == 0);
		usleep(5000);
		REQUIRE(pthread_cancel(thread) == 0);
		REQUIRE(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	}
	REQUIRE(cleaned == 10);
}

/* Vector registers survive a call, whatever the hooks do. */
static void test_registers(void)
{
#ifdef __x86_64__
	char in[16] = "0123456789abcde", out[16];

	for (int i = 0; i < 100; i++) {
		__asm__ volatile("movdqu (%0), %%xmm15" : : "r"(in) : "xmm15", "memory");
		lseek(0, 0, SEEK_CUR);
		__asm__ volatile("movdqu %%xmm15, (%0)" : : "r"(out) : "memory");
		REQUIRE(memcmp(in, out, sizeof in) == 0);
	}
#endif
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"spawn", test_spawn},         {"vfork", test_vfork},     {"clone", test_clone},
	{"fork", test_fork},           {"signal", test_signal},   {"longjmp", test_longjmp},
	{"altstack", test_altstack},   {"threads", test_threads}, {"cancel", test_cancel},
	{"registers", test_registers},
};

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (syscall(TEST_COUNTS_CALL, TEST_COUNTS_MAGIC, &counts) != 0)
		counts = NULL;
	wrapped = getenv("LEAT_INTERCEPT") != NULL;
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		if (strcmp(argv[1], tests[i].name) == 0) {
			tests[i].run();
			return 0;
		}
	return 2;
}
