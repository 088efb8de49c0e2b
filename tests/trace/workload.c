/* workload PART: makes calls in its working directory, and prints the trace that they must have.
 * workload --parts: lists the parts. */
#include "expect.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const struct part *const lists[] = {parts_data, parts_names, parts_processes};

	program = argv[0];
	if (argc < 2) {
		fputs("usage: workload PART | --parts\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "--parts") != 0)
		expect_begin();
	if (strcmp(argv[1], "--go-on") == 0) {
		go_on(argv + 2);
		return 0;
	}
	for (unsigned i = 0; i < 3; i++)
		for (const struct part *p = lists[i]; p->name; p++) {
			if (strcmp(argv[1], "--parts") == 0) {
				puts(p->name);
			} else if (strcmp(argv[1], p->name) == 0) {
				p->run();
				return 0;
			}
		}
	return strcmp(argv[1], "--parts") != 0;
}
