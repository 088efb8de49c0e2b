/* What programs seldom do. odd uring: writes by io_uring, and waits for that by epoll. odd events:
 * the waiting only. odd aio: to kernel AIO. odd untraced: has a child that asks not to be traced
 * write a file. odd mask: prints the signals that are blocked and ignored. odd processors: prints
 * in many ways which it may use, each time after many small writes. odd writes: makes such until
 * there is a file "stop". */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNSUPPORTED = 77 };

struct requests {
	int fd;
	unsigned *tail, *array;
	struct io_uring_sqe *entries;
};

static int begin(struct requests *r)
{
	struct io_uring_params p = {0};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	struct io_uring_sqe *entries;
	char *ring;

	if (fd < 0)
		return UNSUPPORTED;
	ring = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, IORING_OFF_SQ_RING);
	entries = mmap(NULL, p.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || entries == MAP_FAILED)
		return 1;
	r->fd = fd;
	r->entries = entries;
	r->tail = (unsigned *)(void *)(ring + p.sq_off.tail);
	r->array = (unsigned *)(void *)(ring + p.sq_off.array);
	return 0;
}

/* In the place of the one before, which has been taken. */
static bool submit(struct requests *r, const struct io_uring_sqe *request)
{
	*r->entries = *request;
	r->array[*r->tail & 3] = 0;
	++*r->tail;
	return syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1;
}

/* As event loops do, and then a file is written. */
static int uring(bool writes)
{
	static char text[] = "by a ring";
	struct epoll_event event = {.events = EPOLLIN};
	struct io_uring_sqe request = {.opcode = IORING_OP_EPOLL_CTL};
	struct requests r;
	int ends[2], epoll = epoll_create1(0), status = begin(&r);

	if (status != 0 || epoll < 0 || pipe(ends) < 0)
		return status ? status : 1;
	request.fd = epoll;
	request.off = (uint64_t)ends[0];
	request.len = EPOLL_CTL_ADD;
	request.addr = (uintptr_t)&event;
	if (!submit(&r, &request) || write(ends[1], "x", 1) != 1 ||
	    epoll_wait(epoll, &event, 1, 10000) != 1)
		return 1;
	request = (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
					.fd = open("ring", O_CREAT | O_WRONLY, 0600),
					.addr = (uintptr_t)text,
					.len = sizeof(text)};
	return !writes || submit(&r, &request) ? 0 : 1;
}

static int aio(void)
{
	static char text[] = "asynchronous";
	int fd = open("aio", O_CREAT | O_WRONLY, 0600);
	struct iocb cb = {.aio_lio_opcode = IOCB_CMD_PWRITE,
			  .aio_fildes = (uint32_t)fd,
			  .aio_buf = (uintptr_t)text,
			  .aio_nbytes = sizeof(text)};
	struct iocb *list[] = {&cb};
	struct io_event event;
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context) < 0)
		return UNSUPPORTED;
	if (syscall(SYS_io_submit, context, 1, list) != 1)
		return 1;
	return syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1 ? 0 : 1;
}

static int untraced(void)
{
	int status;
	long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0) {
		int fd = open("untraced", O_CREAT | O_WRONLY, 0600);

		_exit(write(fd, "x", 1) != 1);
	}
	return pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || status;
}

static int mask(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int s = 1; s < 32; s++) {
		struct sigaction act;

		sigaction(s, NULL, &act);
		if (sigismember(&set, s) || act.sa_handler != SIG_DFL)
			printf("%d%s%s\n", s, sigismember(&set, s) ? " blocked" : "",
			       act.sa_handler == SIG_IGN ? " ignored" : "");
	}
	return 0;
}

static int out; /* where the small writes go */

static void write_much(void)
{
	for (int i = 0; i < 200; i++)
		if (write(out, "x", 1) != 1)
			_exit(1);
}

static void print_allowed(const char *when)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		_exit(1);
	printf("%s: %d\n", when, CPU_COUNT(&set));
	fflush(stdout);
}

static void print_status(const char *when, int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	const char *at;

	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "Cpus_allowed_list:");
	printf("%s: %.*s\n", when, at ? (int)strcspn(at, "\n") : 0, at ? at : "");
	fflush(stdout);
}

static void *run_thread(void *when)
{
	print_allowed(when);
	return NULL;
}

/* A child and a thread have what their maker has. */
static void print_others(void)
{
	static char who[] = "thread";
	pthread_t thread;
	pid_t pid;

	write_much();
	pid = fork();
	if (pid == 0) {
		print_allowed("child");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	write_much();
	if (pthread_create(&thread, NULL, run_thread, who) == 0)
		pthread_join(thread, NULL);
}

static void print_own_choice(void)
{
	cpu_set_t may, one;
	int first = 0;

	sched_getaffinity(0, sizeof(may), &may);
	while (!CPU_ISSET(first, &may))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	write_much();
	sched_setaffinity(0, sizeof(one), &one);
	write_much();
	print_allowed("one chosen");
	write_much();
	sched_setaffinity(0, sizeof(may), &may);
	write_much();
	print_allowed("all chosen");
}

static int processors(const char *self)
{
	int status = open("/proc/self/status", O_RDONLY), copy = dup(status);

	out = open("written", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (status < 0 || copy < 0 || out < 0)
		return 1;
	print_allowed("before");
	write_much();
	print_allowed("after");
	write_much();
	print_status("open before", status);
	write_much();
	print_status("a copy", copy);
	write_much();
	print_status("open after", open("/proc/self/status", O_RDONLY));
	print_others();
	print_own_choice();
	write_much();
	execl(self, self, "allowed", (char *)NULL);
	return 1;
}

static int writes(void)
{
	out = open("written", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	alarm(30); /* in case nobody comes to stop it */
	do
		write_much();
	while (access("stop", F_OK) < 0);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "uring") == 0)
		return uring(true);
	if (strcmp(what, "events") == 0)
		return uring(false);
	if (strcmp(what, "aio") == 0)
		return aio();
	if (strcmp(what, "untraced") == 0)
		return untraced();
	if (strcmp(what, "mask") == 0)
		return mask();
	if (strcmp(what, "processors") == 0)
		return processors(argv[0]);
	if (strcmp(what, "allowed") == 0) {
		print_allowed("another program");
		return 0;
	}
	if (strcmp(what, "writes") == 0)
		return writes();
	fputs("usage: odd uring | events | aio | untraced | mask | processors | allowed | writes\n",
	      stderr);
	return 2;
}
