#include "cli/man.h"

#include "lang/syntax/diagnostics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char begin_mark[] = ".\\\" options of ";
static const char end_mark[] = ".\\\" end of options\n";

/* The command that a begin line names; NULL if there is none of that name. */
static const struct leat_command *command_named(const struct leat_command *const *commands,
						char *line)
{
	char *name = line + strlen(begin_mark);

	name[strcspn(name, "\n")] = 0;
	return leat_command_find(commands, name);
}

/* Copy lines until the end mark is reached with `skip`, or the file's end. */
static int refresh_lines(FILE *in, const struct leat_command *const *commands, FILE *out)
{
	const struct leat_command *command;
	char *line = NULL;
	size_t size = 0;
	bool skip = false;
	int result = 0;

	while (result == 0 && getline(&line, &size, in) >= 0) {
		if (skip && strcmp(line, end_mark) == 0)
			skip = false;
		if (!skip)
			fputs(line, out);
		if (strncmp(line, begin_mark, strlen(begin_mark)) != 0)
			continue;
		command = command_named(commands, line);
		skip = command != NULL;
		if (command)
			leat_options_mdoc(command, out);
		else
			result = -EINVAL;
	}
	free(line);
	return result == 0 && skip ? -EINVAL : result;
}

int leat_man_refresh(const char *path, const struct leat_command *const *commands, FILE *out)
{
	FILE *in = fopen(path, "re");
	int result;

	if (!in)
		return -errno;
	result = refresh_lines(in, commands, out);
	fclose(in);
	return result;
}

static const char codes_head[] =
	".\\\" Made by `leat help --man-codes`; the texts are in src/lang/syntax/diagnostics.def.\n"
	".Dd November 20, 2026\n"
	".Dt LEAT-DIAGNOSTICS 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm leat-diagnostics\n"
	".Nd messages about workflow files\n"
	".Sh DESCRIPTION\n"
	"Each message of\n"
	".Xr leat-check 1\n"
	"and\n"
	".Xr leat-run 1\n"
	"about a workflow file ends with a code in brackets.\n"
	"Codes are stable.\n"
	"An error stops a run, a warning does not.\n"
	".Bl -tag -width Ds\n";

static const char codes_tail[] = ".El\n"
				 ".Sh SEE ALSO\n"
				 ".Xr leat 1 ,\n"
				 ".Xr leat-check 1\n";

/* A sentence ends its line; a line must not begin like a request. */
static void print_text(const char *text, FILE *out)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '.' && p[1] == ' ' && p[2] >= 'A' && p[2] <= 'Z')
			fputs(".\n", out), p++;
		else
			fputc(*p, out);
	}
	if (*text && text[strlen(text) - 1] != '.')
		fputc('.', out);
	fputc('\n', out);
}

void leat_man_codes(FILE *out)
{
	static const char *const severities[] = {
		[LEAT_NOTE] = "note", [LEAT_WARNING] = "warning", [LEAT_ERROR] = "error"};

	fputs(codes_head, out);
	for (size_t i = 0; i < L_N_CODES; i++) {
		const struct leat_lang_diagnostic *d = &leat_lang_diagnostics[i];

		fprintf(out, ".It Sy %s Pq %s\n", d->code, severities[d->severity]);
		print_text(d->meaning, out);
		print_text(d->fix, out);
	}
	fputs(codes_tail, out);
}
