#include "lang/codes.h"

#include <string.h>

#define E LEAT_ERROR
#define W LEAT_WARNING

const struct leat_code leat_codes[] = {
	/* The file as a whole. */
	{"L-FILE-READ", E, "The file cannot be read.", "Check its name and permissions."},
	{"L-FILE-BIG", E, "The file is too large to be a workflow file (over 16 MiB).",
	 "Name files by patterns instead of one by one."},
	{"L-FILE-EMPTY", E, "The file holds nothing.", "Write the workflow into it."},
	{"L-FILE-ENCODING", E, "The file is not UTF-8 text.", "Save it as UTF-8."},
	{"L-FILE-KIND", E, "The file is neither CAPIO-CL nor leat YAML.",
	 "CAPIO-CL has \"IO_Graph\" at the top, leat YAML has \"tasks\"."},

	/* JSON syntax: reported alone, because what follows cannot be trusted. */
	{"L-JSON-SYNTAX", E, "The text is not JSON.", "Mend it at the place shown."},
	{"L-JSON-LIST-BRACES", E, "Objects are listed inside \"{ }\".",
	 "A list is written with \"[ ]\"."},
	{"L-JSON-TRAILING-COMMA", E, "A comma stands before a closing bracket.",
	 "Remove the comma."},
	{"L-JSON-COMMA", E, "A comma is missing between two values, or one is too many.",
	 "Separate values by exactly one comma."},
	{"L-JSON-COLON", E, "A key is not followed by \":\" and a value.", "Write \"key\": value."},
	{"L-JSON-UNCLOSED", E, "A bracket is never closed.", "Add the closing bracket."},
	{"L-JSON-BRACKET", E, "A closing bracket does not fit what is open.",
	 "Close brackets in the reverse order of opening."},
	{"L-JSON-NEWLINE", E, "A string is not closed on its line.",
	 "Close it, or join the lines: JSON strings do not span lines."},
	{"L-JSON-STRING", E, "A string holds a character or escape that JSON does not allow.",
	 "Use the escapes of JSON: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX."},
	{"L-JSON-QUOTES", E, "Text is not in straight double quotes.",
	 "Write \"text\" with double quotes."},
	{"L-JSON-VALUE", E, "A word is not a JSON value.",
	 "Values are strings, numbers, true, false, null, lists and objects."},
	{"L-JSON-COMMENT", E, "JSON has no comments.", "Remove the comment."},
	{"L-JSON-AFTER-END", E, "Text follows the end of the JSON value.", "Remove it."},

	/* YAML syntax. */
	{"L-YAML-SYNTAX", E, "The text is not YAML.", "Mend it at the place shown."},
	{"L-YAML-ALIAS", E, "A YAML anchor or alias is used.",
	 "Put names that begin with \"*\" or \"&\" in quotes; write repeated values out."},
	{"L-YAML-TAG", E, "A YAML tag is used.", "Put names that begin with \"!\" in quotes."},
	{"L-YAML-DOCUMENTS", E, "The file holds more than one YAML document.",
	 "Keep one workflow in a file."},

	/* Keys and kinds of values. */
	{"L-DEPTH", E, "Lists and objects are nested too deeply.", "No section needs that."},
	{"L-KEY-TWICE", E, "A key is given twice in one object.", "Keep one of the two."},
	{"L-KEY-UNKNOWN", E, "A key is not known here.", "Correct its spelling or remove it."},
	{"L-KEY-MISSING", E, "A key that must be given is missing.", "Add it."},
	{"L-KEY-SPELLING", W, "A key has a spelling that is accepted, but not the canonical one.",
	 "Use the spelling shown."},
	{"L-NOT-YET", E, "A feature is not supported yet by this version.",
	 "Remove it, or use a version of leat that has it."},
	{"L-TYPE", E, "A value is not of the kind its key takes.", "Write the kind shown."},
	{"L-NUL", E, "A string holds a NUL character.", "No name may hold one; remove it."},
	{"L-NUMBER", E, "A number is not a whole number in the range its key takes.",
	 "Give a number in the range shown."},
	{"L-EMPTY", E, "A name is empty.", "Give the name."},
	{"L-LIST-STRING", W, "A string stands where a list of strings is meant.",
	 "Write [\"text\"]."},
	{"L-LIST-OBJECT", W, "An object stands where a list of objects is meant.",
	 "Write [{...}]."},
	{"L-VERSION", E, "The version of the language is not known.",
	 "Versions 1, 1.0 and 1.1 are."},
	{"L-CONFIGURATION", W, "\"configuration\" is ignored.", "Remove it."},

	/* Paths. */
	{"L-PATH-OUTSIDE", W, "An absolute path outside the workflow's directory is ignored.",
	 "Write paths relative to the workflow's directory."},
	{"L-PATH-ESCAPE", E, "A path leaves the workflow's directory.",
	 "Name only what is below the workflow's directory."},
	{"L-PATH-ROOT", E, "A path names the workflow's directory itself.",
	 "Name what is in it; \"*\" is everything."},

	/* Aliases, steps and streams. */
	{"L-ALIAS-TWICE", E, "Two aliases have one name.", "Rename one of them."},
	{"L-ALIAS-NESTED", E, "An alias names another alias.", "List the files themselves."},
	{"L-STREAM-FILES", W, "A stream is written as an object with files.",
	 "Declare the files under \"aliases\" and write a list of names."},
	{"L-STEP-TWICE", E, "Two steps have one name.", "Rename one of them."},
	{"L-STEP-UNKNOWN", E, "A step of that name does not exist.", "Use the name of a step."},
	{"L-STEP-CASE", W, "A step's name differs in upper and lower case.",
	 "Use the step's own spelling."},
	{"L-STEP-NONE", W, "The workflow has no steps.", "Add the steps under \"IO_Graph\"."},
	{"L-NAME-MISSING", W, "The workflow has no name; the file's name is used.",
	 "Add \"name\"."},

	/* Rules. */
	{"L-RULE-UNKNOWN", E, "A commit rule is not known.",
	 "on_close[:N], on_termination[:N], on_file with file_deps, or n_files:N."},
	{"L-RULE-COUNT", E, "The count of a rule is not a whole number of at least 1.",
	 "Give a count of at least 1."},
	{"L-RULE-ON-FILE-NO-DEPS", E, "\"on_file\" has no dependencies.",
	 "Add \"file_deps\" with the files to wait for."},
	{"L-RULE-ON-FILE-SHORT", W, "The dependency is written into the commit rule.",
	 "Write \"committed\": \"on_file\" and \"file_deps\": [...]."},
	{"L-RULE-DEPS-UNUSED", W, "\"file_deps\" is ignored: the rule is not \"on_file\".",
	 "Remove it, or use \"on_file\"."},
	{"L-RULE-N-FILES-ON-FILE", E, "A file cannot be complete by a number of files.",
	 "Use \"dirname\" for a directory."},
	{"L-RULE-N-FILES-DIFFER", E, "One directory has two different numbers of files.",
	 "Give one number."},
	{"L-RULE-N-FILES-MISSING", E, "\"on_n_files\" has no \"n_files\".",
	 "Add \"n_files\" or write \"n_files:N\"."},
	{"L-RULE-NO-COMMITTED", W, "A streaming entry has no commit rule.",
	 "Add \"committed\"; \"on_termination\" is assumed."},
	{"L-RULE-MODE", E, "A firing rule is not known.", "\"update\" or \"no_update\"."},
	{"L-RULE-TYPE", E, "A \"type\" is not known.", "Use \"name\" or \"dirname\"."},
	{"L-RULE-TYPE-D", W, "A directory is written with \"type\": \"d\".",
	 "Use \"dirname\" instead of \"name\"."},
	{"L-RULE-NAMES", E, "Not exactly one of the two naming keys is given.",
	 "Give \"name\" for files or \"dirname\" for directories."},
	{"L-RULE-ON-INPUT", E, "A commit or firing rule is given where a task reads.",
	 "Give it at the outport of the task that writes."},

	/* Home nodes. */
	{"L-HOME-2023", W, "Home nodes are written in the form of 2023.",
	 "Write \"home_node_policy\": {\"manual\": [{\"name\": [...], \"app_node\": "
	 "\"step:0\"}]}."},
	{"L-HOME-STRING", W, "One home node policy is given as a string.",
	 "Write {\"policy\": [\"*\"]}."},
	{"L-HOME-TWICE", E, "One file is under two home node policies.", "Keep the sets disjoint."},

	/* leat YAML. */
	{"L-EXEC", E, "A command line cannot be split into words.",
	 "Close the quotes and give a program."},
	{"L-COORDINATION", E, "The coordination file is not CAPIO-CL.",
	 "Name a CAPIO-CL file, relative to this file."},
	{NULL, 0, NULL, NULL},
};

const struct leat_code *leat_code_find(const char *code)
{
	for (const struct leat_code *c = leat_codes; c->code; c++)
		if (!strcmp(c->code, code))
			return c;
	return NULL;
}
