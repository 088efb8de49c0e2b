#include "associate_play.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void play_take(struct play *p)
{
	assert_int_equal(0, leat_associate_add(p->m, &p->record, NULL));
	p->now_ns += 1000000;
}

void play_process(struct play *p, enum leat_trace_change change, int32_t ppid, int32_t pid,
		  uint64_t cgroup)
{
	p->record.kind = LEAT_TRACE_PROCESS;
	p->record.process = (struct leat_trace_process){
		.time_ns = p->now_ns, .change = change, .ppid = ppid, .pid = pid, .cgroup = cgroup};
}

void play_exec(struct play *p, char *words)
{
	char labels[512] = "", *word = strsep(&words, " ");
	size_t n = 0;

	play_process(p, LEAT_TRACE_EXEC, 0, atoi(word), 0);
	while ((word = strsep(&words, " "))) {
		if (!strncmp(word, "dir=", 4))
			p->record.process.dir = word + 4;
		else if (!strncmp(word, "cgroup=", 7))
			p->record.process.cgroup = strtoull(word + 7, NULL, 10);
		else if (!strncmp(word, "mounts=", 7))
			p->record.process.mounts = strtoull(word + 7, NULL, 10);
		else
			n += (size_t)snprintf(labels + n, sizeof(labels) - n, "%s%s", n ? " " : "",
					      word);
	}
	p->record.process.labels = n ? labels : NULL;
	p->record.process.program = "/bin/p";
	play_take(p);
}

void play_call(struct play *p, const char *verb, char *words)
{
	char *pid = strsep(&words, " "), *path = strsep(&words, " ");
	bool renames = !strcmp(verb, "rename"), creates = !strcmp(verb, "create");

	p->record.kind = LEAT_TRACE_CALL;
	p->record.call =
		(struct leat_trace_call){.start_ns = p->now_ns,
					 .end_ns = p->now_ns + 1000,
					 .pid = atoi(pid),
					 .type = !path     ? LEAT_TRACE_READ
						 : renames ? LEAT_TRACE_RENAME
						 : creates ? LEAT_TRACE_CREATE
							   : LEAT_TRACE_OPEN,
					 .result = strcmp(verb, "fails") ? 0 : -2,
					 .flags = strcmp(verb, "write") ? O_RDONLY : O_WRONLY,
					 .path = path,
					 .to = words};
	play_take(p);
}

static void play_line(struct play *p, char *line)
{
	char *verb = strsep(&line, " "), *a, *b;

	if (!strcmp(verb, "at")) {
		p->now_ns = BEGIN_NS + (int64_t)(atof(line) * 1e9);
	} else if (!strcmp(verb, "node")) {
		p->record.node = (unsigned)atoi(line);
	} else if (!strcmp(verb, "cgroup")) {
		a = strsep(&line, " ");
		p->record.kind = LEAT_TRACE_CGROUP;
		p->record.cgroup = (struct leat_trace_cgroup){strtoull(a, NULL, 10), line};
		play_take(p);
	} else if (!strcmp(verb, "mount")) {
		a = strsep(&line, " ");
		b = strsep(&line, " ");
		p->record.kind = LEAT_TRACE_MOUNT;
		p->record.mount = (struct leat_trace_mount){strtoull(a, NULL, 10), b, line, "ext4"};
		play_take(p);
	} else if (!strcmp(verb, "fork")) {
		a = strsep(&line, " ");
		b = strsep(&line, " ");
		play_process(p, LEAT_TRACE_FORK, atoi(a), atoi(b),
			     line ? strtoull(line, NULL, 10) : 0);
		play_take(p);
	} else if (!strcmp(verb, "exit")) {
		play_process(p, LEAT_TRACE_EXIT, 0, atoi(line), 0);
		play_take(p);
	} else if (!strcmp(verb, "exec")) {
		play_exec(p, line);
	} else {
		play_call(p, verb, line);
	}
}

static void ask(struct play *p, char *line)
{
	char *pid = strsep(&line, " ");
	int64_t at_ns = line ? BEGIN_NS + (int64_t)(atof(line) * 1e9) : p->now_ns;
	struct leat_associate_answer a;

	leat_associate_find(p->m, p->record.node, atoi(pid), at_ns, &a);
	fprintf(p->out, "%s: %s (%s)\n", pid, a.task ? a.task->physical : "-",
		a.task ? leat_associate_evidence_name(a.evidence)
		       : leat_associate_reason_name(a.reason));
}

/* The questions come when all records have been taken. */
void play(struct play *p, const char *script, bool questions)
{
	char *copy = strdup(script), *rest = copy, *line;

	assert_non_null(copy);
	p->record.node = 0;
	p->now_ns = questions ? p->now_ns : BEGIN_NS;
	while ((line = strsep(&rest, "\n"))) {
		if (*line == '?' && questions)
			ask(p, line + 2);
		else if (!strncmp(line, "node ", 5))
			p->record.node = (unsigned)atoi(line + 5);
		else if (*line != '?' && !questions)
			play_line(p, line);
	}
	free(copy);
}

bool says(const char *said, const char *wanted)
{
	char *copy = strdup(wanted), *rest = copy, *part;
	bool all = !*wanted == !*said;

	while ((part = strsep(&rest, "|"))) {
		said = said ? strstr(said, part) : NULL;
		all &= said != NULL;
	}
	free(copy);
	return all;
}
