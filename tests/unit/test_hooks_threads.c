/* What the threads of a process, and the processes made by fork, share in libleat.so: offsets,
 * descriptors, windows, names. Each test runs on 2 to 8 of them. Under ThreadSanitizer
 * (.ci/threads) and AddressSanitizer as well. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/clock.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/fd/lifecycle.h"
#include "preload/fd/migrate.h"
#include "preload/fd/offset.h"
#include "preload/fd/size.h"
#include "preload/fd/table.h"
#include "preload/hooks/hooks.h"
#include "preload/path/paths.h"
#include "shm/window.h"
#include "preload_world.h"

enum { THREADS = 4, MAX_THREADS = 8 };

static pthread_barrier_t together;

struct crew {
	pthread_t threads[MAX_THREADS];
	int n;
};

static void start(struct crew *crew, int n, void *(*body)(void *), void *arg)
{
	crew->n = n;
	for (int i = 0; i < n; i++)
		assert_int_equal(pthread_create(&crew->threads[i], NULL, body, arg), 0);
}

/* The sum of what they found wrong. */
static uintptr_t finish(struct crew *crew)
{
	uintptr_t sum = 0;

	for (int i = 0; i < crew->n; i++) {
		void *wrong;

		pthread_join(crew->threads[i], &wrong);
		sum += (uintptr_t)wrong;
	}
	return sum;
}

/* ---- offsets ---- */

enum { MOVES = 20000 };

struct moving {
	struct leat_offset *offset;
	int fd;
	struct leat_word moved;
};

/* Each takes the next byte, until the offset is the kernel's. */
static void *mover(void *arg)
{
	struct moving *m = arg;
	uint64_t at;

	while (leat_offset_get(m->offset, &at) && at < MOVES)
		if (leat_offset_move(m->offset, at, at + 1))
			leat_word_add(&m->moved, 1);
	return NULL;
}

static void *yielder(void *arg)
{
	struct moving *m = arg;
	uint64_t at = 0;

	while (at < MOVES / 2 && leat_offset_get(m->offset, &at))
		;
	leat_offset_release(m->offset, m->fd);
	return (void *)(uintptr_t)(leat_offset_get(m->offset, &at) ||
				   leat_offset_is_lost(m->offset));
}

