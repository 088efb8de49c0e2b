/* Lines of logs. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Colours and titles: ESC [ ... letter, ESC ] ... BEL. */
static char *strip_escape(char *at)
{
	if (at[1] == '[') {
		at += 2;
		while (*at && (*at < '@' || *at > '~'))
			at++;
		return *at ? at + 1 : at;
	}
	if (at[1] == ']') {
		while (*at && *at != '\a')
			at++;
		return *at ? at + 1 : at;
	}
	return at + 1;
}

static void strip(char *line)
{
	char *out = line, *at = line;

	while (*at) {
		if (*at == '\033')
			at = strip_escape(at);
		else
			*out++ = *at++;
	}
	while (out > line && (out[-1] == '\n' || out[-1] == '\r'))
		out--;
	*out = '\0';
	/* "airflow-scheduler-1  | ", of docker compose */
	at = line;
	while (isalnum((unsigned char)*at) || (*at && strchr("_.-", *at)))
		at++;
	if (at > line && *at == ' ') {
		at += strspn(at, " ");
		if (at[0] == '|' && at[1] == ' ')
			memmove(line, at + 2, strlen(at + 2) + 1);
	}
}

/* The next line of `in`, without its end, escape sequences of terminals and what docker compose
 * puts before it, in *line (*space bytes, owned by the caller). 1, 0 at the end, -errno. */
static int next_line(FILE *in, char **line, size_t *space)
{
	ssize_t n;

	errno = 0;
	n = getline(line, space, in);
	if (n < 0)
		return ferror(in) ? (errno ? -errno : -EIO) : (errno == ENOMEM ? -ENOMEM : 0);
	for (ssize_t i = 0; i < n; i++)
		if (!(*line)[i])
			(*line)[i] = '?';
	strip(*line);
	return 1;
}

int leat_associate_lines(struct leat_associate_source *s, FILE *in,
			 int (*take)(void *reader, char *line), void *reader)
{
	char *line = NULL;
	size_t space = 0;
	int result, error = 0;

	while (!error && (result = next_line(in, &line, &space)) != 0) {
		s->line++;
		error = result < 0 ? result : take(reader, line);
	}
	free(line);
	return error;
}
