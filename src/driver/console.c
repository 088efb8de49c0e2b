#include "driver/console.h"

#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

void leat_console_init(struct leat_console *c, bool quiet, int prefix_width)
{
	const char *term = getenv("TERM");

	*c = (struct leat_console){.quiet = quiet, .prefix_width = prefix_width};
	c->progress = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void put(struct leat_console *c, int fd, const char *data, size_t size)
{
	int result = leat_write_all(fd, data, size);

	if (result < 0 && !c->failed_errno)
		c->failed_errno = -result;
}

static void put_line(struct leat_console *c, const struct leat_stream_out *s)
{
	static const char *const colours[] = {"\033[36m", "\033[33m", "\033[32m",
					      "\033[35m", "\033[34m", "\033[31m"};
	int fd = s->to_stderr ? STDERR_FILENO : STDOUT_FILENO;
	bool colour = isatty(fd) && !getenv("NO_COLOR");
	char text[LEAT_CONSOLE_LINE + 128];
	int n;

	n = snprintf(text, sizeof(text), "%s[%.40s]%s%*s %.*s\n",
		     colour ? colours[s->colour % 6] : "", s->prefix, colour ? "\033[0m" : "",
		     c->prefix_width > (int)strlen(s->prefix)
			     ? c->prefix_width - (int)strlen(s->prefix)
			     : 0,
		     "", (int)s->used, s->line);
	put(c, fd, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void leat_console_flush(struct leat_console *c, struct leat_stream_out *s)
{
	if (s->used && !c->quiet) {
		leat_console_progress(c, NULL);
		put_line(c, s);
	}
	s->used = 0;
}

void leat_console_write(struct leat_console *c, struct leat_stream_out *s, const char *data,
			size_t size)
{
	while (size) {
		const char *newline = memchr(data, '\n', size);
		size_t n = newline ? (size_t)(newline - data) : size;
		size_t space = sizeof(s->line) - s->used;

		if (n > space)
			n = space;
		memcpy(s->line + s->used, data, n);
		s->used += n;
		data += n;
		size -= n;
		if (size && *data == '\n') {
			data++;
			size--;
			if (s->used == 0)
				s->line[s->used++] = ' ';
			leat_console_flush(c, s);
		} else if (s->used == sizeof(s->line)) {
			leat_console_flush(c, s);
		}
	}
}

void leat_console_progress(struct leat_console *c, const char *text)
{
	char line[256];
	int n;

	if (!c->progress || (!text && !c->progress_up))
		return;
	/* The cursor is left at the line's beginning, so that whatever else is
	 * written there by others does not end up behind it. */
	n = snprintf(line, sizeof(line), "\r\033[K%.*s\r", leat_console_width() - 1,
		     text ? text : "");
	put(c, STDERR_FILENO, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
	c->progress_up = text != NULL;
}

int leat_console_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	int n = columns ? atoi(columns) : 0;

	if (n > 0)
		return n < 500 ? n : 500;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

bool leat_console_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < 3; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
