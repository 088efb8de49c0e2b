#ifndef LEAT_PRELOAD_CORE_LOG_H
#define LEAT_PRELOAD_CORE_LOG_H

/* One line on standard error: "leat: " and the texts up to NULL. */
void leat_log_line(const char *text, ...) __attribute__((sentinel));

#endif
