/* Asking the daemon on behalf of a caller, and waiting for its answer. */
#include "mount/internal.h"
#include "mount/record.h"
#include "eventlog/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000) /* in ns */
#define SECOND (1000 * MS)

/* A sleeper looks so often whether its caller is to die: the kernel tells only once that a signal
 * came. */
#define SLICE_NS (100 * MS)
/* As in the interception library: a reader that has caught up waits for so much more, or so long,
 * and only long waits are told to the daemon. */
#define BATCH_BYTES (256u << 10)
#define BATCH_NS (2 * MS)
#define ASK_AFTER_NS (50 * MS)

uint64_t leat_errand_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

int leat_errand_init(struct leat_errand *call, fuse_req_t req)
{
	const struct fuse_ctx *who = fuse_req_ctx(req);
	struct leat_caller user = {.uid = who->uid, .gid = who->gid};

	*call = (struct leat_errand){.m = leat_fuse_context(req), .req = req, .tid = who->pid};
	call->other = call->m->spec->ranged && who->uid != call->m->shown_uid;
	call->gid = who->gid;
	if (call->m->recorder)
		leat_record_arrived(call);
	if (!call->m->as_root || (!who->uid && !who->gid))
		return leat_line_get(call->m, &call->line);
	user.n = fuse_req_getgroups(req, LEAT_MAX_GROUPS, user.groups);
	if (user.n < 0 || user.n > LEAT_MAX_GROUPS)
		user.n = user.n < 0 ? 0 : LEAT_MAX_GROUPS;
	return leat_line_get_as(call->m, &user, &call->line);
}

struct leat_shm_file *leat_errand_file(const struct leat_errand *call, uint32_t slot)
{
	return slot && slot < LEAT_SHM_MAX_FILES ? &call->m->shm->files[slot] : NULL;
}

/* Put the length into `st`. False: look again. */
static bool mend(struct leat_shm_file *f, uint32_t epoch, struct stat *st)
{
	uint64_t length;

	if (!f || !S_ISREG(st->st_mode))
		return true;
	if (!leat_shm_length(f, epoch, (uint64_t)st->st_size, &length))
		return false;
	st->st_size = (off_t)length;
	return true;
}

static uint32_t epoch_of(struct leat_shm_file *f)
{
	return f ? leat_shm_epoch(f) : 0;
}

int leat_errand_fstat(const struct leat_errand *call, uint32_t slot, int fd, struct stat *st)
{
	struct leat_shm_file *f = leat_errand_file(call, slot);
	uint32_t epoch;

	do {
		epoch = epoch_of(f);
		if (fstat(fd, st) < 0)
			return -errno;
	} while (!mend(f, epoch, st));
	return 0;
}

void leat_errand_become(const struct leat_errand *call)
{
	const struct leat_caller *user = &call->line->user;

	if (!user->uid && !user->gid)
		return;
	syscall(SYS_setgroups, user->n, user->groups);
	setfsgid(user->gid);
	setfsuid(user->uid);
}

void leat_errand_self(const struct leat_errand *call)
{
	const struct leat_caller *user = &call->line->user;

	if (!user->uid && !user->gid)
		return;
	setfsuid(0);
	setfsgid(call->m->own.gid);
	syscall(SYS_setgroups, call->m->own.n, call->m->own.groups);
}

/* As the caller: what the daemon found there may be another's by now. Only the server may look
 * where the daemon has moved files to. */
static int identify(const struct leat_errand *call, int dirfd, const char *path, struct stat *st,
		    struct leat_identity *id)
{
	int rc;

	if (dirfd == AT_FDCWD)
		return leat_identify(dirfd, path, st, id);
	leat_errand_become(call);
	rc = leat_identify(dirfd, path, st, id);
	leat_errand_self(call);
	return rc;
}

int leat_errand_identify(const struct leat_errand *call, uint32_t slot, int dirfd, const char *path,
			 struct stat *st, struct leat_identity *id)
{
	struct leat_shm_file *f = leat_errand_file(call, slot);
	uint32_t epoch;
	int rc;

