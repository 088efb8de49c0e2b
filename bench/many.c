/* many: starts COUNT processes of another of these programs at once, and waits for all of them.
 *   many COUNT PROGRAM [ARG...]
 * An argument that is @ stands for the number of the process, from 0. Exit status 0 if all ended
 * with that, else 3. */
#include "bench.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program lies beside this one. */
static void name_program(char *path, size_t size, const char *self, const char *program)
{
	const char *slash = strrchr(self, '/');

	snprintf(path, size, "%.*sbench_%s", slash ? (int)(slash - self) + 1 : 0, self, program);
}

static void start(const char *path, int argc, char **argv, uint64_t number)
{
	char **args = calloc((size_t)argc + 1, sizeof(*args)), text[24];
	pid_t pid;

	if (!args)
		bench_die("allocate", "arguments");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	for (int i = 0; i < argc; i++)
		args[i] = strcmp(argv[i], "@") == 0 ? text : argv[i];
	errno = posix_spawn(&pid, path, NULL, NULL, args, environ);
	if (errno)
		bench_die("start", path);
	free(args);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 2 ? bench_size_parse(argv[1]) : 0, failed = 0;
	char path[4096];
	int status;

	if (!count) {
		fputs("usage: many COUNT PROGRAM [ARG...]\n", stderr);
		return 2;
	}
	name_program(path, sizeof(path), argv[0], argv[2]);
	for (uint64_t i = 0; i < count; i++)
		start(path, argc - 2, argv + 2, i);
	for (uint64_t i = 0; i < count; i++) {
		if (wait(&status) < 0)
			bench_die("wait for", path);
		failed += status != 0;
	}
	if (failed)
		fprintf(stderr, "many: %llu of %llu processes failed\n", (unsigned long long)failed,
			(unsigned long long)count);
	return failed ? 3 : 0;
}
