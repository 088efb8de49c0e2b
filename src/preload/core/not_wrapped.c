/* libleat.so. */
#include "preload/core/process.h"

const bool leat_has_wrappers = false;
