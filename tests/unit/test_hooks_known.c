/* What several threads remember of committed files, and forget: never half of one and half of
 * another. Sequence words are between fences, of which ThreadSanitizer does not know. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "preload/connection/client.h"
#include "preload/path/resolve_cache.h"
#include "preload_world.h"

enum { THREADS = 4, NAMES = 20000, ROUNDS = 60000 };

/* All of a file's facts tell which it is. */
static void remember(uint32_t i, const char *name, uint32_t slot)
{
	struct leat_resolve_cached known = {
		.common = leat_resolve_cache_common(), .slot = slot, .input = i % 2};
	struct stat st;

	known.changes = leat_shm_file_changes(world_record(slot));
	memset(&st, (int)(i % 251), sizeof(st));
	st.st_size = i;
	leat_resolve_cache_put(name, strlen(name), &known, &st);
}

static bool is_right(uint32_t i, const struct leat_resolve_cached *known, const struct stat *st)
{
	struct stat wanted;

	memset(&wanted, (int)(i % 251), sizeof(wanted));
	wanted.st_size = i;
	return known->input == i % 2 && memcmp(st, &wanted, sizeof(wanted)) == 0;
}

static void *rememberer(void *arg)
{
	const uint32_t slot = *(uint32_t *)arg;
	uint32_t x = (uint32_t)(uintptr_t)pthread_self() | 1;
	uintptr_t wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct leat_resolve_cached known;
		struct stat st;
		char name[24];
		uint32_t which;

		x = x * 1664525 + 1013904223;
		which = x >> 8 & 1 ? x % NAMES : x % 7; /* all over, and the same ones */
		snprintf(name, sizeof(name), "name-%u", which);
		if (x >> 9 & 1)
			remember(which, name, slot);
		else if (leat_resolve_cache_find(name, strlen(name), false, &known, &st))
			wrong += !is_right(which, &known, &st);
		if (i % 1000 == 0)
			leat_resolve_cache_forget();
	}
	return (void *)wrong;
}

static void test_threads(void **state)
{
	uint32_t slot = world_file("known", LEAT_KIND_PRODUCER);
	pthread_t threads[THREADS];
	int fd = world_open("known", O_RDWR | O_CREAT); /* connects */

	(void)state;
	assert_true(fd >= 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, rememberer, &slot), 0);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_int_equal((uintptr_t)wrong, 0);
	}
	world_close(fd);
}

/* Once a counter has moved nothing that was remembered before holds. */
static void test_forgotten(void **state)
{
	uint32_t slot = world_file("forgotten", LEAT_KIND_PRODUCER);
	struct leat_resolve_cached known;
	struct stat st;

	(void)state;
	remember(5, "forgotten", slot);
	assert_true(leat_resolve_cache_find("forgotten", 9, false, &known, &st));
	leat_shm_file_changed(world_record(slot));
	assert_false(leat_resolve_cache_find("forgotten", 9, false, &known, &st));
	remember(5, "forgotten", slot);
	assert_true(leat_resolve_cache_find("forgotten", 9, false, &known, &st));
	leat_resolve_cache_forget();
	assert_false(leat_resolve_cache_find("forgotten", 9, false, &known, &st));
	remember(5, "forgotten", slot);
	leat_resolve_cache_changing();
	leat_resolve_cache_changed();
	assert_false(leat_resolve_cache_find("forgotten", 9, false, &known, &st));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}
