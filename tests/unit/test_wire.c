#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "wire/wire.h"

static union {
	struct leat_msg h;
	struct leat_msg_change change;
	char bytes[LEAT_WIRE_MAX];
} buf;

static void test_strings(void **state)
{
	const size_t fixed = sizeof(buf.change);

	(void)state;
	memset(buf.bytes, 'x', sizeof(buf.bytes));
	assert_ptr_equal(leat_wire_begin(&buf, LEAT_MSG_CHANGE, fixed), &buf);
	assert_int_equal(buf.change.flags, 0);
	assert_null(leat_wire_string(&buf, fixed, 0));
	assert_int_equal(leat_wire_put(&buf, "a/b"), 0);
	assert_int_equal(leat_wire_put(&buf, ""), 0);
	assert_int_equal(leat_wire_put(&buf, "c"), 0);
	assert_int_equal(buf.h.size, fixed + 4 + 1 + 2);
	assert_string_equal(leat_wire_string(&buf, fixed, 0), "a/b");
	assert_string_equal(leat_wire_string(&buf, fixed, 1), "");
	assert_string_equal(leat_wire_string(&buf, fixed, 2), "c");
	assert_null(leat_wire_string(&buf, fixed, 3));
	buf.h.size--; /* the last string has lost its end */
	assert_null(leat_wire_string(&buf, fixed, 2));
}

static void test_too_long(void **state)
{
	static char text[LEAT_WIRE_MAX];

	(void)state;
	memset(text, 'y', sizeof(text) - 1);
	leat_wire_begin(&buf, LEAT_MSG_CHANGE, sizeof(buf.change));
	assert_int_equal(leat_wire_put(&buf, text), -EMSGSIZE);
	assert_int_equal(buf.h.size, sizeof(buf.change));
	text[sizeof(text) - 1 - sizeof(buf.change)] = 0;
	assert_int_equal(leat_wire_put(&buf, text), 0);
	assert_int_equal(buf.h.size, LEAT_WIRE_MAX);
	assert_int_equal(leat_wire_put(&buf, ""), -EMSGSIZE);
}

static void test_check(void **state)
{
	const size_t fixed = sizeof(buf.change);

	(void)state;
	leat_wire_begin(&buf, LEAT_MSG_CHANGE, fixed);
	assert_int_equal(leat_wire_check(&buf, fixed, fixed), 0);
	assert_int_equal(leat_wire_check(&buf, fixed - 1, fixed), -EPROTO);
	assert_int_equal(leat_wire_check(&buf, 3, 0), -EPROTO);
	assert_int_equal(leat_wire_check(&buf, sizeof(buf) + 1, fixed), -EPROTO);
	buf.h.size++;
	assert_int_equal(leat_wire_check(&buf, fixed, fixed), -EPROTO);
	buf.h.size--;
	buf.h.version++;
	assert_int_equal(leat_wire_check(&buf, fixed, fixed), -EPROTO);
}

static void test_fixed_sizes(void **state)
{
	(void)state;
	for (unsigned type = LEAT_MSG_HELLO; type <= LEAT_MSG_BECOMES; type++)
		assert_true(leat_wire_fixed_size(type) >= sizeof(struct leat_msg));
	for (unsigned type = LEAT_MSG_WELCOME; type <= LEAT_MSG_ACT; type++)
		assert_true(leat_wire_fixed_size(type) >= sizeof(struct leat_msg));
	assert_int_equal(leat_wire_fixed_size(0), 0);
	assert_int_equal(leat_wire_fixed_size(LEAT_MSG_BECOMES + 1), 0);
	assert_int_equal(leat_wire_fixed_size(1000), 0);
}

static void test_session_path(void **state)
{
	static const struct {
		const char *runtime;
		unsigned uid;
		const char *dir, *path;
	} cases[] = {
		{NULL, 0, "", "/tmp/leat-0/cbf29ce484222325/socket"},
		{"", 65534, "a", "/tmp/leat-65534/af63dc4c8601ec8c/socket"},
		{"/run/user/1", 1, "foobar", "/run/user/1/85944171f73967e8/socket"},
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(leat_wire_session_path(cases[i].runtime, cases[i].uid,
							cases[i].dir, path, sizeof(path)),
				 0);
		assert_string_equal(path, cases[i].path);
	}
	for (size_t size = 0; size <= strlen(path); size++)
		assert_int_equal(leat_wire_session_path("/run/user/1", 1, "foobar", path, size),
				 -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),      cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_check),        cmocka_unit_test(test_fixed_sizes),
		cmocka_unit_test(test_session_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
