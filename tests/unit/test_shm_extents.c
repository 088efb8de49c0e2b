/* Which parts of a file are there: what the daemon shows, and what clients make of it. */
#include "shm/extents.h"
#include "segment.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { SLOT = 7, SECOND = 1000000000 };

/* A file with EXTENTS and these parts; *table is its table. */
static struct leat_shm_file *file_of(uint32_t slot, const struct leat_range *parts, size_t n,
				     uint32_t *table)
{
	struct leat_shm_file *f = &shm->files[slot];

	leat_shm_file_init(f);
	leat_shm_file_update(f, LEAT_SHM_SPARSE | LEAT_SHM_EXTENTS, 0);
	*table = leat_shm_extents_take(shm, slot);
	if (*table)
		leat_shm_extents_put(shm, *table, parts, n, &(struct leat_range){0, UINT64_MAX});
	return f;
}

static void looks_at_parts(void **state)
{
	static const struct leat_range parts[] = {{10, 20}, {30, 40}, {100, 1000}};
	static const struct {
		uint64_t offset, length;
		int look;
	} cases[] = {
		{0, 1, LEAT_SHM_NOT_YET},    {9, 1, LEAT_SHM_NOT_YET},
		{10, 1, LEAT_SHM_THERE},     {10, 10, LEAT_SHM_THERE},
		{10, 11, LEAT_SHM_NOT_YET},  {19, 1, LEAT_SHM_THERE},
		{20, 1, LEAT_SHM_NOT_YET},   {15, 20, LEAT_SHM_NOT_YET},
		{30, 10, LEAT_SHM_THERE},    {100, 900, LEAT_SHM_THERE},
		{999, 1, LEAT_SHM_THERE},    {999, 2, LEAT_SHM_NOT_YET},
		{1000, 1, LEAT_SHM_NOT_YET}, {500, UINT64_MAX, LEAT_SHM_NOT_YET},
	};
	uint32_t table;
	struct leat_shm_file *f = file_of(SLOT, parts, 3, &table);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(leat_shm_look(shm, f, cases[i].offset, cases[i].length),
				 cases[i].look);
	/* The frontier may know more than the table. */
	leat_shm_publish(f, 35);
	assert_int_equal(leat_shm_look(shm, f, 0, 40), LEAT_SHM_THERE);
	assert_int_equal(leat_shm_look(shm, f, 0, 41), LEAT_SHM_NOT_YET);
	leat_shm_file_finish(f, 1000);
	assert_int_equal(leat_shm_look(shm, f, 50, 10), LEAT_SHM_FINAL);
	leat_shm_file_update(f, LEAT_SHM_FAILED, LEAT_SHM_COMMITTED);
	assert_int_equal(leat_shm_look(shm, f, 10, 1), -EIO);
	leat_shm_extents_give(shm, table);
}

static void finds_the_next_part(void **state)
{
	static const struct leat_range parts[] = {{0, 5}, {10, 20}};
	struct leat_range found;
	uint32_t table;
	struct leat_shm_file *f = file_of(SLOT, parts, 2, &table);

	(void)state;
	assert_int_equal(leat_shm_extent(shm, f, 0, &found), 1);
	assert_int_equal(found.end, 5);
	assert_int_equal(leat_shm_extent(shm, f, 5, &found), 1);
	assert_int_equal(found.begin, 10);
	assert_int_equal(found.end, 20);
	assert_int_equal(leat_shm_extent(shm, f, 20, &found), 0);
	/* Joined by the frontier. */
	leat_shm_publish(f, 10);
	assert_int_equal(leat_shm_extent(shm, f, 7, &found), 1);
	assert_int_equal(found.begin, 0);
	assert_int_equal(found.end, 20);
	/* Without EXTENTS only the frontier counts. */
	leat_shm_file_update(f, 0, LEAT_SHM_EXTENTS);
	assert_int_equal(leat_shm_extent(shm, f, 7, &found), 1);
	assert_int_equal(found.end, 10);
	assert_int_equal(leat_shm_extent(shm, f, 10, &found), 0);
	leat_shm_extents_give(shm, table);
}

static void finds_what_was_consumed(void **state)
{
	static const struct leat_range parts[] = {{10, 20}, {30, 40}, {50, 60}};
	static const struct {
		struct leat_range asked, part; /* an empty part: none */
	} cases[] = {
		{{0, 10}, {0, 0}},    {{20, 30}, {0, 0}},   {{0, 100}, {30, 40}},
		{{35, 36}, {35, 36}}, {{50, 60}, {50, 60}}, {{10, 20}, {0, 0}},
		{{40, 50}, {0, 0}},   {{39, 55}, {39, 40}}, {{60, UINT64_MAX}, {0, 0}},
	};
	uint32_t table;
	struct leat_shm_file *f = file_of(SLOT, parts, 3, &table);

	(void)state;
	leat_shm_consumed(f, 30, 5);
	leat_shm_consumed(f, 55, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_range part = {0, 0};
		bool is = leat_shm_consumed_part(shm, f, cases[i].asked, &part);

		assert_int_equal(is, cases[i].part.end != 0);
		if (!is)
			continue;
		assert_int_equal(part.begin, cases[i].part.begin);
		assert_int_equal(part.end, cases[i].part.end);
	}
	leat_shm_extents_give(shm, table);
}

