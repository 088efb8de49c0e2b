/* What of an MPI job only passes messages on: its launchers, and threads that the MPI libraries
 * have begun for themselves in its ranks. They wait in poll for as long as the job lives, and do
 * nothing to a file by themselves. Read from /proc; what is not recognised is the program's. */
#ifndef LEAT_DAEMON_RUN_MPI_H
#define LEAT_DAEMON_RUN_MPI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is that system call a wait for descriptors, like poll? `timed`: it ends by itself, too. */
bool leat_mpi_polls(long call, const uint64_t args[6], bool *timed);

/* Is it a launcher of Open MPI or MPICH, by its program? */
bool leat_mpi_launches(pid_t pid);
/* Was that launcher given a time after which it ends the job? */
bool leat_mpi_ends_in_time(pid_t pid);

/* Is the thread, which is in a system call with that stack pointer, one of the libraries' own? Its
 * stack says who has begun it, and whose functions it is in. */
bool leat_mpi_owns(pid_t pid, const char *tid, uint64_t stack);

/* The rank that the environment of a process says, -1: none, or it cannot be seen. */
long leat_mpi_rank(pid_t pid);

#endif
