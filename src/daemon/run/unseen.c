#include "daemon/run/unseen.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "daemon/core/session.h"
#include "daemon/run/lost.h"
#include "daemon/run/run.h"
#include "shm/roll.h"
#include "shm/word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAPS_SIZE (1u << 20)
#define STATUS_SIZE (1u << 16)
#define SLEEP_US 2000
#define SLEEPS_DYING 50 /* how long a process that ends is waited for */

int leat_unseen_init(struct leat_daemon *d)
{
	int fd = leat_session_make(&d->session, LEAT_ROLL_NAME), rc;
	void *map;

	if (fd < 0)
		return fd;
	rc = -posix_fallocate(fd, 0, sizeof(*d->run->roll));
	map = rc ? MAP_FAILED
		 : mmap(NULL, sizeof(*d->run->roll), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!rc && map == MAP_FAILED)
		rc = -errno;
	leat_close(&fd);
	if (rc)
		return rc;
	d->run->roll = map;
	madvise(map, sizeof(*d->run->roll),
		MADV_RANDOM); /* else all of it is brought in for one entry */
	d->run->roll->namespace = (uint32_t)leat_pid_namespace();
	return 0;
}

void leat_unseen_release(struct leat_daemon *d)
{
	if (d->run->roll)
		munmap(d->run->roll, sizeof(*d->run->roll));
	d->run->roll = NULL;
}

void leat_unseen_start(struct leat_daemon *d, int step, pid_t pid, const char *program)
{
	leat_roll_start(d->run->roll, (uint64_t)pid, leat_roll_step(d->wf->steps[step].name),
			program, leat_clock_ns(), NULL);
}

void leat_unseen_ended(struct leat_daemon *d, pid_t pid, int status)
{
	leat_roll_ended(d->run->roll, (uint64_t)pid, status, leat_clock_ns());
}

/* As whom the process runs; all ones: there is none. */
static uid_t user_of(pid_t pid)
{
	char path[64], *text = NULL, *at;
	unsigned uid = UINT_MAX;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (leat_read_file(path, STATUS_SIZE, &text, NULL) == 0 && (at = strstr(text, "\nUid:")))
		sscanf(at, "\nUid: %*u %u", &uid);
	free(text);
	return uid;
}

static struct leat_roll_entry *find_starting(const struct leat_daemon *d, pid_t pid)
{
	struct leat_roll_entry *e = leat_roll_find(d->run->roll, (uint64_t)pid);

	return e && leat_word_get(&e->state) == LEAT_ROLL_STARTING ? e : NULL;
}

void leat_unseen_becomes(struct leat_daemon *d, int step, pid_t pid, const char *program, uid_t uid)
{
	struct leat_roll_entry *e;

	if (user_of(pid) != uid)
		return;
	if (!*program) {
		leat_unseen_forget(d, pid);
		return;
	}
	leat_unseen_start(d, step, pid, program);
	e = find_starting(d, pid);
	if (e)
		e->status = (int32_t)uid; /* until it has one: who may say how it has ended */
}

void leat_unseen_came(struct leat_daemon *d, pid_t pid)
{
	if (find_starting(d, pid))
		leat_roll_leave(d->run->roll, (uint64_t)pid);
}

void leat_unseen_gone(struct leat_daemon *d, pid_t pid, int status, uid_t uid)
{
	const struct leat_roll_entry *e = find_starting(d, pid);

	if (e && e->status == (int32_t)uid)
		leat_unseen_ended(d, pid, status);
}

void leat_unseen_forget(struct leat_daemon *d, pid_t pid)
{
	leat_roll_leave(d->run->roll, (uint64_t)pid);
}

/* ---- looking ---- */

/* Has it the library? */
static bool is_loaded(pid_t pid)
{
	char path[64], *text = NULL;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	found = leat_read_file(path, MAPS_SIZE, &text, NULL) == 0 && strstr(text, "/libleat");
	free(text);
	return found;
}

static bool is_followed(const struct leat_daemon *d, int step, pid_t pid)
{
	const struct leat_roll_entry *e = leat_roll_find(d->run->roll, (uint64_t)pid);
	uint64_t state = e ? leat_word_get(&e->state) : 0;

	return (state == LEAT_ROLL_FOLLOWED || state == LEAT_ROLL_LOOSE) &&
	       e->step == leat_roll_step(d->wf->steps[step].name);
}

int leat_unseen_root(const struct leat_daemon *d, int step, pid_t pid)
{
	struct leat_pidstat now;
	pid_t root = 0;
	int fd = -1;

	while (pid > 1 && leat_pidstat_read(pid, &now)) {
		pid = now.parent;
		if (pid > 1 && is_followed(d, step, pid))
			root = pid;
	}
	if (root)
		fd = (int)syscall(SYS_pidfd_open, root, 0);
	/* The entry may be of an earlier process of that number. */
	if (fd >= 0 && !is_loaded(root))
		leat_close(&fd);
	return fd;
}

