/* Files that the daemon moves while they are open: the server's descriptor is exchanged for one of
 * where the file is now, at the next call on it, as in the interception library. */
#include "mount/files/migrate.h"
#include "mount/daemon/wait.h"
#include "mount/names/handle.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* Others that use the former place are about to let go of it. */
enum { PAUSE_NS = 50000 };

static bool is_moving(uint32_t generation)
{
	return generation % LEAT_GENERATION_NEXT != 0;
}

/* The new descriptor takes the number over, so that whoever is just using it goes on. 0, -EAGAIN
 * with *seq, or -errno. */
static int exchange(struct leat_mount_call *call, uint32_t slot, int fd, uint32_t *generation,
		    uint32_t *seq)
{
	uint32_t now;
	int new, rc = leat_connection_replace_fd(call->connection, slot, fd, seq, &now, &new);

	if (!rc && new >= 0 && dup3(new, fd, O_CLOEXEC) < 0)
		rc = -errno;
	leat_close(&new);
	if (!rc)
		*generation = now;
	return rc;
}

/* 0: look again, or -errno. */
static int await(struct leat_mount_call *call, uint32_t slot, uint32_t generation, uint32_t seq)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (is_moving(generation))
		return leat_mount_sleep(call, slot, seq);
	nanosleep(&pause, NULL);
	return leat_mount_call_is_stopped(call) ? -EINTR : 0;
}

/* O_APPEND may have been set or taken away while the descriptor was exchanged. */
static void keep_flags(const struct leat_handle *h)
{
	int own = fcntl(h->fd, F_GETFL);

	if (own >= 0 && (own ^ h->flags) & O_APPEND)
		fcntl(h->fd, F_SETFL, own ^ O_APPEND);
}

static int exchange_handle(struct leat_mount_call *call, struct leat_handle *h, uint32_t *seq)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	uint32_t generation;
	int rc = 0;

	pthread_mutex_lock(&h->m->migrating);
	if (leat_shm_generation(f) != (uint32_t)leat_word_get(&h->generation)) {
		rc = exchange(call, h->slot, h->fd, &generation, seq);
		if (!rc) {
			pthread_mutex_lock(&h->m->lock);
			keep_flags(h);
			pthread_mutex_unlock(&h->m->lock);
			leat_word_set(&h->generation, generation);
		}
	}
	pthread_mutex_unlock(&h->m->migrating);
	return rc;
}

int leat_handle_migrate(struct leat_mount_call *call, struct leat_handle *h, bool write)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	uint32_t generation, seq;
	int rc;

	while (f && leat_shm_generation(f) != (uint32_t)leat_word_get(&h->generation)) {
		seq = leat_shm_seq(f);
		generation = leat_shm_generation(f);
		/* What may be read yet is where it was. */
		if (is_moving(generation) && !write)
			return 0;
		rc = is_moving(generation) ? -EAGAIN : exchange_handle(call, h, &seq);
		if (rc == -EAGAIN)
			rc = await(call, h->slot, generation, seq);
		if (rc)
			return rc == -ESTALE ? -EIO : rc;
	}
	return 0;
}

int leat_handle_migrate_copy(struct leat_mount_call *call, uint32_t slot, uint32_t generation,
			     int fd)
{
	struct leat_shm_file *f = leat_mount_file(call, slot);
	uint32_t now, seq;
	int rc = 0;

	while (f && !rc && leat_shm_generation(f) != generation) {
		seq = leat_shm_seq(f);
		now = leat_shm_generation(f);
		rc = is_moving(now) ? -EAGAIN : exchange(call, slot, fd, &generation, &seq);
		if (rc == -EAGAIN)
			rc = await(call, slot, now, seq);
	}
	return rc == -ESTALE ? -EIO : rc;
}

int leat_handle_acquire(struct leat_mount_call *call, struct leat_handle *h,
			struct leat_handle_held *held)
{
	struct leat_shm_file *f = leat_mount_file(call, h->slot);
	int rc = 0;

	*held = (struct leat_handle_held){0};
	while (f && !rc) {
		held->generation = (uint32_t)leat_word_get(&h->generation);
		if (leat_shm_hold(f, true, held->generation)) {
			held->f = f;
			return 0;
		}
		rc = leat_handle_migrate(call, h, true);
	}
	return rc;
}

ssize_t leat_handle_release(const struct leat_handle_held *held, ssize_t n)
{
	if (held->f && !leat_shm_release(held->f, true, held->generation) && n >= 0)
		return -EIO;
	return n;
}
