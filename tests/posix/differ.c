/* differ DIRECTORY FIRST LAST STEPS [SKIP,...]: make the sequences of the seeds FIRST to LAST,
 * STEPS calls each, in directories below DIRECTORY, and print what each call did. Run on two file
 * systems the output must be the same. What is in DIRECTORY/shared is read, too. SKIP leaves steps
 * out, to make a failing sequence shorter.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TREE_EVERY = 40, PATIENCE_S = 60 };

static bool skipped(const char *list, unsigned step)
{
	char *end;

	while (list && *list) {
		if (strtoul(list, &end, 10) == step)
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
}

/* One sequence, in a process of its own. */
static void sequence(struct world *w, unsigned steps, const char *skip)
{
	alarm(PATIENCE_S);
	umask(022);
	if (mkdir(w->root, 0755) < 0 || chdir(w->root) < 0) {
		fprintf(stderr, "differ: %s: %s\n", w->root, strerror(errno));
		_exit(3);
	}
	mkdir("d", 0755);
	mkdir("d/e", 0755);
	mkdir("e", 0755);
	for (unsigned step = 0; step < steps; step++) {
		if (!skipped(skip, step))
			act(w, step);
		if (step % TREE_EVERY == TREE_EVERY - 1)
			log_tree(w);
	}
	log_tree(w);
}

static int run_seed(const char *directory, const char *self, uint64_t seed, unsigned steps,
		    const char *skip)
{
	struct world w;
	char root[512];
	int status;
	pid_t pid;

	snprintf(root, sizeof(root), "%s/s%llu", directory, (unsigned long long)seed);
	pid = fork();
	if (pid == 0) {
		world_init(&w, root, self, seed);
		sequence(&w, steps, skip);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	printf("%llu ended with %x\n", (unsigned long long)seed, status);
	fflush(stdout);
	remove_tree(root);
	return status != 0;
}

/* differ --resume ROOT SEED STEP N: go on in a new image (see process.c). */
static int resume(char **argv, const char *self)
{
	struct world w;
	unsigned step = (unsigned)strtoul(argv[4], NULL, 10),
		 n = (unsigned)strtoul(argv[5], NULL, 10);

	world_init(&w, argv[2], self, strtoull(argv[3], NULL, 10));
	w.depth = 1;
	world_look(&w);
	say(&w, "resumed with");
	for (int fd = 3; fd < MAX_FD; fd++)
		if (w.open[fd])
			say(&w, " %d", fd);
	done(&w);
	while (n--)
		act(&w, step++);
	world_release(&w);
	return 0;
}

int main(int argc, char **argv)
{
	char self[512] = "", directory[400];
	int failed = 0;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	if (argc == 6 && !strcmp(argv[1], "--resume"))
		return resume(argv, self);
	if (argc < 5 || !realpath(argv[1], directory)) {
		fprintf(stderr, "usage: differ DIRECTORY FIRST LAST STEPS [SKIP,...]\n");
		return 2;
	}
	/* What is inherited is nobody's to change. */
	close_range(3, ~0U, 0);
	signal(SIGPIPE, SIG_IGN);
	for (uint64_t seed = strtoull(argv[2], NULL, 10); seed <= strtoull(argv[3], NULL, 10);
	     seed++)
		failed |= run_seed(directory, self, seed, (unsigned)strtoul(argv[4], NULL, 10),
				   argv[5]);
	return failed;
}
