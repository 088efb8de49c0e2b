/* Which instances of two ensembles are linked: tables, and what holds for all numbers. */
#include "model/pairing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* "p0 p1 | p2 p3": the producers of each consumer. */
static const struct {
	unsigned producers, consumers;
	const char *table;
} rows[] = {
	{1, 1, "0"},
	{4, 2, "0 1|2 3"},
	{2, 4, "0|0|1|1"},
	{3, 3, "0|1|2"},
	{5, 2, "0 1 2|3 4"},
	{2, 5, "0|0|0|1|1"},
	{7, 3, "0 1 2|3 4|5 6"},
	{3, 7, "0|0|0|1|1|2|2"},
	{6, 1, "0 1 2 3 4 5"},
	{1, 6, "0|0|0|0|0|0"},
};

static void fills_the_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		for (unsigned c = 0; c < rows[i].consumers; c++) {
			struct leat_instances in =
				leat_pairing(rows[i].producers, rows[i].consumers, c);

			fputs(c ? "|" : "", out);
			for (unsigned k = 0; k < in.n; k++)
				fprintf(out, "%s%u", k ? " " : "", in.first + k);
		}
		fclose(out);
		assert_string_equal(text, rows[i].table);
	}
}

static void gives_one_to_all_256(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		struct leat_instances in = leat_pairing(1, 256, c);

		assert_int_equal(in.first, 0);
		assert_int_equal(in.n, 1);
	}
	assert_int_equal(leat_pairing(256, 1, 0).first, 0);
	assert_int_equal(leat_pairing(256, 1, 0).n, 256);
}

/* Every instance is linked, the shares of the smaller list differ by at most one, and the ranges
 * say the same as the formula. */
static void check_pair(unsigned p, unsigned c)
{
	unsigned shares[32] = {0}, links = 0, least = 32, most = 0;
	unsigned few = p < c ? p : c, many = p < c ? c : p;

	for (unsigned i = 0; i < c; i++) {
		struct leat_instances in = leat_pairing(p, c, i);

		assert_true(in.n >= 1 && in.first + in.n <= p);
		assert_true(in.n <= leat_pairing_most(p, c));
		for (unsigned k = 0; k < p; k++) {
			bool linked = k >= in.first && k < in.first + in.n;

			assert_int_equal(leat_is_paired(p, c, k, i), linked);
			shares[p < c ? k : i] += linked;
			links += linked;
		}
	}
	assert_int_equal(links, many);
	for (unsigned i = 0; i < few; i++) {
		least = shares[i] < least ? shares[i] : least;
		most = shares[i] > most ? shares[i] : most;
	}
	assert_true(least >= 1 && most - least <= 1);
	assert_int_equal(leat_pairing_most(p, c), p < c ? 1 : most);
}

static void links_all_fairly(void **state)
{
	(void)state;
	for (unsigned p = 1; p <= 32; p++)
		for (unsigned c = 1; c <= 32; c++)
			check_pair(p, c);
}

static void survives_large_numbers(void **state)
{
	struct leat_instances last = leat_pairing(65535, 65534, 65533);

	(void)state;
	assert_int_equal(last.first + last.n, 65535);
	assert_int_equal(leat_pairing(65534, 65535, 65534).first, 65533);
	assert_true(leat_is_paired(65535, 65535, 65534, 65534));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_the_tables),
		cmocka_unit_test(gives_one_to_all_256),
		cmocka_unit_test(links_all_fairly),
		cmocka_unit_test(survives_large_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
