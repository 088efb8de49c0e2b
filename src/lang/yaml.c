/* leat YAML: tasks with commands and ports. */
#include "lang/front.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"

enum {
	TOP_NAME,
	TOP_DIR,
	TOP_COORDINATION,
	TOP_TASKS,
	TOP_PERMANENT,
	TOP_EXCLUDE,
	TOP_ALIASES,
	TOP_STORAGE,
	TOP_HOME,
	N_TOP
};

static const struct leat_key top_keys[] = {
	{"name", LEAT_KEY_TAKEN, TOP_NAME},
	{"dir", LEAT_KEY_TAKEN, TOP_DIR},
	{"coordination", LEAT_KEY_TAKEN, TOP_COORDINATION},
	{"tasks", LEAT_KEY_TAKEN, TOP_TASKS},
	{"permanent", LEAT_KEY_TAKEN, TOP_PERMANENT},
	{"exclude", LEAT_KEY_TAKEN, TOP_EXCLUDE},
	{"aliases", LEAT_KEY_TAKEN, TOP_ALIASES},
	{"storage", LEAT_KEY_TAKEN, TOP_STORAGE},
	{"home_node_policy", LEAT_KEY_TAKEN, TOP_HOME},
	{"resources", LEAT_KEY_LATER, 0},
	{NULL, 0, 0},
};

enum {
	TASK_FUNC,
	TASK_EXEC,
	TASK_ARGS,
	TASK_INPORTS,
	TASK_OUTPORTS,
	TASK_NPROCS,
	TASK_COUNT,
	TASK_NWRITERS,
	TASK_STAGED,
	N_TASK
};

static const struct leat_key task_keys[] = {
	{"func", LEAT_KEY_TAKEN, TASK_FUNC},
	{"exec", LEAT_KEY_TAKEN, TASK_EXEC},
	{"args", LEAT_KEY_TAKEN, TASK_ARGS},
	{"inports", LEAT_KEY_TAKEN, TASK_INPORTS},
	{"outports", LEAT_KEY_TAKEN, TASK_OUTPORTS},
	{"nprocs", LEAT_KEY_TAKEN, TASK_NPROCS},
	{"taskCount", LEAT_KEY_TAKEN, TASK_COUNT},
	{"nwriters", LEAT_KEY_TAKEN, TASK_NWRITERS},
	{"io_proc", LEAT_KEY_TAKEN, TASK_NWRITERS},
	{"staged", LEAT_KEY_TAKEN, TASK_STAGED},
	{"actions", LEAT_KEY_LATER, 0},
	{"relaunch", LEAT_KEY_LATER, 0},
	{"resources", LEAT_KEY_LATER, 0},
	{"computingUnits", LEAT_KEY_LATER, 0},
	{"computing_units", LEAT_KEY_LATER, 0},
	{"io", LEAT_KEY_LATER, 0},
	{"storageBW", LEAT_KEY_LATER, 0},
	{NULL, 0, 0},
};

enum {
	PORT_FILENAME,
	PORT_DIRNAME,
	PORT_COMMITTED,
	PORT_MODE,
	PORT_DEPS,
	PORT_N_FILES,
	PORT_RETAIN,
	N_PORT
};

static const struct leat_key port_keys[] = {
	{"filename", LEAT_KEY_TAKEN, PORT_FILENAME},
	{"dirname", LEAT_KEY_TAKEN, PORT_DIRNAME},
	{"committed", LEAT_KEY_TAKEN, PORT_COMMITTED},
	{"mode", LEAT_KEY_TAKEN, PORT_MODE},
	{"file_deps", LEAT_KEY_TAKEN, PORT_DEPS},
	{"files_deps", LEAT_KEY_VARIANT, PORT_DEPS},
	{"n_files", LEAT_KEY_TAKEN, PORT_N_FILES},
	{"nfiles", LEAT_KEY_VARIANT, PORT_N_FILES},
	{"retain", LEAT_KEY_TAKEN, PORT_RETAIN},
	{"io_freq", LEAT_KEY_LATER, 0},
	{"dsets", LEAT_KEY_LATER, 0},
	{NULL, 0, 0},
};

/* A port and where its keys are. */
struct port {
	const struct leat_value *node; /* NULL if it cannot be used */
	struct leat_pair slots[N_PORT];
};

struct ports {
	struct port *v; /* owned */
	size_t n;
};

struct task {
	int index; /* into wf->steps; -1 if it cannot be used */
	struct leat_pair slots[N_TASK];
	struct ports out;
};

/* --- The command ------------------------------------------------------------ */

