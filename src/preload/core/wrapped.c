/* libleat-wrap.so. */
#include "preload/core/process.h"

const bool leat_has_wrappers = true;
