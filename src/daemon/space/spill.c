/* The budget: what is moved out when, and what comes back. */
#include "daemon/space/spill.h"

#include "base/clock.h"
#include "daemon/core/connections.h"
#include "daemon/files/files.h"
#include "daemon/files/former.h"
#include "daemon/space/candidates.h"
#include "daemon/space/fit.h"
#include "daemon/space/move.h"
#include "daemon/space/refuse.h"
#include "daemon/space/space.h"
#include "daemon/space/spill_dir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define SECOND UINT64_C(1000000000)
/* Files that are tried in one go, of which some cannot be moved. */
#define MAX_TRIES 8u
/* All files are looked at for the largest for at most this part of the time. */
#define LARGEST_SHARE 10u
/* A file that cannot be moved just now is tried again after so long, so often. */
#define RETRY_NS (SECOND / 50)
/* The reader of a file that is not retained may give memory back for so long. */
#define READER_NS (10 * SECOND)

/* ---- how full it is ---- */

static uint64_t high_water(const struct leat_daemon_space *s)
{
	return s->budget_bytes / 4 * 3;
}

static uint64_t low_water(const struct leat_daemon_space *s)
{
	return s->budget_bytes / 2;
}

enum leat_root leat_spill_choose_root(struct leat_daemon *d, uint64_t size_bytes)
{
	struct leat_daemon_space *s = d->space;

	leat_space_look(d);
	if (s->used_bytes + size_bytes < high_water(s) || !leat_spill_is_ready(d))
		return LEAT_ROOT_STORE;
	return s->full_ns && leat_clock_ns() - s->full_ns < SECOND ? LEAT_ROOT_STORE
								   : LEAT_ROOT_SPILL;
}

/* ---- who goes, who comes ---- */

/* Begin to move some of `q` from `root`, together no more than `most_bytes`. */
static void move_some(struct leat_daemon *d, struct leat_candidates *q, enum leat_root root,
		      uint64_t most_bytes)
{
	for (unsigned i = 0; i < MAX_TRIES && d->files->n_moves < LEAT_MAX_MOVES; i++) {
		const struct leat_candidate *c = leat_candidates_take(d, q, root);

		if (!c)
			break;
		if (c->f->size <= most_bytes &&
		    leat_move_start(d, c->f, false, 0, leat_spill_tick) == 0)
			most_bytes -= c->f->size;
	}
}

/* True if something is on its way out. */
static bool relieve(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;

	if (!leat_spill_is_ready(d) || d->phase != LEAT_DAEMON_STEPS ||
	    (s->full_ns && leat_clock_ns() - s->full_ns < SECOND))
		return d->files->n_moves > 0;
	move_some(d, &s->going, LEAT_ROOT_STORE, UINT64_MAX);
	return d->files->n_moves > 0;
}

int leat_spill_move_itself(struct leat_daemon *d, struct leat_file *f, bool asked_often, pid_t pid)
{
	uint64_t now = leat_clock_ns();

	if (f->retired)
		return -ENOTSUP;
	if (now - f->tried_ns < RETRY_NS || (asked_often && f->stuck) ||
	    leat_file_is_held(d, f, now))
		return -EBUSY;
	f->tried_ns = now;
	return leat_move_start(d, f, true, pid, leat_spill_tick);
}

static struct leat_file *find_largest(struct leat_daemon *d, uint64_t now)
{
	struct leat_file *f, *largest = NULL;
	off_t most = 0;
	struct stat st;

	for (f = d->files->by_name; f; f = f->hh.next) {
		if (f->move || f->retired || now - f->tried_ns < SECOND ||
		    (leat_shm_flags(leat_file_shm(d, f)) & LEAT_SHM_DROP) ||
		    !leat_tree_has(d->tree, LEAT_ROOT_STORE, f->name, &st) ||
		    !S_ISREG(st.st_mode) || st.st_blocks <= most)
			continue;
		largest = f;
		most = st.st_blocks;
	}
	return largest;
}

/* There is less memory than there was, and all that is there is in use: the largest goes, although
 * it is open. What nobody keeps goes by itself. */
static void relieve_open(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;
	uint64_t now = leat_clock_ns();
	struct leat_file *largest;

	if (!leat_spill_is_ready(d) || d->phase != LEAT_DAEMON_STEPS ||
	    now - s->largest_ns < LARGEST_SHARE * s->find_ns)
		return;
	largest = find_largest(d, now);
	s->largest_ns = leat_clock_ns();
	s->find_ns = s->largest_ns - now;
	if (largest)
		leat_spill_move_itself(d, largest, false, 0);
}

/* What will be read comes back as long as there is space between the marks. */
static void fetch(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;

	if (!s->moved_bytes || d->files->n_moves || d->phase != LEAT_DAEMON_STEPS)
		return;
	move_some(d, &s->coming, LEAT_ROOT_SPILL,
		  low_water(s) + s->budget_bytes / 8 - s->used_bytes);
}

/* Who waits for space looks again. */
static void wake_cramped(struct leat_daemon *d)
{
	struct leat_conn *c;

	DL_FOREACH(d->conns, c)
	if (c->cramped)
		leat_shm_file_update(leat_file_shm(d, c->cramped), 0, 0);
}

