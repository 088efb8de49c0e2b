/* A format of logs of a workflow manager: one file with one row, and its name in
 * LEAT_ASSOCIATE_FORMATS and in meson.build. */
#ifndef LEAT_ASSOCIATE_FORMAT_H
#define LEAT_ASSOCIATE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct leat_associate_map;
struct leat_associate_source;
struct leat_associate_environment;

/* Whose a process is that opens a file in a task's work directory, by the file's name alone. */
enum leat_associate_role {
	LEAT_ASSOCIATE_ROLE_NONE,
	LEAT_ASSOCIATE_ROLE_TASK,    /* that task's */
	LEAT_ASSOCIATE_ROLE_MANAGER, /* the workflow manager's */
};

struct leat_associate_format {
	const char *name;     /* the manager's, for people */
	const char *option;   /* of leat map and leat report: "nextflow" */
	const char *argument; /* of the option, and what it does, for --help and the man pages */
	const char *doc;
	/* Texts that only such a log has; ends with NULL. May be NULL. */
	const char *const *signatures;
	/* Does a log that begins with `text` have this format? Asked before the signatures. May be
	 * NULL.
	 */
	bool (*begins)(const char *text);
	/* The task that the variables of a process's environment name, in *task, which is left
	 * alone if that is not known. 1; 0: none of the format's variables are there; -ENOMEM. May
	 * be NULL. */
	int (*labels)(struct leat_associate_map *m, const struct leat_associate_environment *env,
		      size_t *task);
	/* Take all tasks of a log. 0, -EINVAL (it is no such log), -ENOMEM or -errno. */
	int (*read)(struct leat_associate_map *m, struct leat_associate_source *s, FILE *in);
	/* Of the file `name`, opened for writing or not. May be NULL. */
	enum leat_associate_role (*claim)(const char *name, bool writes);
	/* A log's name has the time in it: who writes a file of that name writes the log. */
	bool unique_name;
	/* Its tasks are known by their files alone: a log of another run tells nothing of them. */
	bool files_only;
};

/* In the order in which labels count: the innermost first, a step of leat in a task of Airflow. */
#define LEAT_ASSOCIATE_FORMATS(ROW)                                                                \
	ROW(leat) ROW(nextflow) ROW(airflow) ROW(kubernetes) ROW(snakemake)

#define LEAT_ASSOCIATE_FORMAT_DECLARE(NAME)                                                        \
	extern const struct leat_associate_format leat_associate_##NAME;
LEAT_ASSOCIATE_FORMATS(LEAT_ASSOCIATE_FORMAT_DECLARE)
#undef LEAT_ASSOCIATE_FORMAT_DECLARE

/* All of them; ends with NULL. */
extern const struct leat_associate_format *const leat_associate_formats[];

#endif
