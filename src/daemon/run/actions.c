#include "daemon/run/actions.h"

#include "base/log.h"
#include "base/str.h"
#include "daemon/core/connections.h"
#include "daemon/core/events.h"
#include "daemon/core/processes.h"
#include "daemon/core/replies.h"
#include "daemon/core/steps.h"
#include "daemon/daemon.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/run/ranks.h"
#include "daemon/run/run.h"
#include "model/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A file that a rank has opened for writing, until it is passed on. */
struct leat_action_file {
	struct leat_file *file;
	bool served; /* by this rank; others may not have yet */
};

/* The actions of one rank of a step. */
struct leat_actor {
	int step;
	unsigned rank;
	bool failed;
	bool known;                   /* they have said what they are to be called for: */
	uint32_t wants;               /* bit 1 << act */
	struct leat_action_file *own; /* owned */
	size_t n_own;
	struct leat_actor *next;
};

/* A call that has not come back, or that a client has not heard of yet. */
struct leat_action_call {
	uint64_t id;
	struct leat_actor *actor;
	enum leat_act act;
	struct leat_file *file;
	char *name;                      /* as the step sees it; owned */
	struct leat_conn *conn;          /* that waits for it, or NULL */
	enum leat_actions_answer answer; /* LEAT_ACTIONS_WAIT until it has come back */
	struct leat_action_call *prev, *next;
};

bool leat_actions_of(const struct leat_daemon *d, int step)
{
	return step >= 0 && d->wf->steps[step].action_file;
}

static struct leat_actor *actor_get(struct leat_daemon *d, int step, unsigned rank)
{
	struct leat_actor *a;

	LL_FOREACH(d->run->actors, a)
	if (a->step == step && a->rank == rank)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->step = step;
	a->rank = rank;
	a->wants = UINT32_MAX;
	LL_PREPEND(d->run->actors, a);
	return a;
}

static bool wants(const struct leat_actor *a, enum leat_act act)
{
	return a->wants & 1u << act;
}

/* ---- calls ---- */

static void call_free(struct leat_daemon *d, struct leat_action_call *call)
{
	DL_DELETE(d->run->calls, call);
	free(call->name);
	free(call);
}

static void send_act(struct leat_daemon *d, const struct leat_action_call *call, bool writes)
{
	struct leat_msg_act *m = leat_wire_begin(d->event, LEAT_MSG_ACT, sizeof(*m));
	struct leat_conn *c;

	m->id = call->id;
	m->step = call->actor->step;
	m->rank = call->actor->rank;
	m->act = call->act;
	m->writes = writes;
	leat_wire_put(m, call->name);
	DL_FOREACH(d->conns, c)
	if (c->control & LEAT_CONTROL_EVENTS && c->pid == d->driver && !c->closing) {
		leat_conn_send(c, m);
		return;
	}
}

/* Takes `name` over. NULL when out of memory. */
static struct leat_action_call *call_new(struct leat_daemon *d, struct leat_actor *a,
					 enum leat_act act, struct leat_file *f, char *name,
					 bool writes)
{
	struct leat_action_call *call = name ? calloc(1, sizeof(*call)) : NULL;

	if (!call) {
		free(name);
		return NULL;
	}
	d->progress++;
	call->id = ++d->run->last_call;
	call->actor = a;
	call->act = act;
	call->file = f;
	call->name = name;
	call->answer = LEAT_ACTIONS_WAIT;
	DL_APPEND(d->run->calls, call);
	send_act(d, call, writes);
	return call;
}

/* The file as the step calls it: in its own directory, and whatever version it is. */
static char *title(const struct leat_daemon *d, int step, const char *name)
{
	const char *dir = d->wf->steps[step].dir;
	uint64_t number;

	name = leat_version_base(name, &number);
	return strdup(dir && leat_path_is_below(name, dir) ? name + strlen(dir) + 1 : name);
}

static struct leat_action_call *call_of(const struct leat_conn *c)
{
	struct leat_action_call *call;

	DL_SEARCH_SCALAR(c->d->run->calls, call, conn, c);
	return call;
}

void leat_actions_forget(struct leat_conn *c)
{
	struct leat_action_call *call = call_of(c);

	if (call && call->answer != LEAT_ACTIONS_WAIT)
		call_free(c->d, call);
	else if (call)
		call->conn = NULL;
}

int leat_actions_error(enum leat_actions_answer answer)
{
	static const int errors[] = {[LEAT_ACTIONS_OVER] = 0,
				     [LEAT_ACTIONS_DUE] = -EAGAIN,
				     [LEAT_ACTIONS_WAIT] = -EAGAIN,
				     [LEAT_ACTIONS_FAILED] = -EIO,
				     [LEAT_ACTIONS_NO_MEMORY] = -ENOMEM};

	return errors[answer];
}

/* What became of the client's call. */
static enum leat_actions_answer outcome(struct leat_conn *c, const struct leat_action_call *call)
{
	enum leat_actions_answer answer = call->answer;

	if (answer != LEAT_ACTIONS_WAIT &&
	    (call->act != LEAT_ACT_BEFORE_OPEN || answer == LEAT_ACTIONS_FAILED))
		leat_actions_forget(c);
	return answer;
}

