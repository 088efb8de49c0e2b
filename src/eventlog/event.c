#include "eventlog/event.h"

#include "base/percent.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "# leat event log 1"

static const char *const kind_names[LEAT_EV_KINDS] = {
	[LEAT_EV_STEP_START] = "step-start",
	[LEAT_EV_STEP_END] = "step-end",
	[LEAT_EV_STEP_CLOSED] = "step-closed",
	[LEAT_EV_PROC_EXIT] = "proc-exit",
	[LEAT_EV_PRESENT] = "present",
	[LEAT_EV_CREATE] = "create",
	[LEAT_EV_OPEN] = "open",
	[LEAT_EV_CLOSE] = "close",
	[LEAT_EV_EXTENT] = "extent",
	[LEAT_EV_TRUNCATE] = "truncate",
	[LEAT_EV_RENAME] = "rename",
	[LEAT_EV_UNLINK] = "unlink",
	[LEAT_EV_ASK] = "ask",
	[LEAT_EV_CANCEL] = "cancel",
	[LEAT_EV_VIOLATION] = "violation",
	[LEAT_EV_TAKE] = "take",
	[LEAT_EV_READ] = "read",
	[LEAT_EV_RETURN] = "return",
	[LEAT_EV_LAUNCH] = "launch",
	[LEAT_EV_WRITE] = "write",
	[LEAT_EV_SERVE] = "serve",
	[LEAT_EV_USE] = "use",
	[LEAT_EV_WRITTEN] = "written",
	[LEAT_EV_RIGHTS] = "rights",
	[LEAT_EV_HOLD] = "hold",
	[LEAT_EV_LET_GO] = "let-go",
	[LEAT_EV_ANSWER] = "answer",
	[LEAT_EV_STATE] = "state",
	[LEAT_EV_WAKE] = "wake",
};

/* A line is seq, time, kind, then those fields that differ from their default,
 * each as key=value. */
enum field_type { FIELD_INT, FIELD_UINT, FIELD_U64, FIELD_TEXT };

