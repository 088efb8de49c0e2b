/* One-line messages on standard error: "leat: text". The function that decides
 * an error logs it, once. Not for src/preload (it runs in the user's process). */
#ifndef LEAT_BASE_LOG_H
#define LEAT_BASE_LOG_H

enum leat_log_level { LEAT_LOG_ERROR, LEAT_LOG_WARNING, LEAT_LOG_INFO, LEAT_LOG_DEBUG };

/* Messages above this level are dropped; default LEAT_LOG_WARNING. */
void leat_log_set_level(enum leat_log_level level);

/* Print "leat: [warning: ]text\n" to standard error in a single write. Any thread. */
void leat_log(enum leat_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define leat_error(...) leat_log(LEAT_LOG_ERROR, __VA_ARGS__)
#define leat_warn(...) leat_log(LEAT_LOG_WARNING, __VA_ARGS__)
#define leat_info(...) leat_log(LEAT_LOG_INFO, __VA_ARGS__)
#define leat_debug(...) leat_log(LEAT_LOG_DEBUG, __VA_ARGS__)

#endif
