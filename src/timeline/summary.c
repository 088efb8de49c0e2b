#include "base/confine.h"
#include "base/format.h"
#include "timeline/result.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define NS 1e9

const char *leat_format_seconds(uint64_t ns, char buf[24])
{
	double s = (double)ns / NS;

	if (s < 9.995)
		snprintf(buf, 24, "%.2f s", s);
	else if (s < 999.95)
		snprintf(buf, 24, "%.1f s", s);
	else
		snprintf(buf, 24, "%u min %02u s", (unsigned)s / 60, (unsigned)s % 60);
	return buf;
}

const char *leat_format_status(const struct leat_step_result *s, char buf[48])
{
	const char *word = leat_step_word(s), *name;

	/* One that was stopped, and ended well all the same, is not told to be ok. */
	if (s->cause && leat_step_is_good(s) && !s->skipped)
		snprintf(buf, 48, "exit 0");
	else if (strcmp(word, "failed") != 0 || !s->status)
		snprintf(buf, 48, "%s", word);
	else if (!WIFSIGNALED(s->status))
		snprintf(buf, 48, "exit %d", WEXITSTATUS(s->status));
	else if ((name = sigabbrev_np(WTERMSIG(s->status))))
		snprintf(buf, 48, "killed by SIG%s", name);
	else
		snprintf(buf, 48, "killed by signal %d", WTERMSIG(s->status));
	return buf;
}

static int name_width(const struct leat_result *r)
{
	size_t width = strlen("step");

	for (size_t i = 0; i < r->n_steps; i++)
		if (strlen(r->steps[i].name) > width)
			width = strlen(r->steps[i].name);
	return width > 40 ? 40 : (int)width;
}

static void print_row(const struct leat_result *r, const struct leat_step_result *s, int width,
		      FILE *out)
{
	char wall[24], waiting[24] = "-", in[24] = "-", written[24] = "-", status[48];

	if (r->streamed && s->start_ns) {
		leat_format_seconds(leat_step_wait_ns(s), waiting);
		leat_format_bytes(s->counters.bytes_in, in);
		leat_format_bytes(s->counters.bytes_out, written);
	}
	if (s->start_ns)
		leat_format_seconds(leat_step_wall_ns(r, s), wall);
	else
		snprintf(wall, sizeof(wall), "-");
	fprintf(out, "%-*s  %10s  %10s  %9s  %9s  %s%s%s", width, s->name, wall, waiting, in,
		written, leat_format_status(s, status), s->cause ? ": " : "",
		s->cause ? s->cause : "");
	if (s->resume && s->skipped)
		fprintf(out, ": %s", s->resume);
	else if (s->resume && s->start_ns)
		fprintf(out, " (run because %s)", s->resume);
	putc('\n', out);
}

static bool has_same_reason(const struct leat_lost_file *a, const struct leat_lost_file *b)
{
	return strcmp(a->step, b->step) == 0 && strcmp(a->why, b->why) == 0;
}

/* Every file, one line for each reason. */
static void print_lost(const struct leat_result *r, FILE *out)
{
	for (size_t i = 0; i < r->n_lost; i++) {
		const struct leat_lost_file *f = &r->lost[i];
		bool reported = false;

		for (size_t k = 0; k < i && !reported; k++)
			reported = has_same_reason(&r->lost[k], f);
		if (reported)
			continue;
		fprintf(out, "not complete: %s", f->name);
		for (size_t k = i + 1; k < r->n_lost; k++)
			if (has_same_reason(&r->lost[k], f))
				fprintf(out, ", %s", r->lost[k].name);
		fprintf(out, " (%s)\n", f->why);
	}
}

/* Are they the same step's, and has the same step removed them, or none? */
static bool are_alike(const struct leat_unmade_file *a, const struct leat_unmade_file *b)
{
	return !strcmp(a->step, b->step) && !strcmp(a->remover, b->remover);
}

