/* A scripted client speaks with a real daemon: how files come to be complete. */
#include "peer.h"
#include "shm/extents.h"
#include "shm/window.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A makes mid (on close) and grow (no_update), B reads them
 * and makes final, which is permanent. */

static void say_range(struct peer *p, enum leat_msg_type type, unsigned slot, uint64_t offset,
		      uint64_t length)
{
	const struct leat_msg_range m = {
		.h.type = (uint16_t)type, .slot = slot, .offset = offset, .length = length};

	peer_report(p, &m.h);
}

static int setup(void **state)
{
	world_setup(state, world_flow(), false);
	return 0;
}

static void test_commit_on_close(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct leat_shm_file *record;
	struct file f, g;
	unsigned slot, seq;
	char text[16] = "";

	assert_int_equal(world_step(w, LEAT_MSG_STEP_START, "A", 0), 0);
	assert_int_equal(world_step(w, LEAT_MSG_STEP_START, "B", 0), 0);
	peer_meet(w, a, "A");
	peer_meet(w, b, "B");
	m = peer_resolve(b, LEAT_OP_OPEN, "mid", O_RDONLY);
	assert_int_equal(m->error, -EAGAIN);
	slot = m->slot;
	seq = m->seq;
	record = &b->shm->files[slot];
	f = peer_open(w, a, "./mid", O_WRONLY | O_CREAT | O_TRUNC);
	assert_int_equal(f.kind, LEAT_KIND_PRODUCER);
	peer_write(&f, "hello");
	assert_int_equal(peer_resolve(b, LEAT_OP_OPEN, "mid", O_RDONLY)->error, -EAGAIN);
	assert_int_equal(peer_resolve(b, LEAT_OP_STAT, "mid", 0)->error, -EAGAIN);
	peer_close(a, &f);
	/* the client of B sleeps here */
	while (!(leat_shm_flags(record) & LEAT_SHM_COMMITTED))
		leat_shm_wait(record, seq = leat_shm_seq(record), UINT64_MAX, 100000000);
	assert_int_equal(leat_shm_size(record), 5);
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_equal(g.kind, LEAT_KIND_COUNTED);
	assert_int_equal(read(g.fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	close(g.fd);
	m = peer_resolve(b, LEAT_OP_OPEN, "none/../mid2", O_WRONLY | O_CREAT);
	assert_int_equal(m->error, -ENOENT);
	peer_make(w, b, "./mid2", "x"); /* undeclared: on disk */
	world_check_disk(w, "mid2", "x");
	world_check_disk(w, "mid", NULL);
	peer_free(a);
	peer_free(b);
}

static void test_growing(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct leat_shm_file *record;
	struct leat_range part;
	struct file f, g;

	world_meet_both(w, a, b);
	f = peer_open(w, a, "grow", O_WRONLY | O_CREAT | O_TRUNC);
	assert_int_equal(f.kind, LEAT_KIND_PUBLISHER);
	m = peer_resolve(b, LEAT_OP_OPEN, "grow", O_RDONLY);
	assert_int_equal(m->error, -EAGAIN);
	record = &a->shm->files[f.slot];
	peer_write(&f, "12345");
	leat_shm_publish(record, 5);
	/* before B's client has fallen asleep */
	assert_int_equal(leat_shm_wait(record, m->seq, UINT64_MAX, 1000000000), -EAGAIN);
	g = peer_open(w, b, "grow", O_RDONLY);
	assert_int_equal(g.kind, LEAT_KIND_CONSUMER);
	assert_int_equal(g.slot, f.slot);
	assert_int_equal(peer_ask_read(b, g.slot, 0, 5), 0);
	assert_int_equal(peer_ask_read(b, g.slot, 0, 6), -EAGAIN);
	assert_int_equal(peer_ask_whole(b, g.slot), -EAGAIN);
	/* a gap: [7,9) lies beyond the frontier until [5,7) closes it */
	leat_shm_mark_sparse(record);
	assert_int_equal(pwrite(f.fd, "89", 2, 7), 2);
	say_range(a, LEAT_MSG_EXTENT, f.slot, 7, 2);
	assert_int_equal(peer_ask_read(b, g.slot, 0, 6), -EAGAIN);
	assert_int_equal(peer_ask_write(a, f.slot), 0);
	assert_int_equal(leat_shm_frontier(record), 5);
	assert_true(leat_shm_flags(record) & LEAT_SHM_EXTENTS);
	assert_int_equal(leat_shm_look(a->shm, record, 7, 2), LEAT_SHM_THERE);
	assert_int_equal(leat_shm_look(a->shm, record, 6, 2), LEAT_SHM_NOT_YET);
	assert_int_equal(peer_ask_read(b, g.slot, 7, 2), 0);
	/* cut, it is there no more */
	peer_report(a, &(struct leat_msg_truncated){.h.type = LEAT_MSG_TRUNCATED,
						    .slot = f.slot,
						    .length = 8}
				.h);
	assert_int_equal(peer_ask_write(a, f.slot), 0);
	assert_int_equal(leat_shm_look(a->shm, record, 7, 1), LEAT_SHM_THERE);
	assert_int_equal(leat_shm_look(a->shm, record, 8, 1), LEAT_SHM_NOT_YET);
	say_range(a, LEAT_MSG_EXTENT, f.slot, 8, 1);
	assert_int_equal(peer_ask_write(a, f.slot), 0);
	assert_int_equal(leat_shm_look(a->shm, record, 7, 2), LEAT_SHM_THERE);
	assert_int_equal(pwrite(f.fd, "67", 2, 5), 2);
	leat_shm_publish(record, 7);
	say_range(a, LEAT_MSG_EXTENT, f.slot, 5, 2);
	assert_int_equal(peer_ask_write(a, f.slot), 0);
	assert_int_equal(leat_shm_frontier(record), 9);
	assert_int_equal(peer_ask_read(b, g.slot, 0, 9), 0);
	peer_close(a, &f);
	assert_int_equal(peer_ask_whole(b, g.slot), -EAGAIN);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_true(leat_shm_flags(record) & LEAT_SHM_COMMITTED);
	assert_int_equal(leat_shm_size(record), 9);
	assert_int_equal(leat_shm_look(a->shm, record, 20, 2), LEAT_SHM_FINAL);
	/* its table is free for another file */
	assert_int_equal(leat_shm_extent(a->shm, record, 20, &part), -EAGAIN);
	close(g.fd);
	peer_free(a);
	peer_free(b);
}

/* The kernel's size is ahead while a client writes through a window: whoever else asks finds
 * the length, a client that dies in the middle leaves it right, and nonsense does no harm. */
static void test_ahead(void **state)
{
	static const struct leat_msg_range nonsense[] = {
		{.offset = 4096, .length = UINT64_MAX}, {.offset = UINT64_MAX, .length = 4096},
		{.offset = 1, .length = 4096},          {.offset = 0, .length = 0},
		{.offset = 1 << 30, .length = 4096},
	};
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct leat_shm_file *record;
	struct file f;
	struct stat st;
	uint64_t length;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	peer_meet(w, a, "A");
	f = peer_open(w, a, "grow", O_RDWR | O_CREAT | O_TRUNC);
	record = &a->shm->files[f.slot];
	peer_write(&f, "12345");
	assert_true(leat_shm_window_take(record, true, false));
	assert_int_equal(ftruncate(f.fd, 1 << 20), 0);
	leat_shm_window_give(record, LEAT_WINDOW_IDLE, 5);
	say_range(a, LEAT_MSG_PREFAULT, f.slot, 65536, 65536);
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++)
		say_range(a, LEAT_MSG_PREFAULT, f.slot, nonsense[i].offset, nonsense[i].length);
	/* Who looks finds the length by himself; for who reads the size is made true. */
	assert_int_equal(peer_resolve(a, LEAT_OP_STAT, "grow", 0)->error, 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
	assert_true(leat_shm_length(record, leat_shm_epoch(record), 1 << 20, &length));
	assert_int_equal(length, 5);
	assert_true(leat_shm_copy_begin(record));
	assert_int_equal(peer_resolve(a, LEAT_OP_OPEN, "grow", O_RDONLY)->error, -EAGAIN);
	leat_shm_copy_end(record, 5, false);
	assert_int_equal(peer_resolve(a, LEAT_OP_OPEN, "grow", O_RDONLY)->error, 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_false(leat_shm_window_take(record, true, false));
	leat_shm_window_give(record, LEAT_WINDOW_NONE, 0);
	assert_true(leat_shm_window_take(record, true, false));
	leat_shm_window_begin(record, 5);
	assert_int_equal(ftruncate(f.fd, 1 << 20), 0);
	leat_shm_window_give(record, LEAT_WINDOW_IDLE, 5);
	assert_true(leat_shm_copy_begin(record)); /* and never ends it */
	peer_close(a, &f);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_true(leat_shm_flags(record) & LEAT_SHM_COMMITTED);
	assert_int_equal(leat_shm_size(record), 5);
	peer_free(a);
}

static void test_last_close(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	int copy, status;
	pid_t child;

	world_meet_both(w, a, b);
	f = peer_open(w, a, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "data");
	copy = dup(f.fd);
	child = fork();
	if (child == 0) {
		usleep(300000);
		_exit(0);
	}
	peer_close(a, &f);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	close(copy);
	peer_closed(a, f.slot, f.ofd);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN); /* the child has it */
	assert_int_equal(waitpid(child, &status, 0), child);
	/* nobody says so: the daemon looks by itself */
	for (int i = 0; i < 100 && peer_try_open(w, b, "mid", O_RDONLY, &g) == -EAGAIN; i++)
		usleep(10000);
	assert_true(g.fd >= 0);
	close(g.fd);
	peer_free(a);
	peer_free(b);
}

/* While the daemon cannot look whether the file is open, it is, and a person is told. */
static void test_cannot_look(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct rlimit before, none;
	struct file f, g;
	int error;

	world_meet_both(w, a, b);
	assert_int_equal(prlimit(w->pid, RLIMIT_NOFILE, NULL, &before), 0);
	none = (struct rlimit){.rlim_cur = 3, .rlim_max = before.rlim_max};
	assert_int_equal(prlimit(w->pid, RLIMIT_NOFILE, &none, NULL), 0);
	f = peer_open(w, a, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "some ");
	peer_closed(a, f.slot, 0);
	assert_non_null(strstr(world_event(w, &error), "cannot see whether mid is still open"));
	assert_int_equal(error, -EMFILE);
	usleep(200000);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	assert_int_equal(prlimit(w->pid, RLIMIT_NOFILE, &before, NULL), 0);
	peer_write(&f, "more");
	peer_close(a, &f);
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_equal(lseek(g.fd, 0, SEEK_END), 9);
	close(g.fd);
	peer_free(a);
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, false);
}

static void test_killed(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, b, "B");
	world_in_process(w, "A", write_mid, false, -SIGKILL);
	usleep(200000);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN); /* not closed well */
	world_step(w, LEAT_MSG_STEP_END, "A", SIGKILL);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EIO);
	world_step(w, LEAT_MSG_STEP_END, "B", 1 << 8);
	peer_free(b);
	world_finish(w, false);
}

