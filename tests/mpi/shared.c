/* shared FILE ROUNDS: each rank writes a block of 64 KiB in each round, in turn, into one file by
 * collective MPI-IO; rank 0 has created the file, empty, before. shared size: print the number of
 * ranks. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536 };

static void check(int rc, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	if (rc == MPI_SUCCESS)
		return;
	MPI_Error_string(rc, text, &length);
	fprintf(stderr, "%s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void create(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fclose(f)) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void write_shared(const char *path, int rounds, int rank, int size)
{
	static char block[BLOCK];
	MPI_File f;

	memset(block, 'a' + rank, sizeof(block));
	if (rank == 0)
		create(path);
	MPI_Barrier(MPI_COMM_WORLD);
	check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
			    &f),
	      "open");
	for (int i = 0; i < rounds; i++)
		check(MPI_File_write_at_all(f, (MPI_Offset)BLOCK * (i * size + rank), block, BLOCK,
					    MPI_BYTE, MPI_STATUS_IGNORE),
		      "write");
	check(MPI_File_close(&f), "close");
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2)
		write_shared(argv[1], atoi(argv[2]), rank, size);
	else if (rank == 0)
		printf("size %d\n", size);
	MPI_Finalize();
	return 0;
}
