/* What the front ends share: reading keys, values, names and rules of a
 * positioned tree into the model. Internal to this directory. */
#ifndef LEAT_LANG_FRONT_H
#define LEAT_LANG_FRONT_H

#include "lang/value.h"
#include "model/workflow.h"

#include <stdbool.h>
#include <stddef.h>

/* An allocation failure is for us to handle, not for the library to exit on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Finds an element of an array of the model by its name. */
struct leat_lookup {
	size_t index;
	UT_hash_handle hh;
};

/* One run of a front end. The functions below report what they find wrong and
 * go on; they return -ENOMEM only (0 otherwise), so that one run finds all. */
struct leat_front {
	struct leat_diags *diags;   /* borrowed */
	struct leat_workflow *wf;   /* being built; owned by the caller */
	int file;                   /* number of the file being read among the diagnostics */
	const char *given_dir;      /* by the command line; borrowed, may be NULL */
	char *dir;                  /* workflow's directory, absolute; owned */
	char *real_dir;             /* the same with symbolic links resolved, or NULL; owned */
	bool json;                  /* numbers are no strings */
	struct leat_lookup *groups; /* wf->aliases by name; owned */
	struct leat_lookup *steps;  /* wf->steps by name; owned */
};

/* A key found, with its value; both NULL when absent. Borrowed from the tree. */
struct leat_pair {
	const struct leat_value *key;
	const struct leat_value *value;
};

/* --- front.c: the run itself --------------------------------------------- */

/* Element of that name, or NULL. */
const struct leat_lookup *leat_lookup_find(const struct leat_lookup *table, const char *name);

/* Add an element; `name` is borrowed. 0 or -ENOMEM. */
int leat_lookup_add(struct leat_lookup **table, const char *name, size_t index);
void leat_lookup_free(struct leat_lookup *table);

/* Find the workflow's directory, when wf->path and wf->dir are set. */
int leat_front_find_dir(struct leat_front *front);

/* Free what the run owns, not the model. */
void leat_front_release(struct leat_front *front);

/* Set wf->name from `entry`, or, if it is absent, from the file's name. */
int leat_read_workflow_name(struct leat_front *front, const struct leat_pair *entry);

/* Add a step of the name in `entry`; *step is its index, or -1 if there is no
 * usable name (reported). */
int leat_read_step_name(struct leat_front *front, const struct leat_pair *entry, int *step);

/* Report that no step has this name, with the one that was probably meant. */
void leat_step_unknown(struct leat_front *front, const char *name, struct leat_pos pos);

/* --- source.c: the texts of files ----------------------------------------- */

/* Read all of `path`. *text (caller frees) has a NUL after its *size bytes.
 * 0, -EFBIG or another -errno. */
int leat_source_read(const char *path, char **text, size_t *size);

/* Report the first byte that is not UTF-8 text. */
bool leat_source_check(struct leat_diags *diags, const char *text, size_t size, int file);

/* A copy of `text` without a byte order mark, with a NUL after it. */
char *leat_source_copy(const char *text, size_t *size);

/* Report that `name` was not read. */
void leat_source_unreadable(struct leat_diags *diags, int error, struct leat_pos pos,
			    const char *name);

/* Copy `given`, of *size bytes, to *text, which belongs to the new *diags (caller frees). 0;
 * -EINVAL when an error was added; -ENOMEM with *diags NULL. */
int leat_source_take(const char *path, const char *given, size_t *size, struct leat_diags **diags,
		     const char **text);

/* The same for a file that was not read. -EINVAL or -ENOMEM. */
int leat_source_unread(const char *path, int error, struct leat_diags **diags);

/* --- keys.c: the keys of a map ----------------------------------------- */

enum leat_key_kind {
	LEAT_KEY_TAKEN,   /* into its slot */
	LEAT_KEY_VARIANT, /* another spelling of the key that has the slot: warned about */
};

struct leat_key {
	const char *name;
	enum leat_key_kind kind;
	int slot;
};

/* Sort the keys of `map` into `slots` (of `n_slots`, zeroed here) by the table
 * `keys` (ends with a NULL name). `where` completes "unknown key in ...". False
 * if `map` is no map (reported, with `what` it should be). */
bool leat_keys_read(struct leat_front *front, const struct leat_value *map, const char *where,
		    const struct leat_key *keys, struct leat_pair *slots, size_t n_slots);

