/* Amounts for people. Any thread. */
#ifndef LEAT_BASE_FORMAT_H
#define LEAT_BASE_FORMAT_H

#include <stdint.h>

enum { LEAT_WORD = 24 }; /* space for one, NUL included */

/* Each fills `out` and returns it: "999 B", "1.2 GB"; "1.2 GB/s". */
char *leat_format_bytes(uint64_t bytes, char out[LEAT_WORD]);
char *leat_format_rate(double bytes_per_s, char out[LEAT_WORD]);

#endif
