/* The logs and traces of a command line. */
#include "cli/map_logs.h"

#include "base/log.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct leat_option *leat_cli_map_formats(void)
{
	static struct leat_option rows[LEAT_MAX_OPTIONS];

	for (size_t i = 0; leat_associate_formats[i] && i + 1 < LEAT_MAX_OPTIONS; i++)
		rows[i] = (struct leat_option){.name = leat_associate_formats[i]->option,
					       .type = LEAT_OPTION_TEXT,
					       .argument = leat_associate_formats[i]->argument,
					       .doc = leat_associate_formats[i]->doc,
					       .many = true};
	return rows;
}

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	leat_warn("%s", text);
}

/* "+02:00", "-0330", "UTC" */
static bool parse_zone(const char *text, int *zone_s)
{
	unsigned hours, minutes = 0;
	char sign, rest;

	if (strcmp(text, "UTC") == 0 || strcmp(text, "Z") == 0) {
		*zone_s = 0;
		return true;
	}
	if (sscanf(text, "%c%2u:%2u%c", &sign, &hours, &minutes, &rest) != 3 &&
	    sscanf(text, "%c%2u%2u%c", &sign, &hours, &minutes, &rest) != 3 &&
	    sscanf(text, "%c%2u%c", &sign, &hours, &rest) != 2)
		return false;
	if ((sign != '+' && sign != '-') || hours > 14 || minutes > 59)
		return false;
	*zone_s = (sign == '-' ? -1 : 1) * (int)(hours * 3600 + minutes * 60);
	return true;
}

static bool make_map(struct leat_cli_map *c, const struct leat_args *args)
{
	struct leat_associate_options options = {
		.slurm = leat_args_flag(args, "slurm"),
		.slack_ns = (int64_t)(leat_args_seconds(args, "slack") * 1e9),
		.zone_s = INT_MIN,
		.report = warn,
	};
	const char *zone = leat_args_text(args, "zone");

	if (zone && !parse_zone(zone, &options.zone_s)) {
		leat_error("--zone %s: give it as +02:00, -05:00 or UTC", zone);
		return false;
	}
	c->map = leat_associate_new(&options);
	if (!c->map)
		leat_error("out of memory");
	return c->map;
}

static int note_run(struct leat_cli_map *c, const char *path)
{
	char **runs = reallocarray(c->runs, c->n_runs + 1, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	c->runs = runs;
	runs[c->n_runs] = strdup(path);
	return runs[c->n_runs] ? (c->n_runs++, 0) : -ENOMEM;
}

static bool read_log(struct leat_cli_map *c, const char *path,
		     const struct leat_associate_format *format)
{
	int error = leat_associate_read_log(c->map, path, format);

	/* What was malformed is left out, and said. */
	if (error == -EBADMSG)
		error = 0;
	if (!error && format == &leat_associate_leat)
		error = note_run(c, path);
	if (error && error != -EINVAL)
		leat_error("cannot read %s: %s", path, strerror(-error));
	return !error;
}

/* ---- directories ---- */

/* The logs of one kind that lie in it. */
static bool read_logs_in(struct leat_cli_map *c, const char *dir,
			 const struct leat_associate_format *format)
{
	const struct leat_associate_format *is;
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort), found = 0;
	bool good = n >= 0;

	if (n < 0)
		leat_error("cannot read %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = leat_path_join(dir, entries[i]->d_name);

		if (good && path && !leat_associate_detect(path, &is) && is == format) {
			found++;
			good = read_log(c, path, format);
		}
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (good && !found)
		leat_error("%s: there is no log of %s in that directory", dir, format->name);
	return good && found;
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), k = strlen(with);

	return n >= k && strcmp(name + n - k, with) == 0;
}

static bool is_trace_name(const char *name)
{
	return name[0] != '.' && (ends(name, ".csv") || ends(name, ".trace"));
}

static bool read_if_log(struct leat_cli_map *c, const char *path)
{
	const struct leat_associate_format *format;

	return leat_associate_detect(path, &format) < 0 || !format || read_log(c, path, format);
}

/* Logs in it are read, but for those that lie open in a directory of traces by chance: all count.
 */
