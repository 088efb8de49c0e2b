/* Names of committed files in the shared segment. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "shm/names.h"
#include "segment.h"
#include "short.h"

static struct leat_shm_fact fact_of(uint32_t slot)
{
	return (struct leat_shm_fact){.common = slot * 3,
				      .consumers = slot * 5,
				      .changes = leat_shm_file_changes(&shm->files[slot]),
				      .slot = slot};
}

static void put(const char *name, uint32_t slot)
{
	const struct leat_shm_fact fact = fact_of(slot);

	leat_shm_name_put(shm, name, &fact);
}

static uint32_t slot_of(const char *name)
{
	struct leat_shm_fact fact;

	return leat_shm_name_find(shm, name, strlen(name), &fact) ? fact.slot : 0;
}

static void test_put_and_find(void **state)
{
	struct leat_shm_fact fact;

	(void)state;
	assert_int_equal(slot_of("a"), 0);
	put("a", 1);
	put("a/b", 2);
	put("ab", 3);
	assert_int_equal(slot_of("a"), 1);
	assert_int_equal(slot_of("a/b"), 2);
	assert_int_equal(slot_of("ab"), 3);
	assert_int_equal(slot_of("a/"), 0);
	assert_int_equal(slot_of("b"), 0);
	assert_true(leat_shm_name_find(shm, "abc", 2, &fact)); /* so many bytes of it */
	assert_int_equal(fact.slot, 3);
	assert_int_equal(fact.common, 9);
	assert_int_equal(fact.consumers, 15);
	put("a", 7);
	assert_int_equal(slot_of("a"), 7);
}

static void test_lengths(void **state)
{
	char name[128];

	(void)state;
	for (size_t length = 1; length < sizeof(name); length++) {
		memset(name, 'x', length);
		name[length] = '\0';
		put(name, (uint32_t)length);
		assert_int_equal(slot_of(name), length <= sizeof(shm->names[0].text) ? length : 0);
	}
	put("", 1);
	assert_int_equal(slot_of(""), 0);
}

/* More names than there is space for: each is found right or not at all, the last one always. */
static void test_full(void **state)
{
	const uint32_t n = LEAT_SHM_MAX_NAMES + LEAT_SHM_MAX_NAMES / 4;
	const uint32_t step = short_or_full(5, 1);
	unsigned found = 0;
	char name[32];

	(void)state;
	for (uint32_t i = 1; i <= n && i < LEAT_SHM_MAX_FILES; i++) {
		snprintf(name, sizeof(name), "dir/file-%u", i);
		put(name, i);
		assert_int_equal(slot_of(name), i);
	}
	for (uint32_t i = 1; i <= n && i < LEAT_SHM_MAX_FILES; i += step) {
		uint32_t slot;

		snprintf(name, sizeof(name), "dir/file-%u", i);
		slot = slot_of(name);
		assert_true(slot == 0 || slot == i);
		found += slot != 0;
	}
	assert_true(found > LEAT_SHM_MAX_NAMES / step / 2);
}

/* Names of changed files make space first. */
static void test_stale_go_first(void **state)
{
	const unsigned rounds = short_or_full(2, 20);
	char name[32];
	unsigned found = 0;

	(void)state;
	for (uint32_t i = 1; i < LEAT_SHM_MAX_NAMES / 4; i++) {
		snprintf(name, sizeof(name), "keep-%u", i);
		put(name, i);
	}
	for (unsigned round = 0; round < rounds; round++) {
		for (uint32_t i = LEAT_SHM_MAX_NAMES / 4; i < LEAT_SHM_MAX_NAMES / 2; i++) {
			snprintf(name, sizeof(name), "round-%u-%u", round, i);
			put(name, i);
			leat_shm_file_changed(&shm->files[i]);
		}
	}
	for (uint32_t i = 1; i < LEAT_SHM_MAX_NAMES / 4; i++) {
		snprintf(name, sizeof(name), "keep-%u", i);
		found += slot_of(name) == i;
	}
	assert_true(found > LEAT_SHM_MAX_NAMES / 4 * 9 / 10);
}

enum { ROUNDS = 200000 };

/* Its name is where that of the second file is. */
enum { OTHER = LEAT_SHM_MAX_NAMES + 2 };

static atomic_bool met;

static void *write_names(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; !atomic_load(&met); i++) /* in one place: now this, now that name */
		put(i % 2 ? "first name" : "2nd name, which is longer", i % 2 ? 2 : OTHER);
	return NULL;
}

static void test_reader_meets_writer(void **state)
{
	unsigned found[3] = {0};
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_names, NULL), 0);
	/* However the two threads are scheduled, until both names were seen. */
	for (int i = 0; i < ROUNDS || !found[1] || !found[2]; i++) {
		struct leat_shm_fact fact;

		leat_shm_file_changed(&shm->files[i % 2 ? 2 : OTHER]);
		if (leat_shm_name_find(shm, "first name", 10, &fact)) {
			assert_int_equal(fact.slot, 2);
			assert_int_equal(fact.common, 6);
			found[2]++;
		}
		if (leat_shm_name_find(shm, "2nd name, which is longer", 25, &fact)) {
			assert_int_equal(fact.slot, OTHER);
			assert_int_equal(fact.common, 3 * OTHER);
			found[1]++;
		}
	}
	atomic_store(&met, true);
	pthread_join(writer, NULL);
}

/* Whatever a client wrote there, nobody reads beyond its bounds. */
static void test_hostile(void **state)
{
	const uint32_t n = short_or_full(20000, 100000);
	struct leat_shm_fact fact;

	(void)state;
	for (uint32_t i = 0; i < LEAT_SHM_MAX_NAMES; i++) {
		memset(&shm->names[i], 0xfe, sizeof(shm->names[i]));
		shm->names[i].slot = i % 2 ? UINT32_MAX : LEAT_SHM_MAX_FILES;
		shm->names[i].length = i % 3 ? UINT32_MAX : sizeof(shm->names[i].text) + 1;
	}
	for (uint32_t i = 0; i < LEAT_SHM_MAX_PLACES; i++)
		atomic_store(&shm->places[i], i % 2 ? UINT32_MAX - i : i << 12);
	for (uint32_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u", i);
		assert_false(leat_shm_name_find(shm, name, strlen(name), &fact));
	}
	put("n1", 1);
	assert_int_equal(slot_of("n1"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_put_and_find, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_meets_writer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
