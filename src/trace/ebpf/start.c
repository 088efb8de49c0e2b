#include "trace/ebpf/start.h"

#include "base/fd.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void become(char *const *argv, int go, int failed)
{
	char byte;
	int error;

	if (leat_read_all(go, &byte, 1) != 1)
		_exit(125);
	execvp(argv[0], argv);
	error = errno;
	leat_write_all(failed, &error, sizeof(error));
	_exit(error == ENOENT ? 127 : 126);
}

int leat_ebpf_start(struct leat_ebpf_start *s, char *const *argv)
{
	int go[2] = {-1, -1}, failed[2] = {-1, -1}, rc = 0;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0 || (s->pid = fork()) < 0) {
		rc = -errno;
	} else if (s->pid == 0) {
		close(go[1]); /* else the end of the parent would not be seen */
		become(argv, go[0], failed[1]);
	}
	leat_close(&go[0]);
	leat_close(&failed[1]);
	s->go = go[1];
	s->failed = failed[0];
	if (rc) {
		leat_close(&s->go);
		leat_close(&s->failed);
		leat_error("no process for the command: %s", strerror(-rc));
	}
	return rc;
}

int leat_ebpf_start_go(struct leat_ebpf_start *s)
{
	int error = 0, rc = leat_write_all(s->go, "", 1);
	long n;

	leat_close(&s->go);
	n = rc ? rc : leat_read_all(s->failed, &error, sizeof(error));
	leat_close(&s->failed);
	return n < 0 ? (int)n : -error;
}
