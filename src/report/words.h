/* Numbers for people. Any thread. */
#ifndef LEAT_REPORT_WORDS_H
#define LEAT_REPORT_WORDS_H

#include "base/format.h"
#include "report/report.h"

#include <stddef.h>
#include <stdint.h>

/* Each fills `out` and returns it: "1.23 s" or "45.0 ms", "12,345", "45 %". */
char *leat_words_time(uint64_t ns, char out[LEAT_WORD]);
char *leat_words_count(uint64_t n, char out[LEAT_WORD]);
char *leat_words_share(double share, char out[LEAT_WORD]);

/* What a file is called: its path, or what it stands for. `out` is used if it has none. */
const char *leat_words_file(const struct leat_report *r, uint32_t file, char out[LEAT_WORD]);

#endif
