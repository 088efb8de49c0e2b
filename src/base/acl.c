#include "base/acl.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { USER_OBJ = 1, GROUP_OBJ = 4, MASK = 16, OTHER = 32 };

int leat_acl_mode(const void *list, size_t size)
{
	struct entry {
		uint16_t tag, rights;
		uint32_t id;
	} e;
	int owner = -1, group = -1, mask = -1, other = -1;

	if (!list)
		return -1;
	for (size_t at = sizeof(uint32_t); at + sizeof(e) <= size; at += sizeof(e)) {
		int tag, rights;

		memcpy(&e, (const char *)list + at, sizeof(e));
		tag = le16toh(e.tag);
		rights = le16toh(e.rights) & 7;
		if (tag == USER_OBJ)
			owner = rights;
		else if (tag == GROUP_OBJ)
			group = rights;
		else if (tag == MASK)
			mask = rights;
		else if (tag == OTHER)
			other = rights;
	}
	if (owner < 0 || group < 0 || other < 0)
		return -1;
	return owner << 6 | (mask >= 0 ? mask : group) << 3 | other;
}
