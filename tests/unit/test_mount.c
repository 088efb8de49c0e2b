/* The names and open files of a mount: what the kernel is told to know, and for how long. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "mount/daemon/connection.h"
#include "mount/daemon/handshake.h"
#include "mount/files/open_files.h"
#include "mount/names/node.h"
#include "mount/names/node_inside.h"

static struct leat_mount m;

static int setup(void **state)
{
	(void)state;
	m = (struct leat_mount){.lock = PTHREAD_MUTEX_INITIALIZER};
	return leat_node_root(&m) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	leat_nodes_free(&m);
	return 0;
}

/* A lookup of a file with that inode number, 0: one that is not there yet. */
static fuse_ino_t look(fuse_ino_t parent, const char *name, ino_t file, mode_t type)
{
	struct stat st = {.st_mode = type | 0644, .st_ino = file};
	struct leat_identity id = {.dev = file ? 1 : 0, .ino = file, .born_ns = file};
	struct leat_node *node = leat_node_look(&m, parent, name, &st, &id, 77);

	assert_non_null(node);
	return leat_node_ino(&m, node);
}

static uint64_t generation(fuse_ino_t ino)
{
	return leat_node_generation(leat_node_of(&m, ino));
}

static void assert_path(fuse_ino_t ino, const char *name, const char *expected)
{
	char path[PATH_MAX];

	assert_int_equal(leat_node_path(&m, ino, name, path), 0);
	assert_string_equal(path, expected);
}

static void assert_nameless(fuse_ino_t ino)
{
	char path[PATH_MAX];

	assert_int_equal(leat_node_path(&m, ino, NULL, path), -ESTALE);
}

