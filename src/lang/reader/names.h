/* Names of files: paths and groups. */
#ifndef LEAT_LANG_READER_NAMES_H
#define LEAT_LANG_READER_NAMES_H

#include "lang/reader/front.h"

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

/* The section `exclude`. */
int leat_read_exclude(struct leat_front *front, const struct leat_pair *entry);

/* The section `storage`. */
int leat_read_storage(struct leat_front *front, const struct leat_pair *entry);

#endif
