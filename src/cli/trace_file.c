#include "cli/trace_file.h"

#include "base/log.h"
#include "lang/syntax/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the head of the trace ---- */

/* As a shell takes it. The caller frees it; NULL: out of memory. */
static char *format_command(char *const *argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', out);
		leat_words_put(out, argv[i]);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

struct leat_trace_writer *leat_cli_trace_begin(const char *path, const char *tracer,
					       char *const *argv)
{
	char host[HOST_NAME_MAX + 1] = "", name[16];
	char *command = argv ? format_command(argv) : NULL;
	struct leat_trace_writer *out;
	struct timespec now;
	int error;

	gethostname(host, sizeof(host) - 1);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(name, sizeof(name), "%s", tracer);
	out = leat_trace_writer_new(
		path, &(struct leat_trace_head){
			      .host = *host ? host : NULL,
			      .tracer = name,
			      .command = command,
			      .began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
		      });
	error = errno;
	free(command);
	if (!out)
		leat_error("cannot write the trace %s: %s", path, strerror(error));
	return out;
}

/* ---- the last line ---- */

static void put_losses(FILE *out, const uint64_t lost[LEAT_TRACE_LOSSES])
{
	const char *between = "; lost: ";

	for (enum leat_trace_loss why = 0; why < LEAT_TRACE_LOSSES; why++)
		if (lost[why]) {
			fprintf(out, "%s%llu (%s)", between, (unsigned long long)lost[why],
				leat_trace_loss_name(why));
			between = ", ";
		}
	if (*between == ';')
		fputs("; none lost", out);
}

/* In one write, as all lines of leat. */
void leat_cli_trace_report_end(const char *path, const struct leat_trace_progress *progress,
			       const struct leat_trace_tail *tail)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	unsigned long long calls = tail->calls, processes = progress->processes;

	if (!out)
		return;
	fprintf(out, "%s: %llu call%s of %llu process%s", path, calls, calls == 1 ? "" : "s",
		processes, processes == 1 ? "" : "es");
	put_losses(out, tail->lost);
	if (fclose(out) == 0)
		fprintf(stderr, "leat: %s\n", text);
	free(text);
}