static bool read_directory(struct leat_cli_map *c, const char *dir, bool *traces)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort);
	bool good = n >= 0;

	if (n < 0)
		leat_error("cannot read %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = leat_path_join(dir, entries[i]->d_name);
		struct stat st;

		if (is_trace_name(entries[i]->d_name))
			*traces = true;
		else if (good && path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			good = read_if_log(c, path);
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return good;
}

/* ---- operands ---- */

static bool add_operand(struct leat_cli_map *c, const char *path)
{
	struct stat st;
	const struct leat_associate_format *format;
	bool trace = false;

	if (stat(path, &st) < 0) {
		leat_error("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		if (!read_directory(c, path, &trace))
			return false;
	} else {
		if (!is_trace_name(path) && !leat_associate_detect(path, &format) && format)
			return read_log(c, path, format);
		trace = true;
	}
	if (trace)
		c->traces[c->n_traces++] = path;
	return true;
}

static bool read_named(struct leat_cli_map *c, const char *path,
		       const struct leat_associate_format *format)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? read_logs_in(c, path, format)
							   : read_log(c, path, format);
}

static bool read_options(struct leat_cli_map *c, const struct leat_args *args)
{
	const char *values[LEAT_MAX_REPEATED];

	for (size_t i = 0; leat_associate_formats[i]; i++) {
		size_t n = leat_args_list(args, leat_associate_formats[i]->option, values);

		for (size_t k = 0; k < n; k++)
			if (!read_named(c, values[k], leat_associate_formats[i]))
				return false;
	}
	return true;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool parse_skews(struct leat_cli_map *c, const struct leat_args *args)
{
	const char *values[LEAT_MAX_REPEATED];
	size_t n = leat_args_list(args, "skew", values);

	for (size_t i = 0; i < n; i++) {
		const char *equals = strrchr(values[i], '=');
		char *end = NULL;
		double seconds = equals ? strtod(equals + 1, &end) : 0;
		size_t length = equals ? (size_t)(equals - values[i]) : 0, k;

		if (!equals || end == equals + 1 || *end || !(seconds > -1e9 && seconds < 1e9)) {
			leat_error("--skew %s: give it as TRACE=SECONDS, as in node1=-0.25",
				   values[i]);
			return false;
		}
		for (k = 0; k < c->n_traces; k++) {
			const char *path = c->traces[k], *name = last_name(path);

			if ((strlen(path) == length && !strncmp(path, values[i], length)) ||
			    (strlen(name) == length && !strncmp(name, values[i], length)))
				break;
		}
		if (k == c->n_traces) {
			leat_error("--skew %s: there is no such trace; give it as on the command "
				   "line",
				   values[i]);
			return false;
		}
		c->skew_ns[k] = (int64_t)(seconds * 1e9);
	}
	return true;
}

bool leat_cli_map_open(struct leat_cli_map *c, const struct leat_args *args)
{
	*c = (struct leat_cli_map){0};
	if (!make_map(c, args))
		return false;
	c->traces = calloc((size_t)args->n_operands + 1, sizeof(*c->traces));
	c->skew_ns = calloc((size_t)args->n_operands + 1, sizeof(*c->skew_ns));
	if (!c->traces || !c->skew_ns) {
		leat_error("out of memory");
		return false;
	}
	if (!read_options(c, args))
		return false;
	for (int i = 0; i < args->n_operands; i++)
		if (!add_operand(c, args->operands[i]))
			return false;
	if (!c->n_traces) {
		leat_error("there is no trace among what was given: a file NAME.csv or NAME.trace, "
			   "or a directory that has some");
		return false;
	}
	return parse_skews(c, args);
}

struct leat_trace_reader *leat_cli_map_read(struct leat_cli_map *c)
{
	char why[512] = "";
	struct leat_trace_reader *r =
		leat_trace_reader_new_all(c->traces, c->n_traces, c->skew_ns, why, sizeof(why));

	if (!r) {
		leat_error("%s", *why ? why : strerror(errno));
		return NULL;
	}
	for (unsigned i = 0; i < leat_trace_reader_nodes(r); i++)
		if (leat_associate_host(c->map, i, leat_cli_map_host(c, r, i))) {
			leat_error("out of memory");
			leat_trace_reader_free(r);
			return NULL;
		}
	return r;
}

const char *leat_cli_map_host(const struct leat_cli_map *c, const struct leat_trace_reader *r,
			      unsigned node)
{
	const struct leat_trace_head *head = leat_trace_reader_head(r, node);

	if (head && head->host && *head->host)
		return head->host;
	return node < c->n_traces ? last_name(c->traces[node]) : "";
}

bool leat_cli_map_believed(const struct leat_cli_map *c)
{
	if (leat_associate_is_believed(c->map))
		return true;
	leat_error("none of the logs that were given is of the time and run of the traces");
	return false;
}

void leat_cli_map_close(struct leat_cli_map *c)
{
	leat_associate_free(c->map);
	for (size_t i = 0; i < c->n_runs; i++)
		free(c->runs[i]);
	free(c->runs);
	free(c->traces);
	free(c->skew_ns);
	*c = (struct leat_cli_map){0};
}
