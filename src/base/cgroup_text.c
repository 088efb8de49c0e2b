/* The texts in which the kernel tells of control groups. */
#include "base/cgroup.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool leat_cgroup_has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, length) == 0 && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* One line "4:memory,cpu:/path", without its end. */
static bool read_group(char *line, const char *controller, char out[PATH_MAX])
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return false;
	*path++ = 0;
	controllers++;
	if (*controller ? !leat_cgroup_has_word(controllers, controller)
			: *controllers || strncmp(line, "0:", 2) != 0)
		return false;
	return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
}

bool leat_cgroup_path(const char *text, const char *controller, char out[PATH_MAX])
{
	char line[PATH_MAX + 256];

	while (*text) {
		size_t length = strcspn(text, "\n");

		if (length < sizeof(line)) {
			memcpy(line, text, length);
			line[length] = 0;
			if (read_group(line, controller, out))
				return true;
		}
		text += length + (text[length] == '\n');
	}
	return false;
}

/* A field of mountinfo, in which a space is \040. */
static bool unescape(const char *from, char *out, size_t size)
{
	size_t n = 0;

	for (; *from && *from != ' ' && n + 1 < size; n++) {
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			out[n] = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			out[n] = *from++;
		}
	}
	out[n] = 0;
	return !*from || *from == ' ';
}

/* The n-th word behind this one. */
static const char *skip(const char *text, unsigned n)
{
	for (; text && n; n--) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return text;
}

bool leat_cgroup_mount(const char *line, struct leat_cgroup_mount *mount)
{
	const char *root = skip(line, 3), *point = skip(root, 1);
	const char *type = strstr(line, " - "), *options;

	if (!point || !type)
		return false;
	type += 3;
	options = skip(type, 2);
	mount->is_v2 = strncmp(type, "cgroup2 ", 8) == 0;
	if (!options || !(mount->is_v2 || strncmp(type, "cgroup ", 7) == 0))
		return false;
	snprintf(mount->options, sizeof(mount->options), "%.*s", (int)strcspn(options, " \n"),
		 options);
	return unescape(root, mount->root, sizeof(mount->root)) &&
	       unescape(point, mount->point, sizeof(mount->point));
}

/* Groups above the namespace's own root have names that say nothing here. */
static bool climbs(const char *path)
{
	size_t length = strlen(path);

	return strstr(path, "/../") || (length >= 3 && strcmp(path + length - 3, "/..") == 0);
}

bool leat_cgroup_below(const struct leat_cgroup_mount *mount, const char *path, char out[PATH_MAX])
{
	const char *root = strcmp(mount->root, "/") == 0 ? "" : mount->root;
	size_t length = strlen(root);

	if (climbs(path) || climbs(mount->root) || strncmp(path, root, length) != 0 ||
	    (path[length] && path[length] != '/'))
		return false;
	path += length;
	if (strcmp(path, "/") == 0)
		path = "";
	return snprintf(out, PATH_MAX, "%s%s", mount->point, path) < PATH_MAX;
}

bool leat_cgroup_number(const char *text, uint64_t *number)
{
	/* LONG_MAX, less what is no whole page. */
	const uint64_t largest = (uint64_t)INT64_MAX / 65536 * 65536;
	char *end;

	if (strncmp(text, "max", 3) == 0 || strncmp(text, "-1", 2) == 0) {
		*number = LEAT_NO_LIMIT;
		return true;
	}
	*number = strtoull(text, &end, 10);
	if (*number >= largest)
		*number = LEAT_NO_LIMIT;
	return end != text;
}

uint64_t leat_cgroup_stat(const char *text, const char *key)
{
	size_t length = strlen(key);
	uint64_t number;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, key, length) == 0 && text[length] == ' ')
			return leat_cgroup_number(text + length + 1, &number) ? number : 0;
	return 0;
}

double leat_cgroup_quota(const char *text)
{
	double quota, period;

	return sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0
		       ? quota / period
		       : 0;
}

uint64_t leat_cgroup_total_us(const char *text)
{
	const char *total = leat_str_begins(text, "some ") ? strstr(text, " total=") : NULL;

	return total ? strtoull(total + strlen(" total="), NULL, 10) : 0;
}
