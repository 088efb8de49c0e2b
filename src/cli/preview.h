/* leat run --dry-run. */
#ifndef LEAT_CLI_PREVIEW_H
#define LEAT_CLI_PREVIEW_H

#include "cli/workflow.h"
#include "driver/driver.h"

/* Print what a run would start, with what has been found out for it in `config`. The exit status
 * of leat run: 0, or that of what would keep it from starting, which has been logged. */
int leat_cli_preview(const struct leat_args *args, const struct leat_cli_workflow *w,
		     struct leat_driver_config *config);

#endif