/* Report that the key `name` is missing at `pos`. */
void leat_key_missing(struct leat_front *front, struct leat_pos pos, const char *name,
		      const char *where);

/* --- scalar.c: single values ------------------------------------------- */

/* "a list", "an object", "a string", "a number" ...: what `node` is, for messages. */
const char *leat_value_describe(const struct leat_value *node);

/* The text of a string, or NULL (reported). Borrowed. Not empty. */
const char *leat_read_text(struct leat_front *front, const struct leat_pair *entry);

/* A whole number in [min, max] into *value. False when reported. */
bool leat_read_number(struct leat_front *front, const struct leat_pair *entry, unsigned min,
		      unsigned max, unsigned *value);

/* True or false into *value. False when reported. */
bool leat_read_bool(struct leat_front *front, const struct leat_pair *entry, bool *value);

/* 0 or 1, as Wilkins has it, or false or true into *value; absent is fine. False when reported. */
bool leat_read_switch(struct leat_front *front, const struct leat_pair *entry, bool *value);

/* `io_freq` into *flow and *every. False when reported. */
bool leat_read_freq(struct leat_front *front, const struct leat_pair *entry, enum leat_flow *flow,
		    unsigned *every);

/* Parse all of `text` as a count of at least `min`. False if it is none. */
bool leat_parse_count(const char *text, unsigned min, unsigned *value);

/* How many objects a list of objects has; a single object counts as a list of
 * one, with a warning. 0 when it is neither (reported) or absent. */
size_t leat_read_objects(struct leat_front *front, const struct leat_pair *entry);

/* Element `i` of a list, or what stands for a list of one. */
const struct leat_value *leat_pair_item(const struct leat_pair *entry, size_t i);

/* --- extension.c: leat's own keys in CAPIO-CL --------------------------- */

/* A command as a list of words into *argv (caller frees; untouched if absent or
 * reported). */
int leat_read_argv(struct leat_front *front, const struct leat_pair *entry, char ***argv);

/* ["file", "function"] of actions into the step. 0 or -ENOMEM. */
int leat_read_actions(struct leat_front *front, const struct leat_pair *entry,
		      struct leat_step *step);

/* The workflow's directory into wf->dir, if given. */
int leat_read_dir(struct leat_front *front, const struct leat_pair *entry);

/* --- needs.c, resources.c: what steps need of the machine ----------------- */

enum leat_need_key {
	LEAT_NEED_UNITS,
	LEAT_NEED_IO,
	LEAT_NEED_BANDWIDTH,
	LEAT_NEED_DEVICE,
	LEAT_NEED_LIMIT,
	LEAT_N_NEEDS
};

/* These keys (`slots`, by enum leat_need_key) of a step. 0 or -ENOMEM. */
int leat_read_needs(struct leat_front *front, const struct leat_pair *slots,
		    struct leat_step *step);

/* A bandwidth into *bandwidth; untouched when reported. */
void leat_read_bandwidth(struct leat_front *front, const struct leat_pair *entry,
			 struct leat_bandwidth *bandwidth);

/* `resources` of a workflow, if it is there. 0 or -ENOMEM. */
int leat_read_workflow_resources(struct leat_front *front, const struct leat_pair *entry);

/* What is in such a section, into `res`, which is new. 0 or -ENOMEM. */
int leat_read_resources(struct leat_front *front, const struct leat_value *map,
			struct leat_resources *res);

/* --- container.c: what tasks run in ---------------------------------------- */

/* Of a step, or of all that say nothing else. */
struct leat_container_keys {
	const char *image; /* borrowed from the tree; NULL: none */
	enum leat_engine engine;
	struct leat_pos image_pos, engine_pos;
};

/* `container` and `engine`, each of which may be absent and then leaves *container as it is. 0 or
 * -ENOMEM. */
int leat_read_container(struct leat_front *front, const struct leat_pair *image,
			const struct leat_pair *engine, struct leat_container_keys *container);

/* Let the step, whose own key `engine` may be, run in it. 0 or -ENOMEM. */
int leat_set_container(struct leat_front *front, const struct leat_pair *engine,
		       const struct leat_container_keys *container, struct leat_step *step);

/* --- own.c: the same for what an ensemble and its ports have ------------- */

