#include "model/pairing.h"

#include <stdint.h>

/* Element of the list of `few` to which element `i` of the list of `many` is linked. */
static unsigned partner(unsigned i, unsigned many, unsigned few)
{
	return (unsigned)((uint64_t)i * few / many);
}

/* The first element of the list of `many` whose partner is not before `c`. */
static unsigned first_of(unsigned c, unsigned many, unsigned few)
{
	return (unsigned)(((uint64_t)c * many + few - 1) / few);
}

bool leat_is_paired(unsigned producers, unsigned consumers, unsigned p, unsigned c)
{
	return producers >= consumers ? partner(p, producers, consumers) == c
				      : partner(c, consumers, producers) == p;
}

struct leat_instances leat_pairing(unsigned producers, unsigned consumers, unsigned c)
{
	unsigned first;

	if (producers < consumers)
		return (struct leat_instances){partner(c, consumers, producers), 1};
	first = first_of(c, producers, consumers);
	return (struct leat_instances){first, first_of(c + 1, producers, consumers) - first};
}

unsigned leat_pairing_most(unsigned producers, unsigned consumers)
{
	return producers < consumers ? 1 : (producers + consumers - 1) / consumers;
}
