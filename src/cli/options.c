#include "cli/options.h"

#include "base/log.h"
#include "cli/command.h"
#include "cli/suggest.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static size_t count(const struct leat_command *command)
{
	size_t n = 0;

	while (leat_option_at(command, n))
		n++;
	assert(n <= LEAT_MAX_OPTIONS);
	return n;
}

/* Parse a number with an optional suffix of `units` (each worth 1024 of the one before). */
static int parse_scaled(const char *text, const char *units, double *value)
{
	char *end;
	const char *unit;

	errno = 0;
	*value = strtod(text, &end);
	if (end == text || errno || !(*value >= 0))
		return -1;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		for (const char *u = units; u <= unit; u++)
			*value *= 1024;
		end++;
	}
	return *end ? -1 : 0;
}

static bool in_choice(const char *range, const char *text)
{
	size_t length = strlen(text);

	for (const char *p = range; p; p = strchr(p, '|')) {
		p += *p == '|';
		if (strncmp(p, text, length) == 0 && (p[length] == '|' || !p[length]))
			return length > 0;
	}
	return false;
}

static bool in_range(const struct leat_option *o, double value)
{
	const char *dots = o->range ? strstr(o->range, "..") : NULL;

	if (!o->range)
		return true;
	return dots && value >= strtod(o->range, NULL) && value <= strtod(dots + 2, NULL);
}

static bool value_is_valid(const struct leat_option *o, const char *text)
{
	double value;
	char *end;

	switch (o->type) {
	case LEAT_OPTION_FLAG:
	case LEAT_OPTION_TEXT:
		return true;
	case LEAT_OPTION_CHOICE:
		return in_choice(o->range, text);
	case LEAT_OPTION_NUMBER:
		errno = 0;
		value = (double)strtol(text, &end, 10);
		return end != text && !*end && !errno && in_range(o, value);
	case LEAT_OPTION_SECONDS:
		/* Nanoseconds of more have no space in 64 bits. */
		return parse_scaled(text, "", &value) == 0 && value <= 1e9 && in_range(o, value);
	case LEAT_OPTION_SIZE:
		return parse_scaled(text, "kMGT", &value) == 0 && value >= 1 && value < 9e18;
	}
	return false;
}

/* What a value looks like, where no range says it. */
static const char *describe_value(const struct leat_option *o)
{
	switch (o->type) {
	case LEAT_OPTION_SECONDS:
		return "seconds, such as 0.5 or 10";
	case LEAT_OPTION_SIZE:
		return "a size in bytes, such as 4096, 512M or 2G";
	default:
		return "a whole number";
	}
}

/* `source` is the option's name behind "--", or its environment variable. */
static int set_value(const struct leat_option *o, const char *source, const char *text,
		     const char **slot)
{
	if (!value_is_valid(o, text)) {
		leat_error("%s%s: \"%s\" is not a valid value (%s%s)",
			   source == o->name ? "--" : "$", source, text,
			   o->range ? "allowed: " : "", o->range ? o->range : describe_value(o));
		return -1;
	}
	*slot = text;
	return 0;
}

/* Environment and defaults for whatever the command line left open. */
static int fill_from_environment(const struct leat_command *command, struct leat_args *args)
{
	for (size_t i = 0; i < count(command); i++) {
		const struct leat_option *o = leat_option_at(command, i);
		const char *text = o->env && !args->values[i] ? getenv(o->env) : NULL;

		if (text && *text && set_value(o, o->env, text, &args->values[i]) < 0)
			return -1;
		if (!args->values[i])
			args->values[i] = o->fallback;
	}
	return 0;
}

static void fill_getopt(const struct leat_command *command, struct option *longs, char *shorts)
{
	size_t n = count(command);

	if (command->options_first)
		*shorts++ = '+';
	*shorts++ = ':';
	*shorts++ = 'h';
	for (size_t i = 0; i < n; i++) {
		const struct leat_option *o = leat_option_at(command, i);
		bool takes = o->type != LEAT_OPTION_FLAG;

		longs[i] = (struct option){o->name, takes ? required_argument : no_argument, NULL,
					   (int)(256 + i)};
		if (o->letter) {
			*shorts++ = o->letter;
			if (takes)
				*shorts++ = ':';
		}
	}
	*shorts = 0;
	longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	longs[n + 1] = (struct option){0};
}

static int report_unknown_option(const struct leat_command *command, const char *text, bool missing)
{
	struct leat_suggest s = {0};
	const char *name = text + strspn(text, "-");

	if (missing) {
		leat_error("%s: option %s needs a value; see leat help %s", command->name, text,
			   command->name);
		return -1;
	}
	for (size_t i = 0; i < count(command); i++)
		leat_suggest_offer(&s, name, leat_option_at(command, i)->name);
	leat_suggest_offer(&s, name, "help");
	if (s.word && strncmp(text, "--", 2) == 0)
		leat_error("%s: unknown option %s; did you mean --%s?", command->name, text,
			   s.word);
	else
		leat_error("%s: unknown option %s; see leat help %s", command->name, text,
			   command->name);
	return -1;
}

