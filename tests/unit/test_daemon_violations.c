/* A scripted client breaks what the workflow promises, or reports that it saw it broken. */
#include "eventlog/call.h"
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int setup(void **state)
{
	world_setup(state, world_flow(), false);
	return 0;
}

static void test_a_close_too_many(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f;
	const char *text;
	int error;

	world_meet_both(w, a, b);
	peer_make(w, a, "mid", "once");
	f = peer_open(w, b, "mid", O_RDONLY);
	close(f.fd);
	/* on_close:1 */
	assert_int_equal(peer_try_open(w, a, "mid", O_WRONLY | O_TRUNC, &f), -EIO);
	text = world_event(w, &error);
	assert_int_equal(error, -ECANCELED);
	assert_non_null(strstr(text, "mid"));
	assert_int_equal(peer_ask_write(a, f.slot), -EIO);
	peer_free(a);
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, false);
}

/* A size that is the final one all the same is no violation; one that is too small is named once
 * the true one is known. */
static void test_early_sizes(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct leat_msg_early_size early = {.h.type = LEAT_MSG_EARLY_SIZE, .read_end = 4};
	struct file f, g;
	int error;

	world_meet_both(w, a, b);
	f = peer_open(w, a, "grow", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "1234567");
	leat_shm_publish(&a->shm->files[f.slot], 7);
	g = peer_open(w, b, "grow", O_RDONLY);
	early.slot = g.slot;
	for (early.size = 7; early.size >= 5; early.size -= 2)
		peer_report(b, &early.h);
	assert_int_equal(peer_ask_whole(b, g.slot), -EAGAIN);
	assert_string_equal(w->control.event, "");
	peer_close(a, &f);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_non_null(strstr(world_event(w, &error),
			       "grow was taken for complete by step B after 4 bytes at a size "
			       "seen before its commit"));
	w->control.event[0] = 0;
	early.size = 6; /* it is known by now */
	early.read_end = 3;
	peer_report(b, &early.h);
	assert_non_null(strstr(world_event(w, &error), "by step B after 3 bytes"));
	close(g.fd);
	peer_free(a);
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, false);
}

/* What an EARLY_SIZE says does not fit into a VIOLATED. */
static void test_early_size_is_no_violated(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	const struct leat_msg_violated m = {.h.type = LEAT_MSG_VIOLATED,
					    .code = LEAT_VIOLATION_EARLY_SIZE};

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	peer_meet(w, a, "A");
	peer_report(a, &m.h);
	assert_int_equal(recv(a->fd, a->buf, sizeof(a->buf), 0), 0);
	peer_free(a);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_finish(w, true);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_close_too_many),
		T(test_early_sizes),
		T(test_early_size_is_no_violated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
