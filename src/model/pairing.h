/* Which instances of two coupled ensembles are linked: element i of the larger list with
 * element floor(i * min / max) of the smaller, so that each instance has a partner and no
 * two of one list differ by more than one in how many they have.
 * Source: Wilkins (2024) Sec. 3.2.1 and its Fig. 3. All counts are at least 1. Any thread. */
#ifndef LEAT_MODEL_PAIRING_H
#define LEAT_MODEL_PAIRING_H

#include <stdbool.h>

/* Instances first ... first + n - 1. */
struct leat_instances {
	unsigned first, n;
};

/* True if producer `p` of `producers` is linked to consumer `c` of `consumers`. */
bool leat_is_paired(unsigned producers, unsigned consumers, unsigned p, unsigned c);

/* The producers that are linked to consumer `c`; at least one. */
struct leat_instances leat_pairing(unsigned producers, unsigned consumers, unsigned c);

/* The most that leat_pairing gives to one consumer. */
unsigned leat_pairing_most(unsigned producers, unsigned consumers);

#endif