static int index_of_letter(const struct leat_command *command, int letter)
{
	for (size_t i = 0; i < count(command); i++)
		if (leat_option_at(command, i)->letter == letter)
			return (int)i;
	return -1;
}

/* Two options that the word is the beginning of; false: there are none. */
static bool find_ambiguous(const struct leat_command *command, const char *word,
			   const char *names[2])
{
	const char *name = word + strspn(word, "-");
	size_t length = strcspn(name, "="), n = 0;

	for (size_t i = 0; i < count(command) && n < 2; i++)
		if (length && strncmp(leat_option_at(command, i)->name, name, length) == 0)
			names[n++] = leat_option_at(command, i)->name;
	return n == 2;
}

/* What getopt complained about: the short option's letter, or the whole word. */
static int report_getopt_error(const struct leat_command *command, char **argv, bool missing)
{
	char letter[3] = {'-', (char)optopt, 0};
	const char *names[2];

	if (!missing && (optopt >= 256 || optopt == 'h')) {
		leat_error("%s: option --%s takes no value; see leat help %s", command->name,
			   optopt == 'h' ? "help"
					 : leat_option_at(command, (size_t)(optopt - 256))->name,
			   command->name);
		return -1;
	}
	if (!missing && !optopt && find_ambiguous(command, argv[optind - 1], names)) {
		leat_error("%s: option %s is ambiguous: --%s or --%s; see leat help %s",
			   command->name, argv[optind - 1], names[0], names[1], command->name);
		return -1;
	}
	if (optopt > 0 && optopt < 256)
		return report_unknown_option(command, letter, missing);
	return report_unknown_option(command, argv[optind - 1], missing);
}

static int check_operands(const struct leat_command *command, const struct leat_args *args)
{
	if (args->n_operands < command->min_operands)
		leat_error("%s: missing operand; usage: leat %s [OPTIONS] %s", command->name,
			   command->name, command->operands);
	else if (command->max_operands >= 0 && args->n_operands > command->max_operands)
		leat_error("%s: unexpected operand %s; usage: leat %s [OPTIONS] %s", command->name,
			   args->operands[command->max_operands], command->name, command->operands);
	else
		return 0;
	return -1;
}

static int add_repeated(const struct leat_option *o, const char *value, struct leat_args *args)
{
	if (args->n_repeated == LEAT_MAX_REPEATED) {
		leat_error("--%s: no more than %d values can be given", o->name, LEAT_MAX_REPEATED);
		return -1;
	}
	args->repeated[args->n_repeated].option = o;
	args->repeated[args->n_repeated++].value = value;
	return 0;
}

int leat_options_parse(const struct leat_command *command, int argc, char **argv,
		       struct leat_args *args)
{
	struct option longs[LEAT_MAX_OPTIONS + 2];
	char shorts[2 * LEAT_MAX_OPTIONS + 8];
	int c;

	*args = (struct leat_args){.command = command};
	fill_getopt(command, longs, shorts);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct leat_option *o;
		int i;

		if (c == 'h') {
			leat_options_help(command, stdout);
			return 1;
		}
		if (c == '?' || c == ':')
			return report_getopt_error(command, argv, c == ':');
		i = c >= 256 ? c - 256 : index_of_letter(command, c);
		o = leat_option_at(command, (size_t)i);
		if (set_value(o, o->name, o->type == LEAT_OPTION_FLAG ? "1" : optarg,
			      &args->values[i]) < 0 ||
		    (o->many && add_repeated(o, args->values[i], args) < 0))
			return -1;
	}
	args->operands = argv + optind;
	args->n_operands = argc - optind;
	if (check_operands(command, args) < 0)
		return -1;
	return fill_from_environment(command, args);
}

static const char *value_of(const struct leat_args *args, const char *name)
{
	const struct leat_option *o;

	for (size_t i = 0; (o = leat_option_at(args->command, i)); i++)
		if (strcmp(o->name, name) == 0)
			return args->values[i];
	assert(!"option in the command's table");
	return NULL;
}

bool leat_args_flag(const struct leat_args *args, const char *name)
{
	const char *text = value_of(args, name);

	return text && strcmp(text, "0") != 0 && strcmp(text, "no") != 0;
}

const char *leat_args_text(const struct leat_args *args, const char *name)
{
	return value_of(args, name);
}

long leat_args_number(const struct leat_args *args, const char *name)
{
	const char *text = value_of(args, name);

	return text ? strtol(text, NULL, 10) : 0;
}

double leat_args_seconds(const struct leat_args *args, const char *name)
{
	const char *text = value_of(args, name);

	return text ? strtod(text, NULL) : 0;
}

uint64_t leat_args_size_bytes(const struct leat_args *args, const char *name)
{
	const char *text = value_of(args, name);
	double value = 0;

	if (text && parse_scaled(text, "kMGT", &value) < 0)
		return 0;
	return (uint64_t)value;
}

size_t leat_args_list(const struct leat_args *args, const char *name,
		      const char *values[LEAT_MAX_REPEATED])
{
	size_t n = 0;

	for (size_t i = 0; i < args->n_repeated; i++)
		if (strcmp(args->repeated[i].option->name, name) == 0)
			values[n++] = args->repeated[i].value;
	return n;
}