static void test_paths(void **state)
{
	char deep[NAME_MAX + 1], path[PATH_MAX];
	fuse_ino_t dir, file;
	int rc = 0;

	(void)state;
	assert_path(FUSE_ROOT_ID, NULL, "");
	assert_path(FUSE_ROOT_ID, "new", "new");
	dir = look(FUSE_ROOT_ID, "d", 10, S_IFDIR);
	file = look(dir, "f", 11, S_IFREG);
	assert_path(file, NULL, "d/f");
	assert_path(dir, "g", "d/g");
	memset(deep, 'x', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	for (ino_t i = 100; i < 120 && !rc; i++) {
		dir = look(dir, deep, i, S_IFDIR);
		rc = leat_node_path(&m, dir, NULL, path);
	}
	assert_int_equal(rc, -ENAMETOOLONG);
}

static void test_lookups_are_counted(void **state)
{
	fuse_ino_t dir = look(FUSE_ROOT_ID, "d", 10, S_IFDIR), file = look(dir, "f", 11, S_IFREG);
	uint64_t first = generation(file);

	(void)state;
	assert_int_equal(look(dir, "f", 11, S_IFREG), file);
	assert_int_equal(generation(file), first);
	leat_node_forget(&m, file, 1);
	assert_path(file, NULL, "d/f");
	/* The directory stays for its child's sake, and goes with it. */
	leat_node_forget(&m, dir, 1);
	assert_path(file, NULL, "d/f");
	leat_node_forget(&m, file, 1);
	assert_null(m.names);
	/* The same name anew: the address may come again, its generation not. */
	dir = look(FUSE_ROOT_ID, "d", 10, S_IFDIR);
	assert_true(generation(look(dir, "f", 11, S_IFREG)) > first);
}

static void test_forgetting_too_much(void **state)
{
	(void)state;
	leat_node_forget(&m, look(FUSE_ROOT_ID, "f", 11, S_IFREG), 100);
	assert_null(m.names);
	leat_node_forget(&m, FUSE_ROOT_ID, 100);
	assert_path(FUSE_ROOT_ID, NULL, "");
	leat_node_forget(&m, LEAT_ALIVE_INO, 1);
}

static void test_another_file_of_the_name_is_another_node(void **state)
{
	fuse_ino_t first = look(FUSE_ROOT_ID, "f", 11, S_IFREG), second;

	(void)state;
	second = look(FUSE_ROOT_ID, "f", 12, S_IFREG);
	assert_int_not_equal(first, second);
	assert_nameless(first);
	assert_path(second, NULL, "f");
	/* Of another type, too, whatever the number. */
	assert_int_not_equal(look(FUSE_ROOT_ID, "f", 12, S_IFLNK), second);
	leat_node_forget(&m, first, 1);
	leat_node_forget(&m, second, 1);
}

static void test_what_is_not_there_yet(void **state)
{
	struct leat_identity is = {.dev = 1, .ino = 11, .born_ns = 11},
			     other = {.dev = 1, .ino = 12};
	struct stat st = {.st_mode = S_IFREG | 0644};
	fuse_ino_t file = look(FUSE_ROOT_ID, "f", 0, S_IFREG);

	(void)state;
	/* It becomes the first file seen there, and is no other from then on. */
	assert_true(leat_node_is(&m, file, &st, &is));
	assert_false(leat_node_is(&m, file, &st, &other));
	assert_int_equal(look(FUSE_ROOT_ID, "f", 11, S_IFREG), file);
}

/* One waits for a file, another for whatever comes: both have their nodes until they are told. */
static void test_who_waits_keeps_the_name(void **state)
{
	fuse_ino_t link = look(FUSE_ROOT_ID, "f", 0, S_IFLNK);
	fuse_ino_t file = look(FUSE_ROOT_ID, "f", 0, S_IFREG), real;

	(void)state;
	assert_int_not_equal(link, file);
	assert_true(leat_node_is_awaited(&m, file));
	assert_path(link, NULL, "f");
	assert_path(file, NULL, "f");
	real = look(FUSE_ROOT_ID, "f", 11, S_IFREG);
	assert_int_equal(real, file);
	assert_false(leat_node_is_awaited(&m, file));
	assert_path(link, NULL, "f");
	leat_node_removed(&m, FUSE_ROOT_ID, "f");
	assert_nameless(file);
	assert_path(link, NULL, "f");
	leat_node_forget(&m, link, 1);
	leat_node_forget(&m, file, 2);
}

static void test_directories_are_their_names(void **state)
{
	fuse_ino_t dir = look(FUSE_ROOT_ID, "d", 10, S_IFDIR);

	(void)state;
	/* In the store, then on disk. */
	assert_int_equal(look(FUSE_ROOT_ID, "d", 20, S_IFDIR), dir);
}

static void test_rename(void **state)
{
	fuse_ino_t a = look(FUSE_ROOT_ID, "a", 10, S_IFDIR),
		   b = look(FUSE_ROOT_ID, "b", 11, S_IFDIR), file = look(a, "f", 12, S_IFREG),
		   over = look(b, "g", 13, S_IFREG);

	(void)state;
	leat_node_renamed(&m, a, "f", b, "g", false);
	assert_path(file, NULL, "b/g");
	assert_nameless(over);
	/* A directory takes its children along. */
	leat_node_renamed(&m, FUSE_ROOT_ID, "b", a, "c", false);
	assert_path(file, NULL, "a/c/g");
	/* One nobody has looked up. */
	leat_node_renamed(&m, FUSE_ROOT_ID, "unknown", b, "g", false);
	assert_nameless(file);
	/* Onto itself. */
	leat_node_renamed(&m, FUSE_ROOT_ID, "a", FUSE_ROOT_ID, "a", false);
	assert_path(a, NULL, "a");
	/* The old parent is not held any more. */
	leat_node_forget(&m, file, 1);
	leat_node_forget(&m, over, 1);
	leat_node_forget(&m, b, 1);
	leat_node_forget(&m, a, 1);
	assert_null(m.names);
}

static void test_exchange(void **state)
{
	fuse_ino_t a = look(FUSE_ROOT_ID, "a", 10, S_IFREG),
		   d = look(FUSE_ROOT_ID, "d", 11, S_IFDIR), b = look(d, "b", 12, S_IFREG);

	(void)state;
	leat_node_renamed(&m, FUSE_ROOT_ID, "a", d, "b", true);
	assert_path(a, NULL, "d/b");
	assert_path(b, NULL, "a");
}

static void test_looks(void **state)
{
	struct stat st = {.st_mode = S_IFREG};
	struct leat_identity id = {.dev = 1, .ino = 11, .born_ns = 11};
	fuse_ino_t file = look(FUSE_ROOT_ID, "f", 11, S_IFREG);

	(void)state;
	assert_false(leat_node_by_path(&m, file, 78));
	assert_true(leat_node_by_path(&m, file, 77));
	assert_false(leat_node_by_path(&m, file, 77));
	/* The last few threads are remembered. */
	for (pid_t tid = 1; tid <= LEAT_LOOKS + 1; tid++)
		leat_node_look(&m, FUSE_ROOT_ID, "f", &st, &id, tid);
	assert_false(leat_node_by_path(&m, file, 1));
	assert_true(leat_node_by_path(&m, file, 2));
	assert_true(leat_node_by_path(&m, file, LEAT_LOOKS + 1));
}

static void test_pages_are_kept_of_what_did_not_change(void **state)
{
	fuse_ino_t file = look(FUSE_ROOT_ID, "f", 11, S_IFREG);
	struct stat st = {.st_size = 5, .st_mtim = {7, 8}};

	(void)state;
	assert_false(leat_node_keep_cache(&m, file, &st));
	assert_true(leat_node_keep_cache(&m, file, &st));
	st.st_size = 6;
	assert_false(leat_node_keep_cache(&m, file, &st));
	st.st_mtim.tv_nsec = 9;
	assert_false(leat_node_keep_cache(&m, file, &st));
	assert_true(leat_node_keep_cache(&m, file, &st));
}

static struct leat_handle *open_handle(fuse_ino_t ino, uint32_t slot)
{
	struct leat_handle *h = calloc(1, sizeof(*h));

	static struct leat_shm shm;

	m.shm = &shm; /* no file has moved */
	assert_non_null(h);
	*h = (struct leat_handle){.m = &m, .fd = open("/dev/null", O_RDONLY), .slot = slot};
	assert_true(h->fd >= 0);
	leat_handle_attach(h, ino);
	return h;
}

static void close_handle(struct leat_handle *h)
{
	leat_handle_detach(h);
	leat_handle_detach(h); /* twice is once */
	close(h->fd);
	free(h);
}

static void test_open_files_hold_their_nodes(void **state)
{
	fuse_ino_t dir = look(FUSE_ROOT_ID, "d", 10, S_IFDIR), file = look(dir, "f", 11, S_IFREG);
	struct leat_handle *a = open_handle(file, 3), *b = open_handle(file, 4);
	uint32_t slot = 0;
	int fd;

	(void)state;
	/* Removed and forgotten while it is open: it has no name, but is there. */
	leat_node_removed(&m, dir, "f");
	leat_node_forget(&m, file, 1);
	leat_node_forget(&m, dir, 1);
	assert_nameless(file);
	fd = leat_handle_any(&(struct leat_mount_call){.m = &m}, file, &slot);
	assert_true(fd >= 0 && fd != a->fd);
	assert_int_equal(slot, 3);
	close(fd);
	close_handle(a);
	fd = leat_handle_any(&(struct leat_mount_call){.m = &m}, file, &slot);
	assert_int_equal(slot, 4);
	close(fd);
	assert_ptr_equal(m.handles, b);
	close_handle(b);
	assert_null(m.handles);
	assert_null(m.names);
}

static void test_a_name_removed_and_made_again(void **state)
{
	fuse_ino_t first = look(FUSE_ROOT_ID, "f", 11, S_IFREG), second;
	struct leat_handle *h = open_handle(first, 3);
	uint32_t slot;

	(void)state;
	leat_node_removed(&m, FUSE_ROOT_ID, "f");
	leat_node_removed(&m, FUSE_ROOT_ID, "f");
	/* Even with the same inode number: the kernel must not take one for the other. */
	second = look(FUSE_ROOT_ID, "f", 11, S_IFREG);
	assert_int_not_equal(first, second);
	assert_int_equal(leat_handle_any(&(struct leat_mount_call){.m = &m}, second, &slot), -1);
	close_handle(h);
	leat_node_forget(&m, first, 1);
	assert_path(second, NULL, "f");
}

/* --- between the program's process and the server --- */

static void test_handshake(void **state)
{
	char text[PATH_MAX] = "before", *too_long = malloc(PATH_MAX + 1);
	int ends[2], fd;
	bool flag = false;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(leat_handshake_send(ends[0], -EACCES, "ignored"), 0);
	assert_int_equal(leat_handshake_receive(ends[1], text), -EACCES);
	assert_string_equal(text, "before");
	assert_int_equal(leat_handshake_send(ends[0], 0, "a/b"), 0);
	assert_int_equal(leat_handshake_receive(ends[1], text), 0);
	assert_string_equal(text, "a/b");
	memset(too_long, 'x', PATH_MAX);
	too_long[PATH_MAX] = 0;
	assert_int_equal(leat_handshake_send(ends[0], 0, too_long), -ENAMETOOLONG);
	free(too_long);
	assert_int_equal(leat_handshake_send_fd(ends[0], ends[1], true), 0);
	fd = leat_handshake_receive_fd(ends[1], &flag);
	assert_true(fd >= 0 && flag);
	close(fd);
	/* Not what was expected, and nobody there. */
	assert_int_equal(leat_handshake_send(ends[0], 0, ""), 0);
	assert_true(leat_handshake_receive_fd(ends[1], &flag) < 0);
	assert_int_equal(send(ends[0], "x", 1, 0), 1);
	assert_true(leat_handshake_receive(ends[1], text) < 0);
	close(ends[0]);
	assert_true(leat_handshake_receive(ends[1], text) < 0);
	assert_true(leat_handshake_receive_fd(ends[1], &flag) < 0);
	assert_int_equal(leat_handshake_send(ends[1], 0, ""), -EPIPE);
	close(ends[1]);
}

/* --- a line to the daemon, whose part is played here --- */

static struct leat_connection line;

static struct leat_channel *daemon_line(void)
{
	return leat_connection_channel(&line);
}

/* The other end has said `reply` already. Its socket. */
static int call_daemon(const void *reply, size_t size)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	line.m = &m;
	line.fd = ends[0];
	if (size)
		assert_int_equal(send(ends[1], reply, size, 0), size);
	return ends[1];
}