	do {
		epoch = epoch_of(f);
		rc = identify(call, dirfd, path, st, id);
	} while (!rc && !mend(f, epoch, st));
	if (!rc)
		id->slot = slot;
	return rc;
}

static uint32_t step_of(const struct leat_errand *call)
{
	int32_t step = call->m->step;

	return step >= 0 && step < (int32_t)LEAT_SHM_MAX_STEPS ? (uint32_t)step : 0;
}

struct leat_shm_step *leat_errand_step(const struct leat_errand *call)
{
	return &call->m->shm->steps[step_of(call)];
}

struct leat_shm_limit *leat_errand_limit(const struct leat_errand *call)
{
	return &call->m->shm->limits[step_of(call)];
}

/* --- waiting --- */

bool leat_errand_is_stopped(const struct leat_errand *call)
{
	struct pollfd p = {.fd = call->m->peer, .events = POLLIN};

	if (call->req)
		return fuse_req_interrupted(call->req) && leat_caller_stopped(call->tid);
	return p.fd >= 0 && poll(&p, 1, 0) > 0; /* the program's process is gone */
}

static void wake(fuse_req_t req, void *arg)
{
	(void)req;
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
}

/* 0 look again, -EINTR, -EIO. `part`: what is waited for in a file with EXTENTS, or NULL. */
static int nap(struct leat_errand *call, struct leat_shm_file *f, uint32_t seq, uint64_t wake_at,
	       const struct leat_range *part, uint64_t timeout_ns)
{
	const struct timespec t = {.tv_nsec = 10 * MS};
	pthread_t self = pthread_self();
	int rc = 0;

	if (call->req)
		fuse_req_interrupt_func(call->req, wake, &self);
	timeout_ns = timeout_ns < SLICE_NS ? timeout_ns : SLICE_NS;
	if (f && part)
		rc = leat_shm_wait_range(f, seq, part, timeout_ns);
	else if (f)
		rc = leat_shm_wait(f, seq, wake_at, timeout_ns);
	else
		nanosleep(&t, NULL);
	if (call->req)
		fuse_req_interrupt_func(call->req, NULL, NULL);
	if (rc != 0 && leat_errand_is_stopped(call))
		return -EINTR;
	return rc == -ETIMEDOUT && !leat_line_alive(call->line) ? -EIO : 0;
}

static uint64_t wait_begin(const struct leat_errand *call)
{
	leat_shm_count(&leat_errand_step(call)->waiting, 1);
	return leat_errand_now_ns();
}

static void wait_end(const struct leat_errand *call, uint64_t since)
{
	leat_shm_count(&leat_errand_step(call)->waiting, (uint64_t)-1);
	leat_shm_count(&leat_errand_step(call)->wait_ns, leat_errand_now_ns() - since);
}

ssize_t leat_errand_pread(struct leat_errand *call, int fd, void *out, size_t size, off_t offset)
{
	uint64_t since = leat_errand_now_ns();
	ssize_t n = pread(fd, out, size, offset);

	leat_shm_count(&leat_errand_step(call)->copy_ns, leat_errand_now_ns() - since);
	return n;
}

int leat_errand_sleep(struct leat_errand *call, uint32_t slot, uint32_t seq)
{
	struct leat_shm_file *f = leat_errand_file(call, slot);
	uint64_t since = wait_begin(call), wake_at = UINT64_MAX;
	int rc = 0;

	/* An open may go on at the first byte, which the producer publishes by itself. */
	if (f && !leat_shm_frontier(f))
		wake_at = 1;
	do
		rc = nap(call, f, seq, wake_at, NULL, SLICE_NS);
	while (!rc && f && leat_shm_seq(f) == seq && leat_shm_frontier(f) < wake_at &&
	       leat_errand_now_ns() - since < SECOND);
	wait_end(call, since);
	return rc;
}

int leat_errand_wait(struct leat_errand *call, uint32_t what, uint32_t slot, uint64_t offset,
		     uint64_t length)
{
	uint32_t seq;
	int rc;

	for (;;) {
		rc = leat_line_ask(call->line, what, slot, offset, length, &seq);
		if (rc == -EAGAIN)
			rc = leat_errand_sleep(call, slot, seq);
		else
			return rc;
		if (rc)
			return rc;
	}
}

