/* What a client says to the daemon, over a connection of the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/channel.h"
#include "client/names.h"

static struct {
	struct leat_channel channel;
	_Alignas(8) char msg[LEAT_WIRE_MAX], asked[512];
	int connected;  /* 0 or -EIO */
	int delivered;  /* 0 or -EIO */
	unsigned sent;  /* messages */
	unsigned heard; /* of them those that want a reply */
	int sent_fd, new_fd;
	union {
		struct leat_msg h;
		struct leat_msg_answer answer;
		struct leat_msg_replaced_fd switched;
		struct leat_msg_resolved resolved;
		struct leat_msg_names names;
	} reply;
} line;

static int line_connect(struct leat_channel *c)
{
	assert_ptr_equal(c, &line.channel);
	return line.connected;
}

static int line_send(struct leat_channel *c)
{
	const struct leat_msg *h = c->msg;

	assert_true(h->size <= sizeof(line.asked));
	memcpy(line.asked, c->msg, h->size);
	line.sent++;
	return line.delivered;
}

static int line_roundtrip(struct leat_channel *c, enum leat_msg_type type)
{
	int rc = line_send(c);

	line.heard++;
	if (rc)
		return rc;
	assert_int_equal(type, line.reply.h.type);
	memcpy(c->msg, &line.reply, line.reply.h.size);
	return 0;
}

static int line_exchange(struct leat_channel *c, enum leat_msg_type type, int fd, int *received)
{
	int rc = line_roundtrip(c, type);

	line.sent_fd = fd;
	if (!rc)
		*received = line.new_fd;
	return rc;
}

/* The daemon says this, with `error` where such a reply has it. */
static struct leat_channel *open_line(enum leat_msg_type type, int32_t error)
{
	memset(&line, 0, sizeof(line));
	line.channel = (struct leat_channel){.msg = line.msg,
					     .connect = line_connect,
					     .send = line_send,
					     .roundtrip = line_roundtrip,
					     .exchange = line_exchange};
	leat_wire_begin(&line.reply, type, leat_wire_fixed_size(type));
	if (type == LEAT_MSG_REPLACED_FD)
		line.reply.switched.error = error;
	else
		line.reply.answer.error = error;
	line.new_fd = -1;
	return &line.channel;
}

static const void *asked_for(enum leat_msg_type type)
{
	const struct leat_msg *h = (const struct leat_msg *)line.asked;

	assert_int_equal(leat_wire_check(h, h->size, leat_wire_fixed_size(type)), 0);
	assert_int_equal(h->type, type);
	return h;
}

/* The i-th string of what was asked. */
static void assert_text(enum leat_msg_type type, unsigned i, const char *text)
{
	const char *said = leat_wire_string(line.asked, leat_wire_fixed_size(type), i);

	if (!text) {
		assert_null(said);
		return;
	}
	assert_non_null(said);
	assert_string_equal(said, text);
}

static void test_questions(void **state)
{
	static const int32_t errors[] = {0, -EAGAIN, -EIO};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct leat_channel *c = open_line(LEAT_MSG_ANSWER, errors[i]);
		struct leat_channel_word word;
		const struct leat_msg_ask_read question = {
			.h.type = LEAT_MSG_ASK_READ, .slot = 6, .offset = 7, .length = 8};
		const struct leat_msg_ask_read *ask;
		uint32_t seq;

		line.reply.answer.seq = 9;
		line.reply.answer.slot = 3;
		assert_int_equal(leat_channel_ask(c, &question.h, &seq), errors[i]);
		assert_int_equal(seq, 9);
		ask = asked_for(LEAT_MSG_ASK_READ);
		assert_int_equal(ask->slot, 6);
		assert_int_equal(ask->offset, 7);
		assert_int_equal(ask->length, 8);
		assert_int_equal(leat_channel_ask(c, &question.h, NULL), errors[i]);
		assert_int_equal(leat_channel_sync(c), errors[i]);
		asked_for(LEAT_MSG_SYNC);
		assert_int_equal(leat_channel_change(c, LEAT_CHANGE_UNLINK, 1, "a/b", NULL, &word),
				 errors[i]);
		assert_int_equal(word.slot, 3);
		assert_int_equal(word.seq, 9);
		asked_for(LEAT_MSG_CHANGE);
		assert_text(LEAT_MSG_CHANGE, 0, "a/b");
		assert_text(LEAT_MSG_CHANGE, 1, "");
		assert_text(LEAT_MSG_CHANGE, 2, NULL);
	}
}

