#include "preload/engine/kept.h"

#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/first.h"
#include "preload/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the file being made, then of one that is there: what its name is made of. dir NULL: none. Only
 * the first processes of a run make one, the others do not touch what that takes. */
static struct {
	const char *dir, *suffix;
	uint64_t id;
} last LEAT_FIRST;
static char temporary[PATH_MAX], final[PATH_MAX], claim[PATH_MAX];

static bool path_of(char out[PATH_MAX], const char *dir, uint64_t number, const char *suffix,
		    const char *end)
{
	struct leat_text t = leat_text_in(out, PATH_MAX);

	leat_text_add(&t, dir);
	leat_text_add(&t, "/");
	leat_text_add_number(&t, number);
	leat_text_add(&t, suffix);
	leat_text_add(&t, end);
	return !t.full;
}

bool leat_kept_path(char out[PATH_MAX], const char *dir, uint64_t id, const char *suffix)
{
	return path_of(out, dir, id, suffix, "");
}

static long open_file(const char *name, int flags)
{
	return leat_raw(SYS_openat, AT_FDCWD, (long)name, flags | O_CLOEXEC, 0600, 0, 0);
}

static void note(const char *dir, uint64_t id, const char *suffix)
{
	last.dir = dir;
	last.id = id;
	last.suffix = suffix;
}

long leat_kept_open(const char *dir, uint64_t id, const char *suffix)
{
	char path[PATH_MAX];
	long fd = -ENOENT;

	if (dir && id && path_of(path, dir, id, suffix, ""))
		fd = open_file(path, O_RDONLY);
	note(fd < 0 ? NULL : dir, id, suffix);
	return fd;
}

/* The name of a file with this is there while a process makes the file. */
#define CLAIM ".claim"
/* Milliseconds are enough to make one; who takes longer was stopped, or cannot. */
#define PATIENCE_NS UINT64_C(100000000)

/* For how long the process that has claimed the file may still be at it. */
static uint64_t time_left(void)
{
	struct timespec now;
	struct stat st;
	int64_t age;

	if (leat_raw(SYS_newfstatat, AT_FDCWD, (long)claim, (long)&st, 0, 0, 0) ||
	    leat_raw(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0))
		return 0;
	age = (now.tv_sec - st.st_mtim.tv_sec) * INT64_C(1000000000) + now.tv_nsec -
	      st.st_mtim.tv_nsec;
	/* The kernel's times of files lag behind its clock by a tick. */
	return age >= 0 && age < (int64_t)PATIENCE_NS ? PATIENCE_NS - (uint64_t)age : 0;
}

static bool is_claimed(void)
{
	return !leat_raw(SYS_faccessat, AT_FDCWD, (long)claim, F_OK, 0, 0, 0);
}

static long wait_for(const char *dir, uint64_t id, const char *suffix)
{
	uint64_t until = leat_now_ns() + time_left();
	bool is_at_it = true;
	long fd = -ENOENT;

	while (fd < 0 && is_at_it && leat_now_ns() < until) {
		leat_sleep(LEAT_SLEEP_NS);
		is_at_it = is_claimed();
		fd = leat_kept_open(dir, id, suffix);
	}
	return fd;
}

long leat_kept_await(const char *dir, uint64_t id, const char *suffix)
{
	long fd = leat_kept_open(dir, id, suffix), claimed;

	if (fd >= 0 || !dir || !id || !path_of(claim, dir, id, suffix, CLAIM))
		return fd;
	claimed = open_file(claim, O_WRONLY | O_CREAT | O_EXCL);
	if (claimed >= 0)
		leat_raw(SYS_close, claimed, 0, 0, 0, 0, 0);
	return claimed == -EEXIST ? wait_for(dir, id, suffix) : fd;
}

void leat_kept_done(const char *dir, uint64_t id, const char *suffix)
{
	if (dir && id && path_of(claim, dir, id, suffix, CLAIM))
		leat_raw(SYS_unlinkat, AT_FDCWD, (long)claim, 0, 0, 0, 0);
}

long leat_kept_begin(const char *dir, uint64_t id, const char *suffix)
{
	long fd = -ENOENT;

	if (dir && id && path_of(final, dir, id, suffix, "") &&
	    path_of(temporary, dir, (uint64_t)getpid(), suffix, ".new"))
		fd = open_file(temporary, O_RDWR | O_CREAT | O_EXCL);
	note(fd < 0 ? NULL : dir, id, suffix);
	return fd;
}

bool leat_kept_end(bool whole)
{
	if (whole &&
	    leat_raw(SYS_renameat2, AT_FDCWD, (long)temporary, AT_FDCWD, (long) final, 0, 0) == 0)
		return true;
	leat_raw(SYS_unlinkat, AT_FDCWD, (long)temporary, 0, 0, 0, 0);
	last.dir = NULL;
	return false;
}

void leat_kept_note(const char *dir, uint64_t id, const char *suffix, bool is_start)
{
	char name[PATH_MAX];
	long error = -ENOENT, fd;

	if (!dir || !id || !path_of(name, dir, id, suffix, ""))
		return;
	/* later the program may have forbidden itself such calls */
	if (is_start && last.dir && path_of(final, last.dir, last.id, last.suffix, ""))
		error = leat_raw(SYS_linkat, AT_FDCWD, (long) final, AT_FDCWD, (long)name, 0, 0);
	if (!error || error == -EEXIST)
		return;
	fd = open_file(name, O_WRONLY | O_CREAT);
	if (fd >= 0)
		leat_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}
