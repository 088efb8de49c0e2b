/* leat check --verify. */
#ifndef LEAT_CLI_CHECK_VERIFY_H
#define LEAT_CLI_CHECK_VERIFY_H

#include "cli/options.h"
#include "model/workflow.h"

/* Rows of the table of leat check. */
#define LEAT_VERIFY_OPTION_ROWS                                                                    \
	{.name = "verify",                                                                         \
	 .letter = 'v',                                                                            \
	 .type = LEAT_OPTION_FLAG,                                                                 \
	 .doc = "Try every order in which the steps may open, write and close their files and "    \
		"end, within bounds, and show how a deadlock, a starving consumer or an early "    \
		"commit comes about."},                                                            \
		{.name = "trace",                                                                  \
		 .type = LEAT_OPTION_TEXT,                                                         \
		 .argument = "FILE",                                                               \
		 .doc = "With --verify: write what was found to FILE, as leat replay reads it; "   \
			"what was found second to FILE.2, and so on."},                            \
		{.name = "states",                                                                 \
		 .type = LEAT_OPTION_NUMBER,                                                       \
		 .argument = "N",                                                                  \
		 .fallback = "1000000",                                                            \
		 .range = "1..1000000000",                                                         \
		 .doc = "With --verify: give up after N states; a million take about 60 MB."},     \
		{.name = "closes",                                                                 \
		 .type = LEAT_OPTION_NUMBER,                                                       \
		 .argument = "N",                                                                  \
		 .fallback = "1",                                                                  \
		 .range = "1..8",                                                                  \
		 .doc = "With --verify: a producer opens, writes and closes a file N times, "      \
			"unless its rule gives a number."},                                        \
		{.name = "files",                                                                  \
		 .type = LEAT_OPTION_NUMBER,                                                       \
		 .argument = "N",                                                                  \
		 .fallback = "2",                                                                  \
		 .range = "1..16",                                                                 \
		 .doc = "With --verify: each producer of a directory or pattern makes at most N "  \
			"files for it."},                                                          \
		{.name = "open",                                                                   \
		 .type = LEAT_OPTION_NUMBER,                                                       \
		 .argument = "N",                                                                  \
		 .fallback = "2",                                                                  \
		 .range = "1..64",                                                                 \
		 .doc = "With --verify: a step is at work with at most N files at one time."},     \
		{.name = "failures",                                                               \
		 .type = LEAT_OPTION_NUMBER,                                                       \
		 .argument = "N",                                                                  \
		 .fallback = "0",                                                                  \
		 .range = "0..8",                                                                  \
		 .doc = "With --verify: at most N steps are killed, at any moment."},              \
		{.name = "writing",                                                                \
		 .type = LEAT_OPTION_CHOICE,                                                       \
		 .argument = "HOW",                                                                \
		 .fallback = "direct",                                                             \
		 .range = "direct|twice|temporary",                                                \
		 .doc = "With --verify: producers open, write and close a file (direct); close "   \
			"it empty first and open it again (twice); or write another file and "     \
			"rename it (temporary)."},                                                 \
	{                                                                                          \
		.name = "full", .type = LEAT_OPTION_FLAG,                                          \
		.doc = "With --verify: also try orders that can make no difference."               \
	}

/* Search, and print what is found. The exit status: 1 if anything is. */
int leat_cli_verify(const struct leat_args *args, const struct leat_workflow *wf);

#endif
