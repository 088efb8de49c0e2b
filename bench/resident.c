/* resident: make the machine hold free memory, so that what is measured next does not pay for it.
 *   resident BYTES
 *   resident -k BYTES
 * A virtual machine gives free memory back to its host (free page reporting), about two seconds
 * after it was freed: whoever touches it next pays page faults of the host, many times the cost of
 * the guest's own. This program takes BYTES in small pages, which come from small blocks of free
 * memory, then as many in huge pages (together at most what is free but for 256 MB), touches them
 * and ends. With -k it takes all free memory but BYTES, says "held" and keeps it until its input
 * ends: what is free then is little enough to be touched before each run. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

enum { TOUCH = 4096 };
#define SPARE (UINT64_C(256) << 20)

/* Take and touch `bytes` in pages as advised (MADV_...), to be given back at the end. */
static void take(uint64_t bytes, int advice)
{
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		bench_die("map", "memory");
	/* Where there are no huge pages, all are small. */
	(void)madvise(map, bytes, advice);
	for (uint64_t i = 0; i < bytes; i += TOUCH)
		((volatile char *)map)[i] = 1;
}

/* Bytes of free memory beyond `spare`. */
static uint64_t free_beyond(uint64_t spare)
{
	struct sysinfo info;
	uint64_t all;

	if (sysinfo(&info) < 0)
		bench_die("look at", "free memory");
	all = (uint64_t)info.freeram * info.mem_unit;
	return all > spare ? all - spare : 0;
}

static void hold(uint64_t spare)
{
	uint64_t bytes = free_beyond(spare);

	if (bytes)
		take(bytes, MADV_HUGEPAGE);
	puts("held");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
}

static void touch(uint64_t bytes)
{
	uint64_t most = free_beyond(SPARE) / 2;

	if (bytes > most)
		bytes = most;
	if (bytes == 0)
		return;
	take(bytes, MADV_NOHUGEPAGE);
	take(bytes, MADV_HUGEPAGE);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-k") == 0) {
		hold(bench_size_parse(argv[2]));
	} else if (argc == 2) {
		touch(bench_size_parse(argv[1]));
	} else {
		fputs("usage: resident BYTES | -k BYTES\n", stderr);
		return 2;
	}
	return 0;
}
