#include "driver/internal.h"

#include "base/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int leat_read_cpus(unsigned **cpus, size_t *n)
{
	size_t size, found = 0;
	cpu_set_t *set = leat_cpus_allowed(&size);
	size_t count = set ? (size_t)CPU_COUNT_S(size, set) : 0;
	unsigned *v = set ? malloc(count * sizeof(*v)) : NULL;
	int result = v ? 0 : -errno;

	for (unsigned c = 0; v && found < count; c++)
		if (CPU_ISSET_S(c, size, set))
			v[found++] = c;
	CPU_FREE(set);
	if (result)
		return result;
	*cpus = v;
	*n = count;
	return 0;
}

char *leat_cpus_text(const unsigned *cpus, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0, last; out && i < n; i = last + 1) {
		last = i;
		while (last + 1 < n && cpus[last + 1] == cpus[last] + 1)
			last++;
		fprintf(out, "%s%u", i ? "," : "", cpus[i]);
		if (last > i)
			fprintf(out, "-%u", cpus[last]);
	}
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

unsigned leat_count_runnable(unsigned cpus)
{
	unsigned running = 0;
	FILE *in;

	/* The kernel counts for all CPUs: useless where we have but some. */
	if (cpus != (unsigned)sysconf(_SC_NPROCESSORS_ONLN))
		return 0;
	in = fopen("/proc/loadavg", "re");
	if (!in)
		return 0;
	if (fscanf(in, "%*f %*f %*f %u/", &running) != 1)
		running = 0;
	fclose(in);
	return running > 1 ? running - 1 : running;
}

struct leat_resources *leat_driver_machine(void)
{
	unsigned cpus = leat_count_cpus();

	return leat_resources_local(cpus ? cpus : 1, LEAT_IO_EXECUTORS);
}
