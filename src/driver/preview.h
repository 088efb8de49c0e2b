/* leat run --dry-run: what would be started, in words. */
#ifndef LEAT_DRIVER_PREVIEW_H
#define LEAT_DRIVER_PREVIEW_H

#include "driver/driver.h"

#include <stdio.h>

/* Write how each step would be started, in the order of their starts. Starts and changes nothing;
 * `config` as for leat_driver_run, its control not needed. 0 or -ENOMEM. */
int leat_driver_preview(const struct leat_driver_config *config, FILE *out);

#endif
