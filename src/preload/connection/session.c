#include "preload/connection/session.h"

#include "preload/core/first.h"
#include "shm/word.h"

struct leat_preload_session leat_session LEAT_FIRST;

static struct leat_word confined LEAT_FIRST; /* 1: since some call */

bool leat_session_is_confined(void)
{
	return leat_word_get(&confined) != 0;
}

void leat_session_confine(void)
{
	leat_word_set(&confined, 1);
}
