#include "base/layers.h"

#include <string.h>

static const char *const keys[] = {"lowerdir+", "lowerdir", "upperdir", "datadir+", "workdir"};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

struct leat_layers leat_layers_of_options(const char *options)
{
	return (struct leat_layers){.at = options};
}

struct leat_layers leat_layers_of_value(const char *value)
{
	return (struct leat_layers){.at = value, .in_value = true, .alone = true};
}

bool leat_layers_is_key(const char *key)
{
	for (size_t i = 0; i < KEYS; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The value of the option at `at`, if it is one of those; else NULL. */
static const char *value_of(const char *at)
{
	for (size_t i = 0; i < KEYS; i++) {
		size_t n = strlen(keys[i]);

		if (strncmp(at, keys[i], n) == 0 && at[n] == '=')
			return at + n + 1;
	}
	return NULL;
}

/* A backslash takes the next character's meaning away. */
static const char *end_of(const char *at, bool at_colon, bool at_comma)
{
	for (; *at && !(at_colon && *at == ':') && !(at_comma && *at == ','); at++)
		if (*at == '\\' && at[1])
			at++;
	return at;
}

static bool copy(const char *from, const char *end, char *out, size_t size)
{
	size_t n = 0;

	for (; from < end && n + 1 < size; n++) {
		if (*from == '\\' && from + 1 < end)
			from++;
		out[n] = *from++;
	}
	out[n] = 0;
	return from == end;
}

/* Goes to the value of the next option that names directories. */
static bool find_value(struct leat_layers *l)
{
	while (*l->at) {
		const char *value = value_of(l->at);

		if (value) {
			l->at = value;
			return true;
		}
		l->at = end_of(l->at, false, true);
		l->at += *l->at == ',';
	}
	return false;
}

bool leat_layers_next(struct leat_layers *l, char *out, size_t size)
{
	const char *from;

	for (;;) {
		if (!l->in_value && !find_value(l))
			return false;
		l->in_value = true;
		while (*l->at == ':') /* "::" is before those of data only */
			l->at++;
		if (*l->at && (l->alone || *l->at != ','))
			break;
		if (!*l->at)
			return false;
		l->at++;
		l->in_value = false;
	}
	from = l->at;
	l->at = end_of(from, true, !l->alone);
	return copy(from, l->at, out, size);
}
