/* How long things take in a served directory, for soak.py. Prints one line of nanoseconds for each.
 *
 *   probe files NAME N      N times: makes, writes, closes, opens, reads, closes a small file, and
 *                           removes it
 *   probe send NAME N       writes into NAME.0 ... NAME.N-1 the time it is, 2 ms apart
 *   probe receive NAME N    waits for each of them, and says how old the time is
 *
 * Any error ends it with status 1 and a line on standard error. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SMALL_BYTES = 100, PAUSE_US = 2000 };

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void tell(int64_t since_ns)
{
	printf("%lld\n", (long long)(now_ns() - since_ns));
}

static void put(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, name);
}

/* Exactly so many bytes are there. */
static void get(const char *name, void *bytes, size_t size)
{
	int fd = open(name, O_RDONLY);

	check(fd >= 0 && read(fd, bytes, size) == (ssize_t)size, name);
	check(close(fd) == 0, name);
}

static void files(const char *name, int n)
{
	char out[SMALL_BYTES], in[SMALL_BYTES];

	for (int i = 0; i < n; i++) {
		int64_t began = now_ns();

		memset(out, i, sizeof(out));
		put(name, out, sizeof(out));
		get(name, in, sizeof(in));
		check(memcmp(in, out, sizeof(in)) == 0, "other bytes than were written");
		check(unlink(name) == 0, name);
		tell(began);
	}
}

static void send(const char *prefix, int n)
{
	char name[512];

	for (int i = 0; i < n; i++) {
		int64_t now;

		usleep(PAUSE_US);
		snprintf(name, sizeof(name), "%s.%d", prefix, i);
		now = now_ns();
		put(name, &now, sizeof(now));
	}
}

static void receive(const char *prefix, int n)
{
	char name[512];

	for (int i = 0; i < n; i++) {
		int64_t sent;

		snprintf(name, sizeof(name), "%s.%d", prefix, i);
		get(name, &sent, sizeof(sent));
		tell(sent);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(const char *name, int n);
	} ops[] = {{"files", files}, {"send", send}, {"receive", receive}};

	for (size_t i = 0; argc == 4 && i < sizeof(ops) / sizeof(*ops); i++)
		if (strcmp(argv[1], ops[i].name) == 0) {
			ops[i].act(argv[2], atoi(argv[3]));
			return 0;
		}
	fprintf(stderr, "usage: probe files|send|receive NAME N\n");
	return 2;
}
