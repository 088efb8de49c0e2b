#include "daemon/core/problems.h"

#include "base/log.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/daemon.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A run that goes wrong a million times reports the first ones. */
#define MAX_PROBLEMS 500u

static bool send_event(struct leat_daemon *d, int error, const char *text)
{
	struct leat_conn *c;
	struct leat_msg_text *m;
	bool sent = false;

	DL_FOREACH(d->conns, c)
	{
		if (c->closing || !(c->control & LEAT_CONTROL_EVENTS))
			continue;
		m = leat_wire_begin(d->event, LEAT_MSG_EVENT, sizeof(*m));
		m->error = error;
		if (leat_wire_put(m, text) == 0)
			leat_conn_send(c, m);
		sent = true;
	}
	return sent;
}

void leat_problems_launchable(struct leat_daemon *d, const char *step)
{
	send_event(d, LEAT_WIRE_LAUNCHABLE, step);
}

/* A program is started from the store by a path that nobody knows but leat. */
static void name_places(const struct leat_daemon *d, char **text)
{
	const size_t length = strlen(d->exec_path), named_length = strlen(d->dir);
	size_t from = 0;
	char *at;

	while (length && (at = strstr(*text + from, d->exec_path))) {
		size_t before = (size_t)(at - *text);
		char *named = at[length] == '/' ? leat_strf("%.*s%s%s", (int)before, *text, d->dir,
							    at + length)
						: NULL;

		from = before + (named ? named_length : length);
		if (named) {
			free(*text);
			*text = named;
		}
	}
}

char *leat_problem_text(const struct leat_daemon *d, const char *text)
{
	char *copy = strdup(text);

	if (copy)
		name_places(d, &copy);
	return copy;
}

/* An error is told once, however often the program tries again. */
static bool is_told(const struct leat_daemon *d, int error, const char *text)
{
	const struct leat_problem *p;

	DL_FOREACH(d->problems, p)
	{
		if (error && p->error == error && strcmp(p->text, text) == 0)
			return true;
	}
	return false;
}

__attribute__((format(printf, 2, 0))) static char *text_of(const struct leat_daemon *d,
							   const char *format, va_list ap)
{
	char *text = leat_vstrf(format, ap);

	if (text)
		name_places(d, &text);
	return text;
}

void leat_problem_add(struct leat_daemon *d, int error, const char *format, ...)
{
	struct leat_problem *p;
	char *text;
	va_list ap;

	if (error)
		d->failed = true;
	va_start(ap, format);
	text = text_of(d, format, ap);
	va_end(ap);
	if (!text || d->n_problems >= MAX_PROBLEMS || is_told(d, error, text)) {
		free(text);
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		free(text);
		return;
	}
	d->n_problems++;
	*p = (struct leat_problem){.error = error, .text = text};
	DL_APPEND(d->problems, p);
	if (!send_event(d, error, p->text))
		leat_log(error ? LEAT_LOG_ERROR : LEAT_LOG_WARNING, "%s", p->text);
}

void leat_problems_free(struct leat_daemon *d)
{
	struct leat_problem *p, *next;

	DL_FOREACH_SAFE(d->problems, p, next)
	{
		DL_DELETE(d->problems, p);
		free(p->text);
		free(p);
	}
}
