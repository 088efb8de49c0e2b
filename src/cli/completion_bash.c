#include "cli/completion.h"

/* The functions that the table below is for. A word with = in it is three words to bash. */
static const char head[] = "# bash completion of leat; made by `leat completion bash`\n\n"
			   "_leat_reply() { # KIND [WORD...]\n"
			   "\tlocal kind=$1\n"
			   "\tshift\n"
			   "\tcase $kind in\n"
			   "\tfiles) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
			   "<(compgen -f -- \"$word\") ;;\n"
			   "\tdirectories) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY "
			   "< <(compgen -d -- \"$word\") ;;\n"
			   "\tprograms) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
			   "<(compgen -c -- \"$word\") ;;\n"
			   "\twords) mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$word\") ;;\n"
			   "\tesac\n"
			   "}\n\n"
			   "# Where the first operand is, or would be.\n"
			   "_leat_operand() {\n"
			   "\tlocal i=2\n"
			   "\twhile ((i < COMP_CWORD)); do\n"
			   "\t\tcase ${COMP_WORDS[i]} in\n"
			   "\t\t--) ((i++)); break ;;\n"
			   "\t\t-*)\n"
			   "\t\t\tif [[ ${COMP_WORDS[i + 1]-} == = ]]; then ((i += 2)); "
			   "elif [[ $takes == *\" ${COMP_WORDS[i]} \"* ]]; then ((i++)); fi\n"
			   "\t\t\t((i++)) ;;\n"
			   "\t\t*) break ;;\n"
			   "\t\tesac\n"
			   "\tdone\n"
			   "\toperand=$i\n"
			   "}\n\n"
			   "_leat() {\n"
			   "\tlocal word=${COMP_WORDS[COMP_CWORD]} "
			   "previous=${COMP_WORDS[COMP_CWORD - 1]} options takes operand\n"
			   "\tlocal operands first=\n"
			   "\tCOMPREPLY=()\n"
			   "\tif [[ $word == = ]]; then\n"
			   "\t\tword=\n"
			   "\telif [[ $previous == = ]]; then\n"
			   "\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n"
			   "\tfi\n";

static const char tail[] =
	"\t_leat_operand\n"
	"\tif ((operand > COMP_CWORD)) || [[ -n $first && $operand -lt $COMP_CWORD ]]; then\n"
	"\t\t_leat_reply files\n"
	"\telif [[ $word == -* ]]; then\n"
	"\t\t_leat_reply words \"$options\"\n"
	"\telse\n"
	"\t\t# shellcheck disable=SC2086 # a kind, and its words\n"
	"\t\t_leat_reply $operands\n"
	"\tfi\n"
	"}\n"
	"complete -F _leat leat\n";

static void print_commands(const struct leat_command *const *commands, FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			fprintf(out, "%s ", commands[i]->name);
}

/* A kind, and its words: what _leat_reply takes. */
static void print_reply(struct leat_completion c, const struct leat_command *const *commands,
			FILE *out)
{
	static const char *const kinds[] = {[LEAT_COMPLETES_NOTHING] = "nothing",
					    [LEAT_COMPLETES_FILES] = "files",
					    [LEAT_COMPLETES_DIRECTORIES] = "directories",
					    [LEAT_COMPLETES_WORDS] = "words ",
					    [LEAT_COMPLETES_COMMANDS] = "words ",
					    [LEAT_COMPLETES_PROGRAMS] = "programs"};

	fputs(kinds[c.what], out);
	if (c.what == LEAT_COMPLETES_WORDS)
		leat_completion_print_words(c.words, " ", out);
	else if (c.what == LEAT_COMPLETES_COMMANDS)
		print_commands(commands, out);
}

static void print_names(const struct leat_option *o, const char *between, FILE *out)
{
	if (o->letter)
		fprintf(out, "-%c%s", o->letter, between);
	fprintf(out, "--%s", o->name);
}

static void print_command(const struct leat_command *command,
			  const struct leat_command *const *commands, FILE *out)
{
	const struct leat_option *o;

	fprintf(out, "\t%s)\n\t\toptions='", command->name);
	for (size_t i = 0; (o = leat_option_at(command, i)); i++)
		fprintf(out, "--%s ", o->name);
	fputs("--help'\n\t\ttakes=' ", out);
	for (size_t i = 0; (o = leat_option_at(command, i)); i++)
		if (o->type != LEAT_OPTION_FLAG) {
			print_names(o, " ", out);
			putc(' ', out);
		}
	fputs("'\n\t\toperands='", out);
	print_reply(leat_completion_of_operands(command), commands, out);
	fprintf(out, "'\n\t\tfirst=%s\n\t\tcase $previous in\n",
		command->options_first ? "yes" : "");
	for (size_t i = 0; (o = leat_option_at(command, i)); i++)
		if (o->type != LEAT_OPTION_FLAG) {
			fputs("\t\t", out);
			print_names(o, " | ", out);
			fputs(") _leat_reply ", out);
			print_reply(leat_completion_of_option(o), commands, out);
			fputs("; return ;;\n", out);
		}
	fputs("\t\t*) ;;\n\t\tesac\n\t\t;;\n", out);
}

void leat_completion_bash(const struct leat_command *const *commands, FILE *out)
{
	fputs(head, out);
	fputs("\tif ((COMP_CWORD == 1)); then\n\t\t_leat_reply words '", out);
	print_commands(commands, out);
	fputs("--help --version'\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n", out);
	for (size_t i = 0; commands[i]; i++)
		if (!commands[i]->hidden)
			print_command(commands[i], commands, out);
	fputs("\t*) return ;;\n\tesac\n", out);
	fputs(tail, out);
}
