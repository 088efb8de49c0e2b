/* What states a file goes through. */
#include "stream/state/lifecycle.h"

bool leat_state_is_final(enum leat_file_state state)
{
	return state == LEAT_FILE_COMMITTED || state == LEAT_FILE_FAILED || state == LEAT_FILE_GONE;
}
