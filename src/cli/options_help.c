/* --help and the man page's list, both from the option table. */
#include "cli/options.h"

#include "cli/command.h"

#include <string.h>

#define DOC_COLUMN 28
#define LINE_WIDTH 80

/* Print the words of `text`, wrapped, from DOC_COLUMN on. */
static void print_wrapped(FILE *out, const char *text)
{
	int column = DOC_COLUMN;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > DOC_COLUMN && column + 1 + length > LINE_WIDTH) {
			fprintf(out, "\n%*s", DOC_COLUMN, "");
			column = DOC_COLUMN;
		} else if (column > DOC_COLUMN) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_option(const struct leat_option *o, FILE *out)
{
	char head[80];
	char text[512];
	char letter[8] = "   ";
	int n;

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c,", o->letter);
	n = snprintf(head, sizeof(head), "  %s --%s%s%s", letter, o->name, o->argument ? " " : "",
		     o->argument ? o->argument : "");
	if (n >= DOC_COLUMN)
		fprintf(out, "%s\n%*s", head, DOC_COLUMN, "");
	else
		fprintf(out, "%-*s", DOC_COLUMN, head);
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s%s%s%s", o->doc,
		 o->many ? " May be given several times." : "", o->range ? " Values: " : "",
		 o->range ? o->range : "", o->range ? "." : "", o->fallback ? " Default: " : "",
		 o->fallback ? o->fallback : "", o->fallback ? "." : "", o->env ? " [$" : "",
		 o->env ? o->env : "", o->env ? "]" : "");
	print_wrapped(out, text);
}

void leat_options_help(const struct leat_command *command, FILE *out)
{
	static const struct leat_option help = {
		.name = "help", .letter = 'h', .doc = "Show this text and end."};
	const struct leat_option *o;

	fprintf(out, "Usage: leat %s [OPTIONS]%s%s\n%s.\n\nOptions:\n", command->name,
		*command->operands ? " " : "", command->operands, command->summary);
	for (size_t i = 0; (o = leat_option_at(command, i)); i++)
		print_option(o, out);
	print_option(&help, out);
	fprintf(out, "\nThe whole story: man %s%s, or docs/reference/commands.md.\n",
		command->page ? command->page : "leat-", command->page ? "" : command->name);
}

/* mdoc takes a line that begins with a dot or quote for a request, and a
 * sentence is to end its line. */
static void print_mdoc_text(const char *text, FILE *out)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '-' && p[1] == '-')
			fputs("\\-", out);
		else
			fputc(*p, out);
		if (*p == '.' && p[1] == ' ') {
			fputc('\n', out);
			p++;
		}
	}
	fputc('\n', out);
}

void leat_options_mdoc(const struct leat_command *command, FILE *out)
{
	const struct leat_option *o;

	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; (o = leat_option_at(command, i)); i++) {
		fputs(".It", out);
		if (o->letter)
			fprintf(out, " Fl %c%s%s ,", o->letter, o->argument ? " Ar " : "",
				o->argument ? o->argument : "");
		fprintf(out, " Fl \\-%s%s%s\n", o->name, o->argument ? " Ar " : "",
			o->argument ? o->argument : "");
		print_mdoc_text(o->doc, out);
		if (o->many)
			fputs("May be given several times.\n", out);
		if (o->range)
			fprintf(out, "Allowed values:\n.Ql %s .\n", o->range);
		if (o->fallback)
			fprintf(out, "The default is\n.Ql %s .\n", o->fallback);
		if (o->env)
			fprintf(out,
				"Taken from the environment variable\n.Ev %s\n"
				"if not given.\n",
				o->env);
	}
	fputs(".It Fl h , Fl \\-help\nShow a summary of the options and end.\n.El\n", out);
}