static void test_exit_closes(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));
	struct file g;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, b, "B");
	world_in_process(w, "A", write_mid, true, 0);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	g = peer_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	peer_free(b);
	world_in_process(w, "B", write_final, true, 0);
	world_check_disk(w, "out/final", NULL);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, true);
	world_check_disk(w, "out/final", "result");
	world_check_disk(w, "mid", NULL);
}

static void test_stale_is_hidden(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	int fd = openat(w->dir_fd, "mid", O_WRONLY | O_CREAT, 0600);
	char text[32] = "";

	assert_int_equal(write(fd, "old content", 11), 11);
	close(fd);
	world_meet_both(w, a, b);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	/* the producer works on a copy */
	f = peer_open(w, a, "mid", O_WRONLY | O_APPEND);
	peer_report(
		a,
		&(struct leat_msg_wrote){.h.type = LEAT_MSG_WROTE, .slot = f.slot, .ofd = f.ofd}.h);
	peer_write(&f, "+new");
	peer_close(a, &f);
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_equal(read(g.fd, text, sizeof(text)), 15);
	assert_string_equal(text, "old content+new");
	close(g.fd);
	world_check_disk(w, "mid", "old content");
	peer_free(a);
	peer_free(b);
}

static void test_failed_open(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct file g;

	world_meet_both(w, a, b);
	m = peer_resolve(a, LEAT_OP_OPEN, "mid", O_WRONLY | O_CREAT);
	assert_int_equal(m->error, 0);
	peer_report(a, &(struct leat_msg_opened){.h.type = LEAT_MSG_OPENED, .error = -EMFILE}.h);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -ENOENT);
	peer_free(a);
	peer_free(b);
}

