/* Moving a file between store and spill directory, in the background. */
#include "daemon/space/move.h"

#include "base/beneath.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/timespec.h"
#include "daemon/core/processes.h"
#include "daemon/files/descriptions.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/files/locks.h"
#include "daemon/files/moving.h"
#include "daemon/files/sizes.h"
#include "daemon/space/holders.h"
#include "daemon/space/memory_limits.h"
#include "daemon/space/refuse.h"
#include "daemon/space/space.h"
#include "store/attributes.h"
#include "store/copy.h"
#include "store/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void free_move(struct leat_move *m)
{
	leat_close(&m->in);
	leat_close(&m->out);
	free(m->servers);
	free(m);
}

/* Writes that began before they could see that the file is moved; the size is that after
 * them. */
static int await_writers(struct leat_move *m)
{
	const struct timespec pause = {.tv_nsec = 20000};
	uint64_t since = leat_clock_ns();

	while (leat_shm_holders(m->shared, true) && leat_clock_ns() - since < LEAT_HOLD_NS)
		nanosleep(&pause, NULL);
	/* A process was killed in it, or stopped: that one will find out. */
	if (leat_shm_holders(m->shared, true))
		leat_shm_set_generation(m->shared, m->generation + LEAT_GENERATION_FORCED);
	return fstat(m->in, &m->st) < 0 ? -errno : 0;
}

static void work(uv_work_t *w)
{
	struct leat_move *m = w->data;

	LEAT_FAULT("move");
	if (m->live && !leat_holders_follow(m->st.st_dev, m->st.st_ino, m->servers, m->n_servers))
		m->rc = -EBUSY;
	else if (m->live)
		m->rc = await_writers(m);
	if (m->rc)
		return;
	m->rc = leat_copy_data(m->in, m->out, (uint64_t)m->st.st_size, m->how);
	LEAT_FAULT("move.copied");
	if (!m->rc)
		m->rc = leat_copy_xattrs(m->in, m->out, LEAT_LIST_GOES, NULL,
					 NULL); /* else it stays where it is */
}

/* Whether it was changed, or opened, since. */
static bool was_used(const struct leat_move *m)
{
	struct stat now;

	return fstat(m->in, &now) < 0 || now.st_size != m->st.st_size ||
	       !leat_timespec_is_same(now.st_ctim, m->st.st_ctim) || leat_is_open_elsewhere(m->in);
}

/* The new name, and no more the old one: of that neither the directories nor the file, which is
 * another inode now, show anything. */
static int swap_names(const struct leat_move *m, const struct stat *st)
{
	int store = leat_tree_fd(m->d->tree, LEAT_ROOT_STORE), to = leat_tree_fd(m->d->tree, m->to);
	struct timespec ctime = leat_shown_ctime(m->d->shm, st);
	struct leat_beneath at = {.dir = -1};
	struct leat_quiet quiet;
	int rc;

	if (leat_beneath_find(store, m->f->name, &at))
		at = (struct leat_beneath){.dir = -1};
	leat_quiet_begin(&quiet, m->d->shm, at.dir);
	leat_quiet_add(&quiet, store); /* it has had the temporary name */
	leat_quiet_show(&quiet, m->in, ctime);
	leat_quiet_show(&quiet, m->out, ctime);
	rc = leat_beneath_rename(to, m->temporary, to, m->f->name, 0);
	LEAT_FAULT("move.renamed");
	if (!rc)
		rc = leat_beneath_unlink(leat_tree_fd(m->d->tree, m->from), m->f->name, 0);
	leat_quiet_end(&quiet);
	leat_beneath_release(&at);
	return rc;
}

/* The copy takes the file's place. */
static int replace_old(struct leat_move *m)
{
	struct leat_tree *t = m->d->tree;
	int rc = leat_tree_make_parents(t, m->to, m->f->name);
	struct stat st;

	if (!rc && fstat(m->in, &st) < 0)
		rc = -errno;
	if (!rc)
		rc = leat_copy_meta(m->in, m->out, &st, LEAT_LIST_GOES, NULL);
	/* Who finds nothing in the old place asks, and is answered when all is done. */
	leat_shm_file_changed(leat_file_shm(m->d, m->f));
	return rc ? rc : swap_names(m, &st);
}

/* The same for a file that is open: who has it open is to follow. */
static int replace_live(struct leat_move *m)
{
	struct leat_shm_file *s = leat_file_shm(m->d, m->f);
	int rc = leat_former_add(m->d, m->f, m->in, m->out, m->generation);

	if (!rc)
		rc = replace_old(m);
	if (rc && m->f->former)
		leat_former_cancel(m->f);
	if (rc)
		return rc;
	m->in = m->out = -1;
	leat_close(&m->f->drop_fd);
	LEAT_FAULT("move.live");
	leat_descriptions_moved(m->f);
	leat_shm_set_generation(s, m->generation + LEAT_GENERATION_NEXT);
	return 0;
}

static int finish(struct leat_move *m)
{
	if (m->live)
		return replace_live(m);
	return was_used(m) ? -EBUSY : replace_old(m);
}

static void drop_temporary(const struct leat_move *m)
{
	int top = leat_tree_fd(m->d->tree, m->to);
	struct leat_quiet quiet;

	leat_quiet_begin(&quiet, m->d->shm, top);
	leat_beneath_unlink(top, m->temporary, 0);
	leat_quiet_end(&quiet);
}

