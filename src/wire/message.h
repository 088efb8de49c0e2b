/* The messages there are, and how each begins. */
#ifndef LEAT_WIRE_MESSAGE_H
#define LEAT_WIRE_MESSAGE_H

#include <stdint.h>

#define LEAT_WIRE_VERSION 13
#define LEAT_WIRE_MAX 65536 /* largest packet, bytes */

enum leat_msg_type {
	/* client requests */
	LEAT_MSG_HELLO = 1,  /* -> WELCOME, with 2 descriptors: store directory, shared segment */
	LEAT_MSG_RESOLVE,    /* -> RESOLVED: may this path call go on, and where */
	LEAT_MSG_CHANGE,     /* -> ANSWER: rename, unlink, rmdir, link executed by the daemon */
	LEAT_MSG_LIST,       /* -> NAMES: next part of a directory listing */
	LEAT_MSG_IDENTIFY,   /* -> RESOLVED: which file is this inherited descriptor */
	LEAT_MSG_REPLACE_FD, /* with a descriptor -> REPLACED_FD, with the one to use in its place
			      */
	/* client's questions about an open file -> ANSWER: 0 yes, -EAGAIN ask again when the file's
	 * record has changed, -errno what the call is to fail with */
	LEAT_MSG_ASK_READ,   /* are these bytes there */
	LEAT_MSG_ASK_WHOLE,  /* is the file complete */
	LEAT_MSG_ASK_WRITE,  /* may it be written: -EIO after a violation that is an error */
	LEAT_MSG_ASK_SPACE,  /* a write found no space: has some been made; -ENOSPC there is none */
	LEAT_MSG_ASK_BUDGET, /* before a write to a store that is larger than the budget: has the
			      * budget space for so much more; -ENOSPC it has none */
	LEAT_MSG_ASK_ASIDE,  /* of a mount's server: is the file where a program that cannot ask for
			      * space may write it, on disk or where it has to stay */
	LEAT_MSG_ASK_TRUE_SIZE, /* is the kernel's size of the file its length, from now on */
	LEAT_MSG_ASK_ACTIONS,   /* have the step's actions been called; -EIO they failed */
	LEAT_MSG_SYNC,          /* -> ANSWER: all that was sent before it has been handled */
	/* one way */
	LEAT_MSG_OPENED,     /* the call allowed by RESOLVE has ended */
	LEAT_MSG_CLOSED,     /* a descriptor with an ofd was closed: look whether it was the last
			      */
	LEAT_MSG_EXTENT,     /* bytes beyond the frontier were written */
	LEAT_MSG_TRUNCATED,  /* the file was truncated or extended to length */
	LEAT_MSG_DROP,       /* a consumer has read up to there, and nobody needs it again */
	LEAT_MSG_PREFAULT,   /* these bytes will be written soon: have clear memory there */
	LEAT_MSG_READ,       /* something was read of a version, description ofd */
	LEAT_MSG_WROTE,      /* description ofd (0: any of the file) is about to change it */
	LEAT_MSG_WRITTEN,    /* bytes of a file that several steps write were written */
	LEAT_MSG_EXITING,    /* the process (pid; 0: the sender) is about to exit normally */
	LEAT_MSG_VIOLATED,   /* a violation the client saw */
	LEAT_MSG_EARLY_SIZE, /* a consumer took the size of a growing file for its final one */
	LEAT_MSG_REFUSED,    /* an exec was refused: text says which program and why; error != 0: or
			      * this process cannot go on, and its step has failed */
	LEAT_MSG_KILLED, /* the kernel killed a process of the step for want of memory, out of the
			  * daemon's sight: text says where, and by which limit */
	/* control: leat run, exec, done, top */
	LEAT_MSG_ASK_LAUNCH,   /* -> ANSWER: may a staged step start */
	LEAT_MSG_ASK_RELAUNCH, /* -> ANSWER: may a step be launched for a further version of its
				* inputs */
	LEAT_MSG_ASK_SETTLED,  /* -> ANSWER: is the step complete, so that it need not run again */
	LEAT_MSG_STOPPING,   /* -> ANSWER; processes are about to be stopped: files that they close
			      * from now on, whose step has ended before, are not complete */
	LEAT_MSG_STEP_START, /* -> ANSWER; the step's root process is pid */
	LEAT_MSG_STEP_END,   /* -> ANSWER; status as from waitpid */
	LEAT_MSG_STEP_DONE,  /* -> ANSWER; no further instance will start */
	LEAT_MSG_STATUS,     /* -> TEXT: JSON of steps, files, waits */
	LEAT_MSG_FINISH,     /* -> TEXT when all is permanent; the daemon then ends; more: with the
			      * timeline */
	LEAT_MSG_ABORT,      /* -> ANSWER; fail what is not committed and end */
	LEAT_MSG_ACTED,      /* -> ANSWER; what became of an ACT */
	LEAT_MSG_REAPED,  /* one way; process pid, which a step left behind, ended with status; of
			   * another user in root's run: its child */
	LEAT_MSG_BECOMES, /* -> ANSWER; pid, such a user's, is about to become the program text,
			   * which will say HELLO; "": it did not */
	LEAT_MSG_END_OF_REQUESTS,
	/* daemon's replies */
	LEAT_MSG_WELCOME = 64,
	LEAT_MSG_RESOLVED,
	LEAT_MSG_ANSWER,
	LEAT_MSG_NAMES,
	LEAT_MSG_TEXT,
	LEAT_MSG_REPLACED_FD,
	/* daemon to a control connection that asked for it (unsolicited) */
	LEAT_MSG_EVENT,
	LEAT_MSG_ACT, /* and from there to the process of the actions, which says ACTED */
};

struct leat_msg {
	uint16_t version;
	uint16_t type;
	uint32_t size;     /* whole packet, bytes */
	uint64_t reserved; /* the sender is known by its socket */
};

#endif
