/* How a client waits, over a daemon and a clock of the test's own; what it may read, and change. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/consumer.h"
#include "client/publisher.h"
#include "eventlog/call.h"
#include "segment.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

enum { SLOT = 7 };

static struct {
	struct leat_awaiter a;
	struct leat_shm_step step;
	struct leat_shm_file *f;
	uint64_t now;
	int answers[8]; /* one after the other, the last for ever */
	unsigned n_answers, asks, sleeps;
	union {
		struct leat_msg h;
		struct leat_msg_ask_read read;
		struct leat_msg_ask_whole whole;
		struct leat_msg_ask_space space;
		struct leat_msg_ask_actions actions;
	} question;                   /* the last one */
	uint64_t wake_at, timeout_ns; /* of the last sleep */
	bool parts;
	int ends;           /* of a sleep: 0 or -errno */
	unsigned publishes; /* in this sleep, all that is waited for */
	uint64_t most_ns;   /* that a sleep lasts */
	unsigned looks;     /* after a sleep */
} world;

static uint64_t world_now(void)
{
	return world.now;
}

static int world_ask(struct leat_awaiter *a, const struct leat_msg *question, uint32_t *seq)
{
	unsigned i = world.asks++;

	assert_ptr_equal(a, &world.a);
	memcpy(&world.question, question, leat_wire_fixed_size((enum leat_msg_type)question->type));
	assert_int_equal(world.question.whole.slot, SLOT);
	*seq = leat_shm_seq(world.f);
	return world.answers[i < world.n_answers ? i : world.n_answers - 1];
}

static int world_sleep(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t seq)
{
	assert_ptr_equal(f, world.f);
	assert_int_equal(seq, leat_shm_seq(f));
	assert_int_equal(atomic_load(&a->step->waiting), 1);
	world.sleeps++;
	world.now += SECOND;
	return world.ends;
}

static int world_sleep_for_bytes(struct leat_awaiter *a, const struct leat_byte_sleep *s)
{
	assert_int_equal(atomic_load(&a->step->waiting), 1);
	assert_int_equal(s->seq, leat_shm_seq(s->f));
	assert_true(s->timeout_ns && s->timeout_ns <= SECOND);
	world.parts = s->parts;
	world.wake_at = s->wake_at;
	world.timeout_ns = s->timeout_ns;
	world.now += s->timeout_ns < world.most_ns ? s->timeout_ns : world.most_ns;
	if (++world.sleeps == world.publishes)
		leat_shm_publish(s->f, s->wake_at);
	return world.ends;
}

static int world_woken(struct leat_awaiter *a)
{
	(void)a;
	world.looks++;
	return 0;
}

static void begin(int answer)
{
	memset(&world, 0, sizeof(world));
	world.a = (struct leat_awaiter){.shm = shm,
					.step = &world.step,
					.now_ns = world_now,
					.ask = world_ask,
					.sleep = world_sleep,
					.sleep_for_bytes = world_sleep_for_bytes};
	world.f = &shm->files[SLOT];
	world.now = world.most_ns = SECOND;
	world.answers[0] = answer;
	world.n_answers = 1;
	leat_shm_file_init(world.f);
}

static void assert_counted(uint64_t ns)
{
	assert_int_equal(atomic_load(&world.step.waiting), 0);
	assert_int_equal(atomic_load(&world.step.wait_ns), ns);
}

static void test_calls_wait(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(leat_await_whole(&world.a, SLOT), 0);
	assert_int_equal(world.question.h.type, LEAT_MSG_ASK_WHOLE);
	assert_int_equal(world.sleeps, 0);
	assert_counted(0);
	begin(-EAGAIN);
	world.answers[1] = -EAGAIN;
	world.answers[2] = -ENOENT;
	world.n_answers = 3;
	assert_int_equal(leat_await_whole(&world.a, SLOT), -ENOENT);
	assert_int_equal(world.sleeps, 2);
	assert_counted(2 * SECOND);
	begin(-EAGAIN);
	world.ends = -EINTR;
	assert_int_equal(leat_await_whole(&world.a, SLOT), -EINTR);
	assert_int_equal(world.asks, 1);
	assert_counted(SECOND);
}

static int sleep_without_record(struct leat_awaiter *a, struct leat_shm_file *f, uint32_t seq)
{
	(void)a;
	(void)seq;
	assert_null(f);
	return -EIO;
}

