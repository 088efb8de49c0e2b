/* The resources of this host: as a file describes them, or as the machine is. */
#include "task/runtime.h"
#include "base/cpus.h"
#include "base/diag.h"
#include "lang/resources/resources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report_diags(const char *path, const struct leat_diags *diags)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = diags ? open_memstream(&text, &size) : NULL;

	if (!out)
		return leat_tasks_set_error(-ENOMEM, "%s: out of memory", path);
	leat_diags_print(diags, out, false);
	if (fclose(out) != 0) {
		free(text);
		return leat_tasks_set_error(-ENOMEM, "%s: out of memory", path);
	}
	while (size > 0 && text[size - 1] == '\n')
		text[--size] = '\0';
	leat_tasks_set_error(0, "%s", text);
	free(text);
	return -EINVAL;
}

static int keep_this(struct leat_resources *res, const char *path)
{
	char self[256] = "";

	if (gethostname(self, sizeof(self) - 1) < 0)
		self[0] = '\0';
	if (leat_resources_keep_host(res, self) == 0)
		return 0;
	return leat_tasks_set_error(
		-EINVAL,
		"%s describes %zu nodes, and none of them is this machine, %s; name it, "
		"or localhost, or describe one node only",
		path, res->n_hosts, self);
}

int leat_tasks_resources(const char *path, struct leat_resources **out)
{
	unsigned n_cpus = leat_count_cpus();
	struct leat_resources *res;
	struct leat_diags *diags = NULL;
	int ret;

	if (!path || !*path) {
		*out = leat_resources_local(n_cpus ? n_cpus : 1, LEAT_IO_EXECUTORS);
		return *out ? 0 : leat_tasks_set_error(-ENOMEM, "out of memory");
	}
	res = leat_resources_load(path, &diags);
	if (res)
		leat_diags_print(diags, stderr, false); /* warnings */
	ret = res ? keep_this(res, path) : report_diags(path, diags);
	leat_diags_free(diags);
	if (ret < 0) {
		leat_resources_free(res);
		return ret;
	}
	*out = res;
	return 0;
}
