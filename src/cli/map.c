/* leat map: which task caused what a trace tells. */
#include "base/log.h"
#include "cli/command.h"
#include "cli/map_logs.h"
#include "associate/sums.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct leat_option options[] = {
	LEAT_OPTION_ROWS_MAP,
	{.name = "output",
	 .letter = 'o',
	 .type = LEAT_OPTION_TEXT,
	 .argument = "FILE",
	 .doc = "Write a table of all calls with their tasks, as CSV; - is standard output, where "
		"it then stands instead of the summary."},
	{.name = "json", .type = LEAT_OPTION_FLAG, .doc = "Print the summary as JSON."},
	{0},
};

struct work {
	struct leat_cli_map *c;
	struct leat_associate_sums sums;
	struct leat_associate_facts facts;
	FILE *table;
};

/* Malformed lines are said, up to some, and left out. */
static void warn_malformed(const struct leat_trace_reader *r, unsigned long n)
{
	enum { MOST = 5 };

	if (n <= MOST)
		leat_warn("%s", leat_trace_reader_why(r));
	else if (n == MOST + 1)
		leat_warn("more lines like these are left out");
}

/* Each record to `take`. 0 or -errno, said. */
static int for_each(struct work *w,
		    int (*take)(struct work *w, const struct leat_trace_reader *r,
				const struct leat_trace_record *record),
		    bool report)
{
	struct leat_trace_reader *r = leat_cli_map_read(w->c);
	struct leat_trace_record record;
	unsigned long bad = 0;
	int result = 1, error = 0;

	if (!r)
		return -EINVAL;
	while (!error && (result = leat_trace_read(r, &record)) != 0) {
		if (result == -EBADMSG) {
			w->facts.partial_trace = true;
			if (report)
				warn_malformed(r, ++bad);
		} else if (result < 0) {
			error = result;
			leat_error("%s", leat_trace_reader_why(r));
		} else {
			error = take(w, r, &record);
			if (error)
				leat_error("%s", strerror(-error));
		}
	}
	for (unsigned i = 0; report && !error && i < leat_trace_reader_nodes(r); i++) {
		const struct leat_trace_tail *tail = leat_trace_reader_tail(r, i);

		/* The paper's layout has no trailer. */
		w->facts.partial_trace |= !tail->complete && !leat_trace_reader_head(r, i)->foreign;
		for (int k = 0; k < LEAT_TRACE_LOSSES; k++)
			w->facts.lost += tail->lost[k];
	}
	leat_trace_reader_free(r);
	return error;
}

static int learn(struct work *w, const struct leat_trace_reader *r,
		 const struct leat_trace_record *record)
{
	size_t image;
	int error = leat_associate_add(w->c->map, record, &image);

	(void)r;
	if (!error && record->kind == LEAT_TRACE_CALL)
		error = leat_associate_sums_add(&w->sums, image, &record->call);
	return error;
}

static int put(struct work *w, const struct leat_trace_reader *r,
	       const struct leat_trace_record *record)
{
	struct leat_associate_answer answer;

	if (record->kind != LEAT_TRACE_CALL)
		return 0;
	leat_associate_find(w->c->map, record->node, record->call.pid, record->call.start_ns,
			    &answer);
	leat_associate_write_csv(leat_cli_map_host(w->c, r, record->node), &record->call, &answer,
				 w->table);
	return ferror(w->table) ? -EIO : 0;
}

/* 0, or a failure that was said. */
static int write_table(struct work *w, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int error;

	w->table = standard ? stdout : fopen(path, "we");
	if (!w->table) {
		leat_error("cannot write %s: %s", path, strerror(errno));
		return -1;
	}
	leat_associate_write_csv_head(w->table);
	error = for_each(w, put, false);
	errno = 0;
	if (standard)
		return error;
	if (fclose(w->table) != 0 && !error) {
		leat_error("cannot write %s: %s", path, strerror(errno ? errno : EIO));
		error = -1;
	}
	return error;
}

static int map(struct work *w, const struct leat_args *args)
{
	const char *table = leat_args_text(args, "output");
	int error = for_each(w, learn, true);

	if (error)
		return error;
	w->facts.partial_trace |= w->facts.lost > 0;
	error = leat_associate_resolve(w->c->map);
	if (error) {
		leat_error("%s", strerror(-error));
		return error;
	}
	if (table && write_table(w, table))
		return -1;
	if (table && strcmp(table, "-") == 0)
		return leat_cli_map_believed(w->c) ? 0 : -1;
	error = leat_args_flag(args, "json")
			? leat_associate_write_json(w->c->map, &w->sums, &w->facts, stdout)
			: leat_associate_write_text(w->c->map, &w->sums, &w->facts, stdout);
	if (error)
		leat_error("cannot write the summary: %s", strerror(-error));
	return error ? error : leat_cli_map_believed(w->c) ? 0 : -1;
}

static int map_command(const struct leat_args *args)
{
	struct leat_cli_map c;
	struct work w = {.c = &c};
	bool good = leat_cli_map_open(&c, args) && !map(&w, args);

	leat_associate_sums_release(&w.sums);
	leat_cli_map_close(&c);
	return good ? LEAT_EXIT_OK : LEAT_EXIT_FAILURE;
}

const struct leat_command leat_command_map = {
	.name = "map",
	.summary = "Attribute the calls of a trace to tasks",
	.operands = "TRACE|DIRECTORY|LOG...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.run = map_command,
};