static int unnamed(void)
{
	int fd = memfd_create("unnamed", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void test_offset_moves(void **state)
{
	struct moving m = {.offset = leat_offset_new(), .fd = unnamed()};
	struct crew movers, yielders;

	(void)state;
	assert_non_null(m.offset);
	start(&movers, THREADS, mover, &m);
	start(&yielders, 2, yielder, &m);
	assert_int_equal(finish(&yielders), 0);
	finish(&movers);
	assert_int_equal(lseek(m.fd, 0, SEEK_CUR), (off_t)leat_word_get(&m.moved));
	leat_offset_free(m.offset);
	close(m.fd);
}

/* The same by processes. */
static void test_offset_of_children(void **state)
{
	struct moving m = {.offset = leat_offset_new(), .fd = unnamed()};
	int pids[THREADS], status;
	uint64_t at;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		pids[i] = world_fork();
		if (!pids[i]) {
			mover(&m);
			_exit((int)(leat_word_get(&m.moved) & 1));
		}
	}
	mover(&m);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
	assert_true(leat_offset_get(m.offset, &at));
	assert_int_equal(at, MOVES);
	leat_offset_release(m.offset, m.fd);
	assert_int_equal(lseek(m.fd, 0, SEEK_CUR), MOVES);
	close(m.fd);
}

static bool no_nap(const struct leat_syscall *c, long *result)
{
	*result = 0;
	return c->nr == SYS_nanosleep;
}

/* A process was killed when it had begun to hand the offset over: nobody knows where the kernel has
 * it, and nobody reads or writes there. */
static void test_offset_is_lost(void **state)
{
	int fd;
	struct leat_fd *r;
	uint64_t at;
	char byte;

	(void)state;
	world_file("lost", LEAT_KIND_PRODUCER);
	fd = world_open("lost", O_RDWR | O_CREAT);
	r = leat_fd_get(fd);
	assert_non_null(r->shared_offset);
	assert_int_equal(world_write(fd, "1234", 4), 4);
	leat_word_set(&r->shared_offset->word, LEAT_OFFSET_OWNED | LEAT_OFFSET_MOVING | 4);
	world_raw = no_nap;
	assert_int_equal(world_write(fd, "5", 1), -EIO);
	world_raw = NULL;
	assert_false(leat_offset_get(r->shared_offset, &at));
	assert_true(leat_offset_is_lost(r->shared_offset));
	assert_int_equal(leat_hook(SYS_read, fd, (long)&byte, 1, 0, 0, 0), -EIO);
	assert_int_equal(leat_hook(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0), -EIO);
	assert_int_equal(world_close(fd), 0);
}

/* ---- descriptors ---- */

enum { CLOSINGS = 3000, TOGGLES = 200000 };

static void *toggler(void *arg)
{
	static struct leat_word next;
	const uint32_t mine = 1u << leat_word_add(&next, 1) % 16;
	struct leat_fd *r = arg;
	uintptr_t wrong = 0;

	for (int i = 0; i < TOGGLES; i++) {
		leat_fd_set_flags(r, mine);
		wrong += !leat_fd_has(r, mine);
		leat_fd_clear_flags(r, mine);
		wrong += !!leat_fd_has(r, mine);
	}
	return (void *)wrong;
}

/* Nobody's flag is undone by who sets another one. */
static void test_flags(void **state)
{
	struct leat_fd r = {0};
	struct crew crew;

	(void)state;
	start(&crew, MAX_THREADS, toggler, &r);
	assert_int_equal(finish(&crew), 0);
}

/* The descriptors that are to be closed at once; -1: the end. */
static int pair[2];

static void *closer(void *arg)
{
	for (;;) {
		int fd;

		pthread_barrier_wait(&together);
		fd = *(int *)arg;
		if (fd < 0)
			return NULL;
		if (world_close(fd))
			return arg;
		pthread_barrier_wait(&together);
	}
}

/* Of two that close a description's last descriptors at once, one tells the daemon, and one gives
 * the offset up. */
static void test_last_close(void **state)
{
	pthread_t threads[2];
	uint64_t first;

	(void)state;
	world_file("closed", LEAT_KIND_PRODUCER);
	pthread_barrier_init(&together, NULL, 3);
	first = world_ofds() + 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, closer, &pair[i]);
	for (int i = 0; i < CLOSINGS; i++) {
		pair[0] = world_open("closed", O_RDWR | O_CREAT);
		pair[1] = (int)leat_hook(SYS_dup, pair[0], 0, 0, 0, 0, 0);
		assert_true(pair[0] >= 0 && pair[1] >= 0);
		pthread_barrier_wait(&together);
		pthread_barrier_wait(&together);
	}
	pair[0] = pair[1] = -1;
	pthread_barrier_wait(&together);
	for (int i = 0; i < 2; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	usleep(1000);
	world_settle();
	for (uint64_t ofd = first; ofd <= world_ofds(); ofd++)
		assert_int_equal(world_closed(ofd), 1);
}

/* Opens, copies, uses and closes descriptors of its own file, of which each byte is where the
 * offset was. A word that two descriptions share shows here. */
static void *copier(void *arg)
{
	static struct leat_word next;
	char name[16] = "copied-0";
	uintptr_t wrong = 0;

	(void)arg;
	name[7] = (char)('0' + leat_word_add(&next, 1) % 8);
	for (int i = 0; i < 400; i++) {
		int fd = world_open(name, O_RDWR | O_CREAT | O_TRUNC), copy;
		char text[3] = "";

		copy = (int)leat_hook(SYS_dup, fd, 0, 0, 0, 0, 0);
		wrong += fd < 0 || copy < 0;
		wrong += world_write(fd, "a", 1) != 1;
		wrong += world_close(fd) != 0;
		wrong += world_write(copy, "b", 1) != 1;
		wrong += leat_hook(SYS_pread64, copy, (long)text, 2, 0, 0, 0) != 2;
		wrong += strcmp(text, "ab") != 0;
		wrong += world_close(copy) != 0;
	}
	return (void *)wrong;
}

static void test_copies(void **state)
{
	char name[16] = "copied-0";
	struct crew crew;

	(void)state;
	for (int i = 0; i < MAX_THREADS; i++, name[7]++)
		world_file(name, LEAT_KIND_PRODUCER);
	start(&crew, MAX_THREADS, copier, NULL);
	assert_int_equal(finish(&crew), 0);
}

/* All descriptors of the description are closed while one is being copied. */
static void test_copy_of_the_last(void **state)
{
	struct leat_fd held, *r;
	uint64_t ofd;
	int fd, copy;

	(void)state;
	world_file("held", LEAT_KIND_PRODUCER);
	fd = world_open("held", O_RDWR | O_CREAT);
	assert_int_equal(world_write(fd, "12", 2), 2);
	ofd = leat_fd_get(fd)->ofd;
	leat_fd_copy_begin(fd, &held);
	copy = dup(fd);
	assert_int_equal(world_close(fd), 0);
	assert_int_equal(leat_fd_copy_end(fd, &held, copy), copy);
	world_settle();
	assert_int_equal(world_closed(ofd), 0);
	r = leat_fd_get(copy);
	assert_non_null(r);
	assert_int_equal(world_write(copy, "3", 1), 1);
	assert_int_equal(leat_hook(SYS_lseek, copy, 0, SEEK_CUR, 0, 0, 0), 3);
	assert_int_equal(world_close(copy), 0);
	world_settle();
	assert_int_equal(world_closed(ofd), 1);
}

/* ---- windows and sizes ---- */

/* A divisor of a page: the kernel shows a write that crosses one in two parts. */
enum { SMALL = 128, BYTES = 6 << 20 };

static struct {
	struct leat_word done;
	uint32_t slot;
} growing;

static char value_at(uint64_t i)
{
	return (char)(i / SMALL % 127 + 1);
}

static uint64_t size_by(int fd, const char *name, bool *failed)
{
	struct stat st = {0};
	long rc;

	if (fd >= 0)
		rc = leat_hook(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);
	else
		rc = leat_hook(SYS_newfstatat, AT_FDCWD, (long)name, (long)&st, 0, 0, 0);
	*failed = rc != 0;
	return (uint64_t)st.st_size;
}

/* A file that only grows never shows a size that is less than before, or more than it gets. */
static void *sizer(void *arg)
{
	const int fd = world_open("grows", O_RDWR);
	uintptr_t wrong = fd < 0;
	uint64_t before = 0, now;
	bool failed;

	(void)arg;
	while (!leat_word_get(&growing.done)) {
		now = size_by(fd, NULL, &failed);
		wrong += failed || now < before || now > BYTES || now % SMALL;
		before = now;
	}
	world_close(fd);
	return (void *)wrong;
}

/* Makes the kernel's size true now and then, as who maps the file does. */
static void *settler(void *arg)
{
	const int fd = world_open("grows", O_RDWR);
	uintptr_t wrong = fd < 0;

	(void)arg;
	while (!leat_word_get(&growing.done)) {
		struct stat st;
		struct leat_file_hold hold;

		if (leat_window_acquire(leat_fd_get(fd), fd, &hold)) {
			wrong++;
			continue;
		}
		wrong += fstat(fd, &st) != 0 || st.st_size % SMALL || st.st_size > BYTES;
		leat_file_release(&hold, 0);
		leat_sleep(200000);
	}
	world_close(fd);
	return (void *)wrong;
}

static void test_window_grows(void **state)
{
	struct crew sizers, settlers;
	char some[SMALL];
	uint64_t wrong = 0;
	char *all = malloc(BYTES);
	int fd;

	(void)state;
	growing.slot = world_file("grows", LEAT_KIND_PRODUCER);
	leat_word_set(&growing.done, 0);
	fd = world_open("grows", O_RDWR | O_CREAT | O_TRUNC);
	start(&sizers, 3, sizer, NULL);
	start(&settlers, 2, settler, NULL);
	for (uint64_t at = 0; at < BYTES / SMALL * SMALL; at += SMALL) {
		memset(some, value_at(at), sizeof(some));
		wrong += world_write(fd, some, sizeof(some)) != SMALL;
	}
	leat_word_set(&growing.done, 1);
	assert_int_equal(finish(&sizers), 0);
	assert_int_equal(finish(&settlers), 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(leat_hook(SYS_pread64, fd, (long)all, BYTES, 0, 0, 0),
			 BYTES / SMALL * SMALL);
	for (uint64_t at = 0; at < BYTES / SMALL * SMALL; at++)
		wrong += all[at] != value_at(at);
	assert_int_equal(wrong, 0);
	free(all);
	assert_int_equal(world_close(fd), 0);
}

/* A writer that was stopped in the middle of a change of the size, for long. */
static void *stopped(void *arg)
{
	struct leat_shm_file *f = arg;
	struct stat st;
	int fd = world_open("change", O_RDWR);

	while (!leat_shm_window_take(f, false, false))
		;
	pthread_barrier_wait(&together);
	usleep(900000);
	if (fstat(fd, &st) < 0 || leat_shm_reserved(f) != 1000 || ftruncate(fd, 1000) < 0)
		return arg;
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 0);
	world_close(fd);
	return NULL;
}

/* Whoever writes meanwhile waits: what was said to be written stays. */
static void test_write_in_a_change(void **state)
{
	struct leat_shm_file *f;
	char data[500] = {0};
	pthread_t thread;
	void *wrong;
	int fd;

	(void)state;
	f = world_record(world_file("change", LEAT_KIND_PRODUCER));
	fd = world_open("change", O_RDWR | O_CREAT | O_TRUNC);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_true(leat_shm_window_take(f, true, false));
	leat_shm_window_give(f, LEAT_WINDOW_IDLE, 1000);
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&thread, NULL, stopped, f);
	pthread_barrier_wait(&together);
	assert_int_equal(leat_hook(SYS_pwrite64, fd, (long)data, sizeof(data), 1000, 0, 0),
			 sizeof(data));
	pthread_join(thread, &wrong);
	assert_null(wrong);
	assert_int_equal(leat_window_length(leat_fd_get(fd), fd), 1000 + sizeof(data));
	assert_int_equal(world_close(fd), 0);
}

