/* Resources and workloads as they are written: what is read, and what is said about mistakes. */
#include "lang/resources/resources.h"
#include "lang/resources/workload.h"
#include "lang/syntax/diagnostics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fixtures.h"

/* --- Fixtures --- */

/* Diagnostics of one fixture, a workload if its name says so; the caller frees it. */
static char *print(const char *file)
{
	struct leat_diags *diags;
	struct leat_resources *res = NULL;
	struct leat_workload *w = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	if (leat_str_begins(file, "workload"))
		w = leat_workload_load(file, &diags);
	else
		res = leat_resources_load(file, &diags);
	assert_non_null(diags);
	assert_int_equal(!w && !res, leat_diags_count(diags, LEAT_ERROR) > 0);
	leat_diags_print(diags, out, false);
	leat_workload_free(w);
	leat_resources_free(res);
	leat_diags_free(diags);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void texts_are_as_expected(void **state)
{
	(void)state;
	fixtures_compare(print);
}

static int find_fixtures(void **state)
{
	(void)state;
	return fixtures_enter("resources");
}

static int forget_fixtures(void **state)
{
	(void)state;
	fixtures_forget();
	return 0;
}

/* Write `text` to a new file; its path, to be unlinked by the caller. */
static char *write_file(const char *text)
{
	static char path[64];
	FILE *out;
	int fd;

	strcpy(path, "/tmp/leat-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	return path;
}

static struct leat_resources *read_resources(const char *text, struct leat_diags **diags)
{
	char *path = write_file(text);
	struct leat_resources *res = leat_resources_load(path, diags);

	unlink(path);
	assert_non_null(*diags);
	return res;
}

/* --- YAML --- */

static void reads_yaml(void **state)
{
	struct leat_diags *diags;
	struct leat_resources *res = read_resources(
		"resources:\n"
		"  shared_working_directory: false\n"
		"  nodes:\n"
		"    - name: n\n"
		"      count: 3\n"
		"      computing_units: 48\n"
		"      io_executors: 225\n"
		"      storage:\n"
		"        - {name: ssd, type: SSD, bandwidth: 450, size: 200, paths: [/scratch/, "
		"/tmp]}\n"
		"        - {name: lustre, bandwidth: 9000, shared: true, path: /lustre}\n"
		"    - {name: big, computing_units: 64}\n"
		"  storage:\n"
		"    - {name: gpfs, bandwidth: 12500, paths: [/gpfs]}\n",
		&diags);

	(void)state;
	assert_non_null(res);
	assert_int_equal(leat_diags_count(diags, LEAT_WARNING), 1);
	assert_true(leat_diags_has(diags, "L-KEY-SPELLING"));
	assert_false(res->shared_dir);
	assert_int_equal(res->n_hosts, 4);
	assert_string_equal(res->hosts[0].name, "n0");
	assert_string_equal(res->hosts[2].name, "n2");
	assert_int_equal(res->hosts[2].computing_units, 48);
	assert_int_equal(res->hosts[2].io_executors, 225);
	assert_int_equal(res->hosts[2].n_devices, 1);
	assert_string_equal(res->hosts[2].devices[0].type, "SSD");
	assert_true(res->hosts[2].devices[0].size_bytes == UINT64_C(200000000000));
	assert_string_equal(res->hosts[3].name, "big");
	assert_int_equal(res->hosts[3].io_executors, LEAT_IO_EXECUTORS);
	assert_int_equal(res->n_shared, 2);
	assert_string_equal(leat_resources_device_of(res, 1, "/scratch/x")->name, "ssd");
	assert_string_equal(leat_resources_device_of(res, 3, "/lustre/x")->name, "lustre");
	assert_null(leat_resources_device_of(res, 3, "/scratch/x"));
	leat_resources_free(res);
	leat_diags_free(diags);
}

static void reads_json(void **state)
{
	struct leat_diags *diags;
	struct leat_resources *res = read_resources(
		"{\"resources\": {\"nodes\": [{\"name\": \"a\", \"computing_units\": 2}]}}",
		&diags);

	(void)state;
	assert_non_null(res);
	assert_true(res->shared_dir);
	leat_resources_free(res);
	leat_diags_free(diags);
}

#define NODE(more) "resources:\n  nodes:\n    - {name: a, computing_units: 2" more "}\n"

static const struct {
	const char *text, *code;
} bad[] = {
	{"resources: {}\n", "L-KEY-MISSING"},
	{"resources: {nodes: []}\n", "L-RESOURCE-NONE"},
	{"nodes: []\n", "L-RESOURCE-NONE"},
	{"", "L-FILE-EMPTY"},
	{"resources: [\n", "L-YAML-SYNTAX"},
	{"resources: {nodes: [{name: a}]}\n", "L-KEY-MISSING"},
	{"resources: {nodes: [{computing_units: 1}]}\n", "L-KEY-MISSING"},
	{NODE(", cores: 3"), "L-KEY-UNKNOWN"},
	{NODE(", io_executors: many"), "L-NUMBER"},
	{NODE(", storage: [{name: d}]"), "L-KEY-MISSING"},
	{NODE(", storage: [{bandwidth: 3}]"), "L-KEY-MISSING"},
	{NODE(", storage: [{name: d, bandwidth: 0}]"), "L-NUMBER"},
	{NODE(", storage: [{name: d, bandwidth: 3, paths: [tmp]}]"), "L-TYPE"},
	{NODE(", storage: [{name: d, bandwidth: 3}, {name: d, bandwidth: 3}]"), "L-RESOURCE-TWICE"},
	{NODE("") "    - {name: a, computing_units: 2}\n", "L-RESOURCE-TWICE"},
	{NODE(", count: 3") "    - {name: a1, computing_units: 2}\n", "L-RESOURCE-TWICE"},
	{NODE(", storage: [{name: d, bandwidth: 3}]") "  storage: [{name: d, bandwidth: 4}]\n",
	 "L-RESOURCE-TWICE"},
	{"<html></html>", "L-XML"},
	{"<ResourcesList>", "L-XML"},
	{"<ResourcesList></ResourcesList>", "L-RESOURCE-NONE"},
	{"<ResourcesList><ComputeNode Name=\"a\"/></ResourcesList>", "L-KEY-MISSING"},
	{"<ResourcesList><ComputeNode><Processor><ComputingUnits>2</ComputingUnits></Processor>"
	 "</ComputeNode></ResourcesList>",
	 "L-KEY-MISSING"},
	{"<ResourcesList><ComputeNode Name=\"a\"><Processor><ComputingUnits>two</ComputingUnits>"
	 "</Processor></ComputeNode></ResourcesList>",
	 "L-NUMBER"},
};

static void says_what_is_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct leat_diags *diags;
		struct leat_resources *res = read_resources(bad[i].text, &diags);

		if (res || !leat_diags_has(diags, bad[i].code)) {
			leat_diags_print(diags, stderr, false);
			fail_msg("row %zu: not %s", i, bad[i].code);
		}
		leat_diags_free(diags);
	}
}