static void done(uv_work_t *w, int status)
{
	struct leat_move *m = w->data;
	struct leat_daemon *d = m->d;
	struct leat_daemon_space *s = d->space;
	struct leat_file *f = m->f;
	void (*moved)(struct leat_daemon * d) = m->moved;
	int rc = status ? -ECANCELED : m->rc;

	DL_DELETE(d->files->moves, m);
	d->files->n_moves--;
	if (rc == -ENOSPC && m->to == LEAT_ROOT_SPILL)
		s->full_ns = leat_clock_ns();
	leat_space_watch(d); /* while nothing has left it */
	if (!rc && f)
		rc = finish(m);
	if (rc || !f)
		drop_temporary(m);
	else {
		f->moved_ns = leat_clock_ns();
		if (f->complete_in != LEAT_ROOT_NONE)
			leat_file_list_complete(d, f, m->to);
	}
	if (!rc && f && m->to == LEAT_ROOT_SPILL)
		s->moved_bytes += (uint64_t)m->st.st_size;
	if (rc)
		leat_debug("%s was not moved: %s", f ? f->name : "a file", strerror(-rc));
	if (f && m->live)
		f->stuck = rc == -EBUSY;
	if (f)
		leat_move_end(f);
	free_move(m);
	moved(d);
}

static int open_both(struct leat_move *m)
{
	struct leat_daemon *d = m->d;
	struct leat_quiet quiet;

	if (!leat_tree_has_ours(d->tree, m->f->name, &m->from, &m->st))
		return -ENOENT;
	if (!S_ISREG(m->st.st_mode) || m->st.st_nlink != 1)
		return -ENOTSUP;
	/* Others may put another file in its place, which leat would bring where they reach it. */
	if (leat_tree_is_exposed(d->tree, m->f->name))
		return -ENOTSUP;
	m->to = m->from == LEAT_ROOT_STORE ? LEAT_ROOT_SPILL : LEAT_ROOT_STORE;
	m->in = leat_open_hard(leat_tree_fd(d->tree, m->from), m->f->name);
	if (m->in < 0)
		return m->in;
	if (fstat(m->in, &m->st) < 0)
		return -errno;
	if (!m->live)
		leat_close(&m->f->drop_fd);
	if (!m->live && leat_is_open_elsewhere(m->in))
		return -EBUSY;
	snprintf(m->temporary, sizeof(m->temporary), ".leat-move-%llu",
		 (unsigned long long)++d->files->last_byte);
	leat_quiet_begin(&quiet, d->shm, leat_tree_fd(d->tree, m->to));
	m->out = leat_beneath_open(leat_tree_fd(d->tree, m->to), m->temporary,
				   O_RDWR | O_CREAT | O_EXCL, 0600);
	leat_quiet_end(&quiet);
	return m->out < 0 ? m->out : 0;
}

/* Those that have said that they are; who is not among them is looked at as any process. */
static int note_servers(struct leat_move *m, pid_t pid)
{
	const struct leat_proc *p;

	m->servers = calloc(HASH_COUNT(m->d->procs) + 2, sizeof(*m->servers));
	if (!m->servers)
		return -ENOMEM;
	for (p = m->d->procs; p; p = p->hh.next)
		if (p->mount && !p->gone)
			m->servers[m->n_servers++] = p->pid;
	if (pid)
		m->servers[m->n_servers++] = pid;
	return 0;
}

/* From now on clients do not begin to write. */
static int stop_writers(struct leat_move *m)
{
	struct leat_shm_file *s = leat_file_shm(m->d, m->f);

	if (!leat_file_settle(m->d, m->f, true))
		return -EBUSY;
	m->generation = leat_shm_generation(s);
	leat_shm_set_generation(s, m->generation + LEAT_GENERATION_MOVING);
	if (leat_shm_flags(s) & (LEAT_SHM_PINNED | LEAT_SHM_DROP)) {
		leat_shm_set_generation(s, m->generation);
		return -ENOTSUP;
	}
	return 0;
}

static bool may_start(struct leat_daemon *d, struct leat_file *f, bool live)
{
	if (f->move || f->former || d->files->n_moves >= LEAT_MAX_MOVES)
		return false;
	return !live || leat_descriptions_settled(d, f);
}

/* Where memory is limited what is copied to disk must not fill it; where programs have left less
 * than files might have, there may be none for it at all. */
static enum leat_copy choose_copy(const struct leat_move *m)
{
	const struct leat_limits *l = &m->d->space->limits;

	if (m->to == LEAT_ROOT_SPILL && l->budget.now_bytes < l->budget.most_bytes)
		return LEAT_COPY_DIRECT;
	return l->is_limited ? LEAT_COPY_EVENLY : LEAT_COPY_FAST;
}

int leat_move_start(struct leat_daemon *d, struct leat_file *f, bool live, pid_t pid,
		    void (*moved)(struct leat_daemon *d))
{
	struct leat_move *m;
	int rc;

	if (!may_start(d, f, live))
		return -EBUSY;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct leat_move){.d = d, .f = f, .in = -1, .out = -1, .live = live, .moved = moved};
	m->shared = leat_file_shm(d, f);
	rc = open_both(m);
	m->how = choose_copy(m);
	if (!rc && live)
		rc = note_servers(m, pid);
	if (!rc && live)
		rc = stop_writers(m);
	if (!rc) {
		m->work.data = m;
		rc = uv_queue_work(&d->loop, &m->work, work, done);
	}
	if (rc) {
		if (m->out >= 0)
			drop_temporary(m);
		free_move(m);
		return rc;
	}
	f->move = m;
	DL_APPEND(d->files->moves, m);
	d->files->n_moves++;
	return 0;
}
