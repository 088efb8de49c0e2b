/* Calls of consumers. */
#include "stream/verify/acts.h"

/* More bytes than any file has. */
enum { ALL = 1 << 20 };

static struct leat_event question(const struct verify_system *w, int task, enum verify_stage stage)
{
	const struct verify_task *t = &w->model->tasks[task];
	struct leat_event ev = {.kind = LEAT_EV_ASK,
				.step = t->step,
				.pid = leat_verify_pid(t->step),
				.waiter = (uint64_t)t->step + 1,
				.name = leat_verify_asked_name(w, task)};

	switch (stage) {
	case VERIFY_ASK_LAUNCH:
		ev.call = LEAT_CALL_LAUNCH;
		break;
	case VERIFY_ASK_LIST:
		ev.call = LEAT_CALL_LIST;
		ev.offset = w->st.shown[task];
		break;
	case VERIFY_LOOK:
		ev.call = LEAT_CALL_LOOK;
		break;
	case VERIFY_READ_END:
		ev.call = LEAT_CALL_READ;
		ev.length = ALL;
		break;
	default:
		ev.call = LEAT_CALL_OPEN;
		break;
	}
	return ev;
}

static void report_call(struct verify_system *w, int task, enum verify_stage stage,
			enum leat_answer answer)
{
	static const char *const words[] = {
		[VERIFY_ASK_LAUNCH] = "is to be started",
		[VERIFY_ASK_LIST] = "lists",
		[VERIFY_LOOK] = "looks at",
		[VERIFY_OPEN] = "opens for reading",
		[VERIFY_READ_END] = "reads to the end of",
	};
	static const char *const answers[] = {
		[LEAT_GO] = "it is given what is there",
		[LEAT_GO_STREAM] = "it is given what is there so far",
		[LEAT_WAIT] = "it waits",
		[LEAT_NOENT] = "there is no such file",
		[LEAT_FAILED] = "it is given an error (EIO)",
	};
	const char *name = leat_verify_asked_name(w, task);
	bool launch = stage == VERIFY_ASK_LAUNCH;

	leat_verify_print(w, "%s %s%s%s: %s", leat_verify_step_name(w, w->model->tasks[task].step),
			  words[stage], launch ? "" : " ",
			  launch  ? ""
			  : *name ? name
				  : "the directory",
			  launch && answer == LEAT_GO ? "it starts" : answers[answer]);
}

static void check_answer(struct verify_system *w, int task, enum verify_stage stage,
			 enum leat_answer answer)
{
	unsigned right = leat_verify_state_answers(w->model, &w->st, task, stage);
	const char *name = leat_verify_asked_name(w, task);
	const char *step = leat_verify_step_name(w, w->model->tasks[task].step);

	name = *name ? name : "its inputs";
	if (right >> answer & 1)
		return;
	if (answer == LEAT_GO || answer == LEAT_NOENT)
		leat_verify_fault(w, LEAT_VERIFY_EARLY,
				  "step %s is given %s as complete, which it is not", step, name);
	else if (answer == LEAT_GO_STREAM)
		leat_verify_fault(w, LEAT_VERIFY_EARLY,
				  "step %s is given bytes of %s that are not there yet", step,
				  name);
	else if (answer == LEAT_WAIT)
		leat_verify_fault(w, LEAT_VERIFY_STARVATION,
				  "step %s waits for %s, but nothing is in its way", step, name);
	else
		leat_verify_fault(w, LEAT_VERIFY_WRONG,
				  "step %s gets an error for %s, which has not failed", step, name);
}

/* Bytes that were promised must be readable. */
static void check_bytes(struct verify_system *w, int task, enum leat_answer answer)
{
	struct leat_event ev = question(w, task, VERIFY_READ_END);

	ev.waiter = 0;
	ev.length = answer == LEAT_GO_STREAM ? VERIFY_UNIT : ALL;
	if (leat_stream_ask(w->s, &ev) != answer)
		leat_verify_fault(w, LEAT_VERIFY_STARVATION, "step %s may open %s, but not read it",
				  leat_verify_step_name(w, ev.step), ev.name);
}

static void go_on(struct verify_system *w, int task, enum verify_stage stage,
		  enum leat_answer answer, uint64_t shown)
{
	const struct verify_task *t = &w->model->tasks[task];
	struct verify_state *st = &w->st;

	if (answer == LEAT_FAILED) {
		st->phase[t->step] = VERIFY_DYING;
	} else if (stage == VERIFY_ASK_LAUNCH) {
		st->at[task] = 1;
		st->phase[t->step] = VERIFY_RUNNING;
		leat_verify_apply(w,
				  (struct leat_event){.kind = LEAT_EV_STEP_START, .step = t->step});
	} else if (stage == VERIFY_ASK_LIST) {
		st->at[task] = answer != LEAT_GO_STREAM;
		st->shown[task] = (uint8_t)shown;
	} else if (stage == VERIFY_LOOK) {
		st->at[task] = answer == LEAT_NOENT ? 3 : 1;
	} else {
		st->at[task] = stage == VERIFY_OPEN && answer == LEAT_GO_STREAM ? 2 : 3;
	}
}

void leat_verify_call(struct verify_system *w, int task)
{
	const struct verify_task *t = &w->model->tasks[task];
	enum verify_stage stage = leat_verify_stage(w->model, task, w->st.at[task]).stage;
	struct leat_event ev = question(w, task, stage);
	uint64_t shown = stage == VERIFY_ASK_LIST ? leat_stream_shown(w->s, ev.name) : 0;
	enum leat_answer answer = leat_verify_ask(w, &ev);

	w->st.woken[t->step] = false;
	w->st.waits[t->step] = answer == LEAT_WAIT ? (uint8_t)(task + 1) : 0;
	report_call(w, task, stage, answer);
	check_answer(w, task, stage, answer);
	if (stage == VERIFY_OPEN && (answer == LEAT_GO || answer == LEAT_GO_STREAM))
		check_bytes(w, task, answer);
	if (answer != LEAT_WAIT)
		go_on(w, task, stage, answer, shown);
}
