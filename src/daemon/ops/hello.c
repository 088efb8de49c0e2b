/* HELLO: who is it that connects? */
#include "base/cgroup.h"
#include "base/passing.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/problems.h"
#include "daemon/core/processes.h"
#include "daemon/daemon.h"
#include "daemon/ops/auth_token.h"
#include "daemon/ops/handlers.h"
#include "daemon/ops/versions.h"
#include "daemon/run/actions.h"
#include "daemon/run/ranks.h"
#include "daemon/run/steps.h"
#include "daemon/run/unseen.h"
#include "daemon/space/fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Which step calls itself so, or an explanation for who got the name wrong. */
static int find_step(struct leat_conn *c, const char *step, const char *workflow, char **error)
{
	const struct leat_workflow *wf = c->d->wf;
	char *names = NULL;

	if (*workflow && strcmp(workflow, wf->name ? wf->name : "") != 0) {
		*error = leat_strf("the workflow \"%s\" is not served here, but \"%s\" is (set "
				   "LEAT_WORKFLOW_NAME, or unset it)",
				   workflow, wf->name ? wf->name : "");
		return -ENOENT;
	}
	if (c->control)
		return -1;
	c->step = leat_workflow_find_step(wf, step);
	if (c->step >= 0)
		return c->step;
	for (size_t i = 0; i < wf->n_steps; i++) {
		char *more = leat_strf("%s%s%s", names ? names : "", names ? ", " : "",
				       wf->steps[i].name);

		free(names);
		names = more;
	}
	*error = leat_strf("the workflow has no step \"%s\"; it has %s (set LEAT_APP_NAME)", step,
			   names ? names : "none");
	free(names);
	return -ENOENT;
}

static int send_welcome(struct leat_conn *c, struct leat_msg_welcome *m)
{
	int fds[2] = {leat_store_fd(c->d->store), c->d->shm_fd};
	union leat_passing passing;
	struct iovec io = {.iov_base = m, .iov_len = m->h.size};
	struct msghdr msg = {.msg_iov = &io, .msg_iovlen = 1};

	if (!m->error && !c->bounded)
		leat_pass(&msg, &passing, fds, 2);
	return sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Under --enforce: is it who it says it is? */
static int identify(struct leat_conn *c, const char *key, char **error)
{
	struct leat_daemon *d = c->d;

	if (!d->options.enforce)
		return 0;
	if (c->control) {
		/* Steps may ask how the run does, but not direct it. */
		c->bounded = d->options.serve ? !leat_auth_token_is_outside(d, c->pid)
					      : c->pid != d->driver;
		if (c->bounded)
			c->control = LEAT_CONTROL;
		return 0;
	}
	if (c->proc && c->proc->step == c->step)
		return 0; /* another thread of it has shown it */
	*error = leat_auth_token_refuse(d, c->pid, c->step, key ? key : "");
	if (!*error)
		return 0;
	leat_problem_add(d, -EPERM, "%s", *error);
	c->step = -1;
	return -EACCES;
}

int leat_handle_hello(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_hello *in = msg;
	struct leat_daemon *d = c->d;
	const char *step = leat_wire_string(msg, sizeof(*in), 0);
	const char *workflow = leat_wire_string(msg, sizeof(*in), 1);
	const char *program = leat_wire_string(msg, sizeof(*in), 2);
	struct leat_msg_welcome *m;
	struct stat dir;
	char *error = NULL;
	int rc;

	if (!step || !workflow)
		return -EPROTO;
	c->hello = true;
	c->control = in->control;
	c->steady = in->steady;
	rc = find_step(c, step, workflow, &error);
	if (rc == c->step)
		rc = identify(c, leat_wire_string(msg, sizeof(*in), 3), &error);
	m = leat_wire_begin(d->out, LEAT_MSG_WELCOME, sizeof(*m));
	m->step = c->step;
	m->error = rc < -1 ? rc : 0;
	m->store_dev = leat_store_dev(d->store);
	if (fstat(d->disk_fd, &dir) == 0) {
		m->dir_dev = dir.st_dev;
		m->dir_ino = dir.st_ino;
	}
	m->acts = leat_actions_of(d, c->step);
	m->versions = leat_versions_made_by(d, c->step);
	m->of_program = m->acts || (c->step >= 0 && d->wf->steps[c->step].nprocs > 1);
	if (leat_wire_put(m, d->dir) || leat_wire_put(m, leat_store_path(d->store)) ||
	    leat_wire_put(m, d->exec_path) || leat_wire_put(m, error ? error : ""))
		m->error = -ENAMETOOLONG;
	free(error);
	rc = send_welcome(c, m);
	if (rc || m->error) {
		leat_conn_drop(c, NULL);
		return 0;
	}
	if (c->user)
		leat_unseen_came(d, c->pid);
	if (c->step >= 0 && c->proc && c->proc->step < 0) {
		c->proc->step = c->step;
		c->proc->mount = strcmp(program ? program : "", LEAT_PROGRAM_MOUNT) == 0;
		leat_rank_came(c);
		if (c->d->wf->steps[c->step].nprocs > 1) /* where its launcher put it */
			leat_cgroup_close(leat_space_meet(c->d, c->pid));
		leat_step_process_came(d, c->step, c->pid);
	}
	return 0;
}