/* What does not fit, or belongs to another file, only the daemon knows. */
static void sends_to_the_daemon(void **state)
{
	struct leat_range *many = calloc(LEAT_SHM_MAX_RANGES + 1, sizeof(*many));
	uint32_t tables[LEAT_SHM_MAX_TABLES], none;
	struct leat_shm_file *f;

	(void)state;
	for (uint64_t i = 0; i <= LEAT_SHM_MAX_RANGES; i++)
		many[i] = (struct leat_range){10 * i + 5, 10 * i + 10};
	f = file_of(SLOT, many, LEAT_SHM_MAX_RANGES, &tables[0]);
	assert_int_equal(leat_shm_look(shm, f, 10 * LEAT_SHM_MAX_RANGES - 5, 5), LEAT_SHM_THERE);
	f = file_of(SLOT, many, LEAT_SHM_MAX_RANGES + 1, &tables[1]);
	leat_shm_extents_give(shm, tables[0]);
	atomic_store(&f->table, tables[1]);
	assert_int_equal(leat_shm_look(shm, f, 5, 5), LEAT_SHM_THERE);
	assert_int_equal(leat_shm_look(shm, f, 5, 6), LEAT_SHM_NOT_YET);
	assert_int_equal(leat_shm_look(shm, f, 10 * LEAT_SHM_MAX_RANGES + 5, 5), LEAT_SHM_ASK);
	leat_shm_extents_give(shm, tables[1]);
	assert_int_equal(leat_shm_look(shm, f, 5, 5), LEAT_SHM_ASK);
	for (uint32_t i = 0; i < LEAT_SHM_MAX_TABLES; i++) {
		f = file_of(SLOT + i, many, 1, &tables[i]);
		assert_int_not_equal(tables[i], 0);
	}
	atomic_store(&shm->files[SLOT].table, tables[1]);
	assert_int_equal(leat_shm_look(shm, &shm->files[SLOT], 5, 5), LEAT_SHM_ASK);
	f = file_of(SLOT + LEAT_SHM_MAX_TABLES, many, 1, &none);
	assert_int_equal(none, 0);
	assert_int_equal(leat_shm_look(shm, f, 5, 5), LEAT_SHM_ASK);
	for (uint32_t i = 0; i < LEAT_SHM_MAX_TABLES; i++)
		leat_shm_extents_give(shm, tables[i]);
	free(many);
}

struct waiting {
	struct leat_shm_file *f;
	struct leat_range range;
	int rc;
};

static void *wait_for_part(void *arg)
{
	struct waiting *w = arg;
	uint32_t seq;

	do {
		seq = leat_shm_seq(w->f);
		if (leat_shm_look(shm, w->f, w->range.begin, w->range.end - w->range.begin))
			break;
		w->rc = leat_shm_wait_range(w->f, seq, &w->range, (uint64_t)20 * SECOND);
	} while (w->rc != -ETIMEDOUT);
	return NULL;
}

static void wakes_who_waits_for_the_part(void **state)
{
	enum { N = 40 };
	static const uint64_t mb = 1 << 20;
	struct leat_range parts[N] = {0};
	struct waiting waiting[N];
	pthread_t threads[N];
	uint32_t table;
	struct leat_shm_file *f = file_of(SLOT, parts, 0, &table);

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		parts[i] = (struct leat_range){2 * i * mb + 1, (2 * i + 1) * mb};
		waiting[i] = (struct waiting){f, {parts[i].end - 5, parts[i].end}, 0};
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_part, &waiting[i]), 0);
	}
	usleep(20000);
	for (size_t i = 0; i < N; i++) {
		leat_shm_extents_put(shm, table, parts, i + 1, &parts[i]);
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_not_equal(waiting[i].rc, -ETIMEDOUT);
	}
	assert_int_equal(leat_shm_wait_range(f, leat_shm_seq(f), &parts[0], 1000000), -ETIMEDOUT);
	leat_shm_extents_give(shm, table);
}

enum { ROUNDS = 20000 };

/* No range is longer than four bytes, and there always is one. */
static void *look_often(void *arg)
{
	struct leat_shm_file *f = arg;
	struct leat_range found;
	uintptr_t wrong = 0;

	for (uint64_t i = 0; leat_shm_flags(f) & LEAT_SHM_EXTENTS; i++) {
		int rc = leat_shm_extent(shm, f, 1 + i % 900, &found);

		if (rc == 1 && (found.begin % 10 != 5 || found.end - found.begin > 4 || !found.end))
			wrong++;
		if (rc == 0 && leat_shm_flags(f) & LEAT_SHM_EXTENTS)
			wrong++;
	}
	return (void *)wrong;
}

static void shows_no_table_half_written(void **state)
{
	enum { N = 100, READERS = 2 };
	struct leat_range parts[N];
	pthread_t threads[READERS];
	struct leat_shm_file *f;
	uint32_t table;

	(void)state;
	for (uint64_t i = 0; i < N; i++)
		parts[i] = (struct leat_range){10 * i + 5, 10 * i + 6};
	f = file_of(SLOT, parts, N, &table);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_often, f), 0);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < N; i++)
			parts[i].end = parts[i].begin + 1 + round % 4;
		leat_shm_extents_put(shm, table, parts, N, &parts[0]);
	}
	leat_shm_file_update(f, 0, LEAT_SHM_EXTENTS);
	for (int i = 0; i < READERS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	leat_shm_extents_give(shm, table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_at_parts),
		cmocka_unit_test(finds_the_next_part),
		cmocka_unit_test(finds_what_was_consumed),
		cmocka_unit_test(sends_to_the_daemon),
		cmocka_unit_test(wakes_who_waits_for_the_part),
		cmocka_unit_test(shows_no_table_half_written),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
