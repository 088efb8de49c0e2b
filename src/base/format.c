#include "base/format.h"

#include <stddef.h>
#include <stdio.h>

static void put_bytes(double n, const char *per, char out[LEAT_WORD])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	size_t unit = 0;

	while (n >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
		n /= 1000;
		unit++;
	}
	snprintf(out, LEAT_WORD, "%.*f %s%s", unit && n < 99.95 ? 1 : 0, n, units[unit], per);
}

char *leat_format_bytes(uint64_t bytes, char out[LEAT_WORD])
{
	put_bytes((double)bytes, "", out);
	return out;
}

char *leat_format_rate(double bytes_per_s, char out[LEAT_WORD])
{
	put_bytes(bytes_per_s, "/s", out);
	return out;
}
