/* The command of a task of leat YAML: `exec` and `args`. */
#include "lang/yaml/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/placeholder.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "lang/syntax/words.h"

static void note_braces(struct leat_front *front, struct leat_lang_task *task, const char *text,
			struct leat_pos pos)
{
	if (!task->filename.line && strstr(text, "{filename}"))
		task->filename = pos;
	leat_warn_placeholders(front, text, pos);
}

static int append_arg(char ***argv, size_t *n, const char *text)
{
	char **v = reallocarray(*argv, *n + 2, sizeof(*v));

	if (!v)
		return -ENOMEM;
	*argv = v;
	v[*n] = strdup(text);
	if (!v[*n])
		return -ENOMEM;
	v[++*n] = NULL;
	return 0;
}

/* The words of `exec`; *argv NULL when reported. */
static int read_exec(struct leat_front *front, const struct leat_pair *exec,
		     struct leat_lang_task *task, char ***argv)
{
	const char *text = leat_read_text(front, exec), *why;
	char shell;
	int ret;

	if (!text)
		return 0;
	shell = leat_words_shell(text);
	if (shell)
		leat_lang_report(front->diags, L_EXEC_SHELL, exec->value->pos,
				 "no shell runs this command: \"%c\" is passed to the program "
				 "unchanged; use sh -c '...', or put it in quotes",
				 shell);
	note_braces(front, task, text, exec->value->pos);
	ret = leat_words_split(text, argv, &why);
	if (ret == -EINVAL) {
		leat_lang_report(front->diags, L_EXEC, exec->value->pos,
				 "the command cannot be split into words: %s", why);
		return 0;
	}
	if (!ret && (!(*argv)[0] || !(*argv)[0][0])) {
		leat_lang_report(front->diags, L_EXEC, exec->value->pos,
				 "the command names no program");
		leat_words_free(*argv);
		*argv = NULL;
	}
	return ret;
}

static int read_arg(struct leat_front *front, const struct leat_value *node,
		    struct leat_lang_task *task, char ***argv, size_t *n)
{
	if (node->kind != LEAT_VALUE_SCALAR || leat_value_is_null(node)) {
		leat_lang_report(front->diags, L_TYPE, node->pos,
				 "an argument must be a string, not %s", leat_value_describe(node));
		return 0;
	}
	note_braces(front, task, node->text, node->pos);
	return *argv ? append_arg(argv, n, node->text) : 0;
}

int leat_read_command(struct leat_front *front, size_t step, const struct leat_pair *exec,
		      const struct leat_pair *args, struct leat_lang_task *task)
{
	struct leat_step *model = &front->wf->steps[step];
	size_t n = 0;
	int ret;

	if (exec->key)
		ret = read_exec(front, exec, task, &model->argv);
	else
		ret = append_arg(&model->argv, &n, model->name);
	for (n = 0; model->argv && model->argv[n];)
		n++;
	if (ret || !args->value)
		return ret;
	if (args->value->kind != LEAT_VALUE_LIST) {
		leat_lang_report(front->diags, L_TYPE, args->value->pos,
				 "\"args\" must be a list of strings, not %s",
				 leat_value_describe(args->value));
		return 0;
	}
	for (size_t i = 0; !ret && i < args->value->n; i++)
		ret = read_arg(front, args->value->v[i], task, &model->argv, &n);
	return ret;
}
