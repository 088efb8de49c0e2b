#include "client/names.h"

#include <string.h>

bool leat_listed_next(const char **at, const char *end, struct leat_listed_name *entry)
{
	const size_t head = sizeof(entry->ino) + sizeof(entry->type);
	const size_t left = (size_t)(end - *at);
	size_t length;

	if (left <= head)
		return false;
	length = strnlen(*at + head, left - head);
	if (head + length == left)
		return false;
	memcpy(&entry->ino, *at, sizeof(entry->ino));
	entry->type = (uint8_t)(*at)[sizeof(entry->ino)];
	entry->name = *at + head;
	*at += head + length + 1;
	return true;
}
