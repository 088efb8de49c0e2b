#include "cli/suggest.h"

#include "base/str.h"

#include <string.h>

void leat_suggest_offer(struct leat_suggest *s, const char *typed, const char *known)
{
	size_t length = strlen(typed);
	unsigned d = leat_str_distance(typed, known);

	if (length == 0)
		return;
	if (length >= 2 && leat_str_begins(known, typed))
		d = 1;
	/* Of a short word, half of it has to be right, or it begins alike. */
	if (2 * d > length && typed[0] != known[0])
		return;
	if (d > 1 + length / 3 || (s->word && d >= s->distance))
		return;
	s->word = known;
	s->distance = d;
}