enum leat_own_key {
	LEAT_OWN_TASK,
	LEAT_OWN_INSTANCE,
	LEAT_OWN_ENSEMBLE,
	LEAT_OWN_DIR,
	LEAT_OWN_NPROCS,
	LEAT_OWN_NWRITERS,
	LEAT_OWN_ACTIONS,
	LEAT_OWN_PRIVATE,
	LEAT_OWN_RELAUNCH,
	LEAT_OWN_CONTAINER,
	LEAT_OWN_ENGINE,
	LEAT_OWN_DSETS,
	LEAT_OWN_INPORTS,
	LEAT_OWN_NEEDS, /* and on: enum leat_need_key */
	LEAT_N_OWN = LEAT_OWN_NEEDS + LEAT_N_NEEDS
};

/* These keys of step `step` (`own`, by enum leat_own_key) but for `inports`. 0 or -ENOMEM. */
int leat_read_own(struct leat_front *front, size_t step, const struct leat_pair *own);

/* `inports`, when all steps and their streams are known. 0 or -ENOMEM. */
int leat_read_own_inports(struct leat_front *front, size_t step, const struct leat_pair *entry);

/* --- names.c: paths and groups ----------------------------------------- */

enum leat_names_flags {
	LEAT_NAMES_ONE_OK = 1, /* a single string needs no warning */
};

/* Append the names of `entry` (a list of strings; absent is fine) to `names`:
 * groups expanded, paths made relative and normal. */
int leat_read_names(struct leat_front *front, const struct leat_pair *entry, unsigned flags,
		    struct leat_names *names);

/* Append one name as above. */
int leat_read_name(struct leat_front *front, const struct leat_value *node,
		   struct leat_names *names);

/* The path as the model has it, in *out (caller frees), or NULL in *out if it is
 * to be left out (reported). 0 or -ENOMEM. */
int leat_path_normal(struct leat_front *front, const char *text, struct leat_pos pos, char **out);

/* Make the group `name` of the files in `entry` known. */
int leat_group_add(struct leat_front *front, const struct leat_value *name,
		   const struct leat_pair *files);

/* The files of a group, or NULL if there is none of that name. */
const struct leat_names *leat_group_find(const struct leat_front *front, const char *name);

/* The keys of a group of files. False if there are no usable files (reported). */
bool leat_read_group(struct leat_front *front, const struct leat_value *node, const char *where,
		     struct leat_pair *name, struct leat_pair *files);

/* The list `aliases`: first of all sections, for the others name groups. */
int leat_read_aliases(struct leat_front *front, const struct leat_pair *entry);

/* Report the groups that name other groups; when all groups are known. */
void leat_groups_check(struct leat_front *front);

/* --- rule.c: one streaming entry --------------------------------------- */

struct leat_rule_text {
	struct leat_pos pos; /* of the whole entry */
	struct leat_pair name, dirname, type;
	struct leat_pair committed, mode, deps, n_files, retain;
	const char *name_key; /* "name" or "filename", for messages */
	bool capio;           /* of CAPIO-CL: what its schema lets pass is taken */
};

/* Add the rules of one entry to step `step`; all streams must be known. */
int leat_read_rule(struct leat_front *front, size_t step, const struct leat_rule_text *text);

/* Report directories that have two numbers of files. */
int leat_rules_check(struct leat_front *front);

/* --- the front ends ----------------------------------------------------- */

/* Read the tree of a file into front->wf. 0 or -ENOMEM. */
int leat_capio_read(struct leat_front *front, const struct leat_value *root);
int leat_yaml_read(struct leat_front *front, const struct leat_value *root);

/* home.c: the section home_node_policy, when all steps are known. */
int leat_read_home(struct leat_front *front, const struct leat_pair *entry);

/* The section `exclude`. */
int leat_read_exclude(struct leat_front *front, const struct leat_pair *entry);

/* The section `storage`. */
int leat_read_storage(struct leat_front *front, const struct leat_pair *entry);

/* --- load.c, merge.c ----------------------------------------------------- */

/* Add all that the CAPIO-CL file `entry` names (relative to wf->path) says to
 * front->wf, steps by name; when all steps and their streams are known. */
int leat_read_coordination(struct leat_front *front, const struct leat_pair *entry);

/* Add all that `from` says to front->wf. `from` is emptied in part. */
int leat_merge(struct leat_front *front, const struct leat_workflow *from);

#endif
