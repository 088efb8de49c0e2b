/* Which files are moved between store and spill directory next. */
#include "base/clock.h"
#include "base/fd.h"
#include "daemon/core/state.h"
#include "daemon/files/files.h"
#include "daemon/space/candidates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define MAX_FILES 200

struct world {
	struct leat_daemon d;
	struct leat_daemon_files files;
	struct leat_workflow wf;
	struct leat_shm *shm;
	struct leat_file f[MAX_FILES];
	char names[MAX_FILES][8];
	bool wanted[MAX_FILES];
	enum leat_root where[MAX_FILES];
	uint64_t now;
	int n;
};

static struct world *world;

static int index_of(const char *name)
{
	return atoi(name);
}

bool __wrap_leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step);
bool __wrap_leat_tree_has_ours(struct leat_tree *t, const char *path, enum leat_root *root,
			       struct stat *st);

bool __wrap_leat_file_awaits(const struct leat_daemon *d, const struct leat_file *f, int step)
{
	(void)d;
	assert_int_equal(step, 0);
	return world->wanted[index_of(f->name)];
}

bool __wrap_leat_tree_has_ours(struct leat_tree *t, const char *path, enum leat_root *root,
			       struct stat *st)
{
	(void)t;
	*root = world->where[index_of(path)];
	*st = (struct stat){.st_mode = S_IFREG | 0600};
	return *root != LEAT_ROOT_NONE;
}

static int setup(void **state)
{
	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	/* The segment has room for more files than there is memory. */
	assert_int_equal(leat_shm_create(&world->d.shm_fd, &world->shm), 0);
	world->d.shm = world->shm;
	world->d.files = &world->files;
	world->d.wf = &world->wf;
	world->wf.n_steps = 1;
	world->now = leat_clock_ns();
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leat_shm_unmap(world->shm);
	leat_close(&world->d.shm_fd);
	free(world);
	return 0;
}

/* A complete file that was last asked for so many seconds ago. Its number. */
static int add(enum leat_root root, uint64_t seconds, bool wanted)
{
	struct world *w = world;
	int i = w->n++;

	snprintf(w->names[i], sizeof(w->names[i]), "%d", i);
	w->f[i] = (struct leat_file){.name = w->names[i],
				     .slot = (uint32_t)i + 1,
				     .size = 1,
				     .touched_ns = w->now - seconds * SECOND};
	w->wanted[i] = wanted;
	w->where[i] = root;
	leat_shm_file_init(leat_file_shm(&w->d, &w->f[i]));
	leat_shm_file_finish(leat_file_shm(&w->d, &w->f[i]), 1);
	leat_file_list_complete(&w->d, &w->f[i], root);
	return i;
}

/* The next one, which is moved from now on; -1: there is none. */
static int take(struct leat_candidates *q, enum leat_root root)
{
	const struct leat_candidate *c = leat_candidates_take(&world->d, q, root);

	if (!c)
		return -1;
	c->f->move = (struct leat_move *)(void *)c->f;
	return index_of(c->f->name);
}

static void test_what_goes(void **state)
{
	struct leat_candidates q = {0};
	int read_soon = add(LEAT_ROOT_STORE, 90, true), read_late = add(LEAT_ROOT_STORE, 50, true);
	int used = add(LEAT_ROOT_STORE, 0, true), cold = add(LEAT_ROOT_STORE, 80, false);
	int warm = add(LEAT_ROOT_STORE, 10, false);

	(void)state;
	add(LEAT_ROOT_SPILL, 100, false);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), cold);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), warm);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), read_late);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), read_soon);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), used);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), -1);
}

static void test_what_comes_back(void **state)
{
	struct leat_candidates q = {0};
	int old = add(LEAT_ROOT_SPILL, 90, true), young = add(LEAT_ROOT_SPILL, 50, true);

	(void)state;
	add(LEAT_ROOT_SPILL, 0, true);   /* a program may be about to look at its times again */
	add(LEAT_ROOT_SPILL, 70, false); /* nobody will read it */
	add(LEAT_ROOT_STORE, 70, true);
	assert_int_equal(take(&q, LEAT_ROOT_SPILL), young);
	assert_int_equal(take(&q, LEAT_ROOT_SPILL), old);
	assert_int_equal(take(&q, LEAT_ROOT_SPILL), -1);
}

static void test_what_stays(void **state)
{
	struct leat_candidates q = {0};
	struct world *w = *state;
	int open = add(LEAT_ROOT_STORE, 90, false), growing = add(LEAT_ROOT_STORE, 90, false);
	int saved = add(LEAT_ROOT_STORE, 90, false), empty = add(LEAT_ROOT_STORE, 90, false);
	int gone = add(LEAT_ROOT_STORE, 90, false), there = add(LEAT_ROOT_STORE, 50, false);

	w->f[open].descriptions = (struct leat_description *)(void *)w;
	leat_shm_file_update(leat_file_shm(&w->d, &w->f[growing]), 0, LEAT_SHM_COMMITTED);
	w->f[saved].saving = true;
	w->f[empty].size = 0;
	w->f[gone].retired = true;
	assert_int_equal(take(&q, LEAT_ROOT_STORE), there);
	assert_int_equal(take(&q, LEAT_ROOT_STORE), -1);
}

/* Between the choice and the move much can happen. */
static void test_what_has_changed(void **state)
{
	struct leat_candidates q = {0};
	struct world *w = *state;
	int first = add(LEAT_ROOT_STORE, 90, false), asked = add(LEAT_ROOT_STORE, 80, false);
	int moved = add(LEAT_ROOT_STORE, 70, false), removed = add(LEAT_ROOT_STORE, 60, false);
	int last = add(LEAT_ROOT_STORE, 50, false);

	assert_int_equal(take(&q, LEAT_ROOT_STORE), first);
	w->f[asked].touched_ns = leat_clock_ns();
	w->where[moved] = LEAT_ROOT_SPILL;
	w->where[removed] = LEAT_ROOT_NONE;
	assert_int_equal(take(&q, LEAT_ROOT_STORE), last);
	assert_int_equal(w->f[moved].complete_in, LEAT_ROOT_SPILL);
	assert_int_equal(w->f[removed].complete_in, LEAT_ROOT_NONE);
	assert_int_equal(w->f[asked].complete_in, LEAT_ROOT_STORE);
}

/* All have their turn, each once, though only some are chosen in one go. */
static void test_many(void **state)
{
	enum { MANY = 3 * LEAT_CANDIDATES };
	struct leat_candidates q = {0};
	bool seen[MANY] = {false};

	(void)state;
	for (int i = 0; i < MANY; i++)
		add(LEAT_ROOT_STORE, (uint64_t)(i * 37 % MANY) + 2, i % 2);
	for (int i = 0; i < MANY; i++) {
		int n = take(&q, LEAT_ROOT_STORE);

		assert_in_range(n, 0, MANY - 1);
		assert_false(seen[n]);
		seen[n] = true;
		assert_int_equal(n % 2, i >= MANY / 2); /* what will be read comes last */
	}
	assert_int_equal(take(&q, LEAT_ROOT_STORE), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_has_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