static void test_actions(void **state)
{
	(void)state;
	begin(-EAGAIN);
	world.answers[1] = -EIO;
	world.n_answers = 2;
	assert_int_equal(leat_await_actions(&world.a, SLOT, 7, true), -EIO);
	assert_int_equal(world.question.h.type, LEAT_MSG_ASK_ACTIONS);
	assert_int_equal(world.question.actions.ofd, 7);
	assert_int_equal(world.question.actions.closed, 1);
	assert_int_equal(world.sleeps, 1);
}

static void test_names_without_record(void **state)
{
	(void)state;
	begin(0);
	world.a.sleep = sleep_without_record;
	assert_int_equal(leat_await_change(&world.a, 0, 1), -EIO);
	assert_int_equal(leat_await_change(&world.a, LEAT_SHM_MAX_FILES, 1), -EIO);
	world.a.shm = NULL;
	assert_int_equal(leat_await_change(&world.a, SLOT, 1), -EIO);
	assert_counted(0);
}

static void test_space(void **state)
{
	uint64_t attempt = 4;

	(void)state;
	begin(-EAGAIN);
	world.answers[1] = 0;
	world.answers[2] = -ENOSPC;
	world.n_answers = 3;
	assert_int_equal(leat_await_space(&world.a, SLOT, 100, &attempt), 1);
	assert_int_equal(world.question.h.type, LEAT_MSG_ASK_SPACE);
	assert_int_equal(world.question.space.attempt, 4);
	assert_int_equal(world.question.space.length, 100);
	assert_int_equal(world.sleeps, 1);
	assert_int_equal(leat_await_space(&world.a, SLOT, 100, &attempt), 0);
	assert_int_equal(leat_await_space(&world.a, SLOT, 100, &attempt), -ENOSPC);
	assert_int_equal(attempt, 7);
	begin(-EAGAIN);
	world.ends = -EIO;
	assert_int_equal(leat_await_space(&world.a, SLOT, 100, &attempt), -EIO);
}

static void test_bytes_that_are_there(void **state)
{
	(void)state;
	begin(-EIO);
	leat_shm_publish(world.f, 10);
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	leat_shm_file_finish(world.f, 10);
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 10, 1), LEAT_SHM_FINAL);
	assert_int_equal(world.asks, 0);
	assert_int_equal(world.sleeps, 0);
	assert_counted(0);
}

/* First for more than is needed, then for what is, then the daemon is told. */
static void test_bytes_that_come(void **state)
{
	(void)state;
	begin(-EAGAIN);
	world.publishes = 1;
	world.a.woken = world_woken;
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	assert_int_equal(world.wake_at, 256 << 10);
	assert_int_equal(world.timeout_ns, 2 * MS);
	assert_int_equal(world.looks, 1);
	assert_false(world.a.asked);
	assert_counted(2 * MS);
	begin(-EAGAIN);
	world.publishes = 2;
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	assert_int_equal(world.wake_at, 10);
	assert_int_equal(world.timeout_ns, 48 * MS);
	assert_int_equal(world.asks, 0);
	begin(-EAGAIN);
	world.publishes = 3;
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	assert_int_equal(world.timeout_ns, SECOND);
	assert_int_equal(world.asks, 1);
	assert_int_equal(world.question.h.type, LEAT_MSG_ASK_READ);
	assert_int_equal(world.question.read.length, 10);
	assert_true(world.a.asked);
	assert_counted(SECOND + 50 * MS);
}

/* What the daemon says when it is asked. */
static void test_bytes_by_the_daemon(void **state)
{
	(void)state;
	begin(0);
	world.publishes = 3; /* the record is a moment late */
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	assert_int_equal(world.timeout_ns, MS);
	assert_false(world.a.asked);
	begin(-EIO);
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), -EIO);
	assert_int_equal(world.sleeps, 2);
	assert_false(world.a.asked);
	begin(-EAGAIN);
	world.ends = -EINTR;
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), -EINTR);
	assert_counted(2 * MS);
}

/* Of parts that only the daemon knows it is asked at once. */
static void test_parts(void **state)
{
	(void)state;
	begin(-EAGAIN);
	world.answers[1] = 0;
	world.n_answers = 2;
	leat_shm_file_update(world.f, LEAT_SHM_SPARSE | LEAT_SHM_EXTENTS, 0);
	assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10), LEAT_SHM_THERE);
	assert_int_equal(world.asks, 2);
	assert_int_equal(world.sleeps, 1);
	assert_true(world.parts);
	assert_int_equal(world.timeout_ns, SECOND);
}

