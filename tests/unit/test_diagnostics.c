/* The table of diagnostics: each row is complete, and some fixture gives it. */
#include "lang/syntax/diagnostics.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/fd.h"
#include "base/str.h"

static const char *const constants[L_N_CODES] = {
#define SECTION(title)
#define DIAGNOSTIC(id, text, gravest, what, todo) [id] = #id,
#include "lang/syntax/diagnostics.def"
#undef DIAGNOSTIC
#undef SECTION
};

static void constants_are_codes(void **state)
{
	(void)state;
	for (size_t i = 0; i < L_N_CODES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s", leat_lang_diagnostics[i].code);
		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : *c;
		assert_string_equal(name, constants[i]);
	}
}

static bool is_sentence(const char *text)
{
	return text[0] && !islower((unsigned char)text[0]) && text[strlen(text) - 1] == '.';
}

static void rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < L_N_CODES; i++) {
		const struct leat_lang_diagnostic *d = &leat_lang_diagnostics[i];

		if (!d->meaning || !strchr(d->meaning, ' ') || !d->fix || !is_sentence(d->fix))
			fail_msg("%s: say what it means and what can be done", d->code);
	}
}

/* What no fixture can give, and where it is tested. */
static const enum leat_lang_code tested_elsewhere[] = {
	L_CHECK_HOME_STEP,   /* front ends see it first: test_check */
	L_CHECK_ACTION_LOAD, /* needs a process: t/1630-actions.bats */
	L_FILE_BIG,          /* 16 MiB: test_lang_syntax */
};

static bool is_tested_elsewhere(size_t code)
{
	for (size_t i = 0; i < sizeof(tested_elsewhere) / sizeof(*tested_elsewhere); i++)
		if (tested_elsewhere[i] == code)
			return true;
	return false;
}

static void each_has_a_fixture(void **state)
{
	static const char *const folders[] = {"lang", "check", "resources"};
	const char *source = getenv("LEAT_SOURCE_DIR");
	char *texts[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *path = leat_strf("%s/tests/fixtures/%s/expected.txt", source ? source : ".",
				       folders[i]);

		assert_int_equal(leat_read_file(path, 1 << 20, &texts[i], NULL), 0);
		free(path);
	}
	for (size_t c = 0; c < L_N_CODES; c++) {
		char *end = leat_strf("[%s]\n", leat_lang_diagnostics[c].code);
		bool found = false;

		for (size_t i = 0; i < 3; i++)
			found |= strstr(texts[i], end) != NULL;
		if (found == is_tested_elsewhere(c))
			fail_msg("%s: %s", leat_lang_diagnostics[c].code,
				 found ? "has a fixture" : "no fixture gives it");
		free(end);
	}
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_codes),
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(each_has_a_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
