#include "cli/completion.h"

#include <string.h>

/* A text within single quotes; in a specification of _arguments these mean something. */
static void print_quoted(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\'')
			fputs("'\\''", out);
		else if (strchr(":[]\\", text[i]))
			fprintf(out, "\\%c", text[i]);
		else
			putc(text[i], out);
	}
}

/* The first sentence. */
static void print_summary(const char *doc, FILE *out)
{
	const char *end = strstr(doc, ". ");

	print_quoted(doc, end ? (size_t)(end - doc) : strlen(doc), out);
}

static void print_action(struct leat_completion c, FILE *out)
{
	switch (c.what) {
	case LEAT_COMPLETES_FILES:
		fputs("_files", out);
		break;
	case LEAT_COMPLETES_DIRECTORIES:
		fputs("_files -/", out);
		break;
	case LEAT_COMPLETES_WORDS:
		putc('(', out);
		leat_completion_print_words(c.words, " ", out);
		putc(')', out);
		break;
	case LEAT_COMPLETES_COMMANDS:
		fputs("{_describe command commands}", out);
		break;
	case LEAT_COMPLETES_PROGRAMS:
		fputs("_normal", out);
		break;
	case LEAT_COMPLETES_NOTHING:
		putc(' ', out);
		break;
	}
}

static void print_form(const struct leat_option *o, bool letter, FILE *out)
{
	bool takes = o->type != LEAT_OPTION_FLAG;

	fputs(o->many ? "\t\t\t'*" : "\t\t\t'", out);
	if (letter)
		fprintf(out, "-%c%s[", o->letter, takes ? "+" : "");
	else
		fprintf(out, "--%s%s[", o->name, takes ? "=" : "");
	print_summary(o->doc, out);
	putc(']', out);
	if (takes) {
		putc(':', out);
		print_quoted(o->argument, strlen(o->argument), out);
		putc(':', out);
		print_action(leat_completion_of_option(o), out);
	}
	fputs("' \\\n", out);
}

static void print_command(const struct leat_command *command, FILE *out)
{
	const struct leat_option *o;

	fprintf(out, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", command->name);
	for (size_t i = 0; (o = leat_option_at(command, i)); i++) {
		print_form(o, false, out);
		if (o->letter)
			print_form(o, true, out);
	}
	fputs("\t\t\t'--help[Show a summary of the options and end]'", out);
	if (*command->operands) {
		fputs(command->options_first ? " \\\n\t\t\t'*::" : " \\\n\t\t\t'*:", out);
		print_quoted(command->operands, strlen(command->operands), out);
		putc(':', out);
		print_action(leat_completion_of_operands(command), out);
		putc('\'', out);
	}
	fputs(" ;;\n", out);
}

void leat_completion_zsh(const struct leat_command *const *commands, FILE *out)
{
	fputs("#compdef leat\n# zsh completion of leat; made by `leat completion zsh`\n\n"
	      "_leat() {\n\tlocal context state line\n\tlocal -a commands\n\tcommands=(\n",
	      out);
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden) {
			fprintf(out, "\t\t'%s:", commands[i]->name);
			print_quoted(commands[i]->summary, strlen(commands[i]->summary), out);
			fputs("'\n", out);
		}
	fputs("\t)\n\t_arguments -C '--help[Explain leat]' '--version[Print the version]' \\\n"
	      "\t\t'1:command:->command' '*::argument:->argument' && return\n"
	      "\tcase $state in\n\tcommand) _describe command commands ;;\n"
	      "\targument)\n\t\tcase $line[1] in\n",
	      out);
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			print_command(commands[i], out);
	fputs("\t\tesac ;;\n\tesac\n}\n\n_leat \"$@\"\n", out);
}
