/* base/acl: the mode that an access control list gives. */
#include "base/acl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct entry {
	uint16_t tag, rights;
	uint32_t id;
};

static const struct {
	int mode;
	struct entry e[6]; /* up to a tag of 0 */
} cases[] = {
	{0754, {{1, 7, 0}, {4, 5, 0}, {32, 4, 0}}},
	{0660, {{1, 6, 0}, {2, 7, 9}, {4, 0, 0}, {16, 6, 0}, {32, 0, 0}}}, /* the mask shows */
	{0000, {{1, 0, 0}, {4, 0, 0}, {32, 0, 0}}},
	{-1, {{1, 7, 0}, {4, 5, 0}}},
	{-1, {{4, 5, 0}, {32, 4, 0}}},
	{-1, {{0, 0, 0}}},
};

static void test_mode(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char list[4 + sizeof(cases[i].e)] = {2};
		size_t n = 0;

		while (cases[i].e[n].tag)
			n++;
		memcpy(list + 4, cases[i].e, n * sizeof(struct entry));
		assert_int_equal(leat_acl_mode(list, 4 + n * sizeof(struct entry)), cases[i].mode);
		/* one that is cut off lacks its last */
		assert_int_equal(leat_acl_mode(list, n ? 3 + n * sizeof(struct entry) : 0), -1);
	}
	assert_int_equal(leat_acl_mode(NULL, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_mode)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
