/* All cases, one after another, until one is not as expected; for tests/mutants. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	unsigned long states = 0;

	for (size_t i = 0; i < verify_n_cases; i++) {
		struct leat_verify_result result;
		char *wrong = verify_case_run(&verify_cases[i], &result);

		if (wrong) {
			fputs(wrong, stdout);
			free(wrong);
			return EXIT_FAILURE;
		}
		states += result.states;
		if (getenv("LEAT_VERIFY_SHOW"))
			printf("%8lu %s\n", (unsigned long)result.states, verify_cases[i].name);
	}
	printf("%zu workflows, %lu states\n", verify_n_cases, states);
	return EXIT_SUCCESS;
}