/* --- XML --- */

static void reads_compss(void **state)
{
	struct leat_diags *diags;
	struct leat_resources *res = read_resources(
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<ResourcesList>\n"
		"  <SharedDisk Name=\"gpfs\">\n"
		"    "
		"<Storage><Size>14000000</Size><Type>HDD</Type><Bandwidth>12500</Bandwidth></"
		"Storage>\n"
		"  </SharedDisk>\n"
		"  <ComputeNode Name=\"worker1\">\n"
		"    <Processor Name=\"main\"><ComputingUnits>24</ComputingUnits>\n"
		"      <Type>CPU</Type></Processor>\n"
		"    <Processor Name=\"second\"><ComputingUnits> 24 </ComputingUnits></Processor>\n"
		"    <Processor Name=\"gpu\"><ComputingUnits>4</ComputingUnits><Type>GPU</Type>"
		"</Processor>\n"
		"    <Memory><Size>96</Size></Memory>\n"
		"    "
		"<Storage><Size>200.0</Size><Type>SSD</Type><Bandwidth>450</Bandwidth></Storage>\n"
		"    <SharedDisks><AttachedDisk Name=\"gpfs\"><MountPoint>/gpfs</MountPoint>"
		"</AttachedDisk></SharedDisks>\n"
		"    <Adaptors><Adaptor Name=\"nio\"><Ports><MinPort>1</MinPort></Ports></Adaptor>"
		"</Adaptors>\n"
		"  </ComputeNode>\n"
		"  <ComputeNode Name=\"worker2\">\n"
		"    <Processor Name=\"main\"><ComputingUnits>4</ComputingUnits></Processor>\n"
		"    <Storage><Size>20</Size></Storage>\n"
		"  </ComputeNode>\n"
		"</ResourcesList>\n",
		&diags);

	(void)state;
	assert_non_null(res);
	assert_int_equal(res->n_hosts, 2);
	assert_string_equal(res->hosts[0].name, "worker1");
	assert_int_equal(res->hosts[0].computing_units, 48);
	assert_int_equal(res->hosts[0].n_devices, 1);
	assert_string_equal(res->hosts[0].devices[0].name, "storage");
	assert_string_equal(res->hosts[0].devices[0].type, "SSD");
	assert_int_equal(res->hosts[0].devices[0].bandwidth_mbps, 450);
	assert_int_equal(res->hosts[1].computing_units, 4);
	assert_int_equal(res->hosts[1].n_devices, 0);
	assert_true(leat_diags_has(diags, "L-XML-LEFT-OUT"));
	assert_string_equal(leat_resources_device_of(res, 0, "/home/x")->name, "storage");
	assert_string_equal(leat_resources_device_of(res, 0, "/gpfs/x")->name, "gpfs");
	leat_resources_free(res);
	leat_diags_free(diags);
}

