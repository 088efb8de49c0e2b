#include "client/channel.h"

#include "base/fault.h"

#include <errno.h>
#include <string.h>

bool leat_channel_is_reply(const void *msg, long n, enum leat_msg_type type)
{
	const struct leat_msg *h = msg;

	LEAT_FAULT_MESSAGE("answered", type);
	return n > 0 && !leat_wire_check(msg, (size_t)n, leat_wire_fixed_size(type)) &&
	       h->type == type;
}

int leat_channel_greet(void *msg, const struct leat_channel_greeting *greeting)
{
	const char *const strings[] = {greeting->step, greeting->workflow, greeting->program,
				       greeting->key};
	struct leat_msg_hello *m = leat_wire_begin(msg, LEAT_MSG_HELLO, sizeof(*m));
	int rc = 0;

	m->steady = greeting->steady;
	for (size_t i = 0; !rc && i < sizeof(strings) / sizeof(*strings); i++)
		rc = leat_wire_put(m, strings[i]);
	return rc;
}

const char *leat_channel_refusal(const void *msg)
{
	const struct leat_msg_welcome *m = msg;
	const char *why = leat_wire_string(m, sizeof(*m), 3);

	if (!m->error)
		return NULL;
	return why && *why ? why : "the leat daemon refused this process";
}

/* Build a message: `body` with another header, and up to two strings; NULL: none. */
static int build(struct leat_channel *c, enum leat_msg_type type, const void *body,
		 const char *first, const char *second)
{
	const size_t head = sizeof(struct leat_msg), size = leat_wire_fixed_size(type);
	int rc = c->connect(c);

	if (rc)
		return rc;
	leat_wire_begin(c->msg, type, size);
	memcpy((char *)c->msg + head, (const char *)body + head, size - head);
	rc = first ? leat_wire_put(c->msg, first) : 0;
	if (!rc && second)
		rc = leat_wire_put(c->msg, second);
	return rc;
}

static int notify(struct leat_channel *c, enum leat_msg_type type, const void *body,
		  const char *first, const char *second)
{
	int rc = build(c, type, body, first, second);

	return rc ? rc : c->send(c);
}

static int request(struct leat_channel *c, enum leat_msg_type type, const void *body,
		   const char *first, const char *second, enum leat_msg_type reply)
{
	int rc = build(c, type, body, first, second);

	return rc ? rc : c->roundtrip(c, reply);
}

/* --- questions --- */

int leat_channel_ask(struct leat_channel *c, const struct leat_msg *question, uint32_t *seq)
{
	const struct leat_msg_answer *answer = c->msg;
	int rc = request(c, (enum leat_msg_type)question->type, question, NULL, NULL,
			 LEAT_MSG_ANSWER);

	if (rc)
		return rc;
	if (seq)
		*seq = answer->seq;
	return answer->error;
}

int leat_channel_sync(struct leat_channel *c)
{
	const struct leat_msg m = {.type = LEAT_MSG_SYNC};

	return leat_channel_ask(c, &m, NULL);
}

int leat_channel_resolve(struct leat_channel *c, const struct leat_msg_resolve *asked,
			 const char *path)
{
	return request(c, LEAT_MSG_RESOLVE, asked, path, NULL, LEAT_MSG_RESOLVED);
}

int leat_channel_identify(struct leat_channel *c, const struct stat *st, int flags,
			  const char *name)
{
	const struct leat_msg_identify m = {
		.dev = st->st_dev, .ino = st->st_ino, .flags = (uint32_t)flags};

	return request(c, LEAT_MSG_IDENTIFY, &m, name, NULL, LEAT_MSG_RESOLVED);
}

int leat_channel_change(struct leat_channel *c, enum leat_change what, uint32_t flags,
			const char *first, const char *second, struct leat_channel_word *word)
{
	const struct leat_msg_change m = {.change = what, .flags = flags};
	const struct leat_msg_answer *answer = c->msg;
	int rc = request(c, LEAT_MSG_CHANGE, &m, first, second ? second : "", LEAT_MSG_ANSWER);

	if (rc)
		return rc;
	*word = (struct leat_channel_word){answer->slot, answer->seq};
	return answer->error;
}

int leat_channel_list(struct leat_channel *c, uint64_t handle, uint64_t cookie, const char *path)
{
	const struct leat_msg_list m = {.handle = handle, .cookie = cookie};

	return request(c, LEAT_MSG_LIST, &m, path, NULL, LEAT_MSG_NAMES);
}

int leat_channel_replace_fd(struct leat_channel *c, uint32_t slot, int fd, int *received)
{
	const struct leat_msg_replace_fd m = {.slot = slot};
	const struct leat_msg_replaced_fd *reply = c->msg;
	int rc = build(c, LEAT_MSG_REPLACE_FD, &m, NULL, NULL);

	*received = -1;
	if (!rc)
		rc = c->exchange(c, LEAT_MSG_REPLACED_FD, fd, received);
	return rc ? rc : reply->error;
}

int leat_channel_violation(struct leat_channel *c, uint32_t code, uint32_t slot, uint64_t offset,
			   uint64_t length)
{
	const struct leat_msg_violated violated = {.h.type = LEAT_MSG_VIOLATED,
						   .slot = slot,
						   .code = code,
						   .offset = offset,
						   .length = length};
	const struct leat_msg_ask_write m = {.h.type = LEAT_MSG_ASK_WRITE, .slot = slot};

	leat_channel_report(c, &violated.h);
	return leat_channel_ask(c, &m.h, NULL) == -EIO ? -EIO : 0;
}

int leat_channel_becomes(struct leat_channel *c, int32_t pid, const char *program)
{
	const struct leat_msg_step m = {.pid = pid};

	return request(c, LEAT_MSG_BECOMES, &m, "", program, LEAT_MSG_ANSWER);
}

/* --- one way --- */

int leat_channel_report(struct leat_channel *c, const struct leat_msg *report)
{
	return notify(c, (enum leat_msg_type)report->type, report, NULL, NULL);
}

int leat_channel_forget_list(struct leat_channel *c, uint64_t handle)
{
	const struct leat_msg_list m = {.handle = handle, .release = 1};

	return notify(c, LEAT_MSG_LIST, &m, "", NULL);
}

int leat_channel_ended(struct leat_channel *c, enum leat_msg_type type, int32_t pid, int32_t status,
		       const char *step, const char *text)
{
	const struct leat_msg_step m = {.pid = pid, .status = status};

	return notify(c, type, &m, step, text);
}

int leat_channel_refused(struct leat_channel *c, const char *text, bool fatal)
{
	const struct leat_msg_text m = {.error = fatal ? -EIO : 0};

	return notify(c, LEAT_MSG_REFUSED, &m, text, NULL);
}

int leat_channel_killed(struct leat_channel *c, const char *text)
{
	const struct leat_msg_text m = {.error = 0};

	return notify(c, LEAT_MSG_KILLED, &m, text, NULL);
}
