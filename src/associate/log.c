/* Logs: which kind one is, and its lines. */
#include "associate/internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"

/* ---- which kind ---- */

/* As much of a file as is looked at. */
enum { LOOK_BYTES = 1 << 20 };

static const struct {
	enum leat_associate_log kind;
	const char *text;
} marks[] = {
	{LEAT_ASSOCIATE_LEAT, "# leat event log "},
	{LEAT_ASSOCIATE_NEXTFLOW, "N E X T F L O W"},
	{LEAT_ASSOCIATE_NEXTFLOW, " nextflow.cli."},
	{LEAT_ASSOCIATE_NEXTFLOW, " nextflow.Session - "},
	{LEAT_ASSOCIATE_NEXTFLOW, " nextflow.executor."},
	{LEAT_ASSOCIATE_NEXTFLOW, " nextflow.processor."},
	{LEAT_ASSOCIATE_NEXTFLOW, "TaskPollingMonitor - "},
	{LEAT_ASSOCIATE_AIRFLOW, "TaskInstanceKey("},
	{LEAT_ASSOCIATE_AIRFLOW, "TaskInstance Finished: "},
	{LEAT_ASSOCIATE_AIRFLOW, "{scheduler_job"},
	{LEAT_ASSOCIATE_AIRFLOW, "scheduler_job.py"},
	{LEAT_ASSOCIATE_AIRFLOW, "scheduler_job_runner.py"},
	{LEAT_ASSOCIATE_SNAKEMAKE, "Building DAG of jobs..."},
	{LEAT_ASSOCIATE_SNAKEMAKE, "\nSelect jobs to execute..."},
};

static const char *const log_names[LEAT_ASSOCIATE_LOGS] = {
	[LEAT_ASSOCIATE_ANY] = "unknown",         [LEAT_ASSOCIATE_NEXTFLOW] = "Nextflow",
	[LEAT_ASSOCIATE_AIRFLOW] = "Airflow",     [LEAT_ASSOCIATE_KUBERNETES] = "Kubernetes",
	[LEAT_ASSOCIATE_SNAKEMAKE] = "Snakemake", [LEAT_ASSOCIATE_LEAT] = "leat",
};

const char *leat_associate_log_name(enum leat_associate_log kind)
{
	return (unsigned)kind < LEAT_ASSOCIATE_LOGS ? log_names[kind] : "unknown";
}

static bool is_kubernetes(const char *text)
{
	static const char *const kinds[] = {"Pod",       "PodList", "Event",
					    "EventList", "List",    "WatchEvent"};
	const char *at = text + strspn(text, " \t\r\n");

	if (*at == '{') {
		at = strstr(at, "\"kind\"");
		at = at ? strchr(at + 6, '"') : NULL;
		for (size_t i = 0; at && i < sizeof(kinds) / sizeof(*kinds); i++)
			if (leat_str_begins(at + 1, kinds[i]) && at[1 + strlen(kinds[i])] == '"')
				return true;
		return false;
	}
	if (leat_str_begins(at, "NAMESPACE "))
		at += strcspn(at, " "), at += strspn(at, " ");
	return leat_str_begins(at, "LAST SEEN ");
}

static enum leat_associate_log look(char *text, size_t size)
{
	const char *first = NULL;
	enum leat_associate_log kind = LEAT_ASSOCIATE_ANY;

	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = ' ';
	if (is_kubernetes(text))
		return LEAT_ASSOCIATE_KUBERNETES;
	/* A log may quote another: what comes first says what it is. */
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(text, marks[i].text);

		if (at && (!first || at < first)) {
			first = at;
			kind = marks[i].kind;
		}
	}
	return kind;
}

int leat_associate_detect(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	char *text = malloc(LOOK_BYTES + 1);
	long n;

	if (fd < 0 || !text) {
		result = fd < 0 ? -errno : -ENOMEM;
		goto out;
	}
	n = leat_read_all(fd, text, LOOK_BYTES);
	if (n >= 0)
		text[n] = '\0';
	result = n < 0 ? (int)n : (int)look(text, (size_t)n);
out:
	free(text);
	leat_close(&fd);
	return result;
}

/* ---- lines ---- */

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

int leat_associate_line(FILE *in, char **line, size_t *space)
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

/* ---- reading ---- */

static int (*const readers[LEAT_ASSOCIATE_LOGS])(struct leat_associate_map *m,
						 struct leat_associate_source *s, FILE *in) = {
	[LEAT_ASSOCIATE_NEXTFLOW] = leat_associate_read_nextflow,
	[LEAT_ASSOCIATE_AIRFLOW] = leat_associate_read_airflow,
	[LEAT_ASSOCIATE_KUBERNETES] = leat_associate_read_kubernetes,
	[LEAT_ASSOCIATE_SNAKEMAKE] = leat_associate_read_snakemake,
	[LEAT_ASSOCIATE_LEAT] = leat_associate_read_leat,
};

static struct leat_associate_source *source_new(struct leat_associate_map *m, const char *path,
						enum leat_associate_log kind)
{
	struct leat_associate_source *s;

	if (leat_associate_grow(&m->sources, m->n_sources, &m->space_sources, sizeof(*m->sources)))
		return NULL;
	s = &m->sources[m->n_sources];
	*s = (struct leat_associate_source){.path = strdup(path), .kind = kind};
	if (!s->path)
		return NULL;
	s->real = realpath(path, NULL);
	m->n_sources++;
	return s;
}

static int read_all(struct leat_associate_map *m, struct leat_associate_source *s)
{
	enum { SAID = 5 };
	FILE *in = fopen(s->path, "re");
	struct stat st;
	int result = in ? 0 : -errno;

	if (in && fstat(fileno(in), &st) == 0)
		s->changed_ns =
			(int64_t)st.st_mtim.tv_sec * LEAT_ASSOCIATE_SECOND + st.st_mtim.tv_nsec;
	if (in)
		result = readers[s->kind](m, s, in);
	if (in)
		fclose(in);
	if (s->n_bad > SAID)
		leat_associate_note(m, "%s: %u more lines like these", s->path, s->n_bad - SAID);
	if (result == -EINVAL && s->bad)
		result = 0;
	if (result == -EINVAL)
		leat_associate_note(m, "%s: it has no line of a log of %s", s->path,
				    leat_associate_log_name(s->kind));
	return result ? result : s->bad ? -EBADMSG : 0;
}

int leat_associate_read_log(struct leat_associate_map *m, const char *path,
			    enum leat_associate_log kind)
{
	int found = kind == LEAT_ASSOCIATE_ANY ? leat_associate_detect(path) : (int)kind;
	struct leat_associate_source *s;

	if (found < 0)
		return found;
	if (found == LEAT_ASSOCIATE_ANY) {
		leat_associate_note(
			m,
			"%s: it is no log of Nextflow, Airflow, Kubernetes (kubectl get pods "
			"or events, -o json), Snakemake or leat",
			path);
		return -EINVAL;
	}
	s = source_new(m, path, (enum leat_associate_log)found);
	return s ? read_all(m, s) : -ENOMEM;
}