/* Who wakes by itself now and then does not ask each time. */
static void test_asked_again(void **state)
{
	static const struct {
		uint64_t again_ns, most_ns;
		unsigned asks;
	} cases[] = {{0, SECOND, 3}, {0, 100 * MS, 3}, {SECOND, 100 * MS, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(-EAGAIN);
		world.publishes = 5;
		world.a.again_ns = cases[i].again_ns;
		world.most_ns = cases[i].most_ns;
		assert_int_equal(leat_consumer_await(&world.a, world.f, SLOT, 0, 10),
				 LEAT_SHM_THERE);
		assert_int_equal(world.asks, cases[i].asks);
	}
}

static void test_files_as_a_whole(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(leat_consumer_is_whole(NULL), 1);
	assert_int_equal(leat_consumer_is_whole(world.f), 0);
	leat_shm_file_finish(world.f, 5);
	assert_int_equal(leat_consumer_is_whole(world.f), 1);
	leat_shm_file_update(world.f, LEAT_SHM_FAILED, 0);
	assert_int_equal(leat_consumer_is_whole(world.f), -EIO);
}

static void test_early_sizes(void **state)
{
	struct leat_msg_early_size early = {.size = 77};

	(void)state;
	begin(0);
	assert_false(leat_consumer_trusted_early_size(NULL, SLOT, 10, 10, &early));
	assert_false(leat_consumer_trusted_early_size(world.f, SLOT, 10, 11, &early));
	assert_int_equal(early.size, 77);
	assert_true(leat_consumer_trusted_early_size(world.f, SLOT, 10, 9, &early));
	assert_int_equal(early.h.type, LEAT_MSG_EARLY_SIZE);
	assert_int_equal(early.slot, SLOT);
	assert_int_equal(early.read_end, 9);
	assert_int_equal(early.size, 10);
	leat_shm_file_finish(world.f, 11);
	assert_true(leat_consumer_trusted_early_size(world.f, SLOT, 10, 10, &early));
	leat_shm_file_finish(world.f, 10);
	assert_false(leat_consumer_trusted_early_size(world.f, SLOT, 10, 10, &early));
}

static void test_bytes_are_published(void **state)
{
	struct leat_msg_range extent;

	(void)state;
	begin(0);
	assert_false(leat_publisher_publish(world.f, SLOT, 0, 10, &extent));
	assert_int_equal(leat_shm_frontier(world.f), 10);
	leat_shm_mark_sparse(world.f);
	assert_true(leat_publisher_publish(world.f, SLOT, 20, 30, &extent));
	assert_int_equal(leat_shm_frontier(world.f), 10);
	assert_int_equal(extent.h.type, LEAT_MSG_EXTENT);
	assert_int_equal(extent.slot, SLOT);
	assert_int_equal(extent.offset, 20);
	assert_int_equal(extent.length, 10);
	assert_true(leat_publisher_may_write(LEAT_KIND_PRODUCER));
	assert_true(leat_publisher_may_write(LEAT_KIND_PUBLISHER));
	assert_false(leat_publisher_may_write(LEAT_KIND_CONSUMER));
	assert_false(leat_publisher_may_write(LEAT_KIND_COUNTED));
}

static void test_lengths(void **state)
{
	(void)state;
	begin(0);
	leat_shm_publish(world.f, 100);
	assert_int_equal(leat_publisher_check_length(world.f, 50, 100), 0);
	leat_shm_consumed(world.f, 0, 60);
	assert_int_equal(leat_publisher_check_length(world.f, 50, 100), LEAT_VIOLATION_REWRITE);
	assert_int_equal(leat_publisher_check_length(world.f, 60, 100), 0);
	assert_int_equal(leat_publisher_check_length(world.f, 200, 100), 0);
	leat_shm_file_finish(world.f, 100);
	assert_int_equal(leat_publisher_check_length(world.f, 200, 100),
			 LEAT_VIOLATION_AFTER_COMMIT);
	assert_int_equal(leat_publisher_check_length(world.f, 100, 100), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_wait),
		cmocka_unit_test(test_names_without_record),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_bytes_that_are_there),
		cmocka_unit_test(test_bytes_that_come),
		cmocka_unit_test(test_bytes_by_the_daemon),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_asked_again),
		cmocka_unit_test(test_files_as_a_whole),
		cmocka_unit_test(test_early_sizes),
		cmocka_unit_test(test_bytes_are_published),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
