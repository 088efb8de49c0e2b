#include "model/version.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool leat_version_put(char out[PATH_MAX], const char *base, uint64_t number)
{
	int n = number > 1
			? snprintf(out, PATH_MAX, LEAT_VERSIONS_DIR "/%" PRIu64 "/%s", number, base)
			: snprintf(out, PATH_MAX, "%s", base);

	return n >= 0 && n < PATH_MAX;
}

const char *leat_version_base(const char *name, uint64_t *number)
{
	size_t n = strlen(LEAT_VERSIONS_DIR "/");
	char *end;

	*number = 1;
	if (!leat_str_begins(name, LEAT_VERSIONS_DIR "/"))
		return name;
	*number = strtoull(name + n, &end, 10);
	if (*number > 1 && *end == '/' && end[1])
		return end + 1;
	*number = 1;
	return name;
}

const char *leat_version_title(const char *name, char out[LEAT_VERSION_TITLE])
{
	uint64_t number;
	const char *base = leat_version_base(name, &number);

	if (number == 1)
		return name;
	snprintf(out, LEAT_VERSION_TITLE, "%s (version %" PRIu64 ")", base, number);
	return out;
}
