#include "iotrace/csv.h"

#include "base/str.h"

#include <string.h>

#define BESIDE ".pids.csv"

const char *const leat_trace_changes[LEAT_TRACE_CHANGES] = {
	[LEAT_TRACE_FORK] = "fork",
	[LEAT_TRACE_EXEC] = "exec",
	[LEAT_TRACE_EXIT] = "exit",
};

static bool ends(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);

	return n >= m && strcmp(text + n - m, with) == 0;
}

char *leat_trace_csv_beside(const char *path)
{
	size_t n = strlen(path) - (ends(path, ".csv") ? strlen(".csv") : 0);

	return leat_strf("%.*s" BESIDE, (int)n, path);
}

bool leat_trace_csv_is_beside(const char *path)
{
	return ends(path, BESIDE);
}
