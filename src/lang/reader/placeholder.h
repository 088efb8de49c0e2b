/* "{instance}" and "{filename}", which stand for something in commands. */
#ifndef LEAT_LANG_READER_PLACEHOLDER_H
#define LEAT_LANG_READER_PLACEHOLDER_H

#include "lang/reader/front.h"

/* Report one in a name, where it stands for nothing. */
void leat_refuse_placeholders(struct leat_front *front, const char *name, struct leat_pos pos);

/* Report what differs from one by a slip in a word of a command. Braces are common there. */
void leat_warn_placeholders(struct leat_front *front, const char *text, struct leat_pos pos);

#endif
