#include "lang/syntax/diagnostics.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* clang-format off: one entry is one paragraph */
const struct leat_lang_code leat_lang_codes[] = {
	/* Semantic checks (check/). */
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
	{"L-CHECK-NEEDS-UNITS", LEAT_ERROR,
	 "A task asks for more computing units than any node has.",
	 "Lower computing_units, or correct the resources."},
	{"L-CHECK-LIMIT-STAGED", LEAT_ERROR,
	 "A staged task, of which leat sees no call, has a storage_bw_limit.",
	 "Leave out \"staged\" or \"storage_bw_limit\"."},
	{"L-CHECK-NEEDS-DEVICE", LEAT_ERROR,
	 "An I/O task asks for bandwidth of a storage device that is not described.",
	 "Name one of \"resources\", or describe it there (leat probe measures one)."},
	{"L-CHECK-NEEDS-BANDWIDTH", LEAT_ERROR,
	 "An I/O task asks for more bandwidth than its storage device has, or no node with the"
	 " device runs I/O tasks.",
	 "Lower storage_bw, or correct the resources."},
	{"L-CHECK-NEEDS-RESOURCES", LEAT_WARNING,
	 "A task asks for bandwidth or a device, and the file describes no resources.",
	 "Add \"resources\", or name a file of them with --resources."},
	{"L-CHECK-NEEDS-STREAM", LEAT_ERROR,
	 "An I/O task takes versions of a file, or is on a circle of steps: it would hold bandwidth"
	 " while it waits for others, which may wait for that bandwidth.",
	 "Leave out \"io\" or \"io_freq\"; what several instances make is no version if it is read "
	 "by"
	 " its names, \"task.*/file\"."},
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
	{"L-CHECK-OUTPUTS-OVERLAP", LEAT_WARNING,
	 "Patterns of two steps, which nothing orders, can match the same name.",
	 "Give each a directory or an ending of its own, or make one an input of the other."},
	{"L-CHECK-PRIVATE", LEAT_WARNING, "An entry of private has no effect.",
	 "Leave it out, or let it name what nobody declares."},
	{"L-CHECK-SYMLINK", LEAT_ERROR,
	 "What is private, or seen in versions or by another name, leads through a symlink.",
	 "Have a directory there instead, or name the one that it leads to."},
	{"L-CHECK-RETAIN", LEAT_ERROR,
	 "\"retain\": false is for a temporary file that one step reads while it is written.",
	 "Give it \"mode\": \"no_update\", one consumer and no entry under permanent, or retain "
	 "it."},
	{"L-CHECK-RULE-NO-OUTPUT", LEAT_WARNING,
	 "A streaming rule is for a name that its step neither writes nor reads, or that no step"
	 " produces; it has no effect.",
	 "Add the name to the step's output_stream, or move the rule to the producer."},
	{"L-CHECK-ACTION-FILE", LEAT_ERROR, "The file of an action is not there or not readable.",
	 "Correct its name, which is relative to the workflow file."},
	{"L-CHECK-CONTAINER", LEAT_ERROR,
	 "The directory or file of an image is not there or is none.",
	 "Correct its name, which is relative to the workflow file, or make the image."},
	{"L-CHECK-ACTION-LOAD", LEAT_ERROR,
	 "Actions were tried before the run, and failed to load.",
	 "Mend what the message says of the action file, or name another function of it."},
	{"L-CHECK-ACTION-MODE", LEAT_ERROR,
	 "Actions decide when a file is passed on, and \"no_update\" passes it on while it is "
	 "written.",
	 "Leave out the mode of this output, or the actions of its step."},

	/* The front ends (everything else). */
	/* The file as a whole. */
	{"L-FILE-READ", LEAT_ERROR, "The file cannot be read.", "Check its name and permissions."},
	{"L-FILE-BIG", LEAT_ERROR, "The file is too large to be a workflow file (over 16 MiB).",
	 "Name files by patterns instead of one by one."},
	{"L-FILE-EMPTY", LEAT_ERROR, "The file holds nothing.", "Write the workflow into it."},
	{"L-FILE-ENCODING", LEAT_ERROR, "The file is not UTF-8 text.", "Save it as UTF-8."},
	{"L-FILE-KIND", LEAT_ERROR, "The file is neither CAPIO-CL nor leat YAML.",
	 "CAPIO-CL has \"IO_Graph\" at the top, leat YAML has \"tasks\"."},

	/* JSON syntax: reported alone, because what follows cannot be trusted. */
	{"L-JSON-SYNTAX", LEAT_ERROR, "The text is not JSON.", "Mend it at the place shown."},
	{"L-JSON-LIST-BRACES", LEAT_ERROR, "Objects are listed inside \"{ }\".",
	 "A list is written with \"[ ]\"."},
	{"L-JSON-TRAILING-COMMA", LEAT_ERROR, "A comma stands before a closing bracket.",
	 "Remove the comma."},
	{"L-JSON-COMMA", LEAT_ERROR, "A comma is missing between two values, or one is too many.",
	 "Separate values by exactly one comma."},
	{"L-JSON-COLON", LEAT_ERROR, "A key is not followed by \":\" and a value.",
	 "Write \"key\": value."},
	{"L-JSON-UNCLOSED", LEAT_ERROR, "A bracket is never closed.", "Add the closing bracket."},
	{"L-JSON-BRACKET", LEAT_ERROR, "A closing bracket does not fit what is open.",
	 "Close brackets in the reverse order of opening."},
	{"L-JSON-NEWLINE", LEAT_ERROR, "A string is not closed on its line.",
	 "Close it, or join the lines: JSON strings do not span lines."},
	{"L-JSON-STRING", LEAT_ERROR,
	 "A string holds a character or escape that JSON does not allow.",
	 "Use the escapes of JSON: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX."},
	{"L-JSON-QUOTES", LEAT_ERROR, "Text is not in straight double quotes.",
	 "Write \"text\" with double quotes."},
	{"L-JSON-VALUE", LEAT_ERROR, "A word is not a JSON value.",
	 "Values are strings, numbers, true, false, null, lists and objects."},
	{"L-JSON-COMMENT", LEAT_ERROR, "JSON has no comments.", "Remove the comment."},
	{"L-JSON-AFTER-END", LEAT_ERROR, "Text follows the end of the JSON value.", "Remove it."},

	/* YAML syntax. */
	{"L-YAML-SYNTAX", LEAT_ERROR, "The text is not YAML.", "Mend it at the place shown."},
	{"L-YAML-ALIAS", LEAT_ERROR, "A YAML anchor or alias is used.",
	 "Put names that begin with \"*\" or \"&\" in quotes; write repeated values out."},
	{"L-YAML-TAG", LEAT_ERROR, "A YAML tag is used.",
	 "Put names that begin with \"!\" in quotes."},
	{"L-YAML-DOCUMENTS", LEAT_ERROR, "The file holds more than one YAML document.",
	 "Keep one workflow in a file."},

	/* Keys and kinds of values. */
	{"L-DEPTH", LEAT_ERROR, "Lists and objects are nested too deeply.",
	 "No section needs that."},
	{"L-KEY-TWICE", LEAT_ERROR, "A key is given twice in one object.", "Keep one of the two."},
	{"L-KEY-UNKNOWN", LEAT_ERROR, "A key is not known here.",
	 "Correct its spelling or remove it."},
	{"L-KEY-MISSING", LEAT_ERROR, "A key that must be given is missing.", "Add it."},
	{"L-KEY-SPELLING", LEAT_WARNING,
	 "A key has a spelling that is accepted, but not the canonical one.",
	 "Use the spelling shown."},
	{"L-TYPE", LEAT_ERROR, "A value is not of the kind its key takes.",
	 "Write the kind shown."},
	{"L-NUL", LEAT_ERROR, "A string holds a NUL character.",
	 "No name may hold one; remove it."},
	{"L-NUMBER", LEAT_ERROR, "A number is not a whole number in the range its key takes.",
	 "Give a number in the range shown."},
	{"L-EMPTY", LEAT_ERROR, "A name is empty.", "Give the name."},
	{"L-LIST-STRING", LEAT_WARNING, "A string stands where a list of strings is meant.",
	 "Write [\"text\"]."},
	{"L-LIST-OBJECT", LEAT_WARNING, "An object stands where a list of objects is meant.",
	 "Write [{...}]."},
	{"L-VERSION", LEAT_ERROR, "The version of the language is not known.",
	 "Versions 1, 1.0 and 1.1 are."},
	{"L-CONFIGURATION", LEAT_WARNING, "\"configuration\" is ignored.", "Remove it."},

	/* Paths. */
	{"L-PATH-OUTSIDE", LEAT_WARNING,
	 "An absolute path outside the workflow's directory is ignored.",
	 "Write paths relative to the workflow's directory."},
	{"L-PATH-ESCAPE", LEAT_ERROR, "A path leaves the workflow's directory.",
	 "Name only what is below the workflow's directory."},
	{"L-PATH-ROOT", LEAT_ERROR, "A path names the workflow's directory itself.",
	 "Name what is in it; \"*\" is everything."},
	{"L-EXCLUDE-ROOT", LEAT_WARNING,
	 "The workflow's directory itself is excluded, which excludes nothing that is in it.",
	 "Remove the entry, or write \"*\" to exclude everything."},

	/* Aliases, steps and streams. */
	{"L-ALIAS-TWICE", LEAT_ERROR, "Two aliases have one name.", "Rename one of them."},
	{"L-ALIAS-NESTED", LEAT_ERROR, "An alias names another alias.",
	 "List the files themselves."},
	{"L-STREAM-FILES", LEAT_WARNING, "A stream is written as an object with files.",
	 "Declare the files under \"aliases\" and write a list of names."},
	{"L-STEP-TWICE", LEAT_ERROR, "Two steps have one name.", "Rename one of them."},
	{"L-STEP-UNKNOWN", LEAT_ERROR, "A step of that name does not exist.",
	 "Use the name of a step."},
	{"L-STEP-CASE", LEAT_WARNING, "A step's name differs in upper and lower case.",
	 "Use the step's own spelling."},
	{"L-STEP-NONE", LEAT_WARNING, "The workflow has no steps.",
	 "Add the steps under \"IO_Graph\"."},
	{"L-NAME-MISSING", LEAT_WARNING, "The workflow has no name; the file's name is used.",
	 "Add \"name\"."},

	/* Rules. */
	{"L-RULE-UNKNOWN", LEAT_ERROR, "A commit rule is not known.",
	 "on_close[:N], on_termination[:N], on_file with file_deps, or n_files:N."},
	{"L-RULE-COUNT", LEAT_ERROR, "The count of a rule is not a whole number of at least 1.",
	 "Give a count of at least 1."},
	{"L-RULE-COUNT-ZERO", LEAT_WARNING,
	 "\"on_close:0\", as CAPIO-CL writes \"on_close\" without a number.",
	 "Write \"on_close\"."},
	{"L-RULE-ON-FILE-NO-DEPS", LEAT_ERROR, "\"on_file\" has no dependencies.",
	 "Add \"file_deps\" with the files to wait for."},
	{"L-RULE-ON-FILE-SHORT", LEAT_WARNING, "The dependency is written into the commit rule.",
	 "Write \"committed\": \"on_file\" and \"file_deps\": [...]."},
	{"L-RULE-DEPS-UNUSED", LEAT_WARNING,
	 "\"file_deps\" is ignored: the rule is not \"on_file\".",
	 "Remove it, or use \"on_file\"."},
	{"L-RULE-N-FILES-ON-FILE", LEAT_ERROR, "A file cannot be complete by a number of files.",
	 "Use \"dirname\" for a directory."},
	{"L-RULE-N-FILES-UNUSED", LEAT_WARNING,
	 "A number of files is given for a file, or is 0, which is no number.",
	 "Leave out \"n_files\"."},
	{"L-RULE-N-FILES-DIFFER", LEAT_ERROR, "One directory has two different numbers of files.",
	 "Give one number."},
	{"L-RULE-N-FILES-MISSING", LEAT_ERROR, "\"on_n_files\" has no \"n_files\".",
	 "Add \"n_files\" or write \"n_files:N\"."},
	{"L-RULE-NO-COMMITTED", LEAT_WARNING, "A streaming entry has no commit rule.",
	 "Add \"committed\"; \"on_termination\" is assumed."},
	{"L-RULE-NO-MODE", LEAT_WARNING,
	 "A streaming entry has no firing rule: the language's publication takes \"update\", its"
	 " implementation, CAPIO-CL 1.4, takes \"no_update\".",
	 "Add \"mode\"; \"update\", which is always right, is assumed."},
	{"L-RULE-MODE", LEAT_ERROR, "A firing rule is not known.", "\"update\" or \"no_update\"."},
	{"L-RULE-MODE-OLD", LEAT_WARNING,
	 "A firing rule is spelt as in an earlier version of CAPIO.", "Write \"no_update\"."},
	{"L-RULE-TYPE", LEAT_ERROR, "A \"type\" is not known.", "Use \"name\" or \"dirname\"."},
	{"L-RULE-TYPE-D", LEAT_WARNING, "A directory is written with \"type\": \"d\".",
	 "Use \"dirname\" instead of \"name\"."},
	{"L-RULE-NAMES", LEAT_ERROR, "Not exactly one of the two naming keys is given.",
	 "Give \"name\" for files or \"dirname\" for directories."},
	{"L-RULE-ON-INPUT", LEAT_ERROR, "A commit or firing rule is given where a task reads.",
	 "Give it at the outport of the task that writes."},

	/* Home nodes. */
	{"L-HOME-2023", LEAT_WARNING, "Home nodes are written in the form of 2023.",
	 "Write \"home_node_policy\": {\"manual\": [{\"name\": [...], \"app_node\": "
	 "\"step:0\"}]}."},
	{"L-HOME-STRING", LEAT_WARNING, "One home node policy is given as a string.",
	 "Write {\"policy\": [\"*\"]}."},
	{"L-HOME-TWICE", LEAT_ERROR, "One file is under two home node policies.",
	 "Keep the sets disjoint."},

	/* leat YAML. */
	{"L-EXEC", LEAT_ERROR, "A command line cannot be split into words.",
	 "Close the quotes and give a program."},
	{"L-EXEC-SHELL", LEAT_WARNING,
	 "A command has a character that only a shell would act upon.",
	 "Run it by sh -c '...', or put the character in quotes."},
	{"L-COORDINATION", LEAT_ERROR,
	 "The coordination file is not CAPIO-CL, or says what the YAML file has to say.",
	 "Name a CAPIO-CL file, relative to this file."},

	/* Containers. */
	{"L-CONTAINER", LEAT_ERROR, "A \"container\" cannot be an image.",
	 "Name a directory (\"./DIR\", \"/DIR\"), a file NAME.sif, oci:DIR[:TAG], an image such as "
	 "debian:12, or none."},
	{"L-ENGINE", LEAT_ERROR, "An \"engine\" is not known.",
	 "auto, bubblewrap, charliecloud, podman or apptainer."},
	{"L-CONTAINER-ENGINE", LEAT_ERROR, "The engine cannot run images of this kind.",
	 "Name another engine, or auto, or convert the image."},
	{"L-CONTAINER-UNUSED", LEAT_WARNING,
	 "An \"engine\" is named for a task without a container.",
	 "Name a \"container\", or leave \"engine\" out."},

	/* Ports and ensembles. */
	{"L-ACTION", LEAT_ERROR, "Actions are not given by a file and a function.",
	 "Write [\"file\", \"function\"]; the file is Python or a shared object."},
	{"L-IO-FREQ", LEAT_ERROR,
	 "\"io_freq\" has no such value, or is for a file that no other task makes.",
	 "Give an inport 0 or 1 (every step), N (every Nth), or -1 or \"latest\"."},
	{"L-DSET", LEAT_ERROR, "A data set goes neither to a file nor through memory.",
	 "Set \"file\" or \"memory\" to 1."},
	{"L-DSET-UNMATCHED", LEAT_ERROR,
	 "A data set goes through memory, and no other task has a port for it.",
	 "Correct the name of the file or of the data set, or set \"file\" to 1."},
	{"L-PORT-TWICE", LEAT_ERROR, "One file is in two inports of a task.",
	 "Make them one, with all data sets."},
	{"L-PORT-PRODUCERS", LEAT_ERROR,
	 "A file that is read version by version, or under another name, may have two producers.",
	 "Let one task make it, or give the files different names."},
	{"L-PORT-BATCH", LEAT_ERROR,
	 "A file is read version by version by one task, and as one file by another.",
	 "Give both inports \"io_freq\"."},
	{"L-PORT-RULE", LEAT_ERROR,
	 "A file that is read version by version has a rule under which it has no versions.",
	 "Commit it on_close, and let it be retained."},
	{"L-PORT-OWN", LEAT_ERROR, "An inport of CAPIO-CL contradicts the streams of its step.",
	 "Let \"leat check --canonical\" write it."},
	{"L-FILENAME", LEAT_ERROR, "\"{filename}\" does not stand for one file.",
	 "Give the first inport \"io_freq\", or name its file without wildcards."},
	{"L-PLACEHOLDER", LEAT_ERROR,
	 "\"{instance}\" or \"{filename}\" stands in the name of a task or of a file.",
	 "Use it in \"exec\" and \"args\" only; an instance's files are its own anyway."},
	{"L-PLACEHOLDER-SPELLING", LEAT_WARNING,
	 "A word of a command is nearly \"{instance}\" or \"{filename}\".",
	 "Correct it, or leave it if the program is to get it so."},
	{"L-ENSEMBLE-NAME", LEAT_ERROR, "The instances of a task have no usable names.",
	 "Give \"func\" a short name of its own, and the program by \"exec\"."},

	/* Resources and workloads. */
	{"L-RESOURCE-NONE", LEAT_ERROR, "A file of resources describes none.",
	 "Describe at least one node under \"resources\"."},
	{"L-RESOURCE-TWICE", LEAT_ERROR,
	 "Two nodes, or two storage devices of a node, have one name.", "Give each its own name."},
	{"L-XML", LEAT_ERROR, "A file that begins with \"<\" is not a resources file of COMPSs.",
	 "Correct the XML, or describe the resources in YAML."},
	{"L-XML-LEFT-OUT", LEAT_WARNING, "A part of a resources file of COMPSs has no effect.",
	 "Add what is missing, or leave it."},
	{"L-BANDWIDTH", LEAT_ERROR,
	 "A storage bandwidth is no number, auto or auto(min,max,delta).",
	 "Write one of them, in whole MB/s."},
	{"L-NEEDS", LEAT_ERROR,
	 "A task asks for what does not go together: computing units of an I/O task, or bandwidth"
	 " or a device of one that is none.",
	 "Add \"io: true\", or leave one of them out."},
	{"L-WORKLOAD", LEAT_ERROR,
	 "A workload to simulate names tasks that it does not have, or asks"
	 " for what cannot be.",
	 "Correct it as shown."},
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

void leat_say(struct leat_diags *diags, const char *code, struct leat_pos pos, const char *format,
	      ...)
{
	const struct leat_lang_code *entry = leat_lang_code_find(code);
	va_list ap;
	char *text;

	va_start(ap, format);
	text = leat_vstrf(format, ap);
	va_end(ap);
	for (char *c = text; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	leat_diags_add(diags, entry ? entry->severity : LEAT_ERROR, entry ? entry->code : code, pos,
		       "%s", text ? text : "(out of memory)");
	free(text);
}
