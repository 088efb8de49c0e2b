#include "preload/engine/stub_x86_64.h"
#include "preload/entry/entry.h"

#include <stddef.h>

const struct leat_stub_table *leat_entry_table(void)
{
	return NULL;
}
