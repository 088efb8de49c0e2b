#include "driver/confine.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of Linux 6.12; that of this build may not have them. */
#define CREATE_RULESET 444
#define RESTRICT_SELF 446
#define RULESET_VERSION UINT32_C(1)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)
#define FIRST_VERSION_WITH_SCOPES 6

struct ruleset {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

bool leat_confine_possible(void)
{
	return syscall(CREATE_RULESET, NULL, 0, RULESET_VERSION) >= FIRST_VERSION_WITH_SCOPES;
}

/* No access to files is handled: that would forbid mounts, and programs that cannot be intercepted
 * need one. */
int leat_confine_enter(void)
{
	const struct ruleset rules = {.scoped = SCOPE_SIGNAL};
	long fd = syscall(CREATE_RULESET, &rules, sizeof(rules), 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	/* Only the administrator may do without. */
	if (syscall(RESTRICT_SELF, fd, 0) < 0 &&
	    (errno != EPERM || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	     syscall(RESTRICT_SELF, fd, 0) < 0))
		rc = -errno;
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