/* ---- opens ---- */

static bool is_before(const struct leat_action_call *call, const char *name)
{
	return call && call->act == LEAT_ACT_BEFORE_OPEN && !strcmp(call->name, name);
}

/* The call for an open of `name` that the client has asked for before. The server of a mount may
 * ask again by another of its connections. */
static struct leat_action_call *call_before(struct leat_conn *c, const char *name)
{
	struct leat_action_call *call = call_of(c);

	if (is_before(call, name))
		return call;
	leat_actions_forget(c); /* a signal handler went on to something else */
	if (!c->proc || !c->proc->mount)
		return NULL;
	DL_FOREACH(c->d->run->calls, call)
	if (call->conn && call->conn->proc == c->proc && is_before(call, name)) {
		call->conn = c;
		return call;
	}
	return NULL;
}

enum leat_actions_answer leat_actions_before_open(struct leat_conn *c, const char *seen,
						  struct leat_file **on)
{
	struct leat_actor *a = actor_get(c->d, c->step, leat_rank_of(c));
	enum leat_actions_answer answer;
	struct leat_action_call *call;
	char *name;

	if (a && a->failed)
		return LEAT_ACTIONS_FAILED;
	name = a ? title(c->d, c->step, seen) : NULL;
	if (!name)
		return LEAT_ACTIONS_NO_MEMORY;
	call = call_before(c, name);
	free(name);
	if (!call)
		return wants(a, LEAT_ACT_BEFORE_OPEN) ? LEAT_ACTIONS_DUE : LEAT_ACTIONS_OVER;
	answer = outcome(c, call);
	if (answer == LEAT_ACTIONS_WAIT)
		*on = call->file;
	return answer;
}

enum leat_actions_answer leat_actions_call_before(struct leat_conn *c, const char *seen,
						  struct leat_file *f, bool writes)
{
	struct leat_actor *a = actor_get(c->d, c->step, leat_rank_of(c));
	struct leat_action_call *call =
		a ? call_new(c->d, a, LEAT_ACT_BEFORE_OPEN, f, title(c->d, c->step, seen), writes)
		  : NULL;

	if (!call)
		return LEAT_ACTIONS_NO_MEMORY;
	call->conn = c;
	return call->answer;
}

void leat_actions_resolved(struct leat_conn *c, bool again)
{
	if (!again && c->d->run->calls)
		leat_actions_forget(c);
}

static struct leat_action_file *own_find(const struct leat_actor *a, const struct leat_file *f)
{
	for (size_t i = 0; i < a->n_own; i++)
		if (a->own[i].file == f)
			return &a->own[i];
	return NULL;
}

