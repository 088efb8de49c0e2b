#include "base/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lines(void **state)
{
	static const struct {
		const char *line, *interpreter,
			*argument; /* no interpreter: the kernel's to refuse */
	} cases[] = {
		{"#!/bin/sh\necho", "/bin/sh", NULL},
		{"#! \t/bin/sh \t\necho", "/bin/sh", NULL},
		{"#!/bin/sh", "/bin/sh", NULL},
		{"#!/bin/sh -e", "/bin/sh", "-e"},
		{"#!/bin/awk \t -f x  y \t\n", "/bin/awk", "-f x  y"},
		{"#!/bin/sh\r\n", "/bin/sh\r", NULL},
		{"#!sh\n", "sh", NULL},
		{"#!\n/bin/sh\n", NULL, NULL},
		{"#!  \n", NULL, NULL},
		{"#!", NULL, NULL},
		{"#", NULL, NULL},
		{"", NULL, NULL},
		{" #!/bin/sh\n", NULL, NULL},
		{"\177ELF", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[LEAT_SCRIPT_LINE];
		struct leat_script s = {0};
		size_t size = strlen(cases[i].line);

		memset(line, 'x', sizeof(line));
		memcpy(line, cases[i].line, size);
		assert_int_equal(!!cases[i].interpreter, leat_script_parse(line, size, &s));
		if (!cases[i].interpreter)
			continue;
		assert_string_equal(cases[i].interpreter, s.interpreter);
		assert_int_equal(!!cases[i].argument, !!s.argument);
		if (s.argument)
			assert_string_equal(cases[i].argument, s.argument);
	}
}

/* A line that does not end within what the kernel looks at. */
static void long_lines(void **state)
{
	char line[LEAT_SCRIPT_LINE];
	struct leat_script s;

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/", 3);
	assert_false(leat_script_parse(line, sizeof(line), &s));
	line[LEAT_SCRIPT_LINE - 1] = '\n';
	assert_true(leat_script_parse(line, sizeof(line), &s));
	assert_int_equal(LEAT_SCRIPT_LINE - 3, strlen(s.interpreter));
	memset(line, 'x', sizeof(line));
	memcpy(line, "#!/bin/sh ", 10);
	assert_true(leat_script_parse(line, sizeof(line), &s));
	assert_string_equal("/bin/sh", s.interpreter);
	assert_int_equal(LEAT_SCRIPT_LINE - 1 - 10, strlen(s.argument));
	memset(line, ' ', sizeof(line));
	memcpy(line, "#!", 2);
	assert_false(leat_script_parse(line, sizeof(line), &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
