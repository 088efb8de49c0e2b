#include "base/script.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The first character from `at` to `last` that is no blank; NULL: there is none. */
static char *skip_blanks(char *at, char *last)
{
	for (; at <= last; at++)
		if (!is_blank(*at))
			return at;
	return NULL;
}

/* The first blank or zero from `at` to `last`. */
static char *find_end(char *at, char *last)
{
	for (; at <= last; at++)
		if (is_blank(*at) || !*at)
			return at;
	return NULL;
}

/* Where the line ends; NULL: it is cut off within the interpreter's name. */
static char *end_of_line(char *line)
{
	char *last = line + LEAT_SCRIPT_LINE - 1, *name;

	for (char *at = line; at <= last && *at; at++)
		if (*at == '\n')
			return at;
	name = skip_blanks(line + 2, last);
	return name && find_end(name, last) ? last : NULL;
}

bool leat_script_parse(char line[LEAT_SCRIPT_LINE], size_t size, struct leat_script *script)
{
	char *end, *name, *behind, *argument = NULL;

	if (size < LEAT_SCRIPT_LINE)
		memset(line + size, 0, LEAT_SCRIPT_LINE - size);
	if (line[0] != '#' || line[1] != '!')
		return false;
	end = end_of_line(line);
	if (!end)
		return false;
	while (is_blank(end[-1]))
		end--;
	name = skip_blanks(line + 2, end);
	if (!name || name == end)
		return false;
	behind = find_end(name, end);
	if (behind && *behind)
		argument = skip_blanks(behind, end);
	*end = '\0';
	if (argument)
		*behind = '\0';
	if (!*name)
		return false;
	*script = (struct leat_script){.interpreter = name, .argument = argument};
	return true;
}
