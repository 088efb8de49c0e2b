/* verify-family [SHAPE]: the family, on all processors, with the figures. Fails if anything but
 * deadlocks is found, or if all shapes together take more
 * than a minute of one processor's time. */
#include "family.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORKERS = 16, LIMIT_S = 60 };

/* A worker checks its share of the combinations and tells the sum. */
static pid_t start_worker(const struct family_shape *shape, unsigned number, unsigned workers,
			  int out)
{
	static const struct leat_verify_bounds bounds = {.open = 2};
	struct family_sum sum = {0};
	pid_t pid = fork();

	if (pid)
		return pid;
	family_run(shape, number, workers, &bounds, &sum);
	fflush(stdout);
	_exit(write(out, &sum, sizeof(sum)) == (ssize_t)sizeof(sum) ? 0 : 1);
}

static void add(struct family_sum *to, const struct family_sum *sum)
{
	to->combinations += sum->combinations;
	to->same += sum->same;
	to->states += sum->states;
	to->transitions += sum->transitions;
	to->most = sum->most > to->most ? sum->most : to->most;
	to->deadlocks += sum->deadlocks;
	to->wrong += sum->wrong;
}

/* True if all workers ended well. */
static bool run_shape(const struct family_shape *shape, unsigned workers, struct family_sum *sum)
{
	struct family_sum one;
	pid_t pids[MAX_WORKERS];
	bool ok = true;
	int ends[2], status;

	if (pipe(ends) < 0)
		return false;
	fflush(stdout);
	for (unsigned i = 0; i < workers; i++)
		pids[i] = start_worker(shape, i, workers, ends[1]);
	close(ends[1]);
	while (read(ends[0], &one, sizeof(one)) == (ssize_t)sizeof(one))
		add(sum, &one);
	close(ends[0]);
	for (unsigned i = 0; i < workers; i++)
		ok = pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && !status && ok;
	return ok;
}

static void show(const char *name, const struct family_sum *sum, uint64_t since_ns)
{
	printf("%-9s %6lu combinations (%lu the same but for names), %10lu states, %10lu "
	       "transitions, at most %7lu states; %5lu with a deadlock, %lu wrong; %.1f s\n",
	       name, sum->combinations, sum->same, sum->states, sum->transitions, sum->most,
	       sum->deadlocks, sum->wrong, (double)(leat_clock_ns() - since_ns) / 1e9);
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned workers = processors < 1             ? 1
			   : processors > MAX_WORKERS ? MAX_WORKERS
						      : (unsigned)processors;
	uint64_t began = leat_clock_ns();
	struct family_sum all = {0};
	struct rusage usage;
	bool ok = true;

	for (unsigned i = 0; i < family_n_shapes; i++) {
		struct family_sum sum = {0};
		uint64_t since = leat_clock_ns();

		if (argc > 1 && strcmp(argv[1], family_shapes[i].name) != 0)
			continue;
		ok = run_shape(&family_shapes[i], workers, &sum) && ok;
		show(family_shapes[i].name, &sum, since);
		add(&all, &sum);
	}
	show("all", &all, began);
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%ld s of processor time\n", (long)usage.ru_utime.tv_sec);
	if (argc == 1 && usage.ru_utime.tv_sec >= LIMIT_S) {
		printf("that is more than %d s\n", LIMIT_S);
		ok = false;
	}
	return ok && !all.wrong && all.combinations ? EXIT_SUCCESS : EXIT_FAILURE;
}
