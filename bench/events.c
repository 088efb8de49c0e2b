/* Writes 64 bytes after 64 bytes to one file, as fast as it can or at a rate, for what tracers cost
 * and lose:
 *
 *	bench_events FILE COUNT [PER_SECOND]
 *
 * Prints "COUNT SECONDS": how many writes were made, and how long they took. The file has at most
 * a MiB: it is begun anew, since its pages are not what is measured. */
#include "bench.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { EVENT_BYTES = 64, FILE_BYTES = 1 << 20, NS = 1000000000 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* So many writes are due at `rate` a second. */
static uint64_t due(int64_t elapsed_ns, uint64_t rate, uint64_t count)
{
	double n = (double)elapsed_ns * 1e-9 * (double)rate;

	return n < (double)count ? (uint64_t)n : count;
}

static void write_events(int fd, const char *path, uint64_t done, uint64_t until)
{
	static const char event[EVENT_BYTES];

	for (; done < until; done++) {
		if (done % (FILE_BYTES / EVENT_BYTES) == 0 && lseek(fd, 0, SEEK_SET) < 0)
			bench_die("lseek", path);
		if (write(fd, event, sizeof(event)) != sizeof(event))
			bench_die("write", path);
	}
}

/* Who is behind writes what is due at once; who is ahead sleeps for a millisecond, or less. */
static void write_paced(int fd, const char *path, uint64_t count, uint64_t rate)
{
	int64_t begin_ns = now_ns();

	for (uint64_t done = 0; done < count;) {
		uint64_t until = due(now_ns() - begin_ns, rate, count);

		write_events(fd, path, done, until);
		done = until;
		if (done < count)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 2 ? bench_size_parse(argv[2]) : 0;
	uint64_t rate = argc > 3 ? bench_size_parse(argv[3]) : 0;
	int64_t begin_ns;
	int fd;

	if (!count || argc > 4) {
		fputs("usage: bench_events FILE COUNT [PER_SECOND]\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		bench_die("open", argv[1]);
	begin_ns = now_ns();
	if (rate)
		write_paced(fd, argv[1], count, rate);
	else
		write_events(fd, argv[1], 0, count);
	printf("%" PRIu64 " %.6f\n", count, (double)(now_ns() - begin_ns) / NS);
	if (close(fd) || fflush(stdout))
		bench_die("close", argv[1]);
	return 0;
}
