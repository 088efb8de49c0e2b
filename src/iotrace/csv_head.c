/* What stands before the rows of a CSV trace, and which layout it has. */
#include "iotrace/csv.h"
#include "iotrace/csv_file.h"
#include "iotrace/row.h"

#include "base/percent.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file ends here. */
static int cut(struct leat_trace_csv *c)
{
	c->cut = true;
	c->at = c->limit;
	return 0;
}

/* The value of "# KEY: VALUE", for the caller to free. NULL: another key, or damaged. */
static char *key_value(const char *line, const char *key)
{
	size_t n = strlen(key);
	char *value;

	if (strncmp(line, "# ", 2) != 0 || strncmp(line + 2, key, n) != 0 ||
	    strncmp(line + 2 + n, ": ", 2) != 0)
		return NULL;
	value = strdup(line + n + 4);
	if (value && !leat_percent_decode(value)) {
		free(value);
		value = NULL;
	}
	return value;
}

static void take_key(struct leat_trace_head *h, const char *line)
{
	char *value;

	if (!h->host && (value = key_value(line, "host"))) {
		h->host = value;
	} else if (!h->tracer && (value = key_value(line, "tracer"))) {
		h->tracer = value;
	} else if (!h->command && (value = key_value(line, "command"))) {
		h->command = value;
	} else if ((value = key_value(line, "began"))) {
		leat_trace_scan_time(value, &h->began_ns);
		free(value);
	}
}

static int take_columns(struct leat_trace_csv *c)
{
	const char *columns = c->stream.part != LEAT_TRACE_CALLS ? LEAT_TRACE_CSV_PROCESS_COLUMNS
			      : c->inside                        ? LEAT_TRACE_CSV_CALL_COLUMNS_1
								 : LEAT_TRACE_CSV_CALL_COLUMNS;
	char text[512];

	if (strcmp(c->at, columns) == 0)
		return 0;
	snprintf(text, sizeof(text), "this is not the line with the columns, %s", columns);
	return leat_trace_csv_complain(c, 1, text);
}

/* Behind the first line: keys up to the line with the columns. */
static int take_keys(struct leat_trace_csv *c)
{
	char *end;
	int rc;

	while ((rc = leat_trace_csv_line(c, &end)) > 0) {
		bool is_key = *c->at == '#';

		if (end == c->limit)
			return cut(c);
		*end = '\0';
		if (end > c->at && end[-1] == '\r')
			end[-1] = '\0';
		if (is_key)
			take_key(&c->stream.head, c->at);
		rc = is_key ? 0 : take_columns(c);
		if (rc)
			return rc;
		c->at = end + 1;
		c->line++;
		if (!is_key)
			return 0;
	}
	return rc < 0 ? rc : cut(c);
}

static unsigned count_fields(const char *at, const char *end)
{
	unsigned n = 1;

	for (; at < end; at++)
		n += *at == ',';
	return n;
}

/* The paper's layout is known by the number of fields of its first row. */
static int sniff_foreign(struct leat_trace_csv *c)
{
	unsigned fields;
	char text[192], *end;
	int rc = leat_trace_csv_skip_foreign(c);

	c->foreign = c->stream.head.foreign = true;
	if (rc < 0)
		return rc;
	if (!rc && c->line == 1)
		return leat_trace_csv_complain(c, 1, "the file is empty: this is no trace");
	if (!rc)
		return 0;
	rc = leat_trace_csv_line(c, &end);
	if (rc < 0)
		return rc;
	fields = count_fields(c->at, end);
	c->stream.part = fields == 4 ? LEAT_TRACE_PROCESSES : LEAT_TRACE_CALLS;
	if ((fields >= 14 || fields == 4) && leat_trace_row_looks_right(c->at))
		return 0;
	snprintf(text, sizeof(text),
		 "this is no trace: the file does not begin with \"" LEAT_TRACE_CSV_CALLS
		 "\", and this line (of %u fields) is no row of another trace",
		 fields);
	return leat_trace_csv_complain(c, 1, text);
}

int leat_trace_csv_head(struct leat_trace_csv *c)
{
	char *end, text[160];
	int rc = leat_trace_csv_line(c, &end);
	bool calls, processes, whole;

	if (rc < 0)
		return rc;
	if (!rc || !leat_str_begins(c->at, "# leat "))
		return sniff_foreign(c);
	whole = end < c->limit;
	*end = '\0';
	if (end[-1] == '\r')
		end[-1] = '\0';
	c->inside = strcmp(c->at, LEAT_TRACE_CSV_CALLS_1) == 0;
	calls = c->inside || strcmp(c->at, LEAT_TRACE_CSV_CALLS) == 0;
	processes = strcmp(c->at, LEAT_TRACE_CSV_PROCESSES) == 0;
	if (!calls && !processes) {
		snprintf(text, sizeof(text),
			 "\"%.64s\" is no trace that this version of leat can read", c->at);
		return leat_trace_csv_complain(c, 1, text);
	}
	c->stream.part = calls ? LEAT_TRACE_CALLS : LEAT_TRACE_PROCESSES;
	*end = '\n';
	if (!whole)
		return cut(c);
	c->at = end + 1;
	c->line++;
	return take_keys(c);
}
