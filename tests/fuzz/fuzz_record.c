/* Any text as the record of a run: it is read, or what is wrong with it is said; what was read,
 * written and read again is the same.
 *
 *   .ci/fuzz 60 record */
#include "resume/internal.h"
#include "flow.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2 };

static const char flow[] =
	"name: flow\n"
	"tasks:\n"
	"  - {func: A, exec: a b, outports: [{filename: x}]}\n"
	"  - {func: B, exec: b, inports: [{filename: x}], outports: [{filename: y}]}\n";

/* The caller frees it. */
static char *write_record(const struct leat_workflow *wf, const struct leat_entry_of_step *e,
			  size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	if (!out)
		abort();
	leat_record_put_header(out, wf);
	for (size_t i = 0; i < STEPS; i++)
		leat_record_put_entry(out, wf->steps[i].name, &e[i]);
	if (fclose(out) != 0)
		abort();
	return text;
}

static void release(struct leat_entry_of_step *e)
{
	for (size_t i = 0; i < STEPS; i++)
		leat_entry_release(&e[i]);
}

static void check_round_trip(const struct leat_workflow *wf, const struct leat_entry_of_step *e)
{
	struct leat_entry_of_step again[STEPS] = {0};
	size_t size, size_again;
	char *text = write_record(wf, e, &size), *kept = malloc(size), *text_again;
	const char *what;
	long line;

	if (!kept)
		abort();
	memcpy(kept, text, size);
	if (leat_record_parse(text, size, wf, again, &line, &what) < 0)
		abort();
	text_again = write_record(wf, again, &size_again);
	if (size != size_again || memcmp(kept, text_again, size) != 0)
		abort();
	release(again);
	free(text_again);
	free(kept);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct leat_workflow *wf;
	struct leat_entry_of_step entries[STEPS] = {0};
	char *text = malloc(size + 1);
	const char *what;
	long line;

	if (!wf)
		wf = parse_flow(flow);
	if (!text)
		abort();
	memcpy(text, data, size);
	if (leat_record_parse(text, size, wf, entries, &line, &what) == 0)
		check_round_trip(wf, entries);
	else if (!what || line < 0)
		abort();
	release(entries);
	free(text);
	return 0;
}