/* One that is ending is waited for: how it ended is known only then. */
static bool read_settled(pid_t pid, struct leat_pidstat *now)
{
	for (int sleeps = 0; leat_pidstat_read(pid, now); sleeps++) {
		if (!now->exiting || now->state == 'Z' || sleeps == SLEEPS_DYING)
			return true;
		usleep(SLEEP_US);
	}
	return false;
}

/* Nobody has said anything of it, or how it ended. True: that may still come. */
static bool is_open(struct leat_roll_entry *e)
{
	uint64_t process = leat_word_get(&e->process);
	pid_t pid = (pid_t)(uint32_t)process;
	struct leat_pidstat now;
	bool is_there = !(process >> 32) && read_settled(pid, &now);

	if (leat_clock_ns() - e->since_ns < LEAT_ROLL_LOADING_NS)
		return true;
	if (is_there && !now.exiting && is_loaded(pid))
		return true;
	e->status = is_there && now.exiting ? now.status : LEAT_ROLL_UNKNOWN;
	leat_word_claim(&e->state, LEAT_ROLL_STARTING, LEAT_ROLL_NEVER);
	return false;
}

/* It has said that it is followed: is it still what it was, or has it gone without a word? */
static void look_again(struct leat_roll_entry *e)
{
	uint64_t process = leat_word_get(&e->process);
	pid_t pid = (pid_t)(uint32_t)process;
	struct leat_pidstat now;

	if (process >> 32 || !read_settled(pid, &now))
		return;
	e->status = now.state == 'Z' ? now.status : LEAT_ROLL_UNKNOWN;
	if (now.state == 'Z' ? !WIFEXITED(now.status) : now.exiting || is_loaded(pid))
		return;
	if (now.state != 'Z' && (!leat_pidstat_read(pid, &now) || now.exiting))
		return; /* what it had is gone */
	leat_word_claim(&e->state, LEAT_ROLL_FOLLOWED, LEAT_ROLL_PAST);
}

static char *report_never(const struct leat_roll_entry *e)
{
	char end[64] = "ran";
	int status = e->status;

	if (status != LEAT_ROLL_UNKNOWN && WIFEXITED(status))
		snprintf(end, sizeof(end), "ended with status %d", WEXITSTATUS(status));
	else if (status != LEAT_ROLL_UNKNOWN && WIFSIGNALED(status))
		snprintf(end, sizeof(end), "was killed by signal %d", WTERMSIG(status));
	return leat_strf("%s (process %u) %s without having attached to the run, so that what it "
			 "did with files was not seen: leave LD_PRELOAD and LEAT_* to its programs "
			 "as they are, or give the step staged: true",
			 e->program, (unsigned)leat_word_get(&e->process), end);
}

static char *report_past(const struct leat_roll_entry *e)
{
	return leat_strf("%s (process %u) ended past libleat: it, or a program that it became, "
			 "made system calls that were not seen; run it behind a mount "
			 "(LEAT_INTERCEPT=mount in its environment), or give the step staged: true",
			 e->program, (unsigned)leat_word_get(&e->process));
}

static int step_of(const struct leat_daemon *d, const struct leat_roll_entry *e)
{
	for (int i = 0; i < (int)d->wf->n_steps; i++)
		if (leat_roll_step(d->wf->steps[i].name) == e->step)
			return i;
	return -1;
}

static void report(struct leat_daemon *d, struct leat_roll_entry *e)
{
	bool never = leat_word_get(&e->state) == LEAT_ROLL_NEVER;
	char *why = never ? report_never(e) : report_past(e);
	int step = step_of(d, e);

	/* Of no step of this run: LEAT_APP_NAME was nobody's, as the daemon has said. */
	if (step >= 0)
		leat_lost_note(d, step, why ? why : "a program of it was not seen");
	free(why);
	leat_word_set(&e->state, 0);
	leat_word_set(&e->process, 0);
}

/* How many there are of which nobody can say yet. */
static unsigned collect(struct leat_daemon *d, uint32_t step, bool all)
{
	struct leat_roll_entry *e = NULL;
	unsigned n = 0;

	while (d->run->roll && (e = leat_roll_next(d->run->roll, e))) {
		if (!leat_word_get(&e->process) || (!all && e->step != step))
			continue;
		if (leat_word_get(&e->state) == LEAT_ROLL_STARTING)
			n += is_open(e);
		else if (leat_word_get(&e->state) == LEAT_ROLL_FOLLOWED)
			look_again(e);
		if (leat_word_get(&e->state) >= LEAT_ROLL_NEVER)
			report(d, e);
	}
	return n;
}

void leat_unseen_collect(struct leat_daemon *d, int step)
{
	collect(d, leat_roll_step(d->wf->steps[step].name), false);
}

void leat_unseen_await(struct leat_daemon *d)
{
	uint64_t since = leat_clock_ns();

	while (collect(d, 0, true) && leat_clock_ns() - since < 2 * LEAT_ROLL_LOADING_NS)
		usleep(SLEEP_US);
}
