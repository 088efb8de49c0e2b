/* resident: make the machine hold free memory, so that what is measured next does not pay for it.
 *   resident BYTES
 * A virtual machine gives free memory back to its host (free page reporting), about two seconds
 * after it was freed: whoever touches it next pays page faults of the host, many times the cost of
 * the guest's own. This program takes BYTES in small pages, which come from small blocks of free
 * memory, then as many in huge pages (together at most half of what is free), touches them and
 * ends. */
#include "bench.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

enum { TOUCH = 4096 };

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

int main(int argc, char **argv)
{
	struct sysinfo info;
	uint64_t bytes, most;

	if (argc != 2) {
		fputs("usage: resident BYTES\n", stderr);
		return 2;
	}
	bytes = bench_size_parse(argv[1]);
	if (sysinfo(&info) < 0)
		bench_die("look at", "free memory");
	most = (uint64_t)info.freeram * info.mem_unit / 4;
	if (bytes > most)
		bytes = most;
	if (bytes == 0)
		return 0;
	take(bytes, MADV_NOHUGEPAGE);
	take(bytes, MADV_HUGEPAGE);
	return 0;
}
