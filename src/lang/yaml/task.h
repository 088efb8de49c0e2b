/* The tasks of leat YAML on their way into the model: what is said of them beside it, until ports
 * are linked and ensembles expanded. Internal to this layer. */
#ifndef LEAT_LANG_YAML_TASK_H
#define LEAT_LANG_YAML_TASK_H

#include "lang/reader/front.h"

/* An outport's keys, kept until all streams are known; see port.c. */
struct leat_port_text;

/* A pair of ports that are one file, or may be. */
struct leat_lang_link {
	size_t task, port; /* the producer's, and among its outputs */
	const char *text;  /* the narrower of the two names; borrowed from the steps */
};

/* What is said of an input or output of a task, in the order of `inputs` or `outputs`. */
struct leat_port {
	bool is_dir; /* written as `dirname` */
	bool has_dsets;
	size_t literal;       /* so many bytes of its name have no wildcard in them */
	struct leat_pos freq; /* of io_freq; line 0: not given */
	/* An input: how much of it, and what link.c has found. */
	enum leat_flow flow;
	unsigned every;
	struct leat_lang_link *links; /* owned; in the order of tasks */
	size_t n_links;
	bool own;   /* the task makes all of it itself */
	bool apart; /* each link is a file of its own: none is shown in place of another */
	/* An output: the task and its input that wants versions of it. */
	bool versioned;
	size_t reader, reader_input;
};

struct leat_ports {
	struct leat_port *v; /* owned */
	size_t n;
};

/* The task of the step of the same index. */
struct leat_lang_task {
	unsigned count;           /* taskCount */
	struct leat_pos filename; /* of a word with "{filename}"; line 0: there is none */
	struct leat_ports in, out;
	struct leat_port_text *texts; /* owned */
	size_t n_texts;
};

struct leat_lang_tasks {
	struct leat_lang_task *v; /* owned */
	size_t n;
};

/* --- command.c ------------------------------------------------------------- */

/* The command of step `step` from its keys `exec` and `args`. 0 or -ENOMEM. */
int leat_read_command(struct leat_front *front, size_t step, const struct leat_pair *exec,
		      const struct leat_pair *args, struct leat_lang_task *task);

/* --- port.c ---------------------------------------------------------------- */

/* The ports of step `step`, into its inputs, outputs and dsets, and into `task`. 0 or -ENOMEM. */
int leat_read_inports(struct leat_front *front, size_t step, const struct leat_pair *list,
		      struct leat_lang_task *task);
int leat_read_outports(struct leat_front *front, size_t step, const struct leat_pair *list,
		       struct leat_lang_task *task);

/* The rules that its outports give; when all streams are known. 0 or -ENOMEM. */
int leat_read_port_rules(struct leat_front *front, size_t step, const struct leat_lang_task *task);

/* Let each input and output have a port: also those of the coordination file. 0 or -ENOMEM. */
int leat_task_complete(struct leat_lang_task *task, const struct leat_step *step);
void leat_task_release(struct leat_lang_task *task);

/* --- link.c, link_check.c ------------------------------------------------------ */

/* Find which port is linked to which, decide how much of each input is shown, give the rule
 * on_close to outputs of which versions are wanted, and report what cannot be. 0 or -ENOMEM. */
int leat_tasks_link(struct leat_front *front, struct leat_lang_tasks *tasks);

/* Report what is wrong with linked ports. 0 or -ENOMEM. */
int leat_links_check(struct leat_front *front, const struct leat_lang_tasks *tasks);

/* Report the data sets that go through memory to or from nobody. */
void leat_dsets_check(struct leat_front *front, const struct leat_lang_tasks *tasks);

/* Report each "{filename}" that does not stand for one file. */
void leat_filenames_check(struct leat_front *front, const struct leat_lang_tasks *tasks);

/* --- meet.c ----------------------------------------------------------------- */

/* True if input `i` of task `t` is seen otherwise than it is made, so that it needs an inport. */
bool leat_is_inport(const struct leat_lang_tasks *tasks, size_t t, size_t i);

/* True if task `t`, or one that makes what the input shows, has several instances. */
bool leat_port_has_ensemble(const struct leat_lang_tasks *tasks, size_t t,
			    const struct leat_port *in);

/* True if both names may be one file, the name of a directory standing for all below it. */
bool leat_ports_meet(const char *a, bool a_is_dir, const char *b, bool b_is_dir);

/* Which of two names that meet says more about what both are: the one without wildcards, the one
 * that lies in the other, the more specific pattern. */
const char *leat_ports_narrower(const char *output, bool output_is_dir, const char *input);

/* True if the ports share a data set: when both name some, two of them may be one. */
bool leat_dsets_meet(const struct leat_step *reader, const char *input,
		     const struct leat_step *writer, const char *output);

/* True if the two names of data sets may be one. */
bool leat_dset_names_meet(const char *a, const char *b);

/* --- ensemble.c -------------------------------------------------------------- */

/* Make each task of more than one instance so many steps, or report that they are too many. 0 or
 * -ENOMEM. */
int leat_tasks_expand(struct leat_front *front, const struct leat_lang_tasks *tasks);

#endif
