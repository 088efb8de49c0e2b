#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const size_t fixed_sizes[] = {
	[LEAT_MSG_HELLO] = sizeof(struct leat_msg_hello),
	[LEAT_MSG_RESOLVE] = sizeof(struct leat_msg_resolve),
	[LEAT_MSG_CHANGE] = sizeof(struct leat_msg_change),
	[LEAT_MSG_LIST] = sizeof(struct leat_msg_list),
	[LEAT_MSG_IDENTIFY] = sizeof(struct leat_msg_identify),
	[LEAT_MSG_ASK_READ] = sizeof(struct leat_msg_ask_read),
	[LEAT_MSG_ASK_WHOLE] = sizeof(struct leat_msg_ask_whole),
	[LEAT_MSG_ASK_WRITE] = sizeof(struct leat_msg_ask_write),
	[LEAT_MSG_ASK_SPACE] = sizeof(struct leat_msg_ask_space),
	[LEAT_MSG_ASK_BUDGET] = sizeof(struct leat_msg_ask_budget),
	[LEAT_MSG_ASK_ASIDE] = sizeof(struct leat_msg_ask_aside),
	[LEAT_MSG_ASK_TRUE_SIZE] = sizeof(struct leat_msg_ask_true_size),
	[LEAT_MSG_ASK_ACTIONS] = sizeof(struct leat_msg_ask_actions),
	[LEAT_MSG_SYNC] = sizeof(struct leat_msg),
	[LEAT_MSG_ASK_LAUNCH] = sizeof(struct leat_msg_ask_launch),
	[LEAT_MSG_ASK_RELAUNCH] = sizeof(struct leat_msg_ask_relaunch),
	[LEAT_MSG_ASK_SETTLED] = sizeof(struct leat_msg_ask_settled),
	[LEAT_MSG_STOPPING] = sizeof(struct leat_msg),
	[LEAT_MSG_OPENED] = sizeof(struct leat_msg_opened),
	[LEAT_MSG_CLOSED] = sizeof(struct leat_msg_closed),
	[LEAT_MSG_EXTENT] = sizeof(struct leat_msg_range),
	[LEAT_MSG_TRUNCATED] = sizeof(struct leat_msg_truncated),
	[LEAT_MSG_DROP] = sizeof(struct leat_msg_drop),
	[LEAT_MSG_PREFAULT] = sizeof(struct leat_msg_range),
	[LEAT_MSG_READ] = sizeof(struct leat_msg_read),
	[LEAT_MSG_WROTE] = sizeof(struct leat_msg_wrote),
	[LEAT_MSG_WRITTEN] = sizeof(struct leat_msg_written),
	[LEAT_MSG_EXITING] = sizeof(struct leat_msg_step),
	[LEAT_MSG_VIOLATED] = sizeof(struct leat_msg_violated),
	[LEAT_MSG_EARLY_SIZE] = sizeof(struct leat_msg_early_size),
	[LEAT_MSG_REFUSED] = sizeof(struct leat_msg_text),
	[LEAT_MSG_KILLED] = sizeof(struct leat_msg_text),
	[LEAT_MSG_STEP_START] = sizeof(struct leat_msg_step),
	[LEAT_MSG_STEP_END] = sizeof(struct leat_msg_step),
	[LEAT_MSG_STEP_DONE] = sizeof(struct leat_msg_step),
	[LEAT_MSG_REAPED] = sizeof(struct leat_msg_step),
	[LEAT_MSG_BECOMES] = sizeof(struct leat_msg_step),
	[LEAT_MSG_STATUS] = sizeof(struct leat_msg_text),
	[LEAT_MSG_FINISH] = sizeof(struct leat_msg_text),
	[LEAT_MSG_ABORT] = sizeof(struct leat_msg_step),
	[LEAT_MSG_REPLACE_FD] = sizeof(struct leat_msg_replace_fd),
	[LEAT_MSG_WELCOME] = sizeof(struct leat_msg_welcome),
	[LEAT_MSG_RESOLVED] = sizeof(struct leat_msg_resolved),
	[LEAT_MSG_ANSWER] = sizeof(struct leat_msg_answer),
	[LEAT_MSG_NAMES] = sizeof(struct leat_msg_names),
	[LEAT_MSG_TEXT] = sizeof(struct leat_msg_text),
	[LEAT_MSG_EVENT] = sizeof(struct leat_msg_text),
	[LEAT_MSG_REPLACED_FD] = sizeof(struct leat_msg_replaced_fd),
	[LEAT_MSG_ACT] = sizeof(struct leat_msg_act),
	[LEAT_MSG_ACTED] = sizeof(struct leat_msg_acted),
};

size_t leat_wire_fixed_size(enum leat_msg_type type)
{
	size_t index = (size_t)type;

	return index < sizeof(fixed_sizes) / sizeof(*fixed_sizes) ? fixed_sizes[index] : 0;
}

void *leat_wire_begin(void *buf, enum leat_msg_type type, size_t fixed_size)
{
	struct leat_msg *h = buf;

	memset(buf, 0, fixed_size);
	h->version = LEAT_WIRE_VERSION;
	h->type = (uint16_t)type;
	h->size = (uint32_t)fixed_size;
	return buf;
}

