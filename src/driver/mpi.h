/* Steps of several processes, started by the MPI launcher that is there. Each is a job of its own,
 * whose MPI_COMM_WORLD is the step's. */
#ifndef LEAT_DRIVER_MPI_H
#define LEAT_DRIVER_MPI_H

#include <stdbool.h>

/* The launcher, its path and the words before "-n N": those of `named` (a command line), else srun
 * in a Slurm job, mpirun, mpiexec, in this order, found in PATH. The caller frees it with
 * leat_words_free. NULL: there is none, or it is not found, which has been logged. */
char **leat_mpi_find(const char *named);

/* The words of the command `command`, which is not looked for; freed and logged as above. */
char **leat_mpi_words(const char *command);

/* LAUNCHER -n N PROGRAM ARGUMENTS..., without a launcher (NULL) PROGRAM ARGUMENTS...: an array the
 * caller frees, of borrowed words but the number, which goes to `number`. NULL when out of memory.
 */
char **leat_mpi_argv(char *const *launcher, unsigned nprocs, const char *program, char *const *argv,
		     char number[16]);

/* The i-th variable that launchers need on a machine that several jobs share, "NAME=value"; NULL:
 * there are no more. What the user has set stays as it is. `root`: for that user. */
const char *leat_mpi_variable(unsigned i, bool root);

#endif
