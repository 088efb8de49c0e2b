/* Text in a line of fields: what would take the line apart is written as "%XX". Any thread. */
#ifndef LEAT_BASE_PERCENT_H
#define LEAT_BASE_PERCENT_H

#include <stdbool.h>
#include <stdio.h>

/* Write `text`; control characters, "%" and `also`, 0 for nothing more, encoded. Errors are those
 * of `out`. */
void leat_percent_put(FILE *out, const char *text, char also);

/* Undo it in place. False, the text then being anything: what follows a "%" is not two digits, or
 * stands for a zero byte, which cannot be part of a text. */
bool leat_percent_decode(char *text);

#endif
