/* The variables that a program must hand on to its children for leat to see them. Kept from the
 * start, because programs write over their environment and start others with an empty one. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "preload/core/environment.h"

#include "base/putby.h"
#include "base/str.h"
#include "preload/core/call.h"
#include "preload/core/first.h"

#define MAX_KEPT 32
#define PRELOAD "LD_PRELOAD="
#define LIBRARY "libleat"

static struct {
	char *variable[MAX_KEPT]; /* "NAME=value", in first_text or a mapping */
	size_t count;
	char handed[LEAT_HAND_CONNECTION][64]; /* of the next program; empty: none */
	const char *library; /* this library as LD_PRELOAD names it, in the kept LD_PRELOAD */
	size_t library_size;
	char first_text[1024]; /* what few runs need more of */
} kept LEAT_FIRST;

/* Few programs have one to hand on. */
static char handed_connection[LEAT_HAND_SIZE];

static bool is_session(const char *variable)
{
	return leat_str_begins(variable, "LEAT_") || leat_str_begins(variable, "CAPIO_");
}

/* Says what the program before this one handed on to this one only. */
static bool is_handed(const char *variable)
{
	return leat_str_begins(variable, LEAT_HANDED) || leat_str_begins(variable, LEAT_OPEN) ||
	       leat_str_begins(variable, LEAT_CONFINED) || leat_str_begins(variable, LEAT_CALLED) ||
	       leat_str_begins(variable, LEAT_CONNECTION) ||
	       leat_str_begins(variable, LEAT_BEGUN) || leat_str_begins(variable, LEAT_PUT_BY);
}

static bool is_kept(const char *variable)
{
	return (is_session(variable) && !is_handed(variable)) || leat_str_begins(variable, PRELOAD);
}

bool leat_environment_has_session(char **envp)
{
	for (; envp && *envp; envp++)
		if (is_session(*envp))
			return true;
	return false;
}

const char *leat_environment_get(char **envp, const char *name)
{
	size_t size = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, size) == 0 && (*envp)[size] == '=')
			return *envp + size + 1;
	return NULL;
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ' || c == '\0';
}

const char *leat_environment_library(const char *list, size_t *size)
{
	while (*list) {
		size_t length = 0, name = 0;

		for (; !is_separator(list[length]); length++)
			if (list[length] == '/')
				name = length + 1;
		if (leat_str_begins(list + name, LIBRARY)) {
			*size = length;
			return list;
		}
		list += length + (list[length] != '\0');
	}
	return NULL;
}

static void keep(char *text)
{
	kept.variable[kept.count++] = text;
	if (leat_str_begins(text, PRELOAD))
		kept.library = leat_environment_library(text + strlen(PRELOAD), &kept.library_size);
}

void leat_environment_keep(char **envp)
{
	size_t size = 0;
	char *text = kept.first_text;

	for (char **e = envp; *e; e++)
		size += is_kept(*e) ? strlen(*e) + 1 : 0;
	if (size > sizeof kept.first_text) {
		long at = leat_raw(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at < 0)
			return;
		text = (char *)at;
	}
	for (char **e = envp; *e && kept.count < MAX_KEPT; e++) {
		if (!is_kept(*e))
			continue;
		memcpy(text, *e, strlen(*e) + 1);
		keep(text);
		text += strlen(text) + 1;
	}
}

const char *leat_environment_kept(const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < kept.count; i++)
		if (strncmp(kept.variable[i], name, size) == 0 && kept.variable[i][size] == '=')
			return kept.variable[i] + size + 1;
	return NULL;
}

/* The entry of `envp` with the same name as the kept `variable`. */
static const char *find_same(char *const *envp, const char *variable)
{
	size_t name = (size_t)(strchr(variable, '=') - variable) + 1;

	for (; envp && *envp; envp++)
		if (**envp == *variable && strncmp(*envp, variable, name) == 0)
			return *envp;
	return NULL;
}

bool leat_environment_is_own(const char *entry, size_t size)
{
	return kept.library && size == kept.library_size && strncmp(entry, kept.library, size) == 0;
}

