/* The server's process: from the program's process it gets the mount, to it it says when to go on.
 */
#include "mount/server.h"
#include "mount/daemon/handshake.h"
#include "mount/files/alive.h"
#include "mount/files/handle.h"
#include "mount/guard/bypass.h"
#include "mount/guard/kills.h"
#include "mount/inherit.h"
#include "mount/names/node.h"
#include "mount/ops/ops.h"
#include "mount/record/people.h"

#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IDLE_THREADS = 8 };

static void on_poke(int signo)
{
	(void)signo; /* interrupts a sleep */
}

/* What ends the program ends us, by way of the mount: not the signal itself. */
static void set_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
	struct sigaction poke = {.sa_handler = on_poke};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &poke, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int prepare(struct leat_mount *m, struct leat_mount_call *call)
{
	int rc = leat_connection_first(m);

	if (rc)
		return rc;
	m->dir_fd = open(m->spec->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (m->dir_fd < 0 || !leat_node_root(m))
		return -errno;
	*call = (struct leat_mount_call){.m = m};
	return leat_connection_get(m, &call->connection);
}

/* It has said why on the step's standard error. */
static void report_refused(struct leat_mount *m)
{
	char *text = leat_strf("%s cannot be intercepted, and no mount could be made for it (it "
			       "said why); give the step `staged: true`",
			       m->spec->program);

	if (text)
		leat_bypass_fail(m, 0, text);
	free(text);
}

static int take_mount(struct leat_mount *m)
{
	const uint64_t wanted = LEAT_FUSE_DIRECT_MMAP | LEAT_FUSE_KILLPRIV | LEAT_FUSE_DONT_MASK |
				(m->as_root ? LEAT_FUSE_PASSTHROUGH : 0);
	struct fuse_lowlevel_ops ops = {0};
	int fd = leat_handshake_receive_fd(m->peer, &m->own_users);

	if (fd == -EPERM)
		report_refused(m);
	leat_ops_add_names(&ops);
	leat_ops_add_attributes(&ops);
	leat_ops_add_xattrs(&ops);
	leat_ops_add_directories(&ops);
	leat_ops_add_files(&ops);
	leat_ops_add_data(&ops);
	return fd < 0 ? fd : leat_fuse_new(fd, &ops, wanted, m, &m->session);
}

/* What was still on its way when the mount went. */
static void close_all(struct leat_mount *m)
{
	struct leat_mount_call call = {.m = m};
	bool cut_short = leat_alive_end(m);

	if (leat_connection_get(m, &call.connection))
		call.connection = NULL;
	while (m->handles)
		leat_handle_close(&call, m->handles);
	if (call.connection)
		leat_connection_exiting(call.connection, 0, cut_short ? LEAT_WIRE_CUT_SHORT : 0);
}

static int serve(struct leat_mount *m)
{
	int rc = leat_handshake_send(m->peer, 0, "");

	if (!rc) {
		leat_kills_begin(m);
		rc = leat_bypass_watch(m);
	}
	if (!rc)
		rc = leat_fuse_loop(m->session, IDLE_THREADS);
	leat_kills_end(m);
	close_all(m);
	return rc;
}

int leat_server_run(const struct leat_mount_spec *spec, int peer)
{
	struct leat_mount m = {.spec = spec,
			       .peer = peer,
			       .store_fd = -1,
			       .dir_fd = -1,
			       .socket_fd = -1,
			       .as_root = geteuid() == 0,
			       .shown_uid = spec->ranged ? 0 : geteuid(),
			       .shown_gid = spec->ranged ? 0 : getegid(),
			       .migrating = PTHREAD_MUTEX_INITIALIZER,
			       .lock = PTHREAD_MUTEX_INITIALIZER};
	char cwd[PATH_MAX] = "";
	struct leat_mount_call call = {0};
	int rc;

	prctl(PR_SET_NAME, LEAT_PROGRAM_MOUNT);
	LEAT_FAULT_SIDE(environ, "mount");
	set_signals();
	umask(0);
	rc = prepare(&m, &call);
	if (!rc)
		leat_record_init(&m);
	if (!rc && !leat_inherit_cwd(&m, cwd))
		cwd[0] = 0;
	if (!rc && chdir("/") < 0)
		rc = -errno;
	if (!rc)
		rc = leat_inherit_settle(&call, peer);
	leat_handshake_send(peer, rc, cwd);
	if (!rc)
		rc = take_mount(&m);
	if (!rc)
		rc = serve(&m);
	if (rc && call.connection)
		leat_connection_exiting(call.connection, 0, 1); /* what was wrong has been said */
	leat_record_release(&m);
	leat_fuse_free(m.session);
	return rc ? 1 : 0;
}
