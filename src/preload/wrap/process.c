/* libleat-wrap.so: starting and ending processes, and syscall(); see wrap.c. */
#include "preload/core/call.h"
#include "preload/core/process.h"
#include "preload/engine/calls.h"
#include "preload/entry/entry.h"
#include "preload/wrap/start.h"
#include "preload/wrap/wrap.h"
#include "shm/word.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pid_t (*real_fork)(void);

static int (*real_main)(int, char **, char **);
static int status_of_exit;
static bool has_status;

/* Neither exit nor the return from main reaches _exit where it could be wrapped. Our handler was
 * the first to be registered, so it runs last: what is left to do is done here. */
static void at_end(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	leat_wrap_path(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* Without on_exit the status is known only when it went through a wrapper. If not, the process
 * counts as one that died, which is wrong on the safe side. */
static void at_end_if_known(void *unused)
{
	if (has_status)
		at_end(status_of_exit, unused);
}

static void note_status(int status)
{
	status_of_exit = status;
	has_status = true;
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

void leat_wrappers_start(void)
{
	int (*on_exit_function)(void (*)(int, void *), void *);

	*(void **)&real_fork = dlsym(RTLD_NEXT, "fork");
	*(void **)&on_exit_function = dlsym(RTLD_NEXT, "on_exit"); /* glibc only */
	if (on_exit_function)
		on_exit_function(at_end, NULL);
	else
		__cxa_atexit(at_end_if_known, NULL, NULL);
}

LEAT_EXPORT void exit(int status)
{
	void (*real_exit)(int);

	note_status(status);
	*(void **)&real_exit = dlsym(RTLD_NEXT, "exit");
	real_exit(status);
	__builtin_unreachable();
}

static int main_with_status(int argc, char **argv, char **envp)
{
	int status = real_main(argc, argv, envp);

	note_status(status);
	return status;
}

typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv,
		       void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
		       void *stack_end);
LEAT_EXPORT start_main __libc_start_main;

/* What a program's first instructions call to run main. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_main *real;

	real_main = main;
	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	return real(main_with_status, argc, argv, init, fini, rtld_fini, stack_end);
}

LEAT_EXPORT pid_t fork(void)
{
	pid_t pid;

	leat_word_add(&leat_forks, 1);
	pid = real_fork ? real_fork()
			: (pid_t)leat_wrap_result(leat_raw(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0));

	if (pid == 0 && leat_active)
		leat_engine_forked();
	return pid;
}

/* A wrapper cannot return twice into the same frame; a fork may stand in for a vfork. */
LEAT_EXPORT pid_t vfork(void)
{
	return fork();
}

LEAT_EXPORT void _exit(int status)
{
	leat_wrap_path(SYS_exit_group, status, 0, 0, 0, 0, 0);
	__builtin_trap();
}

LEAT_EXPORT void _Exit(int status) __attribute__((alias("_exit")));

/* --- exec --- */

LEAT_WRAP_PATH(int, execve, (const char *path, char *const argv[], char *const envp[]), SYS_execve,
	       path, argv, envp)
LEAT_WRAP_PATH(int, execv, (const char *path, char *const argv[]), SYS_execve, path, argv, environ)
LEAT_WRAP_PATH(int, fexecve, (int fd, char *const argv[], char *const envp[]), SYS_execveat, fd, "",
	       argv, envp, AT_EMPTY_PATH)
LEAT_WRAP_PATH(int, execveat,
	       (int dirfd, const char *path, char *const argv[], char *const envp[], int flags),
	       SYS_execveat, dirfd, path, argv, envp, flags)

/* "directory/file", where the first `length` bytes of `directory` count; none mean ".". */
static bool join(char to[PATH_MAX], const char *directory, size_t length, const char *file)
{
	size_t name = strlen(file) + 1;

	if (length + 1 + name > PATH_MAX)
		return false;
	memcpy(to, directory, length);
	if (length > 0)
		to[length++] = '/';
	memcpy(to + length, file, name);
	return true;
}

/* As in execvp(3): directories of PATH in turn; one that may not be searched does not end the
 * search but is what is reported when nothing is found. */
LEAT_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	const char *path = getenv("PATH");
	char full[PATH_MAX];
	bool denied = false;

	if (strchr(file, '/'))
		return execve(file, argv, envp);
	for (path = path ? path : "/bin:/usr/bin"; path;) {
		size_t length = 0;

		while (path[length] && path[length] != ':')
			length++;
		if (join(full, path, length, file))
			execve(full, argv, envp);
		if (errno == EACCES)
			denied = true;
		else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
			return -1;
		path = path[length] ? path + length + 1 : NULL;
	}
	errno = denied ? EACCES : ENOENT;
	return -1;
}

LEAT_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* --- the rest --- */

/* To an address that may be a path. */
LEAT_WRAP_PATH(int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), SYS_bind, fd,
	       address.__sockaddr__, size)
LEAT_WRAP_PATH(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), SYS_connect,
	       fd, address.__sockaddr__, size)

/* May take descriptors along. */
LEAT_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	long result = leat_active ? LEAT_PATH_CALL(SYS_sendmsg, fd, message, flags)
				  : LEAT_FD_CALL(fd, SYS_sendmsg, fd, message, flags);

	return leat_wrap_result(result);
}

/* May bring descriptors. */
LEAT_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	long result = leat_active ? LEAT_PATH_CALL(SYS_recvmsg, fd, message, flags)
				  : LEAT_FD_CALL(fd, SYS_recvmsg, fd, message, flags);

	return leat_wrap_result(result);
}

LEAT_EXPORT long syscall(long nr, ...)
{
	va_list rest;
	long a[6];

	va_start(rest, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	if (nr >= 0 && nr < LEAT_CALLS && leat_call_class[nr] &&
	    leat_call_class[nr] != LEAT_CALL_CLONE)
		return leat_wrap_result(leat_wrap_path(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
	return leat_wrap_result(leat_raw(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}
