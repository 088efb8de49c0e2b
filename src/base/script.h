/* The first line of a script, "#!interpreter argument", as the kernel takes it apart
 * (fs/binfmt_script.c of Linux 5.1 and later). */
#ifndef LEAT_BASE_SCRIPT_H
#define LEAT_BASE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#define LEAT_SCRIPT_LINE 256 /* bytes of the file that the kernel looks at */
#define LEAT_SCRIPT_DEPTH 5  /* scripts in a row, each the interpreter of the one before */

struct leat_script {
	char *interpreter; /* borrowed, both: they lie in the line */
	char *argument;    /* NULL: none. All that follows the interpreter, blanks too */
};

/* Take `line` apart in place: the first `size` bytes of a file. False: it is no script, or one that
 * the kernel does not run. Any thread; async-signal-safe. */
bool leat_script_parse(char line[LEAT_SCRIPT_LINE], size_t size, struct leat_script *script);

#endif