/* Children that write by the description they were given, and by one of their own. */
static void test_children_write(void **state)
{
	enum { EACH = 500 };
	char record[SMALL], *all = malloc((MAX_THREADS + 1) * EACH * SMALL);
	int fd, status, pids[MAX_THREADS];
	unsigned seen[MAX_THREADS] = {0};

	(void)state;
	world_file("children", LEAT_KIND_PUBLISHER);
	fd = world_open("children", O_RDWR | O_CREAT | O_TRUNC);
	for (int i = 0; i < MAX_THREADS; i++) {
		pids[i] = world_fork();
		if (pids[i])
			continue;
		memset(record, 'a' + i, sizeof(record));
		for (int j = 0; j < EACH; j++)
			if (world_write(fd, record, sizeof(record)) != SMALL)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < MAX_THREADS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(leat_hook(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0),
			 MAX_THREADS * EACH * SMALL);
	assert_int_equal(pread(fd, all, MAX_THREADS * EACH * SMALL, 0), MAX_THREADS * EACH * SMALL);
	for (long at = 0; at < MAX_THREADS * EACH * SMALL; at += SMALL) {
		for (int i = 1; i < SMALL; i++)
			assert_int_equal(all[at + i], all[at]);
		seen[all[at] - 'a']++;
	}
	for (int i = 0; i < MAX_THREADS; i++)
		assert_int_equal(seen[i], EACH);
	free(all);
	assert_int_equal(world_close(fd), 0);
}

/* ---- names ---- */

static void *asker(void *arg)
{
	static const char *const inside[] = {"/x", "/a/b", "/../flow/x"};
	static const char *const outside[] = {"/usr/lib/x", "/etc/passwd", "/proc/self/x", "/x"};
	const char *dir = leat_session.real;
	uintptr_t wrong = 0;
	char path[PATH_MAX];

	(void)arg;
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "%s%s", dir, inside[i % 3]);
		wrong += !leat_path_maybe(AT_FDCWD, path);
		/* It may be that it is asked for, never that it is taken for another one. */
		leat_path_maybe(AT_FDCWD, outside[i % 4]);
		if (i % 50 == 0)
			leat_path_forget();
		snprintf(path, sizeof(path), "/tmp/leat-none-%d/x", i);
		leat_hook(SYS_access, (long)path, 0, 0, 0, 0, 0);
	}
	return (void *)wrong;
}

