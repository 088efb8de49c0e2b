/* collective N: all ranks open the file x together, N times, and read it by collective MPI-IO, in
 * which some ranks read for all. Rank 0 prints the first byte of each. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 };

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

static char read_together(int rank, int size)
{
	MPI_Datatype strided;
	char block[4 * BLOCK];
	MPI_File f;

	/* Interleaved parts, which are read in one piece and dealt out. */
	MPI_Type_vector(4, BLOCK, BLOCK * size, MPI_CHAR, &strided);
	MPI_Type_commit(&strided);
	check(MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), "open");
	check(MPI_File_set_view(f, (MPI_Offset)BLOCK * rank, MPI_CHAR, strided, "native",
				MPI_INFO_NULL),
	      "view");
	check(MPI_File_read_all(f, block, sizeof(block), MPI_CHAR, MPI_STATUS_IGNORE), "read");
	check(MPI_File_close(&f), "close");
	MPI_Type_free(&strided);
	return block[0];
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < n; i++) {
		char first = read_together(rank, size), least, most;

		MPI_Reduce(&first, &least, 1, MPI_CHAR, MPI_MIN, 0, MPI_COMM_WORLD);
		MPI_Reduce(&first, &most, 1, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
		if (rank == 0)
			printf("%s %c\n", least == most ? "all" : "not all", first);
	}
	MPI_Finalize();
	return 0;
}
