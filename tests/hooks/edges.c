/* Corners of the interception library, as a program can reach them: edges CASE FILE. What is
 * printed must be what the batch prints. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file;

static long read_all(void)
{
	char buffer[4096];
	long sum = 0;
	ssize_t n;
	int fd = open(file, O_RDONLY);

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		sum += n;
	close(fd);
	return n < 0 ? -errno : sum;
}

/* Descriptors the kernel knows of, whatever the library shows of them. */
static __attribute__((noinline)) int count_descriptors(void)
{
	int n = 0;

	for (long fd = 0; fd < 4096; fd++)
		n += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
	return n;
}

static void *reader(void *arg)
{
	(void)arg;
	read_all();
	return NULL;
}

/* A thread is cancelled while it waits. */
static void cancelled(void)
{
	pthread_t t;

	for (int i = 0; i < 5; i++) {
		pthread_create(&t, NULL, reader, NULL);
		usleep(20000);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	printf("%ld\n", read_all());
}

static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void jump(int sig)
{
	(void)sig;
	if (++jumps < 5)
		siglongjmp(back, 1);
}

static void every(int ms)
{
	struct itimerval t = {{ms / 1000, ms % 1000 * 1000}, {ms / 1000, ms % 1000 * 1000}};

	setitimer(ITIMER_REAL, &t, NULL);
}

/* A handler leaves the wait for good. */
static void jumped(void)
{
	signal(SIGALRM, jump);
	sigsetjmp(back, 1);
	every(30);
	printf("%ld\n", read_all());
	every(0);
}

static volatile sig_atomic_t inner;

static void work(int sig)
{
	struct stat st;

	(void)sig;
	inner += open("/dev/null", O_RDONLY) < 0;
	inner += stat(".", &st) < 0;
	inner += access("no such file", F_OK) == 0;
	close(2000);
}

/* A handler with a small stack of its own makes calls on paths inside while its
 * thread waits. */
static void handled(void)
{
	static char stack[16384];
	stack_t s = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = work, .sa_flags = SA_ONSTACK};

	sigaltstack(&s, NULL);
	sigaction(SIGALRM, &sa, NULL);
	every(10);
	printf("%ld\n", read_all());
	every(0);
	printf("%d\n", inner);
}

static void *small(void *arg)
{
	struct stat st;

	*(long *)arg = stat(file, &st) ? -errno : read_all();
	return NULL;
}

/* The smallest stack a thread can have. */
static void small_stack(void)
{
	pthread_attr_t a;
	pthread_t t;
	long sum = 0;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 32768);
	if (pthread_create(&t, &a, small, &sum))
		abort();
	pthread_join(t, NULL);
	printf("%ld\n", sum);
}

/* Threads come and go: their connections go with them. */
static void many_threads(void)
{
	pthread_t t;
	int before, after;

	read_all();
	before = count_descriptors();
	for (int i = 0; i < 100; i++) {
		pthread_create(&t, NULL, reader, NULL);
		pthread_join(t, NULL);
	}
	after = count_descriptors();
	printf("%ld %s\n", read_all(), before == after ? "none left open" : "descriptors leak");
}

static __attribute__((noinline)) pid_t vfork_cat(char **argv)
{
	pid_t child = vfork();

	if (child == 0) {
		dup2(open(file, O_RDONLY), 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	return child;
}

/* A vfork child touches the directory before its parent ever did. */
static void vforked(void)
{
	char name[] = "cat";
	char *argv[] = {name, NULL};
	int before = count_descriptors(), after, status = 0;

	waitpid(vfork_cat(argv), &status, 0);
	after = count_descriptors();
	printf("%d %s\n", status, before == after ? "none left open" : "descriptors leak");
	printf("%ld\n", read_all());
}

/* Many children at once, by fork without exec. */
static void forked(void)
{
	int status, failed = 0;

	read_all();
	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(read_all() > 0 ? 0 : 1);
	while (wait(&status) > 0)
		failed += status != 0;
	printf("%d %ld\n", failed, read_all());
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"cancelled", cancelled},
		{"jumped", jumped},
		{"handled", handled},
		{"small_stack", small_stack},
		{"many_threads", many_threads},
		{"vforked", vforked},
		{"forked", forked},
	};

	if (argc != 3)
		return 2;
	file = argv[2];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
