/* Preloaded into leat: the allocation of the daemon whose number is in FAIL_ALLOC fails, and
 * FAIL_ALLOC_COUNT names a file that is told how many there were. The daemon is the process that
 * has called setsid. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_bool armed;
static atomic_long count;
static long wanted;

static bool fails(void)
{
	if (!atomic_load(&armed))
		return false;
	if (atomic_fetch_add(&count, 1) + 1 != wanted)
		return false;
	errno = ENOMEM;
	return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

static void tell(void)
{
	const char *path = getenv("FAIL_ALLOC_COUNT");
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", atomic_load(&count));
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;

	if (fd >= 0 && write(fd, text, (size_t)n) != n)
		abort();
}

__attribute__((visibility("default"))) pid_t setsid(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))(uintptr_t)dlsym(RTLD_NEXT, "setsid");
	const char *number = getenv("FAIL_ALLOC");

	wanted = number ? atol(number) : 0;
	atomic_store(&armed, true);
	return real();
}

/* The daemon ends by _exit, which runs no destructors. */
__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
	void (*real)(int) = (void (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "_exit");

	if (atomic_load(&armed))
		tell();
	real(status);
	__builtin_unreachable();
}
