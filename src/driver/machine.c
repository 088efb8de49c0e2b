#include "driver/internal.h"

#include "base/cpus.h"
#include "base/pidstat.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
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

static uint64_t tick_ns(void)
{
	return 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* A line "cpuN ..." of /proc/stat; false: another. */
static bool add_cpu(const char *line, const cpu_set_t *allowed, size_t size,
		    struct leat_cpu_time *time)
{
	enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N };
	unsigned long long ticks[N];
	unsigned cpu;

	if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &ticks[USER],
		   &ticks[NICE], &ticks[SYSTEM], &ticks[IDLE], &ticks[IOWAIT], &ticks[IRQ],
		   &ticks[SOFTIRQ], &ticks[STEAL]) != 1 + N)
		return false;
	for (int i = 0; i < N && CPU_ISSET_S(cpu, size, allowed); i++) {
		time->all_ns += ticks[i] * tick_ns();
		time->used_ns += i == IDLE || i == IOWAIT ? 0 : ticks[i] * tick_ns();
	}
	return true;
}

static uint64_t usage_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

void leat_read_cpu_time(pid_t daemon, struct leat_cpu_time *time)
{
	struct leat_pidstat stat;
	char line[512];
	size_t size;
	cpu_set_t *allowed = leat_cpus_allowed(&size);
	FILE *in = allowed ? fopen("/proc/stat", "re") : NULL;

	*time = (struct leat_cpu_time){0};
	while (in && fgets(line, sizeof(line), in))
		if (!add_cpu(line, allowed, size, time) && time->all_ns)
			break; /* what follows is not of CPUs */
	if (in)
		fclose(in);
	CPU_FREE(allowed);
	time->own_ns = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN);
	if (daemon > 0 && leat_pidstat_read(daemon, &stat))
		time->own_ns += stat.cpu_ticks * tick_ns();
}

struct leat_resources *leat_driver_machine(void)
{
	unsigned cpus = leat_count_cpus();

	return leat_resources_local(cpus ? cpus : 1, LEAT_IO_EXECUTORS);
}
