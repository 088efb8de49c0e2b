/* What a client says to the daemon and what the answers mean: the same in intercepted programs and
 * behind a mount. How a message goes there and back is up to who has the connection. One thread at
 * a time for each channel; async-signal-safe if its functions are. Results are 0 or -errno; -EIO:
 * there is no daemon. A path is below the workflow's directory. */
#ifndef LEAT_CLIENT_CHANNEL_H
#define LEAT_CLIENT_CHANNEL_H

#include "eventlog/call.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* A way to the daemon. */
struct leat_channel {
	void *msg; /* LEAT_WIRE_MAX bytes, borrowed: a request, then its reply */
	/* Have a connection. 0 or -EIO. */
	int (*connect)(struct leat_channel *c);
	/* Send what msg holds, one way. 0 or -EIO. */
	int (*send)(struct leat_channel *c);
	/* Send it and receive the reply of that type into it. 0 or -EIO. */
	int (*roundtrip)(struct leat_channel *c, enum leat_msg_type reply);
	/* The same with descriptor `fd`; *received: the one that comes back, -1: none. */
	int (*exchange)(struct leat_channel *c, enum leat_msg_type reply, int fd, int *received);
};

/* What is to be slept on before the question is asked again. */
struct leat_channel_word {
	uint32_t slot, seq;
};

/* Have the `n` bytes that were received made sense as a reply of that type? */
bool leat_channel_is_reply(const void *msg, long n, enum leat_msg_type type);

/* --- the greeting, as long as there is no connection --- */

struct leat_channel_greeting {
	const char *step, *workflow, *program, *key;
	bool steady; /* see leat_msg_hello */
};

/* Put HELLO into msg. 0 or -EMSGSIZE. */
int leat_channel_greet(void *msg, const struct leat_channel_greeting *greeting);
/* WELCOME is in msg: why this process is not, NULL: it is. */
const char *leat_channel_refusal(const void *msg);

/* --- questions; what is not said here of a reply is found in msg --- */

/* Ask what `question` is, a leat_msg_ask_... whose h.type is set, or a SYNC: 0, -EAGAIN (*seq to
 * sleep on), or -errno. `seq` may be NULL. */
int leat_channel_ask(struct leat_channel *c, const struct leat_msg *question, uint32_t *seq);
/* Returns when the daemon has handled all that was sent before. */
int leat_channel_sync(struct leat_channel *c);
/* Ask where `path` is, for what the other members of `asked` say -> leat_msg_resolved. */
int leat_channel_resolve(struct leat_channel *c, const struct leat_msg_resolve *asked,
			 const char *path);
/* Ask which file a descriptor is, by what the kernel shows of it -> leat_msg_resolved. */
int leat_channel_identify(struct leat_channel *c, const struct stat *st, int flags,
			  const char *name);
/* Have names changed; `second` may be NULL. -EAGAIN: *word. */
int leat_channel_change(struct leat_channel *c, enum leat_change what, uint32_t flags,
			const char *first, const char *second, struct leat_channel_word *word);
/* Ask for the names of a directory behind the first `cookie` ones -> leat_msg_names. */
int leat_channel_list(struct leat_channel *c, uint64_t handle, uint64_t cookie, const char *path);
/* `fd` may be of a place the file has left: *received is what is to take its place, -1 if it is
 * good. -EAGAIN: not yet; -ESTALE: it is not of this file. -> leat_msg_replaced_fd */
int leat_channel_replace_fd(struct leat_channel *c, uint32_t slot, int fd, int *received);
/* Report a violation. 0: it is only a warning; -EIO: fail the call. */
int leat_channel_violation(struct leat_channel *c, uint32_t code, uint32_t slot, uint64_t offset,
			   uint64_t length);
/* Process `pid` is about to become `program`, "": it did not. */
int leat_channel_becomes(struct leat_channel *c, int32_t pid, const char *program);

/* --- one way --- */

/* `report` is the head of a message of an open file (OPENED to EARLY_SIZE) of the type it names. */
int leat_channel_report(struct leat_channel *c, const struct leat_msg *report);
int leat_channel_forget_list(struct leat_channel *c, uint64_t handle);
/* EXITING or REAPED; `text` as leat_msg_step has it. */
int leat_channel_ended(struct leat_channel *c, enum leat_msg_type type, int32_t pid, int32_t status,
		       const char *step, const char *text);
/* Which program or call was refused and why; `fatal`: its step cannot end well any more. */
int leat_channel_refused(struct leat_channel *c, const char *text, bool fatal);
/* Where the kernel killed a process for want of memory, and by which limit. */
int leat_channel_killed(struct leat_channel *c, const char *text);

#endif