static struct leat_msg_answer answer(int32_t error)
{
	struct leat_msg_answer a;

	leat_wire_begin(&a, LEAT_MSG_ANSWER, sizeof(a));
	a.error = error;
	a.seq = 9;
	return a;
}

static void test_questions(void **state)
{
	static const int32_t errors[] = {0, -EAGAIN, -EIO};
	_Alignas(8) char asked[256];
	const struct leat_msg_ask_read question = {
		.h.type = LEAT_MSG_ASK_READ, .slot = 6, .offset = 7, .length = 8};
	const struct leat_msg_ask_read *ask = (const struct leat_msg_ask_read *)asked;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct leat_msg_answer a = answer(errors[i]);
		int daemon = call_daemon(&a, a.h.size);
		uint32_t seq = 0;

		assert_int_equal(leat_channel_ask(daemon_line(), &question.h, &seq), errors[i]);
		assert_int_equal(seq, 9);
		assert_int_equal(recv(daemon, asked, sizeof(asked), 0), sizeof(*ask));
		assert_int_equal(ask->h.type, LEAT_MSG_ASK_READ);
		assert_int_equal(ask->slot, 6);
		assert_int_equal(ask->offset, 7);
		assert_int_equal(ask->length, 8);
		assert_true(line.fd >= 0);
		close(line.fd);
		close(daemon);
	}
}

