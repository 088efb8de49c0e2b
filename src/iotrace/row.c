/* Rows of CSV traces. */
#include "iotrace/row.h"

#include "iotrace/csv.h"
#include "iotrace/scan.h"

#include <stdio.h>
#include <string.h>

static const char *const call_names[] = {
	"time_start", "time_end", "pid",  "utime_start", "utime_end", "stime_start",
	"stime_end",  "inode",    "type", "result",      "handle",    "offset",
	"size",       "flags",    "path", "to",          "outside",   "to_outside"};
static const char *const process_names[] = {"time",   "ppid",   "pid",     "cgroupid", "event",
					    "status", "mounts", "program", "dir",      "labels"};
static const char *const cgroup_names[] = {"cgroup", "path"};
static const char *const mount_names[] = {"mount", "at", "from", "type"};
static const char *const unseen_names[] = {"unseen", "program", "why"};

/* A field of text, before it is taken out of its quotes. NULL: empty. */
struct span {
	char *begin, *end;
	bool doubled; /* has "" for " */
};

/* ---- texts ---- */

static bool take_quoted(struct leat_trace_row *row, struct span *text)
{
	char *at = row->at + 1, *quote;

	*text = (struct span){.begin = at};
	for (;;) {
		quote = memchr(at, '"', (size_t)(row->limit - at));
		if (!quote) { /* if the file ends here it was cut */
			row->at = row->limit;
			return false;
		}
		if (quote + 1 < row->limit && quote[1] == '"') {
			text->doubled = true;
			at = quote + 2;
			continue;
		}
		break;
	}
	text->end = quote;
	if (memchr(text->begin, '\0', (size_t)(quote - text->begin))) {
		row->reason = "has a zero byte";
		return false;
	}
	for (at = text->begin; (at = memchr(at, '\n', (size_t)(quote - at))); at++)
		row->newlines++;
	row->at = quote + 1;
	return true;
}

/* Without quotes: nothing in it needs them. */
static bool take_bare(struct leat_trace_row *row, struct span *text)
{
	char *at = row->at;

	for (; *at != ',' && *at != '\n' && *at != '\r'; at++) {
		if (*at == '"' || !*at) {
			row->at = at;
			row->reason = "has a quote or a zero byte, and no quotes around it";
			return false;
		}
	}
	*text = at > row->at ? (struct span){.begin = row->at, .end = at} : (struct span){0};
	row->at = at;
	return true;
}

ALWAYS_INLINE bool take_text(struct leat_trace_row *row, struct span *text)
{
	if (*row->at == ',' || *row->at == '\n') {
		*text = (struct span){0};
		return true;
	}
	return *row->at == '"' ? take_quoted(row, text) : take_bare(row, text);
}

ALWAYS_INLINE bool text_field(struct leat_trace_row *row, struct span *text)
{
	return take_text(row, text) && end_field(row, false);
}

ALWAYS_INLINE bool last_text(struct leat_trace_row *row, struct span *text)
{
	return take_text(row, text) && end_row(row);
}

/* The text itself, which ends with a zero byte then: where its quote or comma was. */
static const char *settle(struct span *text)
{
	char *from = text->begin, *to, *quote;

	if (!from)
		return NULL;
	*text->end = '\0';
	if (!text->doubled)
		return text->begin;
	to = from = strchr(from, '"');
	while (from < text->end) {
		from++; /* the first of two */
		quote = memchr(from + 1, '"', (size_t)(text->end - from - 1));
		quote = quote ? quote : text->end;
		memmove(to, from, (size_t)(quote - from));
		to += quote - from;
		from = quote;
	}
	*to = '\0';
	return text->begin;
}

/* ---- rows ---- */

/* The columns behind `path`: in nearly all calls they are empty. */
ALWAYS_INLINE bool outside_fields(struct leat_trace_row *row, struct span *to, struct span text[2])
{
	text[0] = text[1] = (struct span){0};
	if (row->inside)
		return last_text(row, to);
	return text_field(row, to) && text_field(row, &text[0]) && last_text(row, &text[1]);
}

