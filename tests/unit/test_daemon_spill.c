/* The memory budget: what clients ask when there is no space, and files that move while they are
 * open. */
#include "peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define BUDGET (UINT64_C(1) << 20)

static int setup(void **state)
{
	world_setup_small(state, world_flow(), BUDGET);
	return 0;
}

/* The daemon moves open files only of processes that have the library: look like one. */
static void pretend(struct world *w)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/libleat.so", w->base);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_ptr_not_equal(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), MAP_FAILED);
	close(fd);
}

/* Step A with `grow` open, which has filled the memory. Bytes. */
static size_t fill(struct world *w, struct peer *a, struct file *f)
{
	char block[4096];
	size_t sum = 0;
	ssize_t n;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	peer_meet(w, a, "A");
	*f = peer_open(w, a, "grow", O_RDWR | O_CREAT | O_TRUNC);
	assert_int_equal(peer_ask_space(a, f->slot, 0, 4096), 0);
	for (;; sum += (size_t)n) {
		memset(block, 'a' + (int)(sum / sizeof(block) % 26), sizeof(block));
		n = write(f->fd, block, sizeof(block));
		if (n < 0)
			break;
		if (sum > 8 * BUDGET)
			fail_msg("the store takes more than its size");
	}
	assert_int_equal(errno, ENOSPC);
	leat_shm_publish(&a->shm->files[f->slot], sum);
	return sum;
}

/* Ask until the answer is not to wait. */
static int ask_space(struct peer *p, const struct file *f)
{
	int rc = -EAGAIN;

	for (uint64_t i = 0; i < 400 && rc == -EAGAIN; i++) {
		rc = peer_ask_space(p, f->slot, i, 4096);
		usleep(10000);
	}
	return rc;
}

/* SWITCH: the error told, and the descriptor that came, or -1. */
static int exchange(struct peer *p, const struct file *f, int fd, int *new)
{
	struct leat_msg_replace_fd *m = leat_wire_begin(p->buf, LEAT_MSG_REPLACE_FD, sizeof(*m));
	const struct leat_msg_replaced_fd *reply =
		(const struct leat_msg_replaced_fd *)(const void *)p->buf;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {p->buf, m->h.size};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	m->slot = f->slot;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_true(sendmsg(p->fd, &msg, MSG_NOSIGNAL) > 0);
	io.iov_len = sizeof(p->buf);
	msg.msg_controllen = sizeof(control);
	n = recvmsg(p->fd, &msg, 0);
	assert_int_equal(leat_wire_check(p->buf, (size_t)n, sizeof(*reply)), 0);
	assert_int_equal(reply->h.type, LEAT_MSG_REPLACED_FD);
	*new = -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c)
		memcpy(new, CMSG_DATA(c), sizeof(*new));
	return reply->error;
}

static void check_content(int fd, size_t size)
{
	struct stat st;
	char c;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, size);
	for (size_t at = 0; at < size; at += 4096) {
		assert_int_equal(pread(fd, &c, 1, (off_t)at), 1);
		assert_int_equal(c, 'a' + (int)(at / 4096 % 26));
	}
}

