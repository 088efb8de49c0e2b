#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of Linux 6.12; that of this build may not have them. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define RULESET_VERSION UINT32_C(1)
#define RULE_PATH_BENEATH 1
#define ACCESS_FS_REFER (UINT64_C(1) << 13)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)
enum { FIRST_WITH_REFER = 2, FIRST_WITH_SCOPES = 6 };

struct ruleset {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

static long version(void)
{
	return syscall(CREATE_RULESET, NULL, 0, RULESET_VERSION);
}

bool leat_confine_possible(void)
{
	return version() >= FIRST_WITH_SCOPES;
}

bool leat_confine_can_seal(void)
{
	return version() >= FIRST_WITH_REFER;
}

/* Takes `fd` over. Only the administrator may do without the loss of set-id. */
static int enter(int fd)
{
	int rc = 0;

	if (syscall(RESTRICT_SELF, fd, 0) < 0 &&
	    (errno != EPERM || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	     syscall(RESTRICT_SELF, fd, 0) < 0))
		rc = -errno;
	close(fd);
	return rc;
}

/* No access to files is handled: that would forbid mounts, and programs that cannot be intercepted
 * need one. */
int leat_confine_enter(void)
{
	const struct ruleset rules = {.scoped = SCOPE_SIGNAL};
	long fd = syscall(CREATE_RULESET, &rules, sizeof(rules), 0);

	return fd < 0 ? -errno : enter((int)fd);
}

/* That links and renames go from one directory to another is handled, and allowed everywhere:
 * nothing is refused to programs, and mounts are. */
int leat_confine_seal(void)
{
	const struct ruleset rules = {.handled_access_fs = ACCESS_FS_REFER};
	struct beneath everywhere = {.allowed_access = ACCESS_FS_REFER};
	long fd = syscall(CREATE_RULESET, &rules, sizeof(rules.handled_access_fs), 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	everywhere.parent_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (everywhere.parent_fd < 0 ||
	    syscall(ADD_RULE, fd, RULE_PATH_BENEATH, &everywhere, 0) < 0)
		rc = -errno;
	if (everywhere.parent_fd >= 0)
		close(everywhere.parent_fd);
	if (!rc)
		return enter((int)fd);
	close((int)fd);
	return rc;
}

int leat_confine_key(char key[LEAT_KEY_SIZE])
{
	unsigned char random[(LEAT_KEY_SIZE - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return errno ? -errno : -EIO;
	for (unsigned i = 0; i < sizeof(random); i++)
		snprintf(key + 2 * (size_t)i, 3, "%02x", random[i]);
	return 0;
}
