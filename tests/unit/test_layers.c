#include "base/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_layers(struct leat_layers l, const char *const *expected)
{
	char path[64];

	while (leat_layers_next(&l, path, sizeof(path))) {
		assert_non_null(*expected);
		assert_string_equal(path, *expected++);
	}
	assert_null(*expected);
}

static void test_options(void **state)
{
	static const struct {
		const char *options, *expected[5];
	} cases[] = {
		{"", {NULL}},
		{"ro,noatime", {NULL}},
		{"lowerdir=", {NULL}},
		{"lowerdir=/a", {"/a"}},
		{"lowerdir=/a:/b,upperdir=c,workdir=d", {"/a", "/b", "c", "d"}},
		{"ro,lowerdir=/a::/data,index=off", {"/a", "/data"}},
		{"upperdir=/u,xlowerdir=/no,lowerdir=/l", {"/u", "/l"}},
		{"lowerdir=/a\\:b:/c\\,d,ro", {"/a:b", "/c,d"}},
		{"note=a\\,lowerdir=/no,lowerdir+=/yes", {"/yes"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_layers(leat_layers_of_options(cases[i].options), cases[i].expected);
}

static void test_value(void **state)
{
	static const char *const both[] = {"/a,b", "/c", NULL}, *const none[] = {NULL};

	(void)state;
	assert_layers(leat_layers_of_value("/a,b:/c"), both);
	assert_layers(leat_layers_of_value(""), none);
}

static void test_too_long(void **state)
{
	char path[4];
	struct leat_layers l = leat_layers_of_value("/abc:/d");

	(void)state;
	assert_false(leat_layers_next(&l, path, sizeof(path)));
}

static void test_keys(void **state)
{
	(void)state;
	assert_true(leat_layers_is_key("lowerdir"));
	assert_true(leat_layers_is_key("lowerdir+"));
	assert_false(leat_layers_is_key("source"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_value),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
