/* A command's rows of options, those of others among them. */
#include "cli/command.h"

const struct leat_option *leat_option_at(const struct leat_command *command, size_t n)
{
	for (const struct leat_option *o = command->options; o && (o->name || o->rows); o++) {
		if (!o->rows && !n--)
			return o;
		for (const struct leat_option *row = o->rows ? o->rows() : NULL; row && row->name;
		     row++)
			if (!n--)
				return row;
	}
	return NULL;
}
