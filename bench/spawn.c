/* spawn: what starting a program costs in two environments, in turn.
 *   spawn COUNT ENV_FILE PROGRAM [ARG...]
 * ENV_FILE holds lines NAME=VALUE that are added to the environment for every second start.
 * Prints medians: microseconds plain, and with ENV_FILE; page faults plain, and with it. A process
 * that is started with ENV_FILE first and lives until the end keeps a session open that would end
 * with its last process. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The environment with the lines of the file added; the array and its new strings live as long as
 * the process. */
static char **read_environment(const char *path)
{
	size_t n = 0, capacity = 64;
	char **env, line[8192];
	FILE *fp = fopen(path, "r");

	if (!fp)
		fail(path);
	while (environ[n])
		n++;
	env = calloc(n + capacity, sizeof(*env));
	if (!env)
		fail("calloc");
	memcpy(env, environ, n * sizeof(*env));
	capacity += n;
	while (fgets(line, sizeof(line), fp) && n < capacity - 1) {
		line[strcspn(line, "\n")] = '\0';
		env[n] = strdup(line);
		if (!env[n++])
			fail("strdup");
	}
	fclose(fp);
	return env;
}

static pid_t start(char **argv, char **env)
{
	pid_t pid;
	int err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, env);

	if (err) {
		errno = err;
		fail(argv[0]);
	}
	return pid;
}

/* Of all runs in one environment. */
struct costs {
	double *us, *faults;
};

static void run(char **argv, char **env, const struct costs *costs, size_t i)
{
	struct timespec begin, end;
	struct rusage usage;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (wait4(start(argv, env), &status, 0, &usage) < 0)
		fail("wait4");
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (status != 0) {
		fprintf(stderr, "spawn: %s: wait status %d\n", argv[0], status);
		exit(1);
	}
	costs->us[i] = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
		       (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
	costs->faults[i] = (double)(usage.ru_minflt + usage.ru_majflt);
}

static struct costs costs_of(size_t n)
{
	struct costs costs = {calloc(n, sizeof(double)), calloc(n, sizeof(double))};

	if (!costs.us || !costs.faults)
		fail("calloc");
	return costs;
}

static void release(struct costs *costs)
{
	free(costs->us);
	free(costs->faults);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

int main(int argc, char **argv)
{
	char sleep_program[] = "sleep", sleep_seconds[] = "600";
	char *keeper_argv[] = {sleep_program, sleep_seconds, NULL};
	size_t n = argc > 3 ? (size_t)atol(argv[1]) : 0;
	struct costs plain, with;
	char **env;
	pid_t keeper;

	if (n == 0) {
		fputs("usage: spawn COUNT ENV_FILE PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	plain = costs_of(n);
	with = costs_of(n);
	env = read_environment(argv[2]);
	keeper = start(keeper_argv, env);
	for (size_t i = 0; i < n; i++) {
		run(argv + 3, environ, &plain, i);
		run(argv + 3, env, &with, i);
	}
	kill(keeper, SIGTERM);
	waitpid(keeper, NULL, 0);
	printf("%.1f %.1f %.0f %.0f\n", median(plain.us, n), median(with.us, n),
	       median(plain.faults, n), median(with.faults, n));
	release(&plain);
	release(&with);
	return 0;
}