static void test_paths(void **state)
{
	struct crew crew;

	(void)state;
	start(&crew, THREADS, asker, NULL);
	assert_int_equal(finish(&crew), 0);
	leat_hook(SYS_access, (long)"/etc/passwd", 0, 0, 0, 0, 0);
	assert_false(leat_path_maybe(AT_FDCWD, "/etc/passwd"));
}

/* A process was stopped while it changed the size: nobody writes, and nobody waits for ever. */
static void test_window_is_held(void **state)
{
	uint32_t slot = world_file("stuck", LEAT_KIND_PRODUCER);
	struct leat_shm_file *f = world_record(slot);
	int fd = world_open("stuck", O_RDWR | O_CREAT);
	char seen[8] = "";

	(void)state;
	assert_int_equal(world_write(fd, "1234", 4), 4);
	assert_true(leat_window_truncate(leat_fd_get(fd), fd, false));
	assert_true(leat_shm_window_take(f, true, false));
	world_raw = no_nap;
	assert_int_equal(world_write(fd, "5", 1), -EIO);
	assert_int_equal(leat_hook(SYS_pwrite64, fd, (long)"6", 1, 0, 0, 0), -EIO);
	assert_int_equal(leat_hook(SYS_ftruncate, fd, 0, 0, 0, 0, 0), -EIO);
	world_raw = NULL;
	leat_shm_window_give(f, LEAT_WINDOW_NONE, 4);
	assert_int_equal(world_write(fd, "7", 1), 1);
	assert_int_equal(leat_hook(SYS_pread64, fd, (long)seen, sizeof(seen), 0, 0, 0), 5);
	assert_string_equal(seen, "12347");
	assert_int_equal(world_close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset_moves),     cmocka_unit_test(test_offset_of_children),
		cmocka_unit_test(test_offset_is_lost),   cmocka_unit_test(test_flags),
		cmocka_unit_test(test_last_close),       cmocka_unit_test(test_copies),
		cmocka_unit_test(test_copy_of_the_last), cmocka_unit_test(test_window_grows),
		cmocka_unit_test(test_window_is_held),   cmocka_unit_test(test_write_in_a_change),
		cmocka_unit_test(test_children_write),   cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, world_begin, world_end);
}