/* A file that is copied for its producer in the background. */
static void test_large_stale(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct file f;
	struct stat st;
	int fd = openat(w->dir_fd, "mid", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	assert_int_equal(pwrite(fd, "end", 3, (8 << 20) - 3), 3);
	close(fd);
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	peer_meet(w, a, "A");
	assert_int_equal(peer_try_open(w, a, "mid", O_RDWR, &f), -EAGAIN);
	f = peer_open(w, a, "mid", O_RDWR);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, 8 << 20);
	peer_close(a, &f);
	peer_free(a);
}

/* A consumer that takes a read error for the end of its input and says that all
 * is well: what it made is not. */
static void test_spoilt(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct file f, g;

	world_meet_both(w, a, b);
	f = peer_open(w, a, "grow", O_WRONLY | O_CREAT);
	peer_write(&f, "half");
	leat_shm_publish(&a->shm->files[f.slot], 4);
	g = peer_open(w, b, "grow", O_RDONLY);
	m = peer_resolve(b, LEAT_OP_MKDIR, "out", 0);
	assert_int_equal(mkdirat(b->store_fd, peer_path(m), 0755), 0);
	peer_make(w, b, "out/final", "made of half");
	peer_part(a);
	close(f.fd);
	world_step(w, LEAT_MSG_STEP_END, "A", SIGKILL);
	assert_true(leat_shm_flags(&b->shm->files[g.slot]) & LEAT_SHM_FAILED);
	close(g.fd);
	peer_part(b);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	free(a);
	free(b);
	world_finish(w, false);
	world_check_disk(w, "out/final", NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_commit_on_close), T(test_growing),     T(test_ahead),
		T(test_last_close),      T(test_killed),      T(test_exit_closes),
		T(test_stale_is_hidden), T(test_failed_open), T(test_large_stale),
		T(test_spoilt),          T(test_cannot_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
