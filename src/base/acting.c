#include "base/acting.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int dumpable;

/* The kernel takes it from the whole process when one thread changes its user. */
static void note_dumpable(void)
{
	dumpable = prctl(PR_GET_DUMPABLE);
}

void leat_acting_end(struct leat_acting *own)
{
	int saved = errno;

	setfsuid(geteuid());
	setfsgid(getegid());
	syscall(SYS_setgroups, own->n, own->groups);
	prctl(PR_SET_DUMPABLE, dumpable);
	prctl(PR_SET_PDEATHSIG, own->death_signal);
	free(own->groups);
	errno = saved;
}

/* Capabilities over files go with the user id: this one comes back until that does. */
static int take_override(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].effective |= data[0].permitted & (1u << CAP_DAC_OVERRIDE);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int become(const struct leat_ids *as, bool override)
{
	if (syscall(SYS_setgroups, as->n, as->groups) < 0)
		return -EPERM;
	setfsgid(as->gid);
	setfsuid(as->uid);
	if ((uid_t)setfsuid((uid_t)-1) != as->uid || (gid_t)setfsgid((gid_t)-1) != as->gid)
		return -EPERM;
	return override && as->uid ? take_override() : 0;
}

int leat_acting_begin(const struct leat_ids *as, bool override, struct leat_acting *own)
{
	int rc;

	pthread_once(&once, note_dumpable);
	*own = (struct leat_acting){.n = getgroups(0, NULL)};
	prctl(PR_GET_PDEATHSIG, &own->death_signal);
	own->groups = calloc((size_t)(own->n > 0 ? own->n : 1), sizeof(gid_t));
	if (!own->groups)
		return -ENOMEM;
	own->n = getgroups(own->n, own->groups);
	rc = own->n < 0 ? -EPERM : become(as, override);
	if (rc)
		leat_acting_end(own);
	return rc;
}