void leat_spill_tick(struct leat_daemon *d)
{
	struct leat_daemon_space *s = d->space;

	leat_space_watch(d);
	leat_space_fit(d);
	leat_space_look(d);
	if (s->used_bytes > s->budget_bytes && !relieve(d))
		relieve_open(d);
	else if (s->used_bytes > high_water(s))
		relieve(d);
	else if (s->used_bytes < low_water(s))
		fetch(d);
	leat_formers_settle(d);
	wake_cramped(d);
}

/* ---- a write that found no space ---- */

static int refuse(struct leat_conn *c, struct leat_file *f, int why)
{
	leat_space_refuse(c->d, c->step, f, why);
	return -ENOSPC;
}

static bool has_space(int fd, uint64_t size)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize > size;
}

bool leat_spill_may_move(struct leat_daemon *d, enum leat_root from, uint64_t size)
{
	struct leat_daemon_space *s = d->space;

	if (from == LEAT_ROOT_SPILL)
		return s->used_bytes + size < high_water(s);
	return leat_spill_is_ready(d) && !(s->full_ns && leat_clock_ns() - s->full_ns < SECOND);
}

/* Of a file that is not retained: 0 its reader has gone on, and given memory back; -EAGAIN it may
 * yet; -ENOSPC it has stood still for long. */
static int await_reader(struct leat_daemon *d, struct leat_file *f)
{
	uint64_t dropped = leat_shm_dropped(leat_file_shm(d, f)), now = leat_clock_ns();

	if (f->drop_ns && dropped == f->drop_seen)
		return now - f->drop_ns < READER_NS ? -EAGAIN : -ENOSPC;
	f->drop_seen = dropped;
	f->drop_ns = now;
	return dropped ? 0 : -EAGAIN;
}

/* 0 try again, -EAGAIN it goes elsewhere, -EBUSY not now, -ENOSPC or another reason why not. */
static int make_way(struct leat_daemon *d, struct leat_file *f, enum leat_root root, uint64_t size,
		    bool asked_often)
{
	struct leat_shm_file *s = leat_file_shm(d, f);
	bool drops = leat_shm_flags(s) & LEAT_SHM_DROP;
	int rc;

	if (!leat_spill_may_move(d, root, size))
		return drops ? await_reader(d, f) : -ENOSPC;
	if (drops) /* what is left of it is kept from now on */
		leat_shm_retain(s);
	rc = leat_spill_move_itself(d, f, asked_often, 0);
	return rc ? rc : -EAGAIN;
}

int leat_spill_make_space(struct leat_conn *c, struct leat_file *f, uint64_t length,
			  uint64_t attempt)
{
	struct leat_daemon *d = c->d;
	struct leat_daemon_space *s = d->space;
	enum leat_root root;
	struct stat st;
	bool waits = false;
	int rc;

	leat_space_fit(d);
	leat_space_look_anew(d);
	if (f->move)
		return -EAGAIN;
	if (f->retired || !leat_tree_has_ours(d->tree, f->name, &root, &st))
		return refuse(c, f, -ENOTSUP);
	if (root == LEAT_ROOT_STORE) {
		if (s->used_bytes + length < s->budget_bytes && attempt < 2)
			return 0;
		waits = relieve(d);
		/* What is cold goes first, unless that would not help much. */
		if (waits && (uint64_t)st.st_size < s->budget_bytes / 4)
			return -EAGAIN;
	}
	if (root == LEAT_ROOT_SPILL && attempt < LEAT_SPILL_ATTEMPTS && has_space(s->fd, length))
		return 0; /* the client has yet to follow it there */
	rc = make_way(d, f, root, (uint64_t)st.st_size + length, attempt >= LEAT_SPILL_ATTEMPTS);
	if (!rc || rc == -EAGAIN)
		return rc;
	return waits || (rc == -EBUSY && attempt < LEAT_SPILL_ATTEMPTS) ? -EAGAIN
									: refuse(c, f, rc);
}

/* ---- a write that nobody is asked for ---- */

/* 0 it lies on disk; -EAGAIN it goes there; -EBUSY not now, or why not. */
static int put_aside(struct leat_daemon *d, struct leat_file *f, pid_t pid, bool asked_often)
{
	struct leat_shm_file *s = leat_file_shm(d, f);
	enum leat_root root;
	struct stat st;
	int rc;

	if (f->retired || !leat_tree_has_ours(d->tree, f->name, &root, &st))
		return -ENOTSUP;
	if (root != LEAT_ROOT_STORE)
		return 0;
	if (!leat_spill_may_move(d, root, 0))
		return -ENOSPC;
	if (leat_shm_flags(s) & LEAT_SHM_DROP) /* what is left of it is kept from now on */
		leat_shm_retain(s);
	rc = leat_spill_move_itself(d, f, asked_often, pid);
	return rc ? rc : -EAGAIN;
}

bool leat_spill_aside(struct leat_conn *c, struct leat_file *f, pid_t pid, uint64_t attempt)
{
	bool often = attempt >= LEAT_SPILL_ATTEMPTS;
	int rc = f->move ? -EAGAIN : put_aside(c->d, f, pid, often);

	if (rc == -EAGAIN || (rc == -EBUSY && !often))
		return true;
	if (rc)
		leat_space_stays(c->d, c->step, f, rc);
	return false;
}