/* --- workloads --- */

#define TASKS(text) "workload: w\ntasks:\n" text

static const struct {
	const char *text, *code; /* NULL: it is right */
} workloads[] = {
	{TASKS("  - {name: a, seconds: 1.5, spread: 3, count: 4}\n"
	       "  - {name: b, each: a, after: [a], previous: b, io: true, device: d, megabytes: 3,"
	       " storage_bw: \"auto(2,4,2)\"}\n"),
	 NULL},
	{"tasks: []\n", "L-KEY-MISSING"},
	{"workload: w\n", "L-KEY-MISSING"},
	{TASKS("  - {name: a}\n"), "L-WORKLOAD"},
	{TASKS("  - {seconds: 1}\n"), "L-KEY-MISSING"},
	{TASKS("  - {name: a, seconds: -1}\n"), "L-NUMBER"},
	{TASKS("  - {name: a, seconds: 1, spread: 101}\n"), "L-NUMBER"},
	{TASKS("  - {name: a, seconds: 1, storage_bw: auto}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, seconds: 1, io: true, storage_bw: auto}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, seconds: 1, io: true, computing_units: 1}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, megabytes: 1}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, seconds: 1, after: a}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, seconds: 1, after: b}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, seconds: 1}\n  - {name: a, seconds: 1}\n"), "L-WORKLOAD"},
	{TASKS("  - {name: a, io: true, device: d, megabytes: 1, storage_bw: \"auto(9,2,2)\"}\n"),
	 "L-BANDWIDTH"},
	{TASKS("  - {name: a, io: true, device: d, megabytes: 1, storage_bw: [2]}\n"), "L-TYPE"},
	{TASKS("  - {name: a, seconds: 1}\n") "trials: [fast]\n", "L-BANDWIDTH"},
	{TASKS("  - {name: a, seconds: 1}\n") "trials: auto\n", "L-TYPE"},
};

static void reads_workloads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		char *path = write_file(workloads[i].text);
		struct leat_diags *diags;
		struct leat_workload *w = leat_workload_load(path, &diags);
		const char *code = workloads[i].code;

		unlink(path);
		assert_non_null(diags);
		if (!w != !!code || (code && !leat_diags_has(diags, code))) {
			leat_diags_print(diags, stderr, false);
			fail_msg("row %zu: not %s", i, code ? code : "read");
		}
		leat_workload_free(w);
		leat_diags_free(diags);
	}
}

static void files_that_are_not_there(void **state)
{
	struct leat_diags *diags;

	(void)state;
	assert_null(leat_resources_load("/nowhere/resources.yaml", &diags));
	assert_true(leat_diags_has(diags, "L-FILE-READ"));
	leat_diags_free(diags);
	assert_null(leat_workload_load("/nowhere/workload.yaml", &diags));
	assert_true(leat_diags_has(diags, "L-FILE-READ"));
	leat_diags_free(diags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_as_expected),
		cmocka_unit_test(reads_yaml),
		cmocka_unit_test(reads_json),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(reads_compss),
		cmocka_unit_test(reads_workloads),
		cmocka_unit_test(files_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, find_fixtures, forget_fixtures);
}