/* Is this very library among them? One that only bears its name is another one. */
static bool names_library(const char *preload)
{
	const char *list = preload + strlen(PRELOAD);
	size_t size;

	while (kept.library && (list = leat_environment_library(list, &size))) {
		if (leat_environment_is_own(list, size))
			return true;
		list += size;
	}
	return !kept.library;
}

/* Of several the loader takes the last. */
static bool is_overruled(char *const *entry)
{
	if (!leat_str_begins(*entry, PRELOAD))
		return false;
	for (entry++; *entry; entry++)
		if (leat_str_begins(*entry, PRELOAD))
			return true;
	return false;
}

static char *handed(enum leat_hand hand)
{
	return hand == LEAT_HAND_CONNECTION ? handed_connection : kept.handed[hand];
}

void leat_environment_hand(enum leat_hand hand, const char *variable)
{
	size_t size = strlen(variable) + 1;

	if (size == 1 && !*handed(hand)) /* it may never have been touched */
		return;
	if (size <=
	    (hand == LEAT_HAND_CONNECTION ? sizeof handed_connection : sizeof kept.handed[hand]))
		memcpy(handed(hand), variable, size);
}

static size_t count_handed(void)
{
	size_t n = 0;

	for (enum leat_hand hand = 0; hand < LEAT_HANDS; hand++)
		n += *handed(hand) ? 1 : 0;
	return n;
}

size_t leat_environment_size(char *const *envp)
{
	size_t entries = 0, missing = count_handed();

	for (size_t i = 0; i < kept.count; i++)
		if (!find_same(envp, kept.variable[i]))
			missing++;
	for (; envp && envp[entries]; entries++)
		if (leat_str_begins(envp[entries], PRELOAD) &&
		    (is_overruled(envp + entries) || !names_library(envp[entries])))
			missing++;
	return missing ? entries + missing + 1 : 0;
}

/* "LD_PRELOAD=<this library>:<theirs>" */
static int merge_preload(const char *theirs, char *buffer, size_t size)
{
	const char *list = theirs + strlen(PRELOAD);
	size_t head = strlen(PRELOAD), length = strlen(list);

	if (head + kept.library_size + 1 + length + 1 > size)
		return -E2BIG;
	memcpy(buffer, PRELOAD, head);
	memcpy(buffer + head, kept.library, kept.library_size);
	buffer[head + kept.library_size] = ':';
	memcpy(buffer + head + kept.library_size + 1, list, length + 1);
	return 0;
}

/* Only this library: the program was started without the others that this one has. */
static int add_preload(char ***into, char *buffer, size_t size)
{
	size_t head = strlen(PRELOAD);

	if (!kept.library)
		return 0;
	if (head + kept.library_size + 1 > size)
		return -E2BIG;
	memcpy(buffer, PRELOAD, head);
	memcpy(buffer + head, kept.library, kept.library_size);
	buffer[head + kept.library_size] = '\0';
	*(*into)++ = buffer;
	return 0;
}

/* `into` is moved on. */
static int add_missing(char *const *envp, char ***into, char *buffer, size_t size)
{
	int error = 0;

	for (size_t i = 0; i < kept.count && !error; i++) {
		if (find_same(envp, kept.variable[i]))
			continue;
		if (leat_str_begins(kept.variable[i], PRELOAD))
			error = add_preload(into, buffer, size);
		else
			*(*into)++ = kept.variable[i];
	}
	return error;
}

int leat_environment_complete(char *const *envp, char **into, char *buffer, size_t size)
{
	char *const *e;
	int error;

	for (e = envp; e && *e; e++) {
		if (is_handed(*e) || is_overruled(e))
			continue;
		*into = *e;
		if (leat_str_begins(*e, PRELOAD) && !names_library(*e)) {
			error = merge_preload(*e, buffer, size);
			if (error)
				return error;
			*into = buffer;
		}
		into++;
	}
	error = add_missing(envp, &into, buffer, size);
	if (error)
		return error;
	for (enum leat_hand hand = 0; hand < LEAT_HANDS; hand++)
		if (*handed(hand))
			*into++ = handed(hand);
	*into = NULL;
	return 0;
}
