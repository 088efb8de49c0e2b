/* Names as the kernel shows them, of the store's files as well. */
#include "preload/path/names.h"

#include "base/private.h"
#include "preload/connection/client.h"
#include "preload/connection/handed.h"
#include "preload/connection/session.h"
#include "preload/core/text.h"
#include "wire/wire.h"

#include <string.h>

/* What is behind so many components of a path, or NULL. */
static const char *behind(const char *p, unsigned components)
{
	for (; components; components--) {
		while (*p && *p != '/')
			p++;
		if (!*p)
			return components == 1 ? p : NULL;
		p++;
	}
	return p;
}

/* What is behind the name of the spill directory, or of a step's private one, in `name`, or NULL.
 */
static const char *below_hidden(const char *name)
{
	static const char spill[] = "/" LEAT_SPILL_PREFIX, own[] = "/" LEAT_PRIVATE_PREFIX;
	const char *rest;

	for (const char *p = name; *p; p++) {
		if (p[0] != '/' || p[1] != '.')
			continue;
		if (strncmp(p, spill, sizeof(spill) - 1) == 0) {
			rest = behind(p + 1, 1);
			return *rest ? rest : NULL;
		}
		if (strncmp(p, own, sizeof(own) - 1) == 0)
			return behind(p + 1, 2);
	}
	return NULL;
}

/* A file in the store, or spilled from it. */
static const char *below_store(const char *name)
{
	const char *store = leat_handed_store();
	const char *rest = store ? leat_text_below(name, store, strlen(store)) : NULL;

	return rest ? rest : below_hidden(name);
}

const char *leat_path_of_name(const char *name)
{
	const char *rest = below_store(name);

	return rest ? rest : leat_text_below(name, leat_session.real, leat_session.real_length);
}

long leat_path_translate(char *name, size_t size)
{
	const char *rest = below_store(name);
	size_t rest_length, head = leat_session.real_length;

	if (!rest)
		return (long)strlen(name);
	rest_length = strlen(rest);
	if (head + (rest_length ? 1 : 0) + rest_length + 1 > size)
		return -ERANGE;
	memmove(name + head + (rest_length ? 1 : 0), rest, rest_length + 1);
	memcpy(name, leat_session.real, head);
	if (rest_length)
		name[head] = '/';
	else
		name[head] = 0;
	return (long)strlen(name);
}

/* The store is mounted beside the socket. In another root directory (chroot) the kernel puts that
 * root's own path in front. */
bool leat_path_may_be_store(const char *name)
{
	const char *socket = leat_session.socket;
	size_t length = (size_t)(strrchr(socket, '/') - socket);

	if (strncmp(name, "/dev/shm/leat-", 14) == 0)
		return true;
	for (const char *at = name; *at; at++) {
		const char *rest = *at == '/' ? leat_text_below(at, socket, length) : NULL;

		if (rest && leat_text_below(rest, "store", 5))
			return true;
	}
	return false;
}
