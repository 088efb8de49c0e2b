/* Writing JSON: commas, indentation and escapes. (libfyaml's emitter drops
 * spaces at the ends of strings and quotes at will.) */
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

enum { LEAT_JSON_DEPTH = 16 };

/* A writer; set it up with {.out = file}. Errors stay in `out` (ferror). */
struct leat_json {
	FILE *out; /* borrowed */
	int depth;
	struct {
		char close;
		bool flat;
		bool used;
	} levels[LEAT_JSON_DEPTH];
};

/* Open an object or a list, as `key` of an object or (key NULL) as an element;
 * what is in it stands on lines of its own, unless it or what it is in is flat. */
void leat_json_object(struct leat_json *j, const char *key, bool flat);
void leat_json_list(struct leat_json *j, const char *key, bool flat);

/* Close what was opened last; after the outermost a newline is written. */
void leat_json_close(struct leat_json *j);

/* `text` is UTF-8; other bytes are written as U+FFFD. */
void leat_json_string(struct leat_json *j, const char *key, const char *text);
void leat_json_number(struct leat_json *j, const char *key, unsigned long long value);
/* With three digits behind the point; not negative. */
void leat_json_real(struct leat_json *j, const char *key, double value);
void leat_json_bool(struct leat_json *j, const char *key, bool value);

#endif