static void check_braces(struct leat_front *front, const char *text, struct leat_pos pos)
{
	if (strstr(text, "{filename}"))
		leat_say(front->diags, "L-NOT-YET", pos,
			 "\"{filename}\" is not supported yet by this version of leat");
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

/* The words of `exec`, or the name of the task; *argv NULL when reported. */
static int read_exec(struct leat_front *front, const struct task *task, char ***argv)
{
	const struct leat_pair *exec = &task->slots[TASK_EXEC];
	const char *text, *why;
	size_t n = 0;
	char shell;
	int ret;

	if (!exec->key)
		return append_arg(argv, &n, front->wf->steps[task->index].name);
	text = leat_read_text(front, exec);
	if (!text)
		return 0;
	shell = leat_words_shell(text);
	if (shell)
		leat_say(front->diags, "L-EXEC-SHELL", exec->value->pos,
			 "no shell runs this command: \"%c\" goes to the program as it is; use sh "
			 "-c "
			 "'...', or put it in quotes",
			 shell);
	check_braces(front, text, exec->value->pos);
	ret = leat_words_split(text, argv, &why);
	if (ret == -EINVAL) {
		leat_say(front->diags, "L-EXEC", exec->value->pos,
			 "the command cannot be split into words: %s", why);
		return 0;
	}
	if (!ret && (!(*argv)[0] || !(*argv)[0][0])) {
		leat_say(front->diags, "L-EXEC", exec->value->pos, "the command names no program");
		leat_words_free(*argv);
		*argv = NULL;
	}
	return ret;
}

static int read_arg(struct leat_front *front, const struct leat_value *node, char ***argv,
		    size_t *n)
{
	if (node->kind != LEAT_VALUE_SCALAR || leat_value_is_null(node)) {
		leat_say(front->diags, "L-TYPE", node->pos, "an argument must be a string, not %s",
			 leat_value_describe(node));
		return 0;
	}
	check_braces(front, node->text, node->pos);
	return *argv ? append_arg(argv, n, node->text) : 0;
}

static int read_command(struct leat_front *front, const struct task *task)
{
	const struct leat_pair *args = &task->slots[TASK_ARGS];
	struct leat_step *step = &front->wf->steps[task->index];
	size_t n = 0;
	int ret = read_exec(front, task, &step->argv);

	while (step->argv && step->argv[n])
		n++;
	if (ret || !args->value)
		return ret;
	if (args->value->kind != LEAT_VALUE_LIST) {
		leat_say(front->diags, "L-TYPE", args->value->pos,
			 "\"args\" must be a list of strings, not %s",
			 leat_value_describe(args->value));
		return 0;
	}
	for (size_t i = 0; !ret && i < args->value->n; i++)
		ret = read_arg(front, args->value->v[i], &step->argv, &n);
	return ret;
}

/* --- Ports -------------------------------------------------------------------- */

static int read_port_names(struct leat_front *front, const struct port *port,
			   struct leat_names *names)
{
	const struct leat_pair *filename = &port->slots[PORT_FILENAME];
	const struct leat_pair *dirname = &port->slots[PORT_DIRNAME];

	return leat_read_names(front, filename->key ? filename : dirname, LEAT_NAMES_ONE_OK, names);
}

static bool read_port(struct leat_front *front, const struct leat_value *node, const char *where,
		      struct port *port)
{
	if (!leat_keys_read(front, node, where, port_keys, port->slots, N_PORT))
		return false;
	port->node = node;
	if (!port->slots[PORT_FILENAME].key == !port->slots[PORT_DIRNAME].key) {
		leat_say(front->diags, "L-RULE-NAMES", node->pos,
			 "a port needs either \"filename\" or \"dirname\"");
		port->node = NULL;
	}
	return port->node;
}

static int read_inports(struct leat_front *front, const struct task *task)
{
	const struct leat_pair *list = &task->slots[TASK_INPORTS];
	size_t n = leat_read_objects(front, list);
	struct port port;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		if (!read_port(front, leat_pair_item(list, i), "an inport", &port))
			continue;
		for (int slot = PORT_COMMITTED; slot < N_PORT; slot++)
			if (port.slots[slot].key)
				leat_say(front->diags, "L-RULE-ON-INPUT", port.slots[slot].key->pos,
					 "\"%s\" belongs to the outport of the task that writes "
					 "the file",
					 port.slots[slot].key->text);
		ret = read_port_names(front, &port, &front->wf->steps[task->index].inputs);
	}
	return ret;
}

static int read_outports(struct leat_front *front, struct task *task)
{
	const struct leat_pair *list = &task->slots[TASK_OUTPORTS];
	size_t n = leat_read_objects(front, list);
	int ret = 0;

	if (!n)
		return 0;
	task->out.v = calloc(n, sizeof(*task->out.v));
	if (!task->out.v)
		return -ENOMEM;
	task->out.n = n;
	for (size_t i = 0; !ret && i < n; i++)
		if (read_port(front, leat_pair_item(list, i), "an outport", &task->out.v[i]))
			ret = read_port_names(front, &task->out.v[i],
					      &front->wf->steps[task->index].outputs);
	return ret;
}

