/* snapshots N: the way Nyx writes, N times: rank 0 makes a file and closes it, then all ranks open
 * it, write their parts and close it. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 4096 };

/* Write a part at its place in a file that is there, or made. */
static void put(const char *name, int flags, int part, char byte)
{
	char text[PART];
	int fd = open(name, flags, 0666);

	memset(text, byte, sizeof(text));
	if (fd < 0 || pwrite(fd, text, PART, (off_t)part * PART) != PART || close(fd)) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

int main(int argc, char **argv)
{
	int rank, n = argc > 1 ? atoi(argv[1]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "plt%05d.h5", i);
		if (rank == 0)
			put(name, O_WRONLY | O_CREAT | O_TRUNC, 0, (char)('0' + i));
		MPI_Barrier(MPI_COMM_WORLD);
		put(name, O_WRONLY, 1 + rank, (char)('a' + rank));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
