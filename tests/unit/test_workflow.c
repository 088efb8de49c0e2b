#include "model/workflow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_text.h"

#define FULL                                                                                       \
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"      \
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"        \
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n"

static void builds_and_finds(void **state)
{
	struct leat_workflow *wf = model_from_text(FULL);

	(void)state;
	assert_int_equal(wf->n_steps, 2);
	assert_int_equal(leat_workflow_find_step(wf, "A"), 0);
	assert_int_equal(leat_workflow_find_step(wf, "B"), 1);
	assert_int_equal(leat_workflow_find_step(wf, "b"), -1);
	assert_int_equal(wf->steps[0].instances, 1);
	assert_int_equal(wf->steps[0].rules[0].commit, LEAT_COMMIT_ON_FILE);
	assert_string_equal(wf->steps[0].rules[0].deps.v[0].text, "z");
	assert_int_equal(wf->steps[0].rules[1].count, 3);
	assert_int_equal(wf->home_manual[0].process, 2);
	leat_workflow_free(wf);
	leat_workflow_free(NULL);
}

static void grows_without_losing_any(void **state)
{
	struct leat_names names = {NULL, 0};
	char text[16];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "f%d", i);
		assert_int_equal(
			leat_names_add(&names, text, (struct leat_pos){.line = i, .column = 1}), 0);
	}
	assert_int_equal(names.n, 1000);
	assert_string_equal(names.v[777].text, "f777");
	assert_int_equal(names.v[777].pos.line, 777);
	leat_names_release(&names);
	assert_int_equal(names.n, 0);
	assert_null(names.v);
}

/* Each model differs from FULL in one thing. */
static const char *const different[] = {
	"name v\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	FULL "permanent q\n",
	FULL "exclude q\n",
	FULL "fs q\n",
	FULL "memory q\n",
	FULL "create q\n",
	FULL "hashing q\n",
	FULL "manual B:2 q\n",
	FULL "alias h q\n",
	FULL "step C\n",
	FULL "in q\n",
	FULL "out q\n",
	FULL "run q\n",
	FULL "rule q on_close update\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update x\ndir d n_files:3 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:4 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\nrule d n_files:3 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"
	"run prog -a c\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"
	"run prog -a b\nstep B\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual A:2 d\nalias g x y\nkept\n",
	"name w\nstep A\nin x\nout y z\nrule y on_file update z\ndir d n_files:3 no_update\n"
	"run prog -a b\nstep B\nstaged\nin y\npermanent y\nexclude *.log\nfs z\nmemory y\n"
	"create y\nhashing z\nmanual B:2 d\nalias g x y\n",
};

static void tells_models_apart(void **state)
{
	struct leat_workflow *full = model_from_text(FULL);
	struct leat_workflow *again = model_from_text("\n" FULL); /* other positions */

	(void)state;
	assert_true(leat_workflow_equal(full, again));
	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
		struct leat_workflow *wf = model_from_text(different[i]);

		if (leat_workflow_equal(full, wf) || leat_workflow_equal(wf, full))
			fail_msg("taken for equal: row %zu", i);
		leat_workflow_free(wf);
	}
	leat_workflow_free(full);
	leat_workflow_free(again);
}

static void spells_rules(void **state)
{
	char b[32];

	(void)state;
	assert_string_equal(leat_commit_text(LEAT_COMMIT_ON_TERMINATION, 0, b), "on_termination");
	assert_string_equal(leat_commit_text(LEAT_COMMIT_ON_TERMINATION, 2, b), "on_termination:2");
	assert_string_equal(leat_commit_text(LEAT_COMMIT_ON_CLOSE, 0, b), "on_close");
	assert_string_equal(leat_commit_text(LEAT_COMMIT_ON_CLOSE, 1, b), "on_close:1");
	assert_string_equal(leat_commit_text(LEAT_COMMIT_ON_FILE, 0, b), "on_file");
	assert_string_equal(leat_commit_text(LEAT_COMMIT_N_FILES, 4000000000u, b),
			    "n_files:4000000000");
	assert_string_equal(leat_fire_text(LEAT_FIRE_ON_COMMIT), "update");
	assert_string_equal(leat_fire_text(LEAT_FIRE_NO_UPDATE), "no_update");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_and_finds),
		cmocka_unit_test(grows_without_losing_any),
		cmocka_unit_test(tells_models_apart),
		cmocka_unit_test(spells_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
