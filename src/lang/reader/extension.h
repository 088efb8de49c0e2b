/* What leat YAML and leat's own keys in CAPIO-CL have in common. */
#ifndef LEAT_LANG_READER_EXTENSION_H
#define LEAT_LANG_READER_EXTENSION_H

#include "lang/reader/front.h"

/* A command as a list of words into *argv (caller frees; untouched if absent or
 * reported). */
int leat_read_argv(struct leat_front *front, const struct leat_pair *entry, char ***argv);

/* ["file", "function"] of actions into the step. 0 or -ENOMEM. */
int leat_read_actions(struct leat_front *front, const struct leat_pair *entry,
		      struct leat_step *step);

/* The workflow's directory into wf->dir, if given. */
int leat_read_dir(struct leat_front *front, const struct leat_pair *entry);

#endif
