/* Loaded into leat under valgrind, which does not know pidfd_open(2): a descriptor that becomes
 * readable when the process has ended. Steps do not get it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOK_EVERY_US = 2000 };

struct watch {
	pid_t pid;
	int fd; /* what is written to at the end; owned */
};

__attribute__((constructor)) static void keep_to_leat(void)
{
	/* Not in the one that starts valgrind. */
	if (strcmp(program_invocation_short_name, "leat") == 0)
		unsetenv("LD_PRELOAD");
}

/* Gone, or waiting for its parent. */
static bool has_ended(pid_t pid)
{
	char path[64], text[512];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	state = strrchr(text, ')');
	return !state || strchr("ZX", state[2]);
}

static void *look(void *arg)
{
	struct watch w = *(struct watch *)arg;

	free(arg);
	while (!has_ended(w.pid))
		usleep(LOOK_EVERY_US);
	/* Whoever asked may have closed the other end. */
	if (write(w.fd, "", 1) < 0 && errno != EPIPE)
		perror("pidfd");
	close(w.fd);
	return NULL;
}

static long open_pidfd(pid_t pid)
{
	struct watch *w;
	pthread_t thread;
	sigset_t all, old;
	int ends[2];
	int rc;

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return -1;
	w = malloc(sizeof(*w));
	if (!w || pipe2(ends, O_CLOEXEC) < 0) {
		free(w);
		return -1;
	}
	*w = (struct watch){pid, ends[1]};
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = pthread_create(&thread, NULL, look, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0) {
		pthread_detach(thread);
		return ends[0];
	}
	free(w);
	close(ends[0]);
	close(ends[1]);
	errno = rc;
	return -1;
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_pidfd_open)
		return open_pidfd((pid_t)a[0]);
	if (number == SYS_openat2) { /* unknown to it as well; leat goes on without */
		errno = ENOSYS;
		return -1;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
