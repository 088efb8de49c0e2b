/* versions LAG_MS [RANKS [LATE_MS [AFTER]]]: each of the first RANKS ranks (0: all) opens the file
 * x again and again, without regard to the others, until there is none any more, and prints what it
 * has read, in one line, to "read.RANK". Rank r waits r times LAG_MS before each open, the last one
 * LATE_MS before its first. With AFTER that rank waits until rank 0 has read so many versions, the
 * first of which all others have open at once. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static int rank, size, after;
static MPI_Comm others; /* than the last */

/* Rank 0 has read `n` versions. */
static void tell_last(int n)
{
	if (after && n == after)
		MPI_Send(&n, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
}

/* False: there is none. */
static int read_one(FILE *out, int n)
{
	char text[64];
	FILE *in = fopen("x", "r");

	if (!in && errno == ENOENT)
		return 0;
	if (after && n == 0 && rank < size - 1)
		MPI_Barrier(others);
	if (!in || !fgets(text, sizeof(text), in) || fgetc(in) != EOF) {
		fprintf(stderr, "x: %s\n", strerror(errno));
		exit(1);
	}
	fclose(in);
	fprintf(out, "%d ", atoi(text));
	return 1;
}

static int read_all(int lag_ms)
{
	char name[32];
	FILE *out;
	int n = 0;

	snprintf(name, sizeof(name), "read.%d", rank);
	out = fopen(name, "w");
	if (!out)
		return 1;
	for (;;) {
		pause_ms(rank * lag_ms);
		if (!read_one(out, n))
			break;
		n++;
		if (rank == 0)
			tell_last(n);
	}
	fputc('\n', out);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	int lag = argc > 1 ? atoi(argv[1]) : 0, readers = argc > 2 ? atoi(argv[2]) : 0;
	int late = argc > 3 ? atoi(argv[3]) : 0, n, bad = 0;

	after = argc > 4 ? atoi(argv[4]) : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &others);
	if (rank == size - 1)
		pause_ms(late);
	if (after && rank == size - 1)
		MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!readers || rank < readers)
		bad = read_all(lag);
	MPI_Comm_free(&others);
	MPI_Finalize();
	return bad;
}
