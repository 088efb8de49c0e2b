#include "cli/command.h"

#include "base/log.h"
#include "cli/suggest.h"

#include <string.h>

const struct leat_command *leat_command_find(const struct leat_command *const *commands,
					     const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

int leat_command_unknown(const struct leat_command *const *commands, const char *name)
{
	struct leat_suggest s = {0};

	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			leat_suggest_offer(&s, name, commands[i]->name);
	if (s.word)
		leat_error("unknown command %s; did you mean leat %s?", name, s.word);
	else
		leat_error("unknown command %s; leat help lists them", name);
	return LEAT_EXIT_USAGE;
}