/* One line for each step. */
static void print_unmade(const struct leat_result *r, FILE *out)
{
	for (size_t i = 0; i < r->n_unmade; i++) {
		const struct leat_unmade_file *f = &r->unmade[i];
		size_t k = 0;

		while (!are_alike(&r->unmade[k], f))
			k++;
		if (k < i)
			continue;
		fprintf(out, "%s: %s", *f->remover ? "removed" : "not made", f->name);
		for (k = i + 1; k < r->n_unmade; k++)
			if (are_alike(&r->unmade[k], f))
				fprintf(out, ", %s", r->unmade[k].name);
		if (*f->remover)
			fprintf(out, " (by step %s; step %s had made it)\n", f->remover, f->step);
		else
			fprintf(out, " (step %s ended with status 0 without making it)\n", f->step);
	}
}

/* What kept the steps to what they declare. */
static void print_enforcement(const struct leat_result *r, FILE *out)
{
	if (r->sealed)
		fprintf(out, "enforced by the kernel, for every call: each step had its mount, and "
			     "could reach nothing else of the run (FUSE, Landlock)\n");
	else if (leat_confine_possible())
		fprintf(out, "enforced by leat, for every call it sees; the kernel kept the steps "
			     "out of each other's processes (Landlock)\n");
	else
		fprintf(out, "enforced by leat, for every call it sees; the kernel did not keep "
			     "the steps out of each other's processes (that takes Landlock, Linux "
			     "6.12)\n");
}

static void print_throttled(const struct leat_result *r, FILE *out)
{
	uint64_t throttled_ns = 0;
	size_t n = 0;
	char throttled[24];

	for (size_t i = 0; i < r->n_steps; i++) {
		n += r->steps[i].counters.throttled_ns != 0;
		throttled_ns += r->steps[i].counters.throttled_ns;
	}
	if (n)
		fprintf(out, "storage_bw_limit throttled %zu step%s, by %s in total\n", n,
			n == 1 ? "" : "s", leat_format_seconds(throttled_ns, throttled));
}

/* `steps_ns`: what the steps would have taken, one after another. */
static void print_total(const struct leat_result *r, bool all_ok, size_t n_skipped,
			uint64_t steps_ns, FILE *out)
{
	uint64_t wall_ns = r->end_ns - r->start_ns;
	char total[24], steps[24];

	leat_format_seconds(wall_ns, total);
	if (n_skipped && all_ok)
		fprintf(out, "%s; %zu of %zu steps were skipped\n", total, n_skipped, r->n_steps);
	else if (!r->streamed)
		fprintf(out, "%s, the steps one after another on plain files\n", total);
	else if (!all_ok)
		fprintf(out, "%s; not all steps succeeded\n", total);
	else if (leat_result_is_disturbed(r))
		fprintf(out,
			"%s; no estimate of the sequential time, other programs kept the CPUs "
			"busy\n",
			total);
	else
		fprintf(out, "%s; estimated sequential time %s (speed-up %.2fx)\n", total,
			leat_format_seconds(steps_ns, steps),
			wall_ns ? (double)steps_ns / (double)wall_ns : 1.0);
}

void leat_summary_print(const struct leat_result *r, FILE *out)
{
	int width = name_width(r);
	uint64_t sum_ns = 0;
	size_t n_skipped = 0;
	bool all_ok = true;

	fprintf(out, "%-*s  %10s  %10s  %9s  %9s  %s\n", width, "step", "wall", "waiting",
		"bytes in", "bytes out", "status");
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct leat_step_result *s = &r->steps[i];

		print_row(r, s, width, out);
		sum_ns += leat_step_own_ns(s);
		all_ok = all_ok && leat_step_is_good(s);
		n_skipped += s->skipped;
	}
	print_total(r, all_ok, n_skipped, sum_ns, out);
	if (r->learned)
		leat_learned_print(r->learned, out);
	print_throttled(r, out);
	if (r->enforced)
		print_enforcement(r, out);
	print_lost(r, out);
	print_unmade(r, out);
}
