#ifndef LEAT_PRELOAD_WRAP_START_H
#define LEAT_PRELOAD_WRAP_START_H

/* Switch the wrappers on (libleat-wrap.so only). Once. */
void leat_wrappers_start(void);

#endif
