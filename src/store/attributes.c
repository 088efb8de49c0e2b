#include "store/attributes.h"

#include "base/beneath.h"
#include "base/log.h"
#include "base/str.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* By paths: they lead to what O_PATH descriptors are of, too. */

#define ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

enum { VALUE = 65536, NAMES = 65536 }; /* the kernel's limits */

struct pair {
	char in[32], out[32];
	char *value, *old; /* VALUE bytes each; owned */
};

/* What `in` has of that name, `out` has after it; what it has not, that has not. */
static int copy_one(const struct pair *p, const char *name)
{
	ssize_t n = getxattr(p->in, name, p->value, VALUE), had;

	if (n < 0 && errno != ENODATA)
		return errno == ENOTSUP ? 0 : -errno;
	had = getxattr(p->out, name, p->old, VALUE);
	/* Who may not change them may leave them as they are. */
	if (n < 0 ? had < 0 : n == had && memcmp(p->value, p->old, (size_t)n) == 0)
		return 0;
	if (n < 0)
		n = removexattr(p->out, name);
	else
		n = setxattr(p->out, name, p->value, (size_t)n, 0);
	return n < 0 ? -errno : 0;
}

/* Those attributes user.* that one of the two has. */
static int copy_named(const struct pair *p, const char *lists)
{
	char *names = malloc(NAMES);
	ssize_t size = names ? listxattr(lists, names, NAMES) : -1;
	int rc = names ? 0 : -ENOMEM;

	for (const char *n = names; !rc && size > 0 && n < names + size; n += strlen(n) + 1)
		if (leat_str_begins(n, "user."))
			rc = copy_one(p, n);
	free(names);
	return rc == -ENOTSUP ? 0 : rc;
}

int leat_copy_attributes(int in, int out, bool all)
{
	struct pair p = {.value = malloc(VALUE), .old = malloc(VALUE)};
	int rc = p.value && p.old ? 0 : -ENOMEM;

	snprintf(p.in, sizeof(p.in), "/proc/self/fd/%d", in);
	snprintf(p.out, sizeof(p.out), "/proc/self/fd/%d", out);
	if (!rc)
		rc = copy_one(&p, ACL);
	if (!rc)
		rc = copy_one(&p, DEFAULT_ACL);
	if (!rc && all)
		rc = copy_named(&p, p.out);
	if (!rc && all)
		rc = copy_named(&p, p.in);
	free(p.value);
	free(p.old);
	return rc;
}

int leat_copy_default_list(int in, int out)
{
	struct pair p = {.value = malloc(VALUE), .old = malloc(VALUE)};
	int rc = p.value && p.old ? 0 : -ENOMEM;

	snprintf(p.in, sizeof(p.in), "/proc/self/fd/%d", in);
	snprintf(p.out, sizeof(p.out), "/proc/self/fd/%d", out);
	if (!rc)
		rc = copy_one(&p, DEFAULT_ACL);
	free(p.value);
	free(p.old);
	return rc;
}

enum leat_list leat_list_in(int dir)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return getxattr(path, DEFAULT_ACL, NULL, 0) > 0 ? LEAT_LIST_GOES : LEAT_LIST_STAYS;
}

enum leat_list leat_list_of(int top, const char *path)
{
	struct leat_beneath at;
	enum leat_list list;

	if (leat_beneath_find(top, path, &at))
		return LEAT_LIST_STAYS;
	list = leat_list_in(at.dir);
	leat_beneath_release(&at);
	return list;
}

/* ---- of files ---- */

enum { ACL_GROUP_OBJ = 4 }; /* linux/posix_acl.h */

/* What belongs to a file's place rather than to the file: labels, which the policy of each place
 * gives, what the kernel computes for one inode, and what a file system keeps for itself. */
static const char *const of_locations[] = {
	"security.selinux", "security.SMACK64", "security.apparmor", "security.ima",
	"security.evm",     "trusted.overlay.", "trusted.lov",       "trusted.lma",
	"trusted.lmv",      "trusted.link",     "trusted.fid",       "trusted.som",
	"trusted.hsm",      "trusted.version",  "trusted.gfid",      "trusted.glusterfs.",
	"trusted.SGI_",
};