/* A rule where the port says more than a file's name. */
static int read_port_rule(struct leat_front *front, const struct task *task,
			  const struct port *port)
{
	const struct leat_pair *slots = port->slots;
	struct leat_rule_text text = {.name_key = "filename"};
	bool given = slots[PORT_DIRNAME].key != NULL;

	for (int slot = PORT_COMMITTED; slot < N_PORT; slot++)
		given |= slots[slot].key != NULL;
	if (!port->node || !given)
		return 0;
	text.pos = port->node->pos;
	text.name = slots[PORT_FILENAME];
	text.dirname = slots[PORT_DIRNAME];
	text.committed = slots[PORT_COMMITTED];
	text.mode = slots[PORT_MODE];
	text.deps = slots[PORT_DEPS];
	text.n_files = slots[PORT_N_FILES];
	text.retain = slots[PORT_RETAIN];
	return leat_read_rule(front, (size_t)task->index, &text);
}

/* --- Tasks -------------------------------------------------------------------- */

/* Numbers that must be 1 in this version. */
static void read_counts(struct leat_front *front, const struct task *task)
{
	static const int slots[] = {TASK_NPROCS, TASK_COUNT, TASK_NWRITERS};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		const struct leat_pair *entry = &task->slots[slots[i]];
		unsigned n = 1;

		if (entry->key && leat_read_number(front, entry, 1, INT_MAX, &n) && n > 1)
			leat_say(front->diags, "L-NOT-YET", entry->value->pos,
				 "\"%s\" above 1 is not supported yet by this version of leat",
				 entry->key->text);
	}
}

static int read_task(struct leat_front *front, const struct leat_value *node, struct task *task)
{
	struct leat_step *step;
	int ret;

	task->index = -1;
	if (!leat_keys_read(front, node, "a task", task_keys, task->slots, N_TASK))
		return 0;
	read_counts(front, task);
	if (!task->slots[TASK_FUNC].key) {
		leat_key_missing(front, node->pos, "func", "a task");
		return 0;
	}
	ret = leat_read_step_name(front, &task->slots[TASK_FUNC], &task->index);
	if (ret || task->index < 0)
		return ret;
	step = &front->wf->steps[task->index];
	if (task->slots[TASK_STAGED].key)
		leat_read_bool(front, &task->slots[TASK_STAGED], &step->staged);
	ret = read_command(front, task);
	if (!ret)
		ret = read_inports(front, task);
	return ret ? ret : read_outports(front, task);
}

/* Streams of all tasks first, then rules: a rule may name any declared file. */
static int read_tasks(struct leat_front *front, const struct leat_pair *top)
{
	size_t n = leat_read_objects(front, &top[TOP_TASKS]);
	struct task *tasks = n ? calloc(n, sizeof(*tasks)) : NULL;
	int ret = n && !tasks ? -ENOMEM : 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = read_task(front, leat_pair_item(&top[TOP_TASKS], i), &tasks[i]);
	if (!ret && top[TOP_COORDINATION].value)
		ret = leat_read_coordination(front, &top[TOP_COORDINATION]);
	for (size_t i = 0; !ret && i < n; i++)
		for (size_t k = 0; !ret && k < tasks[i].out.n; k++)
			ret = read_port_rule(front, &tasks[i], &tasks[i].out.v[k]);
	for (size_t i = 0; tasks && i < n; i++)
		free(tasks[i].out.v);
	free(tasks);
	return ret;
}

int leat_yaml_read(struct leat_front *front, const struct leat_value *root)
{
	struct leat_pair top[N_TOP];
	int ret;

	front->wf->permanent_unless_consumed = true;
	if (!leat_keys_read(front, root, "the file", top_keys, top, N_TOP))
		return 0;
	ret = leat_read_dir(front, &top[TOP_DIR]);
	if (!ret)
		ret = leat_front_find_dir(front);
	if (!ret)
		ret = leat_read_workflow_name(front, &top[TOP_NAME]);
	if (!ret)
		ret = leat_read_aliases(front, &top[TOP_ALIASES]);
	if (!ret)
		ret = read_tasks(front, top);
	leat_groups_check(front);
	if (!ret && top[TOP_TASKS].value && top[TOP_TASKS].value->kind == LEAT_VALUE_LIST &&
	    !top[TOP_TASKS].value->n)
		leat_say(front->diags, "L-STEP-NONE", root->pos,
			 "the workflow has no steps: \"tasks\" is empty");
	if (!ret)
		ret = leat_read_names(front, &top[TOP_PERMANENT], 0, &front->wf->permanent);
	if (!ret)
		ret = leat_read_names(front, &top[TOP_EXCLUDE], 0, &front->wf->exclude);
	if (!ret)
		ret = leat_read_storage(front, &top[TOP_STORAGE]);
	if (!ret)
		ret = leat_read_home(front, &top[TOP_HOME]);
	return ret ? ret : leat_rules_check(front);
}
