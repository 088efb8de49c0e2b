#include "base/installed.h"

#include "base/str.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Installed, and in the build tree. */
static const char *const library_paths[] = {
	"libleat.so",
	"../preload/libleat.so",
	"../" LEAT_LIBDIR "/leat/libleat.so",
	"../" LEAT_LIBDIR "/libleat.so",
	"../lib/leat/libleat.so",
	"../lib/libleat.so",
	NULL,
};

char *leat_find_installed(const char *const *paths, const char *variable)
{
	const char *given = variable ? getenv(variable) : NULL;
	char *self, *slash, *found = NULL;

	if (given && *given)
		return realpath(given, NULL);
	self = realpath("/proc/self/exe", NULL);
	slash = self ? strrchr(self, '/') : NULL;
	if (slash)
		*slash = 0;
	for (size_t i = 0; slash && !found && paths[i]; i++) {
		char *path = leat_path_join(self, paths[i]);

		if (path)
			found = realpath(path, NULL);
		free(path);
	}
	free(self);
	return found;
}

bool leat_find_function(void *module, const char *name, void *fn)
{
	void *symbol = dlsym(module, name);

	/* Functions and pointers to data are of one size here. */
	memcpy(fn, &symbol, sizeof(symbol));
	return symbol != NULL;
}

char *leat_find_library(void)
{
	return leat_find_installed(library_paths, "LEAT_LIBRARY");
}
