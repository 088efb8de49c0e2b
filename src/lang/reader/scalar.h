/* Single values of the kind their key takes. */
#ifndef LEAT_LANG_READER_SCALAR_H
#define LEAT_LANG_READER_SCALAR_H

#include "lang/reader/front.h"

/* "a list", "an object", "a string", "a number" ...: what `node` is, for messages. */
const char *leat_value_describe(const struct leat_value *node);

/* The text of a string, or NULL (reported). Borrowed. Not empty. */
const char *leat_read_text(struct leat_front *front, const struct leat_pair *entry);

/* A whole number in [min, max] into *value. False when reported. */
bool leat_read_number(struct leat_front *front, const struct leat_pair *entry, unsigned min,
		      unsigned max, unsigned *value);

/* True or false into *value. False when reported. */
bool leat_read_bool(struct leat_front *front, const struct leat_pair *entry, bool *value);
/* "staged" of a step: true, false, or concurrent. */
void leat_read_staged(struct leat_front *front, const struct leat_pair *entry,
		      struct leat_step *step);

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

#endif
