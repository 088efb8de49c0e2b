/* Times as logs have them. */
#include "associate/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S LEAT_ASSOCIATE_SECOND
#define NEAR (INT64_C(1663859640) * S) /* 2022-09-22 */

static bool iso(const char *text, struct leat_associate_stamp *s)
{
	return leat_associate_stamp_iso(text, s, NULL);
}

static const struct {
	bool (*read)(const char *text, struct leat_associate_stamp *s);
	const char *text;
	int64_t ns; /* 0: it is none */
} cases[] = {
	{iso, "2023-12-12T16:18:11.810+0000", 1702397891 * S + 810000000},
	{iso, "2023-12-12 16:18:11,810", 1702397891 * S + 810000000},
	{iso, "2023-12-12 18:18:11.81+02:00", 1702397891 * S + 810000000},
	{iso, "2023-12-12T11:48:11-0430 rest", 1702397891 * S},
	{iso, "2025-07-29T15:52:30.705134304Z", 1753804350 * S + 705134304},
	{iso, "2025-07-29T15:52:30.7051343049Z", 1753804350 * S + 705134304},
	{iso, "2024-02-29T00:00:00Z", 1709164800 * S},
	{iso, "2023-12-12T16:18", 0},
	{iso, "2023-13-12T16:18:11", 0},
	{iso, "2023-12-12T24:18:11", 0},
	{iso, "0000-01-01T00:00:00", 0},
	{iso, "", 0},
	{iso, "2261-12-31T23:59:59Z", INT64_C(9214646399) * S},
	{iso, "2262-01-01T00:00:00Z", 0},
	{iso, "7980-09-22 15:14:00.7+00:00", 0},
	{leat_associate_stamp_nextflow, "Sep-22 15:14:27.544 x", 1663859667 * S + 544000000},
	{leat_associate_stamp_nextflow, "sept.-22 15:14:27.544", 1663859667 * S + 544000000},
	{leat_associate_stamp_nextflow, "set-22 15:14:27", 1663859667 * S},
	{leat_associate_stamp_nextflow, "9\xe6\x9c\x88-22 15:14:27", 1663859667 * S},
	{leat_associate_stamp_nextflow, "9\xec\x9b\x94-22 15:14:27", 1663859667 * S},
	{leat_associate_stamp_nextflow, "\xd1\x81\xd0\xb5\xd0\xbd\xd1\x82.-22 15:14:27",
	 1663859667 * S},
	/* The year that is nearest: December of the one before, January of the next. */
	{leat_associate_stamp_nextflow, "Apr-22 00:00:00", 1650585600 * S},
	{leat_associate_stamp_nextflow, "Jan-01 00:00:00", 1672531200 * S},
	{leat_associate_stamp_nextflow, "avr.-22 15:14:27", 1650640467 * S},
	{leat_associate_stamp_nextflow, "marras-22 15:14:27", 1669130067 * S},
	{leat_associate_stamp_nextflow, "juin-22 15:14:27", 1655910867 * S},
	{leat_associate_stamp_nextflow, "juil.-22 15:14:27", 1658502867 * S},
	{leat_associate_stamp_nextflow, "Foo-22 15:14:27", 0},
	{leat_associate_stamp_nextflow, "Sep-32 15:14:27", 0},
	{leat_associate_stamp_nextflow, "Sep 22 15:14:27", 0},
	{leat_associate_stamp_nextflow, "13\xe6\x9c\x88-22 15:14:27", 0},
	{leat_associate_stamp_nextflow, "", 0},
	{leat_associate_stamp_ctime, "[Sun Nov 22 13:26:35 2026]", 1795353995 * S},
	{leat_associate_stamp_ctime, "[Sun Nov  2 13:26:35 2026]", 1793625995 * S},
	{leat_associate_stamp_ctime, "[Sun Nov 22 13:26:35]", 0},
	{leat_associate_stamp_ctime, "[", 0},
	{leat_associate_stamp_epoch_ms, "1607162350774", 1607162350 * S + 774000000},
	{leat_associate_stamp_epoch_ms, "-", 0},
	{leat_associate_stamp_epoch_ms, "99999999999999999999", 0},
};

static void test_stamps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_associate_stamp s = {0};
		bool good = cases[i].read(cases[i].text, &s);

		if (good != !!cases[i].ns ||
		    (good && leat_associate_stamp_ns(&s, 0, NEAR) != cases[i].ns))
			fail_msg("%s: %lld", cases[i].text,
				 good ? (long long)leat_associate_stamp_ns(&s, 0, NEAR) : 0);
	}
}

/* A zone of its own counts, else the one that is given. */
static void test_zones(void **state)
{
	struct leat_associate_stamp s;

	(void)state;
	assert_true(iso("2023-12-12T16:18:11+01:00", &s));
	assert_int_equal(1702394291 * S, leat_associate_stamp_ns(&s, 7200, 0));
	assert_true(iso("2023-12-12T16:18:11", &s));
	assert_int_equal(1702390691 * S, leat_associate_stamp_ns(&s, 7200, 0));
}

static const struct {
	const char *path;
	const char *job, *step; /* NULL: it is no job's */
} paths[] = {
	{"/slurm/uid_1000/job_123/step_0", "123", "0"},
	{"/slurm/uid_1000/job_123/step_batch/task_0", "123", "batch"},
	{"/slurm/uid_1000/job_123", "123", ""},
	{"/slurm_node1/uid_0/job_7/step_extern", "7", "extern"},
	{"/system.slice/slurmstepd.scope/job_123/step_0/user/task_0", "123", "0"},
	{"/system.slice/node1_slurmstepd.scope/job_123/step_1", NULL, NULL},
	{"/system.slice/slurmstepd.scope/system", NULL, NULL},
	{"/slurm/uid_1000/job_x", NULL, NULL},
	{"/slurm/job_00000000000000000000000000000000000000000", NULL, NULL},
	{"/docker/job_1/step_2", NULL, NULL},
	{"/", NULL, NULL},
};

static void test_slurm(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char job[32], step[32];
		bool found = leat_associate_slurm_path(paths[i].path, job, step);

		if (found != !!paths[i].job ||
		    (found && (strcmp(job, paths[i].job) != 0 || strcmp(step, paths[i].step) != 0)))
			fail_msg("%s: %d %s %s", paths[i].path, found, job, step);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_slurm),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
