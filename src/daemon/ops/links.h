/* Names that lead through symlinks. The rules go by the names under which files are made; what a
 * workflow declares by a name with a symlink in it ("d/x", d -> /scratch/d) is made by another, or
 * where nobody looks. So a path is also asked for by each name that it had on its way: there
 * nothing is ever made, and the rules have the call wait until the steps that were to make it have
 * ended (docs/adr/0063). */
#ifndef LEAT_DAEMON_OPS_LINKS_H
#define LEAT_DAEMON_OPS_LINKS_H

#include "daemon/core/connections.h"
#include "daemon/files/files.h"

/* The client's path was looked for, with `error` (0: none). May it lead where it was found, or
 * where it ended: by a loop of symlinks, or at a file in place of a directory? `error`: go on with
 * that; -EAGAIN, with *on set: wait on that, then find it again; -EIO: it must not, which is
 * reported. */
int leat_links_ask(struct leat_conn *c, const struct leat_found *found, int error,
		   struct leat_file **on);

#endif