int leat_wire_put_raw(void *buf, const void *data, size_t size)
{
	struct leat_msg *h = buf;

	if (size > LEAT_WIRE_MAX - h->size)
		return -EMSGSIZE;
	memcpy((char *)buf + h->size, data, size);
	h->size += (uint32_t)size;
	return 0;
}

int leat_wire_put(void *buf, const char *text)
{
	return leat_wire_put_raw(buf, text, strlen(text) + 1);
}

int leat_wire_check(const void *buf, size_t size, size_t fixed_size)
{
	const struct leat_msg *h = buf;

	if (size < sizeof(*h) || size < fixed_size || size > LEAT_WIRE_MAX)
		return -EPROTO;
	if (h->version != LEAT_WIRE_VERSION || h->size != size)
		return -EPROTO;
	return 0;
}

const char *leat_wire_string(const void *buf, size_t fixed_size, unsigned i)
{
	const struct leat_msg *h = buf;
	const char *at = (const char *)buf + fixed_size;
	const char *end = (const char *)buf + h->size;

	while (at < end) {
		size_t length = strnlen(at, (size_t)(end - at));

		if (at + length == end)
			return NULL;
		if (i-- == 0)
			return at;
		at += length + 1;
	}
	return NULL;
}

/* Appends to out[*used..]; snprintf is not async-signal-safe. */
static int append(char *out, size_t out_size, size_t *used, const char *text)
{
	size_t length = strlen(text);

	if (length >= out_size - *used)
		return -ENAMETOOLONG;
	memcpy(out + *used, text, length + 1);
	*used += length;
	return 0;
}

static void decimal(unsigned value, char out[11])
{
	char digits[11];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*out++ = digits[--n];
	*out = 0;
}

/* FNV-1a, 64 bits, in hexadecimal: short enough for a socket's path. */
static void hash_name(const char *text, char out[17])
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	for (unsigned i = 0; i < 16; i++)
		out[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
	out[16] = 0;
}

int leat_wire_session_path(const char *runtime_dir, unsigned uid, const char *real_dir, char *out,
			   size_t out_size)
{
	size_t used = 0;
	char user[11], hash[17];
	int rc;

	if (!out_size)
		return -ENAMETOOLONG;
	decimal(uid, user);
	hash_name(real_dir, hash);
	if (runtime_dir && *runtime_dir)
		rc = append(out, out_size, &used, runtime_dir);
	else if (!(rc = append(out, out_size, &used, "/tmp/leat-")))
		rc = append(out, out_size, &used, user);
	if (!rc)
		rc = append(out, out_size, &used, "/");
	if (!rc)
		rc = append(out, out_size, &used, hash);
	if (!rc)
		rc = append(out, out_size, &used, "/socket");
	return rc;
}

const char *leat_wire_lost_what(enum leat_lost cause)
{
	return cause == LEAT_LOST_SPACE ? "was refused memory" : "could not reach the daemon";
}

const char *leat_wire_lost(enum leat_lost cause)
{
	static const char *const causes[] = {
		[LEAT_LOST_MEMORY] =
			"there is no memory, or too little address space, to map what it "
			"shares with the daemon: raise ulimit -v (and ulimit -d) by "
			"256 MB",
		[LEAT_LOST_LOCKED] =
			"it locks its memory, and may not lock what it shares with the "
			"daemon: raise ulimit -l, or do without mlockall",
		[LEAT_LOST_FILES] =
			"no descriptor is free to reach the daemon: raise ulimit -n, or "
			"have fewer files open",
		[LEAT_LOST_FORBIDDEN] =
			"the kernel forbids it to connect to the daemon, as a filter "
			"of system calls (seccomp) does: allow socket, connect, "
			"sendto, sendmsg, recvfrom, recvmsg and mmap",
		[LEAT_LOST_CLOSED] =
			"it has closed the descriptors that lead to the daemon, by system "
			"calls that libleat does not see: leave those that are not its "
			"own open, or close them by libc's functions",
		[LEAT_LOST_RENAMED] =
			"the workflow's directory is not where it was, or another one is "
			"in its place: leave it where it is until the run has ended",
		[LEAT_LOST_UNREACHED] =
			"the session's directory cannot be reached from where it runs "
			"(another root directory or mount namespace), or the daemon "
			"has ended: leave LEAT_RUNTIME_DIR in its sight",
		[LEAT_LOST_USER] =
			"the daemon belongs to another user: run the step's programs as the "
			"user of the run",
		[LEAT_LOST_PROC] =
			"it cannot read /proc/self/fd, which tells what descriptors it was "
			"given: mount /proc where it runs",
		[LEAT_LOST_VERSION] =
			"libleat and the daemon are of different versions: have them from "
			"one build, and leave it alone while it runs",
		[LEAT_LOST_SPACE] = "ulimit -v (address space) or -d (data) leaves it less than it "
				    "would have without libleat: raise them by 256 MB",
		[LEAT_LOST_BROKEN] = "the connection to the daemon broke",
	};
	size_t i = (size_t)cause;

	return i < sizeof(causes) / sizeof(*causes) && causes[i] ? causes[i]
								 : causes[LEAT_LOST_BROKEN];
}
