/* What this thread and this process have of the daemon. */
#include "preload/connection/client.h"
#include "preload/core/first.h"
#include "shm/limit.h"
#include "shm/state.h"
#include "shm/word.h"

static __thread struct leat_thread *self __attribute__((tls_model("initial-exec")));

struct leat_thread *leat_client_self(void)
{
	return self;
}

void leat_client_set_self(struct leat_thread *t)
{
	self = t;
}

/* struct leat_server_info *, set once */
static struct leat_word server LEAT_FIRST;

struct leat_server_info *leat_server_shared(void)
{
	return (struct leat_server_info *)(uintptr_t)leat_word_get(&server);
}

bool leat_server_share(struct leat_server_info *w)
{
	return leat_word_claim(&server, 0, (uintptr_t)w);
}

const struct leat_server_info *leat_server_known(void)
{
	const struct leat_server_info *w = leat_server_shared();

	return !w && self ? self->private_server : w;
}

struct leat_shm_file *leat_client_file(uint32_t slot)
{
	const struct leat_server_info *w = leat_server_known();

	return w ? leat_shm_file_of(w->shm, slot) : NULL;
}

struct leat_shm_step *leat_client_step(void)
{
	static struct leat_shm_step dummy LEAT_FIRST;
	const struct leat_server_info *w = leat_server_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &dummy;
	return &w->shm->steps[w->step];
}

struct leat_shm_limit *leat_client_limit(void)
{
	static struct leat_shm_limit none LEAT_FIRST;
	const struct leat_server_info *w = leat_server_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &none;
	return &w->shm->limits[w->step];
}