static void test_questions_about_names(void **state)
{
	const struct leat_msg_resolve asked = {.h.size = 1,
					       .op = LEAT_OP_OPEN,
					       .flags = O_RDWR,
					       .mode = 0600,
					       .pid = 4,
					       .rights = LEAT_META_OWNER,
					       .uid = 5,
					       .gid = 6,
					       .no_wait = 1,
					       .length = 7};
	const struct stat st = {.st_dev = 11, .st_ino = 12};
	struct leat_channel *c = open_line(LEAT_MSG_RESOLVED, 0);
	const struct leat_msg_identify *identify;
	const struct leat_msg_resolve *resolve;
	const struct leat_msg_list *list;

	(void)state;
	assert_int_equal(leat_channel_resolve(c, &asked, "x"), 0);
	resolve = asked_for(LEAT_MSG_RESOLVE);
	assert_memory_equal(&resolve->op, &asked.op, sizeof(asked) - sizeof(asked.h));
	assert_text(LEAT_MSG_RESOLVE, 0, "x");
	assert_int_equal(leat_channel_identify(c, &st, O_APPEND, "/store/x"), 0);
	identify = asked_for(LEAT_MSG_IDENTIFY);
	assert_int_equal(identify->dev, 11);
	assert_int_equal(identify->ino, 12);
	assert_int_equal(identify->flags, O_APPEND);
	assert_text(LEAT_MSG_IDENTIFY, 0, "/store/x");
	c = open_line(LEAT_MSG_NAMES, 0);
	assert_int_equal(leat_channel_list(c, 21, 22, ""), 0);
	list = asked_for(LEAT_MSG_LIST);
	assert_int_equal(list->handle, 21);
	assert_int_equal(list->cookie, 22);
	assert_int_equal(list->release, 0);
	assert_text(LEAT_MSG_LIST, 0, "");
}

static void test_one_way(void **state)
{
	const struct leat_msg_written written = {.h = {.type = LEAT_MSG_WRITTEN, .size = 1},
						 .slot = 1,
						 .appended = 1,
						 .ofd = 4,
						 .offset = 5,
						 .length = 6};
	struct leat_channel *c = open_line(LEAT_MSG_ANSWER, 0);
	const struct leat_msg_written *sent;
	const struct leat_msg_list *list;
	const struct leat_msg_text *text;
	const struct leat_msg_step *step;

	(void)state;
	assert_int_equal(leat_channel_report(c, &written.h), 0);
	sent = asked_for(LEAT_MSG_WRITTEN);
	assert_memory_equal(&sent->slot, &written.slot, sizeof(written) - sizeof(written.h));
	assert_int_equal(leat_channel_forget_list(c, 7), 0);
	list = asked_for(LEAT_MSG_LIST);
	assert_int_equal(list->handle, 7);
	assert_int_equal(list->release, 1);
	assert_int_equal(leat_channel_ended(c, LEAT_MSG_EXITING, 8, -1, "step", "behind"), 0);
	step = asked_for(LEAT_MSG_EXITING);
	assert_int_equal(step->pid, 8);
	assert_int_equal(step->status, -1);
	assert_text(LEAT_MSG_EXITING, 0, "step");
	assert_text(LEAT_MSG_EXITING, 1, "behind");
	assert_int_equal(leat_channel_refused(c, "ls: why", true), 0);
	text = asked_for(LEAT_MSG_REFUSED);
	assert_int_equal(text->error, -EIO);
	assert_int_equal(leat_channel_refused(c, "ls: why", false), 0);
	assert_int_equal(text->error, 0);
	assert_text(LEAT_MSG_REFUSED, 0, "ls: why");
	assert_int_equal(leat_channel_killed(c, "out of memory"), 0);
	assert_text(LEAT_MSG_KILLED, 0, "out of memory");
	assert_int_equal(line.sent, 6);
	assert_int_equal(line.heard, 0);
	assert_int_equal(leat_channel_becomes(c, 9, "/bin/ls"), 0);
	step = asked_for(LEAT_MSG_BECOMES);
	assert_int_equal(step->pid, 9);
	assert_text(LEAT_MSG_BECOMES, 0, "");
	assert_text(LEAT_MSG_BECOMES, 1, "/bin/ls");
	assert_int_equal(line.heard, 1);
}

