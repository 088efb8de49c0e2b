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
	assert_string_equal(wf->steps[0].task, "A");
	assert_int_equal(wf->steps[0].ensemble, 1);
	assert_int_equal(wf->steps[0].nprocs, 1);
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

/* A step with everything that an ensemble and its ports have. */
static struct leat_workflow *ensemble(void)
{
	struct leat_workflow *wf = model_from_text("step P\nout p.0/x\nstep c.1\nin p.0/x");
	struct leat_step *step = &wf->steps[1];
	const struct leat_pos pos = {.line = 2};
	struct leat_name port = {.text = (char[]){"x"}};
	struct leat_dset *dset = leat_step_add_dset(step, &port, "/grid", pos);
	struct leat_inport *inport = leat_step_add_inport(step, "c.1/x", pos);

	assert_non_null(dset);
	assert_non_null(inport);
	dset->in = dset->memory = true;
	inport->flow = LEAT_FLOW_SOME;
	inport->every = 2;
	assert_int_equal(leat_inport_add_source(inport, 0, "p.0/x"), 0);
	step->instance = 1;
	step->ensemble = 2;
	step->dir = strdup("c.1");
	step->nprocs = 4;
	step->nwriters = 2;
	step->action_file = strdup("a.py");
	step->action_function = strdup("f");
	step->container = strdup("debian:12");
	return wf;
}

static void change_text(char **text)
{
	free(*text);
	*text = strdup("~");
}

/* What is a list of its own, or not a number. */
static bool change_other(struct leat_step *step, size_t i)
{
	const struct leat_pos pos = {.line = 1};

	if (i == 0)
		step->relaunch = LEAT_RELAUNCH_NEVER;
	else if (i == 1)
		step->inports[0].flow = LEAT_FLOW_ALL;
	else if (i == 2)
		step->inports[0].sources[0].step = 1;
	else if (i == 3)
		assert_int_equal(leat_inport_add_source(&step->inports[0], 0, "y"), 0);
	else if (i == 4)
		assert_non_null(leat_step_add_inport(step, "c.1/z", pos));
	else if (i == 5)
		assert_non_null(leat_step_add_dset(step, &step->dsets[0].port, "/g", pos));
	else if (i == 6)
		change_text(&step->container);
	else if (i == 7)
		step->engine = LEAT_ENGINE_PODMAN;
	return i < 8;
}

/* Change one thing; false if there is nothing more to change. */
static bool change(struct leat_step *step, size_t i)
{
	struct leat_inport *in = &step->inports[0];
	struct leat_dset *dset = &step->dsets[0];
	char **texts[] = {
		&step->task,    &step->dir,           &step->action_file, &step->action_function,
		&in->seen.text, &in->sources[0].made, &dset->port.text,   &dset->name.text};
	unsigned *numbers[] = {&step->instance, &step->ensemble, &step->nprocs, &step->nwriters,
			       &in->every};
	bool *flags[] = {&dset->in, &dset->file, &dset->memory};

	if (i < 8)
		change_text(texts[i]);
	else if (i < 13)
		++*numbers[i - 8];
	else if (i < 16)
		*flags[i - 13] = !*flags[i - 13];
	return i < 16 || change_other(step, i - 16);
}

static void tells_ensembles_apart(void **state)
{
	struct leat_workflow *a = ensemble();
	bool more = true;

	(void)state;
	for (size_t i = 0; more; i++) {
		struct leat_workflow *b = ensemble();

		assert_true(leat_workflow_equal(a, b));
		more = change(&b->steps[1], i);
		if (more && (leat_workflow_equal(a, b) || leat_workflow_equal(b, a)))
			fail_msg("taken for equal: change %zu", i);
		leat_workflow_free(b);
	}
	leat_workflow_free(a);
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
		cmocka_unit_test(builds_and_finds),   cmocka_unit_test(grows_without_losing_any),
		cmocka_unit_test(tells_models_apart), cmocka_unit_test(tells_ensembles_apart),
		cmocka_unit_test(spells_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
