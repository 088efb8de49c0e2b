/* Parts of the man pages that come from tables. */
#ifndef LEAT_CLI_MAN_H
#define LEAT_CLI_MAN_H

#include "cli/command.h"

#include <stdio.h>

/* Copy the page `path` to `out`, with the lines between `.\" options of COMMAND`
 * and `.\" end of options` made anew from that command's table, one of `commands`. 0 or
 * -errno (-EINVAL: an unknown command is named, or an end is missing). */
int leat_man_refresh(const char *path, const struct leat_command *const *commands, FILE *out);

/* The whole page leat-diagnostics(7), from the table of codes. */
void leat_man_codes(FILE *out);

#endif
