#include "lang/codes.h"

#include <string.h>

/* clang-format off: one entry is one paragraph */
const struct leat_lang_code leat_lang_codes[] = {
	/* Semantic checks (check*.c). */
	{"L-CHECK-DEP-CYCLE", LEAT_ERROR,
	 "on_file rules depend on each other in a circle, so none of them is ever met.",
	 "Give one file of the circle another commit rule."},
	{"L-CHECK-DEP-UNPRODUCED", LEAT_ERROR,
	 "An on_file rule depends on a file that no step produces.",
	 "Correct the name, or add the file to the output_stream of the step that writes it."},
	{"L-CHECK-INPUT-MISSING", LEAT_ERROR,
	 "An input is produced by no step and does not exist in the workflow's directory"
	 " (a warning for a pattern).",
	 "Correct the name, create the file, or add it to the output_stream of its producer."},
	{"L-CHECK-CLOSES-TOO-FEW", LEAT_ERROR,
	 "A file has more producers than closes are counted before it commits, so one of them"
	 " writes after the commit (a warning where patterns make them producers).",
	 "Count at least one close per producer, or use on_close without a number, or"
	 " on_termination."},
	{"L-CHECK-COUNT-UNREACHABLE", LEAT_ERROR,
	 "A commit rule counts more closes, terminations or files than there can be.",
	 "Lower the count."},
	{"L-CHECK-DEADLOCK", LEAT_ERROR,
	 "A step waits, through its inputs and their commit rules, for its own termination.",
	 "Commit one of the files named earlier (on_close, on_file), or break the circle."},
	{"L-CHECK-WAIT-CIRCLE", LEAT_WARNING,
	 "Steps read each other's growing files, which commit only when a step ends: if each"
	 " reads to the end of its input, none ever ends.",
	 "Commit one of the files earlier, or make sure that a program stops by itself."},
	{"L-CHECK-HOME-STEP", LEAT_ERROR, "A home node policy names a step that does not exist.",
	 "Use the name of a step of IO_Graph."},
	{"L-CHECK-RULE-TIE", LEAT_ERROR,
	 "Two rules of equal specificity disagree about the same files.",
	 "Make the rules equal, or one name more specific."},
	{"L-CHECK-PERMANENT-UNUSED", LEAT_WARNING,
	 "An entry of permanent matches nothing that any step produces.",
	 "Correct the name or remove the entry."},
	{"L-CHECK-EXCLUDE-UNUSED", LEAT_WARNING,
	 "An entry of exclude matches nothing that any step declares.",
	 "Correct the name or remove the entry."},
	{"L-CHECK-PATTERN-CAPTURES", LEAT_WARNING,
	 "A pattern also matches a file that another step declares by name, perhaps by accident.",
	 "Make the pattern narrower, or name the files."},
	{"L-CHECK-TWO-UPDATERS", LEAT_ERROR,
	 "Two steps both read and write the same file, and nothing orders them.",
	 "Let one of them read another output of the other, or use two files."},
	{"L-CHECK-RULE-NO-OUTPUT", LEAT_WARNING,
	 "A streaming rule is for a name that its step does not produce; it has no effect.",
	 "Add the name to the step's output_stream, or move the rule to the producer."},
	{NULL, LEAT_NOTE, NULL, NULL},
};
/* clang-format on */

const struct leat_lang_code *leat_lang_code_find(const char *code)
{
	for (const struct leat_lang_code *c = leat_lang_codes; c->code; c++)
		if (!strcmp(c->code, code))
			return c;
	return NULL;
}
