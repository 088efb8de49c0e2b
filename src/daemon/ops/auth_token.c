#include "daemon/ops/auth_token.h"

#include "base/pidstat.h"
#include "base/str.h"
#include "daemon/core/steps.h"
#include "daemon/ops/ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Further up nobody is looked for. */
#define MAX_ANCESTORS 256u

struct leat_auth_token {
	struct leat_auth_token *next;
	pid_t pid;
	uint64_t born; /* see base/pidstat.h */
	char key[];
};

int leat_auth_token_add(struct leat_daemon *d, int step, pid_t pid, const char *key)
{
	struct leat_auth_token *t;
	struct leat_pidstat p;

	if (!d->options.enforce)
		return 0;
	if (!leat_pidstat_read(pid, &p))
		return -ESRCH;
	t = malloc(sizeof(*t) + strlen(key) + 1);
	if (!t)
		return -ENOMEM;
	t->pid = pid;
	t->born = p.born;
	strcpy(t->key, key);
	LL_PREPEND(d->steps[step].auth_tokens, t);
	return 0;
}

void leat_auth_tokens_free(struct leat_daemon *d)
{
	struct leat_auth_token *t;

	for (size_t i = 0; d->steps && i < d->wf->n_steps; i++)
		while ((t = d->steps[i].auth_tokens)) {
			d->steps[i].auth_tokens = t->next;
			free(t);
		}
}

static int step_started_as(const struct leat_daemon *d, pid_t pid, uint64_t born)
{
	const struct leat_auth_token *t;

	for (size_t i = 0; i < d->wf->n_steps; i++)
		LL_FOREACH(d->steps[i].auth_tokens, t)
	if (t->pid == pid && t->born == born)
		return (int)i;
	return -1;
}

static int step_of(const struct leat_daemon *d, pid_t pid)
{
	struct leat_pidstat p;
	int step = -1;

	for (unsigned i = 0; i < MAX_ANCESTORS && step < 0; i++) {
		if (pid <= 1 || !leat_pidstat_read(pid, &p))
			break;
		step = step_started_as(d, pid, p.born);
		pid = p.parent;
	}
	return step;
}

bool leat_auth_token_is_outside(const struct leat_daemon *d, pid_t pid)
{
	return step_of(d, pid) < 0 &&
	       (!d->options.sealed || leat_auth_token_mounts_of(pid) == d->ops->mounts);
}

ino_t leat_auth_token_mounts_of(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

static bool has_key(const struct leat_daemon *d, int step, const char *key)
{
	const struct leat_auth_token *t;

	LL_FOREACH(d->steps[step].auth_tokens, t)
	if (*t->key && strcmp(t->key, key) == 0)
		return true;
	return false;
}

char *leat_auth_token_refuse(const struct leat_daemon *d, pid_t pid, int step, const char *key)
{
	const char *wanted = d->wf->steps[step].name;
	int is;

	is = step_of(d, pid);
	/* Of a sealed step nobody but the server of its mount has the key. */
	if ((is == step && !d->options.sealed) || ((is < 0 || is == step) && has_key(d, step, key)))
		return NULL;
	if (is == step)
		return leat_strf("process %d of step %s asked for more than its mount, and was "
				 "refused (--sealed)",
				 (int)pid, wanted);
	if (is >= 0)
		return leat_strf("process %d of step %s calls itself step %s, and was refused "
				 "(--enforce)",
				 (int)pid, d->wf->steps[is].name, wanted);
	return leat_strf("process %d calls itself step %s, but was not started as such, and was "
			 "refused (--enforce): start it with leat run or leat exec",
			 (int)pid, wanted);
}
