#include "resume/internal.h"

#include "base/percent.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 8

struct reader {
	const struct leat_workflow *wf;
	struct leat_entry_of_step *entries;
	int step;                        /* of the entry at hand, -1: not of this workflow */
	bool inside;                     /* an entry has begun */
	struct leat_entry_of_step entry; /* at hand */
	const char *what;                /* is wrong */
};

static int wrong(struct reader *r, const char *what)
{
	r->what = what;
	return -EBADMSG;
}

static bool read_number(const char *text, int base, bool negative, uint64_t *out)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	const char *start = text + (negative && *text == '-');
	char *end;

	if (!*start || start[strspn(start, digits)])
		return false;
	errno = 0;
	*out = negative ? (uint64_t)strtoll(text, &end, base) : strtoull(text, &end, base);
	return !errno && !*end;
}

static int begin(struct reader *r, char **fields, size_t n)
{
	if (r->inside)
		return wrong(r, "an entry begins in another one");
	if (n < 3 || !leat_percent_decode(fields[1]))
		return wrong(r, "no step is named");
	leat_entry_release(&r->entry);
	r->step = leat_workflow_find_step(r->wf, fields[1]);
	r->inside = true;
	if (strcmp(fields[2], "begun") == 0 && n == 3) {
		r->entry.state = LEAT_ENTRY_BEGUN;
	} else if (strcmp(fields[2], "complete") == 0 && n == 3) {
		r->entry.state = LEAT_ENTRY_COMPLETE;
	} else if (strcmp(fields[2], "stopped") == 0 && n == 4 && leat_percent_decode(fields[3])) {
		r->entry.state = LEAT_ENTRY_STOPPED;
		r->entry.why = strdup(fields[3]);
		return r->entry.why ? 0 : -ENOMEM;
	} else {
		return wrong(r, "the step's end is unknown");
	}
	return 0;
}

static int end(struct reader *r)
{
	if (r->entry.state == LEAT_ENTRY_COMPLETE && !r->entry.command)
		return wrong(r, "the entry has no command");
	r->inside = false;
	leat_stamped_sort(&r->entry.inputs);
	leat_stamped_sort(&r->entry.outputs);
	if (r->step >= 0) {
		leat_entry_release(&r->entries[r->step]);
		r->entries[r->step] = r->entry;
		r->entry = (struct leat_entry_of_step){0};
	}
	return 0;
}

static int read_file(struct reader *r, char **fields, size_t n, struct leat_stamped_list *list)
{
	struct leat_stamp s = {0};
	uint64_t mtime;

	if (n != 6 || !leat_percent_decode(fields[1]) || !*fields[1] ||
	    !read_number(fields[2], 10, false, &s.size_bytes) ||
	    !read_number(fields[3], 10, true, &mtime) ||
	    !read_number(fields[4], 10, false, &s.inode))
		return wrong(r, "a file is not described as it should be");
	s.mtime_ns = (int64_t)mtime;
	s.hashed = strcmp(fields[5], "-") != 0;
	if (s.hashed && !read_number(fields[5], 16, false, &s.hash))
		return wrong(r, "a file is not described as it should be");
	return leat_stamped_add(list, fields[1], &s);
}

/* `rest` is the line behind its first field: a command may have any number of fields. */
static int read_command(struct reader *r, const char *rest)
{
	free(r->entry.command);
	r->entry.command = strdup(rest);
	return r->entry.command ? 0 : -ENOMEM;
}

static int read_line(struct reader *r, char *line)
{
	char *fields[MAX_FIELDS];
	size_t n = 0;
	bool complete = r->inside && r->entry.state == LEAT_ENTRY_COMPLETE;

	if (complete && leat_str_begins(line, "command\t"))
		return read_command(r, line + strlen("command\t"));
	for (char *p = line; p && n < MAX_FIELDS; n++)
		fields[n] = strsep(&p, "\t");
	if (strcmp(fields[0], "step") == 0)
		return begin(r, fields, n);
	if (r->inside && strcmp(fields[0], "end") == 0 && n == 1)
		return end(r);
	if (complete && strcmp(fields[0], "input") == 0)
		return read_file(r, fields, n, &r->entry.inputs);
	if (complete && strcmp(fields[0], "output") == 0)
		return read_file(r, fields, n, &r->entry.outputs);
	if (complete && strcmp(fields[0], "declared") == 0 && n == 2 &&
	    read_number(fields[1], 16, false, &r->entry.declared))
		return 0;
	return wrong(r, "it is not a line of a record");
}

static int read_header(struct reader *r, char *line, long number)
{
	char *name = line + strlen("workflow\t");

	if (number == 1)
		return leat_str_begins(line, "# leat record 1:")
			       ? 0
			       : wrong(r, "it is not a record of this version of leat");
	if (!leat_str_begins(line, "workflow\t") || !leat_percent_decode(name))
		return wrong(r, "no workflow is named");
	return strcmp(name, r->wf->name ? r->wf->name : "") == 0
		       ? 0
		       : wrong(r, "it is the record of another workflow");
}

int leat_record_parse(char *text, size_t size, const struct leat_workflow *wf,
		      struct leat_entry_of_step *entries, long *line, const char **what)
{
	struct reader r = {.wf = wf, .entries = entries};
	int rc = 0;
	char *p = text, *newline;

	*line = 0;
	if (memchr(text, 0, size))
		rc = wrong(&r, "it holds bytes that are no text");
	while (!rc && (newline = memchr(p, '\n', size - (size_t)(p - text)))) {
		*newline = 0;
		++*line;
		rc = *line <= 2 ? read_header(&r, p, *line) : read_line(&r, p);
		p = newline + 1;
	}
	if (!rc && *line < 2)
		rc = wrong(&r, "it has no beginning");
	leat_entry_release(&r.entry);
	*what = r.what;
	return rc;
}
