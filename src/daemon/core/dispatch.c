#include "daemon/core/connections.h"

#include "base/cgroup.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/passing.h"
#include "base/str.h"
#include "daemon/run/actions.h"
#include "daemon/core/events.h"
#include "daemon/files/files.h"
#include "daemon/run/ranks.h"
#include "daemon/space/spill.h"
#include "daemon/run/steps.h"
#include "daemon/run/unseen.h"
#include "daemon/ops/auth_token.h"
#include "daemon/ops/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum who { ANYONE_NEW, CLIENT, CONTROL, STATUS, BOTH };

static const struct {
	int (*handle)(struct leat_conn *c, const void *msg);
	enum who who;
} handlers[] = {
	[LEAT_MSG_HELLO] = {leat_handle_hello, ANYONE_NEW},
	[LEAT_MSG_RESOLVE] = {leat_handle_resolve, BOTH},
	[LEAT_MSG_ASK] = {leat_handle_ask, BOTH},
	[LEAT_MSG_CHANGE] = {leat_handle_change, CLIENT},
	[LEAT_MSG_LIST] = {leat_handle_list, CLIENT},
	[LEAT_MSG_IDENTIFY] = {leat_handle_identify, CLIENT},
	[LEAT_MSG_SWITCH] = {leat_handle_switch, CLIENT},
	[LEAT_MSG_OPENED] = {leat_handle_opened, CLIENT},
	[LEAT_MSG_CLOSED] = {leat_handle_closed, CLIENT},
	[LEAT_MSG_EXTENT] = {leat_handle_extent, CLIENT},
	[LEAT_MSG_TRUNCATED] = {leat_handle_truncated, CLIENT},
	[LEAT_MSG_DROP] = {leat_handle_drop, CLIENT},
	[LEAT_MSG_AHEAD] = {leat_handle_ahead, CLIENT},
	[LEAT_MSG_READ] = {leat_handle_read, CLIENT},
	[LEAT_MSG_WROTE] = {leat_handle_wrote, CLIENT},
	[LEAT_MSG_WRITTEN] = {leat_handle_written, CLIENT},
	[LEAT_MSG_EXITING] = {leat_handle_exiting, CLIENT},
	[LEAT_MSG_VIOLATED] = {leat_handle_violated, CLIENT},
	[LEAT_MSG_REFUSED] = {leat_handle_refused, CLIENT},
	[LEAT_MSG_STEP_START] = {leat_handle_step_start, CONTROL},
	[LEAT_MSG_STEP_END] = {leat_handle_step_end, CONTROL},
	[LEAT_MSG_STEP_DONE] = {leat_handle_step_done, CONTROL},
	[LEAT_MSG_STATUS] = {leat_handle_status, STATUS},
	[LEAT_MSG_FINISH] = {leat_handle_finish, CONTROL},
	[LEAT_MSG_ABORT] = {leat_handle_abort, CONTROL},
	[LEAT_MSG_ACTED] = {leat_handle_acted, CONTROL},
	[LEAT_MSG_REAPED] = {leat_handle_reaped, BOTH},
	[LEAT_MSG_BECOMES] = {leat_handle_becomes, CLIENT},
};

static bool allowed(const struct leat_conn *c, enum who who)
{
	switch (who) {
	case ANYONE_NEW:
		return !c->hello;
	case CLIENT:
		return c->hello && !c->control;
	case CONTROL:
		return c->hello && c->control && !c->bounded;
	case STATUS:
		return c->hello && c->control;
	case BOTH:
		return c->hello && !c->bounded;
	}
	return false;
}

static int handle(struct leat_conn *c, const struct leat_msg *msg)
{
	int rc;

	LEAT_FAULT_MESSAGE("handle", msg->type);
	rc = handlers[msg->type].handle(c, msg);
	LEAT_FAULT_MESSAGE("handled", msg->type);
	return rc;
}

int leat_dispatch(struct leat_conn *c, const void *msg, size_t size)
{
	const struct leat_msg *h = msg;
	struct leat_daemon *d = c->d;
	bool waited = c->waiting;
	int rc;

	if (size < sizeof(*h) || h->type >= sizeof(handlers) / sizeof(*handlers) ||
	    !handlers[h->type].handle)
		return -EPROTO;
	if (leat_wire_check(msg, size, leat_wire_fixed_size((enum leat_msg_type)h->type)) ||
	    !allowed(c, handlers[h->type].who))
		return -EPROTO;
	/* Of somebody else: who waits goes on waiting. */
	if (h->type == LEAT_MSG_REAPED)
		return handle(c, h);
	if (c->pending && h->type != LEAT_MSG_OPENED)
		leat_live_confirm(c->pending);
	if (h->type != LEAT_MSG_OPENED)
		leat_conn_made(c);
	leat_spill_spoken(c);
	c->waiting = false;
	c->asked = false;
	/* Answers to others, or to itself, may have found it dead. */
	if (c->closing)
		return 0;
	rc = handle(c, h);
	/* It went on to something else: it does not wait any more. */
	if (waited && !c->asked && !c->closing)
		leat_events_cancel(d, c->id);
	return rc;
}

void leat_reply_answer(struct leat_conn *c, int error, struct leat_file *f, const char *text)
{
	struct leat_msg_answer *m = leat_wire_begin(c->d->out, LEAT_MSG_ANSWER, sizeof(*m));

	m->error = error;
	if (f) {
		m->slot = f->slot;
		m->seq = leat_shm_seq(leat_file_shm(c->d, f));
	}
	if (leat_wire_put(m, text ? text : "") == 0)
		leat_conn_send(c, m);
}

void leat_reply_text(struct leat_conn *c, int error, const char *text)
{
	const size_t room = LEAT_WIRE_MAX - sizeof(struct leat_msg_text) - 1;
	size_t left = strlen(text);
	struct leat_msg_text *m;

	do {
		size_t n = left < room ? left : room;

		m = leat_wire_begin(c->d->out, LEAT_MSG_TEXT, sizeof(*m));
		m->error = error;
		left -= n;
		m->more = left > 0;
		leat_wire_put_raw(m, text, n);
		leat_wire_put_raw(m, "", 1);
		leat_conn_send(c, m);
		text += n;
	} while (left);
}

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
		c->bounded =
			d->options.serve ? !leat_ticket_is_outside(d, c->pid) : c->pid != d->driver;
		if (c->bounded)
			c->control = LEAT_CONTROL;
		return 0;
	}
	if (c->proc && c->proc->step == c->step)
		return 0; /* another thread of it has shown it */
	*error = leat_ticket_refuse(d, c->pid, c->step, key ? key : "");
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
	m->acts = leat_acts_of(d, c->step);
	m->versions = leat_versions_made_by(d, c->step);
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
			leat_cgroup_close(leat_spill_meet(c->d, c->pid));
		leat_step_process_came(d, c->step, c->pid);
	}
	return 0;
}
