#include "driver/moved.h"

#include "base/pidstat.h"

void leat_moved_begin(struct leat_moved *m, const struct leat_counters *now, uint64_t now_ns)
{
	*m = (struct leat_moved){.before = {now->bytes_in, now->bytes_out}, .looked_ns = now_ns};
}

/* How much more it has become; counters live where steps can write, and may jump. */
static uint64_t add_growth(uint64_t *reported, uint64_t counter, uint64_t before,
			   uint64_t by_kernel)
{
	uint64_t served = counter > before ? counter - before : 0;
	uint64_t sum = served > by_kernel ? served : by_kernel;
	uint64_t grown = sum > *reported ? sum - *reported : 0;

	*reported += grown;
	return grown;
}

struct leat_achieved_bytes leat_moved_look(struct leat_moved *m, const struct leat_counters *now,
					   pid_t pid, uint64_t now_ns, uint64_t *since_ns)
{
	struct leat_pidio io = {0};
	struct leat_achieved_bytes bytes;

	if (pid > 0 && !leat_pidstat_io(pid, &io))
		io = (struct leat_pidio){0};
	bytes.read = add_growth(&m->reported.read, now->bytes_in, m->before.read, io.read);
	bytes.written =
		add_growth(&m->reported.written, now->bytes_out, m->before.written, io.written);
	*since_ns = m->looked_ns;
	m->looked_ns = now_ns;
	return bytes;
}
