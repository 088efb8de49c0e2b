#include "store/temporary.h"

#include "base/str.h"

bool leat_is_temporary_name(const char *name)
{
	return leat_str_begins(name, LEAT_TEMPORARY_PREFIX);
}
