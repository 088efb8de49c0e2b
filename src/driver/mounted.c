#include "driver/mounted.h"

#include <stdint.h>
#include <stdlib.h>

char **leat_mounted_argv(const char *command, const char *program, char *const *argv)
{
	static char verb[] = "mount-exec";
	size_t n = 0;
	char **v;

	while (argv[n])
		n++;
	v = calloc(n + 4, sizeof(*v));
	if (!v)
		return NULL;
	v[0] = (char *)(uintptr_t)command;
	v[1] = verb;
	v[2] = (char *)(uintptr_t)program;
	for (size_t i = 0; i < n; i++)
		v[3 + i] = argv[i];
	return v;
}