int leat_trace_row_call(struct leat_trace_row *given, struct leat_trace_record *record)
{
	struct leat_trace_row row = *given; /* in registers */
	struct leat_trace_call *c = &record->call;
	struct span path, to, outside[2];

	record->kind = LEAT_TRACE_CALL;
	if (!numbers_of_call(&row, false, c) || !take_hex(&row, &c->flags) ||
	    !end_field(&row, false) || !text_field(&row, &path) ||
	    !outside_fields(&row, &to, outside)) {
		*given = row;
		given->names = call_names;
		return failed(given);
	}
	c->path = settle(&path);
	c->to = settle(&to);
	c->outside = settle(&outside[0]);
	c->to_outside = settle(&outside[1]);
	given->at = row.at;
	given->newlines = row.newlines;
	return LEAT_TRACE_ROW_OK;
}

static bool change_field(struct leat_trace_row *row, enum leat_trace_change *change)
{
	for (int i = 0; i < LEAT_TRACE_CHANGES; i++) {
		size_t n = strlen(leat_trace_changes[i]);

		if (strncmp(row->at, leat_trace_changes[i], n) == 0 && row->at[n] == ',') {
			*change = (enum leat_trace_change)i;
			row->at += n;
			return end_field(row, false);
		}
	}
	/* Its end may not be there yet. */
	if ((size_t)(row->limit - row->at) < sizeof("fork,"))
		row->at = row->limit;
	row->reason = "is none of fork, exec, exit";
	return false;
}

int leat_trace_row_process(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct leat_trace_process *p = &record->process;
	struct span program, dir, labels;

	record->kind = LEAT_TRACE_PROCESS;
	row->names = process_names;
	if (!time_field(row, false, &p->time_ns) || !i32_field(row, false, &p->ppid) ||
	    !i32_field(row, false, &p->pid) || !u64_field(row, false, &p->cgroup) ||
	    !change_field(row, &p->change) || !i32_field(row, false, &p->status) ||
	    !u64_field(row, false, &p->mounts) || !text_field(row, &program) ||
	    !text_field(row, &dir) || !last_text(row, &labels))
		return failed(row);
	p->program = settle(&program);
	p->dir = settle(&dir);
	p->labels = settle(&labels);
	return LEAT_TRACE_ROW_OK;
}

static int cgroup(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct span path;

	record->kind = LEAT_TRACE_CGROUP;
	row->names = cgroup_names;
	if (!u64_field(row, false, &record->cgroup.id) || !last_text(row, &path))
		return failed(row);
	record->cgroup.path = settle(&path);
	return LEAT_TRACE_ROW_OK;
}

static int mount(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct leat_trace_mount *m = &record->mount;
	struct span at, from, type;

	record->kind = LEAT_TRACE_MOUNT;
	row->names = mount_names;
	if (!u64_field(row, false, &m->namespace_id) || !text_field(row, &at) ||
	    !text_field(row, &from) || !last_text(row, &type))
		return failed(row);
	m->at = settle(&at);
	m->from = settle(&from);
	m->type = settle(&type);
	return LEAT_TRACE_ROW_OK;
}

static int unseen(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct leat_trace_unseen *u = &record->unseen;
	struct span program, why;

	record->kind = LEAT_TRACE_UNSEEN;
	row->names = unseen_names;
	if (!u64_field(row, false, &u->times) || !text_field(row, &program) ||
	    !last_text(row, &why))
		return failed(row);
	u->program = settle(&program);
	u->why = settle(&why);
	return LEAT_TRACE_ROW_OK;
}

static const struct {
	const char *begin;
	int (*take)(struct leat_trace_row *row, struct leat_trace_record *record);
} comments[] = {
	{LEAT_TRACE_CSV_CGROUP, cgroup},
	{LEAT_TRACE_CSV_MOUNT, mount},
	{LEAT_TRACE_CSV_UNSEEN, unseen},
};

static size_t find_comment(const char *text)
{
	size_t i = 0;

	while (i < sizeof(comments) / sizeof(*comments) &&
	       strncmp(text, comments[i].begin, strlen(comments[i].begin)) != 0)
		i++;
	return i;
}

bool leat_trace_row_is_comment(const char *text)
{
	return find_comment(text) < sizeof(comments) / sizeof(*comments);
}