void leat_errand_cancel(struct leat_errand *call)
{
	uint32_t seq;

	leat_line_ask(call->line, LEAT_CALL_WRITE, 0, 0, 0, &seq);
}

struct patience {
	uint64_t since;
	uint64_t ask_at;
	bool asked; /* the daemon knows */
};

/* What is read, of which file. */
struct wanted {
	struct leat_shm_file *f;
	uint32_t slot;
	uint64_t offset, length;
};

/* 0: look again; LEAT_SHM_THERE: the daemon says that the bytes are. */
static int wait_once(struct leat_errand *call, const struct wanted *w, uint32_t seq, bool ask,
		     struct patience *p)
{
	const struct leat_range range = {w->offset, leat_range_end(w->offset, w->length)};
	const bool parts = leat_shm_flags(w->f) & LEAT_SHM_EXTENTS;
	uint64_t now = leat_errand_now_ns(), wake_at = range.end, timeout = SLICE_NS;
	uint32_t ignored;
	int rc;

	if (!parts && now < p->since + BATCH_NS) {
		uint64_t more = leat_shm_frontier(w->f) + BATCH_BYTES;

		wake_at = wake_at > more ? wake_at : more;
		timeout = p->since + BATCH_NS - now;
	} else if (!ask && now < p->ask_at) {
		timeout = p->ask_at - now;
	} else {
		p->ask_at = now + SECOND;
		rc = leat_line_ask(call->line, LEAT_CALL_READ, w->slot, w->offset, w->length,
				   &ignored);
		p->asked = rc == -EAGAIN;
		if (rc && rc != -EAGAIN)
			return rc;
		if (!rc && parts)
			return LEAT_SHM_THERE;
		if (!rc)
			timeout = MS; /* the record will say the same in a moment */
	}
	return nap(call, w->f, seq, wake_at, parts ? &range : NULL, timeout);
}

int leat_errand_covered(struct leat_errand *call, uint32_t slot, uint64_t offset, uint64_t length,
			bool *final)
{
	const struct wanted w = {leat_errand_file(call, slot), slot, offset, length};
	struct patience p = {0};
	uint32_t seq;
	int rc;

	*final = !w.f;
	if (!w.f)
		return 0;
	for (;;) {
		seq = leat_shm_seq(w.f);
		rc = leat_shm_look(call->m->shm, w.f, offset, length);
		if (rc && rc != LEAT_SHM_ASK)
			break;
		if (!p.since) {
			p.since = wait_begin(call);
			p.ask_at = p.since + ASK_AFTER_NS;
		}
		rc = wait_once(call, &w, seq, rc == LEAT_SHM_ASK, &p);
		if (rc)
			break;
	}
	if (p.since)
		wait_end(call, p.since);
	if (p.asked)
		leat_errand_cancel(call);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}

/* --- questions about names --- */

/* Directory and path of a place; path NULL: there is none. */
static int go_to(const struct leat_errand *call, uint32_t where, const char *path,
		 struct leat_place_of *place)
{
	place->dirfd = call->m->dir_fd;
	if (where == LEAT_PLACE_STORE)
		place->dirfd = call->m->store_fd;
	if (where == LEAT_PLACE_SPILL)
		place->dirfd = AT_FDCWD;
	if (!path || strlen(path) >= sizeof(place->path))
		return -EIO;
	strcpy(place->path, *path ? path : ".");
	return 0;
}

static int place_of(const struct leat_errand *call, const char *asked, struct leat_place_of *place)
{
	const struct leat_msg_resolved *m = (const struct leat_msg_resolved *)call->line->msg;
	const char *path = leat_wire_string(m, sizeof(*m), 0);

	place->kind = m->kind;
	place->slot = m->slot;
	place->seq = m->seq;
	place->flags = m->flags;
	place->ofd = m->ofd;
	place->intact = m->intact;
	place->path[0] = 0;
	if (m->error == -EAGAIN && path && *path)
		go_to(call, m->place, path, place);
	if (m->error)
		return m->error;
	if (m->place == LEAT_PLACE_ASIS) {
		/* The kernel has followed all symlinks: a name that leads outside was
		 * changed meanwhile. */
		if (path && *path)
			return -ESTALE;
		path = asked;
	}
	return go_to(call, m->place, path, place);
}

