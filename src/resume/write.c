/* The record as text: lines of fields with tabs between them, the fields percent-encoded, so that
 * any name and any argument fits in. An entry ends with a line of its own; what comes before
 * counts only with it, so that a record can be added to and cut off at any byte. */
#include "resume/internal.h"

#include "base/percent.h"
#include "store/temporary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void put_text(FILE *out, const char *text)
{
	leat_percent_put(out, text, 0);
}

/* Workflows of one directory have records of their own. */
static void put_name(const struct leat_workflow *wf, const char *before, const char *behind,
		     char out[NAME_MAX + 1])
{
	const char *name = wf->name ? wf->name : "";
	bool plain = *name && strlen(name) <= 64 && !strchr(name, '/');

	for (const char *p = name; *p; p++)
		plain = plain && (unsigned char)*p >= ' ' && *p != 0x7f;
	if (plain)
		snprintf(out, NAME_MAX + 1, "%s%s%s", before, name, behind);
	else
		snprintf(out, NAME_MAX + 1, "%s%016" PRIx64 "%s", before,
			 XXH3_64bits(name, strlen(name)), behind);
}

void leat_record_name(const struct leat_workflow *wf, char out[NAME_MAX + 1])
{
	put_name(wf, "", ".record", out);
}

void leat_record_old_name(const struct leat_workflow *wf, char out[NAME_MAX + 1])
{
	put_name(wf, LEAT_TEMPORARY_PREFIX "record-", "", out);
}

void leat_record_put_header(FILE *out, const struct leat_workflow *wf)
{
	fputs("# leat record 1: how the last run of this workflow here ended, for leat run "
	      "--resume\nworkflow\t",
	      out);
	put_text(out, wf->name ? wf->name : "");
	putc('\n', out);
}

static void put_files(FILE *out, const char *key, const struct leat_stamped_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct leat_stamp *s = &list->v[i].stamp;

		fprintf(out, "%s\t", key);
		put_text(out, list->v[i].name);
		fprintf(out, "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu64 "\t", s->size_bytes,
			s->mtime_ns, s->inode);
		if (s->hashed)
			fprintf(out, "%016" PRIx64 "\n", s->hash);
		else
			fputs("-\n", out);
	}
}

void leat_record_put_entry(FILE *out, const char *step, const struct leat_entry_of_step *e)
{
	static const char *const states[] = {[LEAT_ENTRY_NONE] = "begun",
					     [LEAT_ENTRY_BEGUN] = "begun",
					     [LEAT_ENTRY_STOPPED] = "stopped",
					     [LEAT_ENTRY_COMPLETE] = "complete"};

	fputs("step\t", out);
	put_text(out, step);
	fprintf(out, "\t%s", states[e->state]);
	if (e->state == LEAT_ENTRY_STOPPED) {
		putc('\t', out);
		put_text(out, e->why ? e->why : "");
	}
	putc('\n', out);
	if (e->state == LEAT_ENTRY_COMPLETE) {
		fprintf(out, "command\t%s\ndeclared\t%016" PRIx64 "\n", e->command, e->declared);
		put_files(out, "input", &e->inputs);
		put_files(out, "output", &e->outputs);
	}
	fputs("end\n", out);
}

void leat_entry_release(struct leat_entry_of_step *e)
{
	free(e->why);
	free(e->command);
	leat_stamped_release(&e->inputs);
	leat_stamped_release(&e->outputs);
	*e = (struct leat_entry_of_step){0};
}

/* What `put` writes about the step; the caller frees it. NULL when out of memory. */
static char *written(const struct leat_step *step, void (*put)(FILE *, const struct leat_step *),
		     size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		return NULL;
	put(out, step);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_command(FILE *out, const struct leat_step *step)
{
	for (char **arg = step->argv; arg && *arg; arg++) {
		if (arg != step->argv)
			putc('\t', out);
		put_text(out, *arg);
	}
}

char *leat_entry_command(const struct leat_step *step)
{
	size_t size;

	return written(step, put_command, &size);
}

static void put_names(FILE *out, const char *key, const struct leat_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		fprintf(out, "%s\t", key);
		put_text(out, names->v[i].text);
		putc('\n', out);
	}
}

static void put_declared(FILE *out, const struct leat_step *step)
{
	char buffer[32];

	fprintf(out, "staged\t%d\n", step->staged + step->concurrent);
	if (step->container) {
		fputs("container\t", out);
		put_text(out, step->container);
		putc('\n', out);
	}
	put_names(out, "input", &step->inputs);
	put_names(out, "output", &step->outputs);
	for (size_t i = 0; i < step->n_rules; i++) {
		const struct leat_rule *rule = &step->rules[i];

		fprintf(out, "rule\t%d\t%s\t%s\t%u\t%d\t", rule->is_dir,
			leat_commit_text(rule->commit, rule->count, buffer),
			leat_fire_text(rule->fire), rule->n_files, rule->drop);
		put_text(out, rule->name.text);
		putc('\n', out);
		put_names(out, "dependency", &rule->deps);
	}
}

uint64_t leat_entry_declared(const struct leat_step *step)
{
	size_t size = 0;
	char *text = written(step, put_declared, &size);
	uint64_t hash = text ? XXH3_64bits(text, size) : 0;

	free(text);
	return hash;
}
