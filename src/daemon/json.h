/* JSON text, written front to back. */
#ifndef LEAT_DAEMON_JSON_H
#define LEAT_DAEMON_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct leat_json {
	char *text; /* owned; NUL-terminated */
	unsigned long length;
	unsigned long room;
	bool comma;  /* the next value needs one in front */
	bool failed; /* out of memory: text is not complete */
};

/* Start with nothing. Calls that follow never fail by themselves: see `failed`. */
void leat_json_init(struct leat_json *j);
void leat_json_release(struct leat_json *j);

/* Open and close an object or array; `key` NULL inside arrays and at the top. */
void leat_json_open(struct leat_json *j, const char *key, char bracket);
void leat_json_close(struct leat_json *j, char bracket);

/* One value. Bytes of `text` that are not UTF-8 become U+FFFD. */
void leat_json_string(struct leat_json *j, const char *key, const char *text);
void leat_json_int(struct leat_json *j, const char *key, int64_t value);
void leat_json_bool(struct leat_json *j, const char *key, bool value);
/* A number with three digits behind the point. */
void leat_json_real(struct leat_json *j, const char *key, double value);

#endif
