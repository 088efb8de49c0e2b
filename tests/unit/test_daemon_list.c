/* Listings of a directory that is being filled: each name once, and no more work than names. */
#include "peer.h"
#include "store/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 150

/* How often the daemon has read a whole directory; it is another process. */
static unsigned *n_reads;

int __real_leat_tree_list(struct leat_tree *t, const char *path, struct leat_listing *l);
int __wrap_leat_tree_list(struct leat_tree *t, const char *path, struct leat_listing *l);

int __wrap_leat_tree_list(struct leat_tree *t, const char *path, struct leat_listing *l)
{
	++*n_reads;
	return __real_leat_tree_list(t, path, l);
}

struct lister {
	struct peer producer, consumer;
	uint64_t handle, cookie;
	char names[256];
};

/* A fills parts, B reads it while it grows. */
static struct leat_workflow *workflow(void)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};
	struct leat_step *a;
	struct leat_rule *r;

	wf->name = strdup("parts");
	a = leat_workflow_add_step(wf, "A", pos);
	leat_names_add(&a->outputs, "parts/*", pos);
	r = leat_step_add_rule(a, "parts/*", pos);
	r->commit = LEAT_COMMIT_ON_CLOSE;
	r->fire = LEAT_FIRE_NO_UPDATE;
	leat_names_add(&leat_workflow_add_step(wf, "B", pos)->inputs, "parts/*", pos);
	return wf;
}

static int setup(void **state)
{
	n_reads = mmap(NULL, sizeof(*n_reads), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(n_reads, MAP_FAILED);
	world_setup(state, workflow(), false);
	return 0;
}

static int teardown(void **state)
{
	munmap(n_reads, sizeof(*n_reads));
	return world_teardown(state);
}

static struct lister *begin(struct world *w)
{
	struct lister *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	assert_int_equal(mkdirat(w->dir_fd, "parts", 0755), 0);
	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, &l->producer, "A");
	peer_meet(w, &l->consumer, "B");
	return l;
}

static void end(struct lister *l)
{
	peer_part(&l->producer);
	peer_part(&l->consumer);
	free(l);
}

static int go_on(struct lister *l)
{
	return peer_list(&l->consumer, "parts", &l->handle, &l->cookie, l->names, sizeof(l->names));
}

/* Ask until there is something new, or the end. */
static void wait_for_names(struct lister *l)
{
	for (int i = 0; i < 10000 && go_on(l) == -EAGAIN; i++)
		usleep(1000);
}

static void make(struct world *w, struct lister *l, unsigned number)
{
	char path[32];

	snprintf(path, sizeof(path), "parts/%u", number);
	peer_make(w, &l->producer, path, "part");
}

static void test_names_one_by_one(void **state)
{
	struct world *w = *state;
	struct lister *l = begin(w);
	char expected[32];

	make(w, l, 0);
	wait_for_names(l);
	assert_string_equal(l->names, "0 ");
	*n_reads = 0;
	for (unsigned i = 1; i < NAMES; i++) {
		make(w, l, i);
		wait_for_names(l);
		snprintf(expected, sizeof(expected), "%u ", i);
		assert_string_equal(l->names, expected);
	}
	assert_int_equal(*n_reads, 0);
	assert_int_equal(go_on(l), -EAGAIN);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(go_on(l), 0);
	assert_string_equal(l->names, "");
	assert_in_range(*n_reads, 0, 1);
	end(l);
}

/* What has gone before the next look is not shown, what was made anew once. */
static void test_names_that_go(void **state)
{
	struct world *w = *state;
	struct lister *l = begin(w);

	make(w, l, 0);
	wait_for_names(l);
	make(w, l, 1);
	make(w, l, 2);
	assert_int_equal(peer_change(&l->producer, LEAT_CHANGE_UNLINK, "parts/1", ""), 0);
	make(w, l, 3);
	make(w, l, 1);
	wait_for_names(l);
	assert_string_equal(l->names, "2 3 1 ");
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(go_on(l), 0);
	assert_string_equal(l->names, "");
	end(l);
}

/* What no rule shows, made in the directory on disk meanwhile, is found at the end. */
static void test_names_that_no_rule_shows(void **state)
{
	struct world *w = *state;
	struct lister *l = begin(w);
	int fd;

	make(w, l, 0);
	wait_for_names(l);
	assert_string_equal(l->names, "0 ");
	fd = openat(w->dir_fd, "parts/other", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(go_on(l), 0);
	assert_string_equal(l->names, "other ");
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_that_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_that_no_rule_shows, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
