/* LEAT_FAULT is "SIDE POINT MESSAGE OCCURRENCE ACTION", LEAT_FAULT_TRACE a file: each point passed
 * is a line "SIDE POINT MESSAGE" in it, and the fault a line "fault PID ACTION". LEAT_FAULT_DELAY
 * is "MS EVERY SEED": at one point of EVERY, by chance, a thread sleeps up to MS; then the file has
 * a line "delay SIDE US" for each of these only. Part of the interception library, too: system
 * calls only. */
#include "base/fault.h"

#include "base/fault_call.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { MAX_LINE = 256, EXIT_STATUS = 3 };

static struct {
	const char *side;
	const char *spec; /* borrowed of the environment, which is never freed */
	const char *trace;
	const char *delay;
	long passed; /* of the point that is asked for; the tests' programs have one thread */
} fault;

static const char *value_of(char **envp, const char *name)
{
	size_t length = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

void leat_fault_init(char **envp, const char *side)
{
	fault.side = side;
	fault.spec = value_of(envp, "LEAT_FAULT");
	fault.trace = value_of(envp, "LEAT_FAULT_TRACE");
	fault.delay = value_of(envp, "LEAT_FAULT_DELAY");
	fault.passed = 0;
}

/* ---- lines of words ---- */

struct line {
	char text[MAX_LINE];
	size_t used;
};

static void add(struct line *l, const char *word, char end)
{
	size_t length = strnlen(word, MAX_LINE - 2 - l->used);

	memcpy(l->text + l->used, word, length);
	l->used += length;
	l->text[l->used++] = end;
}

static void add_number(struct line *l, unsigned long n, char end)
{
	char digits[24];
	size_t at = sizeof(digits);

	digits[--at] = 0;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	add(l, digits + at, end);
}

static void note(const struct line *l)
{
	long fd;

	if (!fault.trace)
		return;
	fd = leat_fault_call(SYS_openat, AT_FDCWD, (long)fault.trace,
			     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	leat_fault_call(SYS_write, fd, (long)l->text, (long)l->used, 0);
	leat_fault_call(SYS_close, fd, 0, 0, 0);
}

/* ---- the fault ---- */

static long take_number(const char **at)
{
	long n = 0;

	while (**at >= '0' && **at <= '9' && n < INT_MAX)
		n = n * 10 + (*(*at)++ - '0');
	if (**at == ' ')
		++*at;
	return n;
}

/* What is to be done here, or NULL. */
static const char *action(const struct line *l)
{
	const char *at = fault.spec;

	if (!at || strncmp(at, l->text, l->used - 1) != 0 || at[l->used - 1] != ' ')
		return NULL;
	at += l->used;
	return take_number(&at) == ++fault.passed ? at : NULL;
}

static void act(const char *what)
{
	long pid = leat_fault_call(SYS_getpid, 0, 0, 0, 0);
	struct line l = {.used = 0};

	add(&l, "fault", ' ');
	add_number(&l, (unsigned long)pid, ' ');
	add(&l, what, '\n');
	note(&l);
	if (strcmp(what, "kill") == 0)
		leat_fault_call(SYS_kill, pid, SIGKILL, 0, 0);
	else if (strcmp(what, "stop") == 0)
		leat_fault_call(SYS_kill, pid, SIGSTOP, 0, 0);
	else if (strcmp(what, "exit") == 0)
		leat_fault_call(SYS_exit_group, EXIT_STATUS, 0, 0, 0);
}

/* ---- delays ---- */

/* Of seed, thread and how often it came by, so that no two sides keep step. */
static uint64_t draw(uint64_t seed)
{
	static _Thread_local uint64_t passed;
	uint64_t x =
		seed << 48 ^ (uint64_t)leat_fault_call(SYS_gettid, 0, 0, 0, 0) << 24 ^ ++passed;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void delay(void)
{
	const char *at = fault.delay;
	uint64_t most_us = (uint64_t)take_number(&at) * 1000, every = (uint64_t)take_number(&at);
	uint64_t x = draw((uint64_t)take_number(&at)), us = (x >> 32) % (most_us + 1);
	struct timespec t = {.tv_sec = (time_t)(us / 1000000),
			     .tv_nsec = (long)(us % 1000000 * 1000)};
	struct line l = {.used = 0};

	if (!every || x % every)
		return;
	add(&l, "delay", ' ');
	add(&l, fault.side, ' ');
	add_number(&l, us, '\n');
	note(&l);
	leat_fault_call(SYS_nanosleep, (long)&t, 0, 0, 0); /* a signal may cut it short */
}

void leat_fault_pass(const char *point, unsigned type)
{
	struct line l = {.used = 0};
	const char *what;

	if (!fault.side || (!fault.spec && !fault.trace && !fault.delay))
		return;
	if (fault.delay) {
		delay();
		return;
	}
	add(&l, fault.side, ' ');
	add(&l, point, ' ');
	add_number(&l, type, '\n');
	note(&l);
	what = action(&l);
	if (what)
		act(what);
}
