/* Deadlocks that `leat check` reports from the file alone, against the model checker, whose steps
 * read their inputs to the end: they are reported, as errors or as circles of growing files,
 * where no order of events ends well, and nowhere else. */
#include "cases.h"
#include "family.h"

#include "lang/check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STRIDE = 29 };

static bool is_foreseen(const struct leat_workflow *wf)
{
	struct leat_diags *diags = leat_diags_new("workflow", NULL);
	bool foreseen;

	assert_non_null(diags);
	assert_true(leat_check_workflow(wf, NULL, false, diags) >= 0);
	foreseen = leat_diags_has(diags, "L-CHECK-DEADLOCK") ||
		   leat_diags_has(diags, "L-CHECK-WAIT-CYCLE");
	leat_diags_free(diags);
	return foreseen;
}

/* No order ends well. */
static bool is_certain(const struct world *w)
{
	struct leat_verify_bounds bounds = {.open = 1};
	struct leat_verify_result r;
	struct leat_verify *v = verify_world_run(w, &bounds, &r);

	assert_true(r.complete);
	leat_verify_free(v);
	return !r.ends;
}

static void test_shape(void **state)
{
	const struct family_shape *shape = *state;
	unsigned n = 0;

	for (unsigned c = 0; c < FAMILY_COMBINATIONS; c += STRIDE) {
		char *text = family_text(shape, c);
		struct world w;
		bool certain;

		world_init(&w, text);
		certain = is_certain(&w);
		n += certain;
		if (is_foreseen(w.wf) != certain)
			fail_msg("%s: %s\n%s", shape->name,
				 certain ? "no order ends well, and leat check says nothing"
					 : "leat check says deadlock, and some order ends well",
				 text);
		world_release(&w);
		free(text);
	}
	print_message("%s: %u of %u certain\n", shape->name, n,
		      (FAMILY_COMBINATIONS + STRIDE - 1) / STRIDE);
}

int main(void)
{
	static struct family_shape shapes[8];
	static struct CMUnitTest tests[8];

	for (unsigned i = 0; i < family_n_shapes; i++) {
		shapes[i] = family_shapes[i];
		tests[i] = (struct CMUnitTest){.name = shapes[i].name,
					       .test_func = test_shape,
					       .initial_state = &shapes[i]};
	}
	return _cmocka_run_group_tests("foreseen", tests, family_n_shapes, NULL, NULL);
}
