/* What the files of the system share. */
#ifndef LEAT_STREAM_VERIFY_ACTS_H
#define LEAT_STREAM_VERIFY_ACTS_H

#include "stream/verify/system.h"

/* What one write adds to a file, in bytes. */
enum { VERIFY_UNIT = 5 };

/* Note a fault, unless there is one already. */
void leat_verify_fault(struct verify_system *w, enum leat_verify_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A line for people. */
void leat_verify_print(struct verify_system *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *leat_verify_step_name(const struct verify_system *w, int step);
/* What the call of a task asks for; "" for a launch. */
const char *leat_verify_asked_name(const struct verify_system *w, int task);
int leat_verify_pid(int step);

/* Tell the rules, and the log. */
void leat_verify_apply(struct verify_system *w, struct leat_event ev);
enum leat_answer leat_verify_ask(struct verify_system *w, const struct leat_event *ev);

/* The call of a consumer's task; it may have to wait. */
void leat_verify_call(struct verify_system *w, int task);

/* What a producer's task does. */
const char *leat_verify_written_name(const struct verify_system *w, int task);
void leat_verify_create(struct verify_system *w, int task, const struct verify_stage_of *s);
void leat_verify_put(struct verify_system *w, int task);
void leat_verify_close_file(struct verify_system *w, int task);
void leat_verify_rename(struct verify_system *w, int task);
/* The close itself; `dead`: by the kernel, its process being killed. */
void leat_verify_close(struct verify_system *w, int task, bool dead);

/* Compare what the rules say with what is meant. */
void leat_verify_check(struct verify_system *w);

#endif