static bool goes_along(const char *name)
{
	if (strcmp(name, ACL) == 0 || leat_str_begins(name, "user."))
		return true;
	if (!leat_str_begins(name, "trusted.") && !leat_str_begins(name, "security."))
		return false;
	for (size_t i = 0; i < sizeof(of_locations) / sizeof(*of_locations); i++)
		if (leat_str_begins(name, of_locations[i]))
			return false;
	return true;
}

/* Such an attribute is not for this file system or this user: no failure of the machine. */
static bool is_refusal(int rc)
{
	return rc == -ENOTSUP || rc == -EPERM || rc == -EACCES || rc == -ENOSPC || rc == -E2BIG ||
	       rc == -ERANGE || rc == -EINVAL;
}

/* What the group may without the list: the mode shows what anybody in the list may. */
static mode_t without_list(const struct pair *p, ssize_t size, mode_t mode)
{
	struct entry {
		uint16_t tag, rights;
		uint32_t id;
	} e;
	mode_t group = 0;

	for (ssize_t at = sizeof(uint32_t); at + (ssize_t)sizeof(e) <= size; at += sizeof(e)) {
		memcpy(&e, p->value + at, sizeof(e));
		if (le16toh(e.tag) == ACL_GROUP_OBJ)
			group = (mode_t)le16toh(e.rights) << 3;
	}
	return mode & (group | ~(mode_t)S_IRWXG);
}

/* It is said, and `mode` left without what only the list has allowed. */
static void lose(const struct pair *p, const char *attribute, const char *file, int why,
		 mode_t *mode)
{
	if (*file)
		leat_warn("%s: its attribute %s is lost where it is copied to: %s", file, attribute,
			  strerror(-why));
	if (mode && strcmp(attribute, ACL) == 0)
		*mode = without_list(p, getxattr(p->in, ACL, p->value, VALUE), *mode);
}

/* Each of those names that has to be brought along, or, if it is not there any more, removed. */
static int copy_each(const struct pair *p, const char *names, ssize_t size, enum leat_list list,
		     const char *file, mode_t *mode)
{
	int rc = 0;

	for (const char *n = names; !rc && n < names + size; n += strlen(n) + 1) {
		if (!goes_along(n) || (list == LEAT_LIST_STAYS && strcmp(n, ACL) == 0))
			continue;
		rc = copy_one(p, n);
		if (file && is_refusal(rc)) {
			lose(p, n, file, rc, mode);
			rc = 0;
		}
	}
	return rc;
}

/* The names, which the caller frees; NULL and 0 if there are none. */
static ssize_t list_names(const char *path, char **names)
{
	ssize_t size = listxattr(path, NULL, 0);

	*names = NULL;
	if (size <= 0)
		return size < 0 && errno != ENOTSUP ? -errno : 0;
	*names = malloc(NAMES);
	if (!*names)
		return -ENOMEM;
	size = listxattr(path, *names, NAMES);
	return size < 0 ? -errno : size;
}

int leat_copy_xattrs(int in, int out, enum leat_list list, const char *name, mode_t *mode)
{
	struct pair p = {.value = NULL};
	char *has = NULL, *had = NULL;
	ssize_t n_has, n_had = 0;
	int rc = 0;

	snprintf(p.in, sizeof(p.in), "/proc/self/fd/%d", in);
	snprintf(p.out, sizeof(p.out), "/proc/self/fd/%d", out);
	n_has = list_names(p.in, &has);
	if (n_has >= 0)
		n_had = list_names(p.out, &had);
	if (n_has < 0 || n_had < 0)
		rc = (int)(n_has < 0 ? n_has : n_had);
	if (!rc && n_has + n_had) {
		p.value = malloc(VALUE);
		p.old = malloc(VALUE);
		rc = p.value && p.old ? 0 : -ENOMEM;
		if (!rc)
			rc = copy_each(&p, had, n_had, list, name, mode);
		if (!rc)
			rc = copy_each(&p, has, n_has, LEAT_LIST_GOES, name, mode);
	}
	free(p.value);
	free(p.old);
	free(has);
	free(had);
	return rc;
}
