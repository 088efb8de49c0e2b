/* Libraries that the dynamic loader opens before this one is in place: it looks at the disk, and
 * what a step has made may be elsewhere. */
#include <linux/limits.h>
#include <string.h>

#include "preload/core/environment.h"
#include "preload/core/text.h"
#include "preload/exec/exec.h"
#include "preload/path/program.h"

/* Would the loader not see what the program would? This library is no file of a step: what the
 * loader has found by its name here it finds there, or leat_exec_unfit says so. */
static bool is_hidden(const char *entry, size_t size)
{
	char path[PATH_MAX];

	if (size >= sizeof(path) || leat_environment_is_own(entry, size))
		return false;
	memcpy(path, entry, size);
	path[size] = '\0';
	return strchr(path, '/') && leat_exec_look(path, true, NULL) == LEAT_SIGHT_OTHER;
}

/* The first such entry of a list. */
static bool find_hidden(const char *list, char separator, char *out, size_t out_size)
{
	while (list && *list) {
		size_t n = 0;

		while (list[n] && list[n] != ':' && list[n] != separator)
			n++;
		if (is_hidden(list, n)) {
			struct leat_text t = leat_text_in(out, out_size);

			leat_text_add_n(&t, list, n < out_size ? n : out_size - 1);
			return true;
		}
		list += n + (list[n] != '\0');
	}
	return false;
}

/* Of several variables of a name the loader takes the last. */
static struct leat_loader_orders find_orders(char *const *envp)
{
	struct leat_loader_orders o = {0};

	for (; envp && *envp; envp++) {
		if (strncmp(*envp, "LD_", 3) != 0)
			continue;
		if (strncmp(*envp, "LD_PRELOAD=", 11) == 0)
			o.preload = *envp + 11;
		else if (strncmp(*envp, "LD_AUDIT=", 9) == 0)
			o.audit = *envp + 9;
		else if (strncmp(*envp, "LD_LIBRARY_PATH=", 16) == 0)
			o.path = *envp + 16;
	}
	return o;
}

bool leat_exec_hidden_library(int fd, char *const envp[], char *out, size_t size)
{
	const struct leat_loader_orders orders = find_orders(envp);

	return find_hidden(orders.preload, ' ', out, size) ||
	       find_hidden(orders.audit, ':', out, size) ||
	       leat_exec_search(fd, &orders, out, size);
}
