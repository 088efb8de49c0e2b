/* "Did you mean": the nearest of some known words. */
#ifndef LEAT_CLI_SUGGEST_H
#define LEAT_CLI_SUGGEST_H

/* The best candidate so far; start with {0}. Words are borrowed. */
struct leat_suggest {
	const char *word;
	unsigned distance;
};

/* Offer one known word for `typed`; words too far away are not taken. */
void leat_suggest_offer(struct leat_suggest *s, const char *typed, const char *known);

#endif