static int own_add(struct leat_actor *a, struct leat_file *f)
{
	struct leat_action_file *own = own_find(a, f), *grown;

	if (own) {
		own->served = false;
		return 0;
	}
	grown = realloc(a->own, (a->n_own + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	a->own = grown;
	a->own[a->n_own++] = (struct leat_action_file){.file = f};
	return 0;
}

int leat_actions_opens(struct leat_conn *c, const char *seen, struct leat_description *l)
{
	struct leat_actor *a;

	if (!leat_actions_of(c->d, c->step))
		return 0;
	l->rank = leat_rank_of(c);
	l->name = title(c->d, c->step, seen);
	a = actor_get(c->d, l->step, l->rank);
	if (!a || !l->name)
		return -ENOMEM;
	return l->reads || l->foreign ? 0 : own_add(a, l->file);
}

static enum leat_actions_answer ask_opened(struct leat_conn *c, struct leat_actor *a,
					   struct leat_file *f, uint64_t ofd)
{
	struct leat_action_call *call = call_of(c);
	const struct leat_description *l;

	if (call)
		return outcome(c, call);
	HASH_FIND(hh, c->d->files->descriptions, &ofd, sizeof(ofd), l);
	if (!l || !l->name || l->file != f || l->step != c->step || !wants(a, LEAT_ACT_AFTER_OPEN))
		return LEAT_ACTIONS_OVER;
	call = call_new(c->d, a, LEAT_ACT_AFTER_OPEN, f, strdup(l->name), !l->reads);
	if (!call)
		return LEAT_ACTIONS_NO_MEMORY;
	call->conn = c;
	return call->answer;
}

static enum leat_actions_answer ask_closed(const struct leat_conn *c, const struct leat_actor *a,
					   const struct leat_file *f)
{
	const struct leat_action_call *call;

	DL_FOREACH(c->d->run->calls, call)
	if (call->actor == a && call->file == f && call->act == LEAT_ACT_AFTER_CLOSE)
		return LEAT_ACTIONS_WAIT;
	return a->failed ? LEAT_ACTIONS_FAILED : LEAT_ACTIONS_OVER;
}

enum leat_actions_answer leat_actions_ask(struct leat_conn *c, struct leat_file *f, bool closed,
					  uint64_t ofd)
{
	struct leat_actor *a;

	if (!leat_actions_of(c->d, c->step))
		return LEAT_ACTIONS_OVER;
	a = actor_get(c->d, c->step, leat_rank_of(c));
	if (!a)
		return LEAT_ACTIONS_NO_MEMORY;
	return closed ? ask_closed(c, a, f) : ask_opened(c, a, f, ofd);
}

/* ---- passing on ---- */

/* How many ranks of the step do I/O. */
static unsigned writers_of(const struct leat_daemon *d, int step)
{
	const struct leat_step *model = &d->wf->steps[step];

	return model->nwriters ? model->nwriters : model->nprocs > 1 ? model->nprocs : 1;
}

/* Have all ranks that wrote the file passed it on, and, with `all`, all that do I/O? */
static bool is_served(const struct leat_daemon *d, int step, const struct leat_file *f, bool all)
{
	const struct leat_actor *a;
	const struct leat_action_file *own;
	unsigned n = 0;

	LL_FOREACH(d->run->actors, a)
	{
		own = a->step == step ? own_find(a, f) : NULL;
		if (own && !own->served)
			return false;
		n += own != NULL;
	}
	return !all || n >= writers_of(d, step);
}

static void pass_on(struct leat_daemon *d, int step, const struct leat_file *f)
{
	struct leat_actor *a;
	struct leat_action_file *own;

	LL_FOREACH(d->run->actors, a)
	{
		own = a->step == step ? own_find(a, f) : NULL;
		if (own)
			*own = a->own[--a->n_own];
	}
	if (!f->retired)
		leat_events_apply(d, (struct leat_event){
					     .kind = LEAT_EV_SERVE, .step = step, .name = f->name});
}

static void serve_all(struct leat_daemon *d, const struct leat_actor *a)
{
	for (size_t i = a->n_own; i-- > 0;) {
		a->own[i].served = true;
		if (is_served(d, a->step, a->own[i].file, true))
			pass_on(d, a->step, a->own[i].file);
	}
}

/* Who has nothing to say of closes passes on at each. */
static void serve_file(struct leat_daemon *d, const struct leat_actor *a, const struct leat_file *f)
{
	struct leat_action_file *own = own_find(a, f);

	if (own)
		own->served = true;
	if (own && is_served(d, a->step, f, false))
		pass_on(d, a->step, f);
}

void leat_actions_closed(struct leat_daemon *d, const struct leat_description *l, bool abnormal)
{
	struct leat_actor *a;

	if (!l->name || abnormal || l->intact)
		return;
	a = actor_get(d, l->step, l->rank);
	if (!a)
		return; /* it is passed on at the end of the step */
	if (!wants(a, LEAT_ACT_AFTER_CLOSE))
		serve_file(d, a, l->file);
	else if (!call_new(d, a, LEAT_ACT_AFTER_CLOSE, l->file, strdup(l->name), !l->reads))
		leat_warn("out of memory: the actions of step %s are not called for %s",
			  d->wf->steps[l->step].name, l->name);
}

void leat_actions_committed(struct leat_daemon *d, const struct leat_file *f)
{
	struct leat_actor *a;

	LL_FOREACH(d->run->actors, a)
	if (!a->rank && a->known && wants(a, LEAT_ACT_ON_COMMIT) &&
	    leat_steps_has(f->rule->producers, a->step))
		call_new(d, a, LEAT_ACT_ON_COMMIT, NULL, title(d, a->step, f->name), false);
}

/* ---- what they answer ---- */

static void note_done(struct leat_daemon *d, struct leat_action_call *call, int error)
{
	struct leat_file *f = call->file;

	call->answer = error ? LEAT_ACTIONS_FAILED : LEAT_ACTIONS_OVER;
	if (!call->conn)
		call_free(d, call);
	if (f)
		leat_shm_file_update(leat_file_shm(d, f), 0, 0);
}

int leat_handle_acted(struct leat_conn *c, const void *msg)
{
	const struct leat_msg_acted *in = msg;
	const char *why = leat_wire_string(msg, sizeof(*in), 0);
	struct leat_daemon *d = c->d;
	struct leat_action_call *call;
	struct leat_actor *a;

	if (!why || in->step < 0 || (size_t)in->step >= d->wf->n_steps)
		return -EPROTO;
	a = actor_get(d, in->step, in->rank);
	if (a) {
		a->known = true;
		a->wants = in->wants;
	}
	d->progress++;
	if (a && in->error)
		a->failed = true;
	else if (a && in->served)
		serve_all(d, a);
	if (in->error && !d->steps[in->step].spoiled)
		d->steps[in->step].spoiled = strdup(why);
	DL_SEARCH_SCALAR(d->run->calls, call, id, in->id);
	if (call && call->answer == LEAT_ACTIONS_WAIT)
		note_done(d, call, in->error);
	leat_reply_answer(c, 0, 0, NULL);
	return 0;
}

void leat_actions_free(struct leat_daemon *d)
{
	struct leat_actor *a, *next;

	while (d->run->calls)
		call_free(d, d->run->calls);
	LL_FOREACH_SAFE(d->run->actors, a, next)
	{
		free(a->own);
		free(a);
	}
	d->run->actors = NULL;
}