int leat_trace_row_comment(struct leat_trace_row *row, struct leat_trace_record *record)
{
	size_t i = find_comment(row->at);

	row->at += strlen(comments[i].begin);
	return comments[i].take(row, record);
}

void leat_trace_row_explain(const struct leat_trace_row *row, char *text, size_t size)
{
	const char *name = row->names ? row->names[row->field] : "row";
	size_t n = strcspn(row->at, ",\r\n");

	if (n > 40)
		n = 40;
	snprintf(text, size, "%s: \"%.*s\" %s", name, (int)n, row->at, row->reason);
}

bool leat_trace_row_looks_right(const char *text)
{
	text += strspn(text, " \t");
	text += *text == '-';
	return *text >= '0' && *text <= '9';
}

bool leat_trace_scan_time(const char *text, int64_t *ns)
{
	char copy[64] = "";
	struct leat_trace_row row = {.at = copy, .limit = copy + 40};
	int64_t value;

	if (strlen(text) >= 40)
		return false;
	strcpy(copy, text);
	if (!take_seconds(&row, &value) || *row.at)
		return false;
	*ns = value;
	return true;
}

/* ---- the paper's layout ---- */

/* A path is what is left of the line. */
static bool take_rest(struct leat_trace_row *row, struct span *text)
{
	char *end = memchr(row->at, '\n', (size_t)(row->limit - row->at)), *begin = row->at;

	if (!end) {
		row->at = row->limit;
		return false;
	}
	row->at = end + 1;
	while (end > begin && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t'))
		end--;
	while (begin < end && (*begin == ' ' || *begin == '\t'))
		begin++;
	if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
		begin++;
		end--;
	}
	*text = begin < end ? (struct span){.begin = begin, .end = end} : (struct span){0};
	return true;
}

/* Some of these tools put the roots of the mount and of the file system behind a path, each after a
 * colon: "/a/b::". */
static void drop_roots(struct span *text)
{
	char *end = text->end;

	for (int i = 0; i < 2; i++) {
		char *colon =
			text->begin ? memrchr(text->begin, ':', (size_t)(end - text->begin)) : NULL;

		if (!colon || (colon + 1 < end && colon[1] != '/'))
			return;
		end = colon;
	}
	text->end = end;
	if (text->begin == end)
		*text = (struct span){0};
}

int leat_trace_row_foreign_call(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct leat_trace_call *c = &record->call;
	struct span path;

	record->kind = LEAT_TRACE_CALL;
	row->names = call_names;
	if (!numbers_of_call(row, true, c))
		return failed(row);
	skip_padding(row, true);
	if (!take_hex(row, &c->flags))
		return failed(row);
	skip_padding(row, true);
	/* A row may end without the comma of its empty path. */
	if (*row->at != '\n' && *row->at != '\r' && !end_field(row, true))
		return failed(row);
	if (!take_rest(row, &path))
		return failed(row);
	if (path.begin && memchr(path.begin, '\0', (size_t)(path.end - path.begin))) {
		row->reason = "has a zero byte";
		row->at = path.begin;
		return LEAT_TRACE_ROW_BAD;
	}
	drop_roots(&path);
	if (c->type == LEAT_TRACE_CREATE && !path.begin)
		c->type = LEAT_TRACE_CLOSE;
	c->path = settle(&path);
	c->to = c->outside = c->to_outside = NULL;
	return LEAT_TRACE_ROW_OK;
}

int leat_trace_row_foreign_process(struct leat_trace_row *row, struct leat_trace_record *record)
{
	struct leat_trace_process *p = &record->process;

	record->kind = LEAT_TRACE_PROCESS;
	row->names = process_names;
	*p = (struct leat_trace_process){.change = LEAT_TRACE_FORK};
	if (!time_field(row, true, &p->time_ns) || !i32_field(row, true, &p->ppid) ||
	    !i32_field(row, true, &p->pid))
		return failed(row);
	skip_padding(row, true);
	if (!take_digits(row, &p->cgroup))
		return failed(row);
	skip_padding(row, true);
	return end_row(row) ? LEAT_TRACE_ROW_OK : failed(row);
}
