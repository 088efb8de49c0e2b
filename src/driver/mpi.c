#include "driver/mpi.h"

#include "base/log.h"
#include "base/str.h"
#include "lang/syntax/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Jobs that do not know of each other would all bind their processes to the first CPUs, and each
 * counts all CPUs as its own. Open MPI 4 and 5. */
static const char *const shared_machine[] = {
	"OMPI_MCA_rmaps_base_oversubscribe=1",
	"OMPI_MCA_hwloc_base_binding_policy=none",
	"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
	"PRTE_MCA_hwloc_default_binding_policy=none",
};

/* Whoever runs the workflow as root means it. */
static const char *const as_root[] = {
	"OMPI_ALLOW_RUN_AS_ROOT=1",
	"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"PRTE_ALLOW_RUN_AS_ROOT=1",
	"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
};

const char *leat_mpi_variable(unsigned i, bool root)
{
	const unsigned n = sizeof(shared_machine) / sizeof(*shared_machine);

	if (i < n)
		return shared_machine[i];
	i -= n;
	return root && i < sizeof(as_root) / sizeof(*as_root) ? as_root[i] : NULL;
}

/* Its path; the caller frees it. NULL: it is not there. */
static char *find(const char *name)
{
	const char *at = getenv("PATH");
	char *path = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0 ? realpath(name, NULL) : NULL;
	for (bool more = at; more && !path;) {
		const char *end = strchrnul(at, ':');

		path = leat_strf("%.*s/%s", (int)(end - at), at, name);
		if (path && access(path, X_OK) != 0) {
			free(path);
			path = NULL;
		}
		more = *end;
		at = end + 1;
	}
	return path;
}

char **leat_mpi_words(const char *command)
{
	const char *why = "out of memory";
	char **words = NULL;
	int rc = leat_words_split(command, &words, &why);

	if (!rc && words[0])
		return words;
	leat_error("the MPI launcher \"%s\" is no command: %s", command, rc ? why : "it is empty");
	leat_words_free(words);
	return NULL;
}

/* The words of the command; NULL after a message, which there is only if `must`. */
static char **find_launcher(const char *command, bool must)
{
	char **words = leat_mpi_words(command), *path = NULL;

	if (words && !(path = find(words[0])) && must)
		leat_error("the MPI launcher %s was not found; install it, or correct its name",
			   words[0]);
	if (!path) {
		leat_words_free(words);
		return NULL;
	}
	free(words[0]);
	words[0] = path;
	return words;
}

char **leat_mpi_find(const char *named)
{
	/* Steps of one job share its nodes. */
	static const char *const commands[] = {"srun --overlap", "mpirun", "mpiexec"};
	char **words = NULL;

	if (named)
		return find_launcher(named, true);
	for (size_t i = getenv("SLURM_JOB_ID") ? 0 : 1; i < 3 && !words; i++)
		words = find_launcher(commands[i], false);
	if (words)
		return words;
	leat_error(
		"no MPI launcher was found (mpirun, mpiexec, in a Slurm job srun), and a step has "
		"\"nprocs\" above 1; install Open MPI or MPICH, or name a launcher with "
		"--mpi-launcher");
	return NULL;
}

char **leat_mpi_argv(char *const *launcher, unsigned nprocs, const char *program, char *const *argv,
		     char number[16])
{
	static char flag[] = "-n";
	size_t before = 0, after = 0, n = 0;
	char **v;

	while (launcher && launcher[before])
		before++;
	while (argv[after])
		after++;
	v = calloc(before + after + 3, sizeof(*v));
	if (!v)
		return NULL;
	snprintf(number, 16, "%u", nprocs);
	for (size_t i = 0; i < before; i++)
		v[n++] = launcher[i];
	if (launcher) {
		v[n++] = flag;
		v[n++] = number;
	}
	v[n++] = (char *)(uintptr_t)program;
	for (size_t i = 1; i < after; i++)
		v[n++] = argv[i];
	return v;
}
