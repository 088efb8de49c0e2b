/* What this thread and this process have of the daemon. */
#include "preload/connection/client.h"
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

/* struct leat_world *, set once */
static struct leat_word world;

struct leat_world *leat_client_shared(void)
{
	return (struct leat_world *)(uintptr_t)leat_word_get(&world);
}

bool leat_client_share(struct leat_world *w)
{
	return leat_word_claim(&world, 0, (uintptr_t)w);
}

const struct leat_world *leat_client_known(void)
{
	const struct leat_world *w = leat_client_shared();

	return !w && self ? self->private_world : w;
}

struct leat_shm_file *leat_client_file(uint32_t slot)
{
	const struct leat_world *w = leat_client_known();

	return w && slot && slot < LEAT_SHM_MAX_FILES ? &w->shm->files[slot] : NULL;
}

struct leat_shm_step *leat_client_step(void)
{
	static struct leat_shm_step dummy;
	const struct leat_world *w = leat_client_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &dummy;
	return &w->shm->steps[w->step];
}

struct leat_shm_limit *leat_client_limit(void)
{
	static struct leat_shm_limit none;
	const struct leat_world *w = leat_client_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return &none;
	return &w->shm->limits[w->step];
}
