/* Reading CSV traces: our own strictly, those in the paper's layout as they come. */
#include "iotrace/csv.h"
#include "iotrace/csv_file.h"
#include "iotrace/row.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest beginning of a comment that has a meaning. */
enum { COMMENT_BYTES = 16 };

/* ---- comments ---- */

/* "# end: calls N processes N lost_buffer N ..."; keys of later versions are passed over. */
static bool parse_end(const char *text, struct leat_trace_tail *tail)
{
	unsigned long long n;
	int used, known = 0;
	char name[32];

	for (text += strlen(LEAT_TRACE_CSV_END); *text && *text != '\r'; text += used) {
		if (sscanf(text, "%31s %20llu%n", name, &n, &used) != 2)
			return false;
		if (strcmp(name, "calls") == 0) {
			tail->calls = n;
			known |= 1;
		} else if (strcmp(name, "processes") == 0) {
			tail->processes = n;
			known |= 2;
		}
		for (int i = 0; i < LEAT_TRACE_LOSSES; i++)
			if (strncmp(name, "lost_", 5) == 0 &&
			    strcmp(name + 5, leat_trace_loss_name((enum leat_trace_loss)i)) == 0)
				tail->lost[i] = n;
	}
	return known == 3;
}

/* The trailer, or a comment. 0, -EBADMSG or -errno. */
static int take_comment(struct leat_trace_csv *c)
{
	char *end;
	int rc = leat_trace_csv_line(c, &end), skipped;

	if (rc <= 0)
		return rc;
	if (end == c->limit && c->eof) {
		c->cut = true;
		c->at = c->limit;
		return 0;
	}
	rc = 0;
	if (end < c->limit && leat_str_begins(c->at, LEAT_TRACE_CSV_END)) {
		*end = '\0';
		c->end_seen = parse_end(c->at, &c->end);
		*end = '\n';
		if (!c->end_seen)
			rc = leat_trace_csv_complain(
				c, 1, "the line of what was recorded and lost is damaged");
	}
	skipped = leat_trace_csv_skip(c);
	return skipped ? skipped : rc;
}

/* ---- the end ---- */

/* More rows than were written, or fewer, are a file that lacks a part. */
static int check_count(struct leat_trace_csv *c)
{
	uint64_t reported = c->stream.part == LEAT_TRACE_CALLS ? c->end.calls : c->end.processes;
	char text[160];

	if (c->counted || !c->end_seen || c->bad || reported == c->rows)
		return 0;
	c->counted = true;
	snprintf(text, sizeof(text),
		 "%llu records were read, but %llu were written: a part of the file is missing",
		 (unsigned long long)c->rows, (unsigned long long)reported);
	return leat_trace_csv_complain(c, 1, text);
}

static int finish(struct leat_trace_csv *c)
{
	struct leat_trace_tail *t = &c->stream.tail;
	int rc = check_count(c);

	if (rc)
		return rc;
	*t = c->end;
	t->complete = !c->cut && !c->bad && (c->end_seen || c->foreign);
	if (!c->end_seen) {
		t->calls = c->stream.part == LEAT_TRACE_CALLS ? c->rows : 0;
		t->processes = c->stream.part == LEAT_TRACE_PROCESSES ? c->rows : 0;
	}
	c->stream.ended = true;
	return 0;
}

/* ---- rows ---- */

static int parse(struct leat_trace_csv *c, struct leat_trace_row *row,
		 struct leat_trace_record *record)
{
	*row = (struct leat_trace_row){.at = c->at, .limit = c->limit, .inside = c->inside};
	if (c->foreign)
		return c->stream.part == LEAT_TRACE_CALLS
			       ? leat_trace_row_foreign_call(row, record)
			       : leat_trace_row_foreign_process(row, record);
	if (*c->at == '#')
		return leat_trace_row_comment(row, record);
	return c->stream.part == LEAT_TRACE_CALLS ? leat_trace_row_call(row, record)
						  : leat_trace_row_process(row, record);
}

/* Goes on behind the line in which the row began: what follows a quote that is never closed are
 * rows. */
static int complain_row(struct leat_trace_csv *c, const struct leat_trace_row *row)
{
	char text[256];
	int rc;

	leat_trace_row_explain(row, text, sizeof(text));
	leat_trace_csv_complain(c, (size_t)(row->at - c->at) + 1, text);
	rc = leat_trace_csv_skip(c);
	return rc ? rc : -EBADMSG;
}

/* The row reaches to the end of what is there, and there is no more. */
static int unfinished(struct leat_trace_csv *c, struct leat_trace_row *row)
{
	if (!c->eof) {
		row->reason = "makes the row longer than any that is written";
		row->at = c->at;
		return complain_row(c, row);
	}
	c->cut = true;
	c->at = c->limit;
	return finish(c);
}

static bool is_plain_comment(const struct leat_trace_csv *c)
{
	if (*c->at != '#')
		return false;
	return c->stream.part == LEAT_TRACE_CALLS || !leat_trace_row_is_comment(c->at);
}

/* Goes to the next row, past all that is none. 1, 0 at the end, -EBADMSG or -errno. */
static int next_row(struct leat_trace_csv *c)
{
	int rc;

	for (;;) {
		if (c->limit - c->at < COMMENT_BYTES) {
			rc = leat_trace_csv_refill(c);
			if (rc < 0)
				return rc;
		}
		if (c->at == c->limit)
			return 0;
		if (c->foreign)
			return leat_trace_csv_is_passed_over(*c->at)
				       ? leat_trace_csv_skip_foreign(c)
				       : 1;
		if (!is_plain_comment(c))
			break;
		rc = take_comment(c);
		if (rc < 0)
			return rc;
	}
	if (!c->end_seen)
		return 1;
	c->end_seen = false;
	leat_trace_csv_complain(c, 1, "the trace goes on behind what should be its last line");
	return -EBADMSG;
}

static int read_csv(struct leat_trace_stream *s, struct leat_trace_record *record)
{
	struct leat_trace_csv *c = (struct leat_trace_csv *)s;
	struct leat_trace_row row;
	int rc;

	for (;;) {
		rc = next_row(c);
		if (rc < 0)
			return rc;
		if (!rc)
			return finish(c);
		rc = parse(c, &row, record);
		if (rc == LEAT_TRACE_ROW_BAD)
			return complain_row(c, &row);
		if (rc == LEAT_TRACE_ROW_OK)
			break;
		rc = leat_trace_csv_refill(c);
		if (rc < 0)
			return rc;
		if (!rc)
			return unfinished(c, &row);
	}
	c->at = row.at;
	c->line += 1 + row.newlines;
	c->rows += record->kind == LEAT_TRACE_CALL || record->kind == LEAT_TRACE_PROCESS;
	return 1;
}

static void release_csv(struct leat_trace_stream *s)
{
	struct leat_trace_csv *c = (struct leat_trace_csv *)s;

	leat_close(&c->fd);
	free(c->buffer);
}

int leat_trace_open_csv(const char *path, struct leat_trace_stream **s, char *why)
{
	struct leat_trace_csv *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->stream.read = read_csv;
	c->stream.release = release_csv;
	rc = leat_trace_csv_open(c, path);
	if (!rc)
		rc = leat_trace_csv_head(c);
	if (!rc) {
		*s = &c->stream;
		return 0;
	}
	if (rc == -EBADMSG)
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s", c->stream.why);
	else
		snprintf(why, LEAT_TRACE_WHY_BYTES, "%s: %s", path, strerror(-rc));
	leat_trace_stream_free(&c->stream);
	return rc;
}
