#include "base/pidstat.h"

#include "base/fd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the kernel. */
#define PF_EXITING 0x4ul

/* The name, in brackets, may hold anything, blanks and brackets included. */
static bool parse(const char *text, struct leat_pidstat *p)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const char *last = strrchr(text, ' ');
	unsigned long flags;

	if (!open || !close || last < close ||
	    sscanf(close + 1,
		   " %c %d %d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%" SCNu64,
		   &p->state, &p->parent, &p->group, &flags, &p->born) != 5)
		return false;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	p->exiting = flags & PF_EXITING;
	p->status = atoi(last + 1);
	return true;
}

bool leat_pidstat_read(pid_t pid, struct leat_pidstat *p)
{
	char path[32], *text = NULL;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (leat_read_file(path, 4096, &text, NULL) < 0)
		return false;
	known = parse(text, p);
	free(text);
	return known;
}