int leat_errand_try(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
		    uint32_t mode, uint64_t length, struct leat_place_of *place)
{
	struct leat_msg_resolve *m = leat_line_begin(call->line, LEAT_MSG_RESOLVE);
	int rc;

	m->op = op;
	m->flags = flags;
	m->mode = mode;
	m->length = length;
	if (op == LEAT_OP_OPEN && (flags & O_ACCMODE) != O_RDONLY)
		m->pid = (uint32_t)leat_caller_opener(call);
	rc = leat_wire_put(m, path);
	if (!rc)
		rc = leat_line_roundtrip(call->line, LEAT_MSG_RESOLVED);
	return rc ? rc : place_of(call, path, place);
}

int leat_errand_resolve(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
			uint32_t mode, uint64_t length, struct leat_place_of *place)
{
	int rc;

	for (;;) {
		rc = leat_errand_try(call, op, path, flags, mode, length, place);
		if (rc != -EAGAIN)
			return rc;
		rc = leat_errand_sleep(call, place->slot, place->seq);
		if (rc)
			return rc;
	}
}

bool leat_errand_room(struct leat_errand *call, uint32_t slot, uint64_t length, uint64_t *attempt)
{
	uint32_t seq;
	int rc;

	if (!slot)
		return false;
	for (;;) {
		rc = leat_line_ask(call->line, LEAT_WIRE_ROOM, slot, (*attempt)++, length, &seq);
		if (rc != -EAGAIN)
			return !rc;
		if (leat_errand_sleep(call, slot, seq))
			return false;
	}
}

bool leat_errand_is_over_budget(struct leat_errand *call, uint32_t slot, uint64_t length)
{
	static struct leat_shm_unasked unasked;
	uint64_t sum = slot ? leat_shm_unasked(call->m->shm, &unasked, length) : 0;
	uint32_t seq;

	if (!sum)
		return false;
	return leat_shm_asked(call->m->shm, &unasked,
			      leat_line_ask(call->line, LEAT_WIRE_HAS_ROOM, slot, 0, sum, &seq));
}

void leat_errand_tell(struct leat_errand *call, enum leat_msg_type type,
		      const struct leat_msg_fact *fact)
{
	if (!leat_line_fact(call->line, type, fact))
		leat_errand_cancel(call);
}

void leat_errand_made(struct leat_errand *call, const struct leat_place_of *place, int rc)
{
	struct leat_msg_fact fact = {.slot = place->slot, .ofd = place->ofd, .error = rc};

	if (place->ofd || !rc)
		leat_errand_tell(call, LEAT_MSG_OPENED, &fact);
	else
		leat_line_fact(call->line, LEAT_MSG_OPENED, &fact);
}

static int change_once(struct leat_errand *call, enum leat_change what, uint32_t flags,
		       const char *first, const char *second, uint32_t *slot, uint32_t *seq)
{
	const struct leat_msg_answer *answer = (const struct leat_msg_answer *)call->line->msg;
	struct leat_msg_change *m = leat_line_begin(call->line, LEAT_MSG_CHANGE);
	int rc;

	m->change = what;
	m->flags = flags;
	rc = leat_wire_put(m, first);
	if (!rc)
		rc = leat_wire_put(m, second ? second : "");
	if (!rc)
		rc = leat_line_roundtrip(call->line, LEAT_MSG_ANSWER);
	if (rc)
		return rc;
	*slot = answer->slot;
	*seq = answer->seq;
	return answer->error;
}

int leat_errand_change(struct leat_errand *call, enum leat_change what, uint32_t flags,
		       const char *first, const char *second)
{
	uint32_t slot = 0, seq = 0;
	int rc = leat_handles_settle(call);

	while (!rc) {
		rc = change_once(call, what, flags, first, second, &slot, &seq);
		if (rc != -EAGAIN)
			break;
		rc = leat_errand_sleep(call, slot, seq);
	}
	return rc;
}
