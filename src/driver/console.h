/* The terminal of a run: lines of the steps' output with the step's name in
 * front, and one live line of progress below them. */
#ifndef LEAT_DRIVER_CONSOLE_H
#define LEAT_DRIVER_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#define LEAT_CONSOLE_LINE 8192 /* longest piece of a line kept together, bytes */

/* Output of one descriptor of one step. */
struct leat_stream_out {
	const char *prefix; /* borrowed; the step's name */
	int colour;         /* a number per step */
	bool to_stderr;
	size_t used;
	char line[LEAT_CONSOLE_LINE];
};

struct leat_console {
	bool quiet;       /* steps' output is dropped */
	bool progress;    /* a live line on standard error */
	bool progress_up; /* it is on the screen now */
	int prefix_width;
	int failed_errno; /* first failure to write, 0 = none */
};

/* Takes for granted what isatty says of standard output and error. */
void leat_console_init(struct leat_console *c, bool quiet, int prefix_width);

/* Print what a step wrote, line by line; an unfinished line is kept. */
void leat_console_write(struct leat_console *c, struct leat_stream_out *s, const char *data,
			size_t size);

/* The stream has ended: print what is left of it. */
void leat_console_flush(struct leat_console *c, struct leat_stream_out *s);

/* Show or (NULL) take away the live line. */
void leat_console_progress(struct leat_console *c, const char *text);

/* Width of the terminal in characters; 80 when there is none. */
int leat_console_width(void);

/* True if the locale says UTF-8. */
bool leat_console_utf8(void);

#endif
