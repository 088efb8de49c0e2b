#include "preload/fd/table.h"

#include "preload/core/fd_kinds.h"

struct leat_fd leat_fd_table[LEAT_MAX_FD];

struct leat_fd *leat_fd_get(int fd)
{
	return leat_fd_kind(fd) ? &leat_fd_table[fd] : NULL;
}
