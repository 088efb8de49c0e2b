#include "cli/segment.h"

#include "base/fd.h"
#include "base/log.h"
#include "shm/state.h"

#include <errno.h>
#include <string.h>

int leat_segment_open(struct leat_segment *s, struct leat_control *control, size_t n_steps)
{
	int fd = leat_control_take_segment(control);
	int result;

	if (fd < 0) {
		leat_error("this run is enforced: its steps are started by nobody but itself");
		return -EPERM;
	}
	result = leat_shm_map(fd, &s->shm);
	if (result < 0)
		leat_error("cannot map the daemon's shared memory: %s", strerror(-result));
	leat_close(&fd);
	s->n_steps = n_steps < LEAT_SHM_MAX_STEPS ? n_steps : LEAT_SHM_MAX_STEPS;
	return result;
}

void leat_segment_close(struct leat_segment *s)
{
	if (s->shm)
		leat_shm_unmap(s->shm);
	s->shm = NULL;
}

void leat_segment_enforced(const struct leat_segment *s, bool *enforced, bool *sealed)
{
	*enforced = s->shm->enforced != 0;
	*sealed = s->shm->enforced == LEAT_SEALED;
}

void leat_segment_counters(void *ctx, size_t step, struct leat_counters *out)
{
	const struct leat_segment *s = ctx;
	struct leat_shm_step *from;

	if (step >= s->n_steps)
		return;
	from = &s->shm->steps[step];
	out->bytes_in = leat_shm_counted(&from->bytes_in);
	out->bytes_out = leat_shm_counted(&from->bytes_out);
	out->wait_ns = leat_shm_counted(&from->wait_ns);
	out->waiting = leat_shm_counted(&from->waiting);
	out->limit_mbps = leat_shm_counted(&s->shm->limits[step].rate) / 1000000;
	out->throttled_ns = leat_shm_counted(&s->shm->limits[step].throttled_ns);
}

bool leat_segment_anybody_waits(void *ctx)
{
	const struct leat_segment *s = ctx;

	for (size_t i = 0; i < s->n_steps; i++)
		if (leat_shm_counted(&s->shm->steps[i].waiting))
			return true;
	return false;
}
