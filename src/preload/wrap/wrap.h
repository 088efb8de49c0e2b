/* What the files of symbol wrappers share (libleat-wrap.so only). A wrapper has
 * the name and the type of a function of libc, makes the system call behind it
 * through the hooks or directly, and sets errno. */
#ifndef LEAT_PRELOAD_WRAP_WRAP_H
#define LEAT_PRELOAD_WRAP_WRAP_H

/* The functions are defined under their plain names, whatever the size of off_t was to be. */
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>

#define LEAT_EXPORT __attribute__((visibility("default")))

/* 0 or more as it is; -errno becomes errno and -1. */
long leat_wrap_result(long result);

/* The call goes to the hook if descriptor `fd` has a kind, else to the kernel,
 * as a cancellation point. Returns -errno on failure. */
long leat_wrap_fd(long fd, long nr, long a, long b, long c, long d, long e, long f);

/* The call goes to the hook if hooks are active, else to the kernel. */
long leat_wrap_path(long nr, long a, long b, long c, long d, long e, long f);

#define LEAT_SIX(nr, a, b, c, d, e, f, ...)                                                        \
	(nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)
/* Up to six arguments, filled up with zeros. */
#define LEAT_FD_CALL(fd, ...) leat_wrap_fd((fd), LEAT_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0))
#define LEAT_PATH_CALL(...) leat_wrap_path(LEAT_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0))

/* LEAT_WRAP_FD(int, fsync, (int fd), fd, SYS_fsync, fd): a whole wrapper. */
#define LEAT_WRAP_FD(type, name, parameters, fd, ...)                                              \
	LEAT_EXPORT type name parameters                                                           \
	{                                                                                          \
		return (type)leat_wrap_result(LEAT_FD_CALL(fd, __VA_ARGS__));                      \
	}
#define LEAT_WRAP_PATH(type, name, parameters, ...)                                                \
	LEAT_EXPORT type name parameters                                                           \
	{                                                                                          \
		return (type)leat_wrap_result(LEAT_PATH_CALL(__VA_ARGS__));                        \
	}

/* A second name of the function defined before. */
#define LEAT_ALIAS(name, other)                                                                    \
	LEAT_EXPORT extern __typeof__(name) /* NOLINTNEXTLINE(bugprone-macro-parentheses) */       \
		other __attribute__((alias(#name)))

#endif
