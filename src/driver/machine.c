#include "driver/internal.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

unsigned leat_count_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
}

unsigned leat_count_runnable(void)
{
	unsigned running = 0;
	FILE *in;

	/* The kernel counts for all CPUs: useless where we may use but some. */
	if (leat_count_cpus() != (unsigned)sysconf(_SC_NPROCESSORS_ONLN))
		return 0;
	in = fopen("/proc/loadavg", "re");
	if (!in)
		return 0;
	if (fscanf(in, "%*f %*f %*f %u/", &running) != 1)
		running = 0;
	fclose(in);
	return running > 1 ? running - 1 : running;
}
