/* circle IN OUT WAY [SECONDS]: two ranks, of which one writes OUT. WAY says when:
 * all      when both have read IN, and met
 * spin     the same, but only rank 0 reads IN
 * compute  rank 0 reads IN, rank 1 computes for so long, and writes
 * sleep, poll, child   both read IN, while a thread or child of rank 1 waits for so long, and
 * writes input    both read IN, while a thread of rank 0 reads a line of its standard input, and
 * writes */
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *in, *out, *way;
static int seconds;

static void fail(const char *path)
{
	perror(path);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void take(void)
{
	FILE *f = fopen(in, "r");

	if (!f || fgetc(f) == EOF || fclose(f))
		fail(in);
}

static void make(void)
{
	FILE *f = fopen(out, "w");

	if (!f || fputs("1\n", f) == EOF || fclose(f))
		fail(out);
}

static void compute(void)
{
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end)
		;
}

static void *wait_and_make(void *unused)
{
	struct pollfd p = {.events = POLLIN};
	char line[16];
	int ends[2];

	if (strcmp(way, "input") == 0) {
		if (read(0, line, sizeof(line)) <= 0)
			fail("standard input");
	} else if (strcmp(way, "poll") == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
		p.fd = ends[0];
		poll(&p, 1, 1000 * seconds);
	} else {
		sleep((unsigned)seconds);
	}
	make();
	return unused;
}

/* Somebody beside the first thread writes. */
static void beside(void)
{
	pthread_t thread;
	pid_t child = -1;

	if (strcmp(way, "child") == 0) {
		child = fork();
		if (child == 0) {
			wait_and_make(NULL);
			_exit(0);
		}
	} else if (pthread_create(&thread, NULL, wait_and_make, NULL)) {
		exit(1);
	}
	take();
	if (child > 0)
		waitpid(child, NULL, 0);
	else
		pthread_join(thread, NULL);
}

static void act(int rank)
{
	if (strcmp(way, "all") == 0 || strcmp(way, "spin") == 0) {
		if (rank == 0 || strcmp(way, "all") == 0)
			take();
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			make();
	} else if (strcmp(way, "compute") == 0) {
		if (rank == 0)
			take();
		else
			compute(), make();
	} else if (rank == (strcmp(way, "input") == 0 ? 0 : 1)) {
		beside();
	} else {
		take();
	}
}

int main(int argc, char **argv)
{
	int rank;

	if (MPI_Init(&argc, &argv) != MPI_SUCCESS || argc < 4)
		return 2;
	in = argv[1];
	out = argv[2];
	way = argv[3];
	seconds = argc > 4 ? atoi(argv[4]) : 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	act(rank);
	MPI_Finalize();
	return 0;
}
