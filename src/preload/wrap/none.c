/* libleat.so: libc's own functions, patched. Where that cannot be done the program is started once
 * more with libleat-wrap.so, so that the wrappers cost nothing in all other places. */
#include "preload/wrap/start.h"

void leat_wrappers_start(void)
{
}
