/* Messages about steps, their processes and their actions, and about the run. */
#ifndef LEAT_WIRE_STEPS_H
#define LEAT_WIRE_STEPS_H

#include "wire/message.h"

/* What actions are called for. */
enum leat_act {
	LEAT_ACT_BEFORE_LAUNCH = 1,
	LEAT_ACT_BEFORE_OPEN,
	LEAT_ACT_AFTER_OPEN,
	LEAT_ACT_AFTER_CLOSE, /* the true last close of a description */
	LEAT_ACT_ON_COMMIT,
	LEAT_ACT_AFTER_EXIT,
	LEAT_ACT_KINDS,
	LEAT_ACT_GO_ON = LEAT_ACT_KINDS, /* the broadcast that is waited for has come */
};

struct leat_msg_ask_launch {
	struct leat_msg h;
	uint32_t step;
	uint32_t reserved;
};

/* ANSWER: 0 it may, and the text is the file that the launch is for, as the step sees it; -EAGAIN
 * not yet: an EVENT with LEAT_WIRE_LAUNCHABLE says when to ask again; -ENOENT never again; -EIO a
 * producer failed, which is the text. */
struct leat_msg_ask_relaunch {
	struct leat_msg h;
	uint32_t step;
	uint32_t ended; /* 1: a launch of it has just ended, well; 0: there was none yet */
};

/* ANSWER: 0 it ended well, and all it makes is final and, if permanent, on disk; -EAGAIN not yet;
 * -EIO never. */
struct leat_msg_ask_settled {
	struct leat_msg h;
	uint32_t step;
	uint32_t reserved;
};

/* leat_msg_text.error of an EVENT that is no news: the step whose number is the text may be
 * launched now. */
#define LEAT_WIRE_LAUNCHABLE 1

/* leat_msg_step.status of EXITING: it ends normally, but is the server of a mount, and a program
 * behind it that had closed a file empty was killed. */
#define LEAT_WIRE_CUT_SHORT (-1)

/* The second string of an EXITING of a mount's server about a process behind it, by the
 * number that RESOLVE had. status: CUT_SHORT if it was killed. */
#define LEAT_WIRE_BEHIND "behind"

/* EXITING, STEP_START (status 1: its program loads the library), STEP_END, STEP_DONE, ABORT,
 * REAPED, BECOMES */
struct leat_msg_step {
	struct leat_msg h;
	int32_t pid;
	int32_t status;
	/* strings: step name, text. STEP_START: step name, the program as it is found from the
	 * workflow's directory, key in the environment of the step's processes */
};

/* STATUS, FINISH, TEXT, REFUSED, KILLED, EVENT */
struct leat_msg_text {
	struct leat_msg h;
	int32_t error;
	uint32_t more; /* 1: another TEXT follows with the rest */
		       /* strings: text */
};

/* Call the actions of a step for one of its processes. */
struct leat_msg_act {
	struct leat_msg h;
	uint64_t id; /* 0: it is the driver's */
	int32_t step;
	uint32_t rank;
	uint32_t act;
	int32_t status;  /* AFTER_EXIT: as from waitpid */
	uint32_t writes; /* the file was opened for writing */
	uint32_t reserved;
	/* strings: the file, as the step sees it */
};

/* They have been called, the first time also to say what for. */
struct leat_msg_acted {
	struct leat_msg h;
	uint64_t id;
	int32_t step;
	uint32_t rank;
	int32_t error;  /* -errno: they failed, text says how; -EAGAIN: they wait for a broadcast */
	uint32_t wants; /* bit 1 << act: what they are to be called for */
	uint32_t served; /* 1: what the process has written is to be passed on */
	uint32_t reserved;
	/* strings: text */
};

#endif
