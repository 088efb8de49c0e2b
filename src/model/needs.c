/* What steps ask of the machine. */
#include "model/workflow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

bool leat_step_has_needs(const struct leat_step *step)
{
	const struct leat_needs *needs = &step->needs;

	return needs->computing_units || needs->io || needs->device ||
	       needs->bandwidth.kind != LEAT_BANDWIDTH_NONE;
}

int leat_step_copy_needs(struct leat_step *step, const struct leat_needs *needs)
{
	char *device = needs->device ? strdup(needs->device) : NULL;

	if (needs->device && !device)
		return -ENOMEM;
	free(step->needs.device);
	step->needs = *needs;
	step->needs.device = device;
	return 0;
}

int leat_step_find_device(const struct leat_step *step, const char *dir,
			  const struct leat_resources *res, size_t host,
			  const struct leat_device **device)
{
	const char *name = step->outputs.n  ? step->outputs.v[0].text
			   : step->inputs.n ? step->inputs.v[0].text
					    : "";
	char *path = leat_path_join(dir, name);

	if (!path)
		return -ENOMEM;
	*device = leat_resources_device_of(res, host, path);
	free(path);
	return 0;
}
