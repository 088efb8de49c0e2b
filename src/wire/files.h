/* Messages about files that a client has open: questions (-> ANSWER), and reports, one way. */
#ifndef LEAT_WIRE_FILES_H
#define LEAT_WIRE_FILES_H

#include "wire/message.h"

struct leat_msg_ask_read {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t offset;
	uint64_t length;
};

struct leat_msg_ask_whole {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_write {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_space {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t attempt; /* how often it has been asked for this write */
	uint64_t length;  /* bytes to write */
};

struct leat_msg_ask_budget {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t length; /* bytes to write */
};

struct leat_msg_ask_aside {
	struct leat_msg h;
	uint32_t slot;
	int32_t pid;      /* the program, which was started with the file open for writing */
	uint64_t attempt; /* how often it has been asked for this file */
};

/* For a consumer that has the kernel read at an offset which others may move. */
struct leat_msg_ask_true_size {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

struct leat_msg_ask_actions {
	struct leat_msg h;
	uint32_t slot;
	uint32_t closed; /* 0: the description was opened; 1: closed */
	uint64_t ofd;
};

/* The file was moved to another place while it was open. */
struct leat_msg_replace_fd {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
};

/* All descriptors of one open file description are given the same new one. If no descriptor
 * comes with it, the old one is good. */
struct leat_msg_replaced_fd {
	struct leat_msg h;
	int32_t error; /* -EAGAIN: wait on seq; -ESTALE: not this file's */
	uint32_t generation;
	uint32_t seq;
	uint32_t reserved;
};

/* The call that the last RESOLVE of this connection allowed has ended. */
struct leat_msg_opened {
	struct leat_msg h;
	int32_t error; /* 0 or -errno */
	uint32_t reserved;
};

struct leat_msg_closed {
	struct leat_msg h;
	uint32_t slot;
	uint32_t killed; /* 1: by the end of a process that was killed, which never counts; CLOSING
			  */
	uint64_t ofd;
};

/* leat_msg_closed.killed, of a mount's server: a process behind it that had the description open is
 * being killed, and has it no more. If it was the last one, the close is reported soon. */
#define LEAT_WIRE_CLOSING 2u

/* EXTENT, PREFAULT: these bytes of the file. */
struct leat_msg_range {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t offset;
	uint64_t length;
};

struct leat_msg_truncated {
	struct leat_msg h;
	uint32_t slot;
	uint32_t same; /* it had that length before: of interest to who writes it, too */
	uint64_t ofd;  /* by which description; 0: not known */
	uint64_t length;
};

struct leat_msg_drop {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t read_end; /* all bytes before it were read */
};

struct leat_msg_read {
	struct leat_msg h;
	uint64_t ofd;
	uint32_t how;    /* enum leat_read, eventlog/call.h */
	uint32_t partly; /* 1: that was all there was yet of a version that was not complete */
	uint64_t end;    /* of what was read */
};

struct leat_msg_wrote {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t ofd;
};

struct leat_msg_written {
	struct leat_msg h;
	uint32_t slot;
	uint32_t appended; /* 1: at the file's end (O_APPEND) */
	uint64_t ofd;
	uint64_t offset;
	uint64_t length;
};

/* Whether it is fatal the client learns by an ASK_WRITE sent behind it: -EIO. */
struct leat_msg_violated {
	struct leat_msg h;
	uint32_t slot;
	uint32_t code; /* enum leat_violation, eventlog/call.h, but for EARLY_SIZE */
	uint64_t offset;
	uint64_t length;
};

/* A violation only if the final size is larger. */
struct leat_msg_early_size {
	struct leat_msg h;
	uint32_t slot;
	uint32_t reserved;
	uint64_t read_end; /* of what was read */
	uint64_t size;     /* that was seen */
};

#endif
