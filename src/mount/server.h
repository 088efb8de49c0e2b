/* The server's process. */
#ifndef LEAT_MOUNT_SERVER_H
#define LEAT_MOUNT_SERVER_H

#include "mount/daemon/call.h"

/* The server's process: `peer` is a socket to the program's. Returns its exit status. */
int leat_server_run(const struct leat_mount_spec *spec, int peer);

#endif
