/* What leat_task_error has to say: each thread has a text of its own. */
#include "task/runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char reported[4096];

const char *leat_task_error(void)
{
	return reported;
}

int leat_tasks_set_error(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reported, sizeof(reported), format, ap);
	va_end(ap);
	return error;
}

int leat_tasks_report_failure(const struct leat_failure *failure, size_t n_failed,
			      size_t n_cancelled)
{
	char more[96] = "";

	if (n_failed > 0 && n_cancelled > 0)
		snprintf(more, sizeof(more), "; %zu more failed, %zu were not run for it", n_failed,
			 n_cancelled);
	else if (n_failed > 0)
		snprintf(more, sizeof(more), "; %zu more failed", n_failed);
	else if (n_cancelled > 0)
		snprintf(more, sizeof(more), "; %zu were not run for it", n_cancelled);
	return leat_tasks_set_error(failure->error, "task %s (number %llu) failed: %s%s%s%s",
				    failure->kind, (unsigned long long)failure->number,
				    failure->text ? failure->text : "", failure->text ? ": " : "",
				    strerror(-failure->error), more);
}

struct leat_failure leat_failure_memory = {
	.refs = 1,
	.error = -ENOMEM,
	.kind = "?",
};

struct leat_failure *leat_failure_new(const struct leat_task *task, int error, char *text)
{
	struct leat_failure *failure = malloc(sizeof(*failure));

	if (!failure) {
		free(text);
		return leat_failure_ref(&leat_failure_memory);
	}
	*failure = (struct leat_failure){.refs = 1,
					 .error = error,
					 .number = task->number,
					 .kind = task->kind->name,
					 .text = text};
	return failure;
}

struct leat_failure *leat_failure_ref(struct leat_failure *failure)
{
	failure->refs++;
	return failure;
}

void leat_failure_unref(struct leat_failure *failure)
{
	if (!failure || --failure->refs > 0)
		return;
	free(failure->text);
	free(failure);
}