/* Only what the daemon makes an error of is one. */
static void test_violations(void **state)
{
	static const struct {
		int32_t says;
		int result;
	} cases[] = {{0, 0}, {-EAGAIN, 0}, {-EIO, -EIO}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_channel *c = open_line(LEAT_MSG_ANSWER, cases[i].says);
		const struct leat_msg_ask_write *ask;

		assert_int_equal(leat_channel_violation(c, LEAT_VIOLATION_REWRITE, 2, 3, 4),
				 cases[i].result);
		assert_int_equal(line.sent, 2);
		ask = asked_for(LEAT_MSG_ASK_WRITE);
		assert_int_equal(ask->slot, 2);
	}
}

static void test_descriptors(void **state)
{
	static const struct {
		int32_t says;
		int new_fd;
	} cases[] = {{0, 7}, {0, -1}, {-EAGAIN, -1}, {-ESTALE, -1}};
	const struct leat_msg_replace_fd *m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_channel *c = open_line(LEAT_MSG_REPLACED_FD, cases[i].says);
		int received = 99;

		line.new_fd = cases[i].new_fd;
		assert_int_equal(leat_channel_replace_fd(c, 5, 6, &received), cases[i].says);
		assert_int_equal(received, cases[i].new_fd);
		assert_int_equal(line.sent_fd, 6);
		m = asked_for(LEAT_MSG_REPLACE_FD);
		assert_int_equal(m->slot, 5);
	}
}

/* Nothing is said without a connection, and no answer is made up. */
static void test_no_daemon(void **state)
{
	const struct leat_msg_closed closed = {.h.type = LEAT_MSG_CLOSED, .slot = 1};
	struct leat_channel *c = open_line(LEAT_MSG_ANSWER, 0);
	const struct leat_msg_ask_whole question = {.h.type = LEAT_MSG_ASK_WHOLE, .slot = 6};
	uint32_t seq = 77;
	int received;

	(void)state;
	line.connected = -EIO;
	assert_int_equal(leat_channel_ask(c, &question.h, &seq), -EIO);
	assert_int_equal(leat_channel_report(c, &closed.h), -EIO);
	assert_int_equal(leat_channel_violation(c, 1, 2, 3, 4), -EIO);
	assert_int_equal(leat_channel_replace_fd(c, 5, 6, &received), -EIO);
	assert_int_equal(received, -1);
	assert_int_equal(line.sent, 0);
	line.connected = 0;
	line.delivered = -EIO;
	assert_int_equal(leat_channel_ask(c, &question.h, &seq), -EIO);
	assert_int_equal(leat_channel_violation(c, 1, 2, 3, 4), -EIO);
	assert_int_equal(leat_channel_replace_fd(c, 5, 6, &received), -EIO);
	assert_int_equal(received, -1);
	assert_int_equal(seq, 77);
}

