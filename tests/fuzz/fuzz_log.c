/* Any text as an event log: `leat replay` reads it to its end or says what is wrong with it, and
 * neither crashes nor leaks.
 *
 *   .ci/fuzz 60 log */
#include "stream/replay.h"
#include "flow.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char flow[] =
	"name: flow\n"
	"tasks:\n"
	"  - {func: A, exec: a, outports: [{filename: x, mode: no_update}, {dirname: d}]}\n"
	"  - {func: B, exec: b, inports: [{filename: x}, {dirname: d}], "
	"outports: [{filename: y}]}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct leat_workflow *wf;
	static struct leat_matcher *matcher;
	static FILE *nowhere;
	struct leat_replay_result result = {0};
	FILE *log;

	if (!wf) {
		wf = parse_flow(flow);
		matcher = leat_matcher_new(wf);
		nowhere = fopen("/dev/null", "w");
	}
	if (!size)
		return 0;
	log = fmemopen((void *)(uintptr_t)data, size, "r");
	if (!log || !matcher || !nowhere)
		abort();
	(void)leat_replay(matcher, wf, log, nowhere, &result);
	fclose(log);
	return 0;
}