static uint64_t used(const struct peer *p)
{
	struct statfs fs;

	assert_int_equal(fstatfs(p->store_fd, &fs), 0);
	return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

static void test_descriptors_follow(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct leat_shm_file *record;
	struct file f, g;
	int fresh, twin, reader, copy;
	size_t size;

	pretend(w);
	size = fill(w, a, &f);
	record = &a->shm->files[f.slot];
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, b, "B");
	g = peer_open(w, b, "grow", O_RDONLY);
	assert_int_equal(lseek(g.fd, 1000, SEEK_SET), 1000);
	assert_int_equal(exchange(a, &f, f.fd, &fresh), 0); /* it is where it was */
	assert_int_equal(fresh, -1);
	copy = dup(f.fd);

	assert_int_equal(ask_space(a, &f), 0);
	assert_int_equal(leat_shm_generation(record), LEAT_GENERATION_NEXT);
	assert_int_equal(exchange(a, &f, f.fd, &fresh), 0);
	assert_true(fresh >= 0);
	check_content(fresh, size);
	assert_int_equal(lseek(fresh, 0, SEEK_CUR), size);
	close(f.fd);
	/* all descriptors of one description are given the same */
	assert_int_equal(exchange(a, &f, copy, &twin), 0);
	assert_int_equal(lseek(twin, 17, SEEK_SET), 17);
	assert_int_equal(lseek(fresh, 0, SEEK_CUR), 17);
	close(copy);
	/* another has an offset of its own */
	assert_int_equal(exchange(b, &g, g.fd, &reader), 0);
	assert_int_equal(lseek(reader, 0, SEEK_CUR), 1000);
	assert_int_equal(fcntl(reader, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(g.fd);
	/* and the memory is given back */
	for (int i = 0; i < 100 && used(a) > BUDGET / 4; i++)
		usleep(10000);
	assert_true(used(a) < BUDGET / 4);

	/* the last close is still found */
	close(twin);
	peer_closed(a, f.slot, f.ofd);
	assert_int_equal(peer_ask_whole(b, f.slot), -EAGAIN);
	assert_int_equal(write(fresh, "x", 1), 1);
	f.fd = fresh;
	peer_close(a, &f);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_true(leat_shm_flags(record) & LEAT_SHM_COMMITTED);
	assert_int_equal(leat_shm_size(record), size);
	close(reader);
	peer_free(a);
	peer_free(b);
}

/* A call under way holds the file, and another the exchange. */
static void test_held(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct leat_shm_file *record;
	struct file f;
	size_t size;
	int fresh;

	pretend(w);
	size = fill(w, a, &f);
	record = &a->shm->files[f.slot];
	assert_true(leat_shm_hold(record, true, 0));
	assert_true(leat_shm_hold(record, false, 0));
	assert_int_equal(peer_ask_space(a, f.slot, 0, 4096), -EAGAIN);
	for (int i = 0; i < 100 && !leat_shm_generation(record); i++) {
		usleep(5000);
		peer_ask_space(a, f.slot, 2, 4096);
	}
	usleep(100000);
	assert_int_equal(leat_shm_generation(record), LEAT_GENERATION_MOVING);
	assert_false(leat_shm_hold(record, true, 0));
	assert_int_equal(exchange(a, &f, f.fd, &fresh), -EAGAIN);
	assert_int_equal(peer_resolve(a, LEAT_OP_STAT, "grow", 0)->error, -EAGAIN);
	assert_int_equal(pwrite(f.fd, "a", 1, 0), 1); /* it arrives */
	assert_true(leat_shm_release(record, true, 0));
	assert_int_equal(ask_space(a, &f), 0);
	assert_int_equal(leat_shm_generation(record), LEAT_GENERATION_NEXT);
	assert_int_equal(exchange(a, &f, f.fd, &fresh), -EAGAIN); /* somebody reads */
	leat_shm_release(record, false, 0);
	assert_int_equal(exchange(a, &f, f.fd, &fresh), 0);
	check_content(fresh, size);
	close(f.fd);
	f.fd = fresh;
	peer_close(a, &f);
	peer_free(a);
}

/* One that was killed in its call holds nobody up for long; one that was stopped in it is told. */
static void test_never_released(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct leat_shm_file *record;
	struct file f;
	size_t size;
	int fresh;

	pretend(w);
	size = fill(w, a, &f);
	record = &a->shm->files[f.slot];
	assert_true(leat_shm_hold(record, true, 0));
	assert_true(leat_shm_hold(record, false, 0));
	assert_int_equal(ask_space(a, &f), 0);
	assert_int_equal(leat_shm_generation(record), LEAT_GENERATION_NEXT);
	assert_false(leat_shm_release(record, true, 0));
	usleep(1100000);
	assert_int_equal(exchange(a, &f, f.fd, &fresh), 0);
	check_content(fresh, size);
	close(f.fd);
	f.fd = fresh;
	peer_close(a, &f);
	peer_free(a);
}

static void test_not_this_file(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct file f;
	int new, null = open("/dev/null", O_RDWR);

	pretend(w);
	fill(w, a, &f);
	assert_int_equal(exchange(a, &f, null, &new), -ESTALE);
	assert_int_equal(new, -1);
	assert_int_equal(ask_space(a, &f), 0);
	assert_int_equal(exchange(a, &f, null, &new), -ESTALE);
	assert_int_equal(peer_ask_space(a, 12345, 0, 1), -ENOSPC);
	close(null);
	peer_close(a, &f);
	peer_free(a);
}

static unsigned descriptors_of(pid_t pid)
{
	char path[40];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A client may send any number of descriptors, with any message: the daemon keeps none. */
static void test_unwanted_descriptors(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	unsigned before;

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	peer_meet(w, a, "A");
	before = descriptors_of(w->pid);
	for (int round = 0; round < 30; round++) {
		const int fds[3] = {a->fd, a->store_fd, a->shm_fd};
		const size_t size = (size_t)(1 + round % 3) * sizeof(int);
		struct leat_msg *m = leat_wire_begin(a->buf, LEAT_MSG_SYNC, sizeof(*m));
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {0};
		struct iovec io = {a->buf, m->size};
		struct msghdr msg = {.msg_iov = &io,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = CMSG_SPACE(size)};
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(c), fds, size);
		assert_true(sendmsg(a->fd, &msg, MSG_NOSIGNAL) > 0);
		peer_receive(a, LEAT_MSG_ANSWER, sizeof(struct leat_msg_answer));
	}
	peer_ask_write(a, 0); /* the last one is closed after its answer */
	assert_int_equal(descriptors_of(w->pid), before);
	peer_free(a);
}

static void check_refused(struct world *w, const char *why)
{
	const char *event;
	int error;

	event = world_event(w, &error);
	assert_non_null(strstr(event, "step A: no space for grow: the memory for files (1 MB) is "
				      "full"));
	assert_non_null(strstr(event, why));
}

static void test_pinned(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct file f;

	pretend(w);
	fill(w, a, &f);
	leat_shm_pin(a->shm, &a->shm->files[f.slot]);
	assert_int_equal(ask_space(a, &f), -ENOSPC);
	check_refused(w, "while it is mapped");
	assert_int_equal(leat_shm_generation(&a->shm->files[f.slot]), 0);
	peer_close(a, &f);
	peer_free(a);
}

static void test_without_the_library(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct file f;

	fill(w, a, &f);
	assert_int_equal(peer_ask_space(a, f.slot, 0, 4096), -EAGAIN);
	for (int i = 0; i < 20; i++) { /* it tries, and fails */
		usleep(10000);
		assert_int_equal(peer_ask_space(a, f.slot, 1, 4096), -EAGAIN);
	}
	for (int i = 0; i < 100 && peer_ask_space(a, f.slot, 1000, 4096) == -EAGAIN; i++)
		usleep(10000);
	assert_int_equal(peer_ask_space(a, f.slot, 1000, 4096), -ENOSPC);
	check_refused(w, "in a program that does not follow it");
	assert_int_equal(leat_shm_generation(&a->shm->files[f.slot]), 0);
	peer_close(a, &f);
	peer_free(a);
}

/* However far apart it asks: a try that is due again is no reason to wait for ever. */
static void test_asked_rarely(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));
	struct file f;

	fill(w, a, &f);
	assert_int_equal(peer_ask_space(a, f.slot, 0, 4096), -EAGAIN);
	sleep(1); /* the try has failed meanwhile */
	assert_int_equal(peer_ask_space(a, f.slot, 1000, 4096), -ENOSPC);
	check_refused(w, "in a program that does not follow it");
	peer_close(a, &f);
	peer_free(a);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: the others make this process look as if it had the library */
		TEST(test_unwanted_descriptors),
		TEST(test_without_the_library),
		TEST(test_asked_rarely),
		TEST(test_descriptors_follow),
		TEST(test_held),
		TEST(test_never_released),
		TEST(test_not_this_file),
		TEST(test_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