static void test_too_long_a_name(void **state)
{
	static char name[LEAT_WIRE_MAX];
	struct leat_channel *c = open_line(LEAT_MSG_RESOLVED, 0);
	const struct leat_msg_resolve asked = {.op = LEAT_OP_STAT};

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(leat_channel_resolve(c, &asked, name), -EMSGSIZE);
	assert_int_equal(line.sent, 0);
}

static void test_greeting(void **state)
{
	const struct leat_channel_greeting greeting = {
		.step = "s", .workflow = "w", .program = "p", .key = "k", .steady = true};
	const struct leat_msg_hello *m = (const struct leat_msg_hello *)line.asked;

	(void)state;
	open_line(LEAT_MSG_WELCOME, 0);
	assert_int_equal(leat_channel_greet(line.msg, &greeting), 0);
	line_send(&line.channel);
	asked_for(LEAT_MSG_HELLO);
	assert_int_equal(m->control, 0);
	assert_int_equal(m->steady, 1);
	assert_text(LEAT_MSG_HELLO, 0, "s");
	assert_text(LEAT_MSG_HELLO, 1, "w");
	assert_text(LEAT_MSG_HELLO, 2, "p");
	assert_text(LEAT_MSG_HELLO, 3, "k");
}

static void test_welcome(void **state)
{
	struct leat_msg_welcome *m = (struct leat_msg_welcome *)line.msg;

	(void)state;
	leat_wire_begin(m, LEAT_MSG_WELCOME, sizeof(*m));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(leat_wire_put(m, "/a"), 0);
	assert_int_equal(leat_wire_put(m, "no such step"), 0);
	assert_null(leat_channel_refusal(m));
	m->error = -EPERM;
	assert_string_equal(leat_channel_refusal(m), "no such step");
	leat_wire_begin(m, LEAT_MSG_WELCOME, sizeof(*m));
	m->error = -EPERM;
	assert_string_equal(leat_channel_refusal(m), "the leat daemon refused this process");
}

static void test_replies(void **state)
{
	struct leat_msg_answer good, bad;
	const long size = sizeof(good);

	(void)state;
	leat_wire_begin(&good, LEAT_MSG_ANSWER, sizeof(good));
	assert_true(leat_channel_is_reply(&good, size, LEAT_MSG_ANSWER));
	assert_false(leat_channel_is_reply(&good, size, LEAT_MSG_TEXT));
	assert_false(leat_channel_is_reply(&good, size - 1, LEAT_MSG_ANSWER));
	assert_false(leat_channel_is_reply(&good, 0, LEAT_MSG_ANSWER));
	assert_false(leat_channel_is_reply(&good, -ECONNRESET, LEAT_MSG_ANSWER));
	bad = good;
	bad.h.version++;
	assert_false(leat_channel_is_reply(&bad, size, LEAT_MSG_ANSWER));
}

static void test_names(void **state)
{
	static const struct leat_listed_name names[] = {{5, 4, "dir"}, {UINT64_MAX, 8, "f"}};
	struct leat_listed_name entry;
	char part[64] = "";
	const char *at = part, *end;
	size_t size = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		memcpy(part + size, &names[i].ino, 8);
		part[size + 8] = (char)names[i].type;
		strcpy(part + size + 9, names[i].name);
		size += 9 + strlen(names[i].name) + 1;
	}
	end = part + size;
	for (size_t i = 0; i < 2; i++) {
		assert_true(leat_listed_next(&at, end, &entry));
		assert_int_equal(entry.ino, names[i].ino);
		assert_int_equal(entry.type, names[i].type);
		assert_string_equal(entry.name, names[i].name);
	}
	assert_ptr_equal(at, end);
	assert_false(leat_listed_next(&at, end, &entry));
	/* Without its end, and too short for a name. */
	for (size_t cut = 1; cut < 11; cut++) {
		at = part + 13;
		assert_false(leat_listed_next(&at, end - cut, &entry));
		assert_ptr_equal(at, part + 13);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_questions_about_names),
		cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_violations),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_too_long_a_name),
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_welcome),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