static const struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	int absent; /* value that is not written; of INT only */
} fields[] = {
	{"node", FIELD_INT, offsetof(struct leat_event, node), 0},
	{"step", FIELD_INT, offsetof(struct leat_event, step), -1},
	{"pid", FIELD_INT, offsetof(struct leat_event, pid), 0},
	{"status", FIELD_INT, offsetof(struct leat_event, status), 0},
	{"flags", FIELD_UINT, offsetof(struct leat_event, flags), 0},
	{"code", FIELD_UINT, offsetof(struct leat_event, code), 0},
	{"call", FIELD_UINT, offsetof(struct leat_event, call), 0},
	{"ofd", FIELD_U64, offsetof(struct leat_event, ofd), 0},
	{"waiter", FIELD_U64, offsetof(struct leat_event, waiter), 0},
	{"offset", FIELD_U64, offsetof(struct leat_event, offset), 0},
	{"length", FIELD_U64, offsetof(struct leat_event, length), 0},
	{"name", FIELD_TEXT, offsetof(struct leat_event, name), 0},
	{"to", FIELD_TEXT, offsetof(struct leat_event, to), 0},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

struct leat_event_reader {
	FILE *in; /* borrowed */
	char *line;
	size_t capacity;
	long number;
};

const char *leat_event_kind_name(enum leat_event_kind kind)
{
	return (unsigned)kind < LEAT_EV_KINDS ? kind_names[kind] : "unknown";
}

/* ---- writing ---- */

static void write_field(FILE *out, const struct field *f, const struct leat_event *ev)
{
	const char *at = (const char *)ev + f->offset;
	uint64_t number = 0;
	const char *text;

	switch (f->type) {
	case FIELD_INT:
		if (*(const int *)(const void *)at != f->absent)
			fprintf(out, "\t%s=%d", f->key, *(const int *)(const void *)at);
		return;
	case FIELD_TEXT:
		text = *(const char *const *)(const void *)at;
		if (!text)
			return;
		fprintf(out, "\t%s=", f->key);
		leat_percent_put(out, text, ' ');
		return;
	case FIELD_UINT:
		number = *(const unsigned *)(const void *)at;
		break;
	case FIELD_U64:
		number = *(const uint64_t *)(const void *)at;
		break;
	}
	if (number)
		fprintf(out, "\t%s=%" PRIu64, f->key, number);
}

int leat_event_write(FILE *out, const struct leat_event *ev)
{
	if ((unsigned)ev->kind >= LEAT_EV_KINDS)
		return -EINVAL;
	errno = 0;
	if (!ev->seq)
		fputs(HEADER "\n", out);
	fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t%s", ev->seq, ev->time_ns, kind_names[ev->kind]);
	for (size_t i = 0; i < N_FIELDS; i++)
		write_field(out, &fields[i], ev);
	putc('\n', out);
	if (ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

/* ---- reading ---- */

struct leat_event_reader *leat_event_reader_new(FILE *in)
{
	struct leat_event_reader *r = calloc(1, sizeof(*r));
	ssize_t n;

	if (!r)
		return NULL;
	r->in = in;
	r->number = 1;
	n = getline(&r->line, &r->capacity, in);
	if (n > 0 && r->line[n - 1] == '\n')
		r->line[n - 1] = '\0';
	if (n <= 0 || strcmp(r->line, HEADER) != 0) {
		leat_event_reader_free(r);
		errno = EINVAL;
		return NULL;
	}
	return r;
}

void leat_event_reader_free(struct leat_event_reader *r)
{
	int saved = errno;

	if (!r)
		return;
	free(r->line);
	free(r);
	errno = saved;
}

long leat_event_reader_line(const struct leat_event_reader *r)
{
	return r->number;
}

static int parse_u64(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end || *value > max ? -EINVAL : 0;
}

static int parse_int(const char *text, int *value)
{
	bool negative = *text == '-';
	uint64_t n;
	int rc = parse_u64(text + negative, INT32_MAX, &n);

	if (!rc)
		*value = negative ? -(int)n : (int)n;
	return rc;
}

static int parse_field(char *text, struct leat_event *ev)
{
	char *value = strchr(text, '='), *at;
	size_t i;
	uint64_t n;
	int rc;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (i = 0; i < N_FIELDS && strcmp(fields[i].key, text) != 0; i++)
		;
	if (i == N_FIELDS)
		return -EINVAL;
	at = (char *)ev + fields[i].offset;
	switch (fields[i].type) {
	case FIELD_INT:
		return parse_int(value, (int *)(void *)at);
	case FIELD_UINT:
		rc = parse_u64(value, UINT32_MAX, &n);
		if (!rc)
			*(unsigned *)(void *)at = (unsigned)n;
		return rc;
	case FIELD_U64:
		return parse_u64(value, UINT64_MAX, (uint64_t *)(void *)at);
	case FIELD_TEXT:
		*(const char **)(void *)at = value;
		return leat_percent_decode(value) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int parse_kind(const char *text, enum leat_event_kind *kind)
{
	for (int k = 0; k < LEAT_EV_KINDS; k++) {
		if (strcmp(kind_names[k], text) == 0) {
			*kind = (enum leat_event_kind)k;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_line(char *line, struct leat_event *ev)
{
	char *rest = line, *part = strsep(&rest, "\t");

	*ev = (struct leat_event){.step = -1};
	if (parse_u64(part, UINT64_MAX, &ev->seq) || !(part = strsep(&rest, "\t")) ||
	    parse_u64(part, UINT64_MAX, &ev->time_ns) || !(part = strsep(&rest, "\t")) ||
	    parse_kind(part, &ev->kind))
		return -EINVAL;
	while ((part = strsep(&rest, "\t")))
		if (parse_field(part, ev))
			return -EINVAL;
	return 0;
}

int leat_event_read(struct leat_event_reader *r, struct leat_event *ev)
{
	ssize_t n = getline(&r->line, &r->capacity, r->in);

	r->number++;
	if (n < 0)
		return ferror(r->in) ? -EIO : 0;
	/* A last line without its end was cut off while it was being written. */
	if (r->line[n - 1] != '\n' || strlen(r->line) != (size_t)n)
		return -EINVAL;
	r->line[n - 1] = '\0';
	return parse_line(r->line, ev) ? -EINVAL : 1;
}