/* What cannot be made sense of ends the conversation, and no answer is made up. */
static void test_malformed_answers(void **state)
{
	struct leat_msg_answer good = answer(0), bad[4] = {good, good, good, good};
	const size_t sizes[] = {good.h.size, good.h.size, good.h.size, sizeof(good.h) - 1};
	const struct leat_msg_ask_whole question = {.h.type = LEAT_MSG_ASK_WHOLE, .slot = 6};

	(void)state;
	bad[0].h.type = LEAT_MSG_NAMES;
	bad[1].h.version++;
	bad[2].h.size++;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int daemon = call_daemon(&bad[i], sizes[i]);
		uint32_t seq = 0;

		assert_int_equal(leat_channel_ask(daemon_line(), &question.h, &seq), -EIO);
		assert_int_equal(seq, 0);
		assert_int_equal(line.fd, -1);
		/* And from then on. */
		assert_int_equal(leat_channel_sync(daemon_line()), -EIO);
		close(daemon);
	}
}

static void test_a_daemon_that_is_gone(void **state)
{
	const struct leat_msg_closed closed = {.h.type = LEAT_MSG_CLOSED, .slot = 1};
	int daemon;

	(void)state;
	close(call_daemon(NULL, 0));
	assert_int_equal(leat_channel_report(daemon_line(), &closed.h), -EIO);
	assert_int_equal(line.fd, -1);
	/* After it has heard the question. */
	daemon = call_daemon(NULL, 0);
	assert_int_equal(shutdown(daemon, SHUT_WR), 0);
	assert_int_equal(leat_channel_sync(daemon_line()), -EIO);
	assert_int_equal(line.fd, -1);
	close(daemon);
}

static void test_violations(void **state)
{
	static const struct {
		int32_t says;
		int result;
	} cases[] = {{0, 0}, {-EAGAIN, 0}, {-EIO, -EIO}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_msg_answer a = answer(cases[i].says);
		int daemon = call_daemon(&a, a.h.size);

		assert_int_equal(leat_channel_violation(daemon_line(), 1, 2, 3, 4),
				 cases[i].result);
		close(line.fd);
		close(daemon);
	}
}

#define IN_A_MOUNT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_MOUNT(test_paths),
		IN_A_MOUNT(test_lookups_are_counted),
		IN_A_MOUNT(test_forgetting_too_much),
		IN_A_MOUNT(test_another_file_of_the_name_is_another_node),
		IN_A_MOUNT(test_what_is_not_there_yet),
		IN_A_MOUNT(test_who_waits_keeps_the_name),
		IN_A_MOUNT(test_directories_are_their_names),
		IN_A_MOUNT(test_rename),
		IN_A_MOUNT(test_exchange),
		IN_A_MOUNT(test_looks),
		IN_A_MOUNT(test_pages_are_kept_of_what_did_not_change),
		IN_A_MOUNT(test_open_files_hold_their_nodes),
		IN_A_MOUNT(test_a_name_removed_and_made_again),
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_malformed_answers),
		cmocka_unit_test(test_a_daemon_that_is_gone),
		cmocka_unit_test(test_violations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
