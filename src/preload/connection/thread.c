/* The thread's scratch area, and the guard under which it is used. */
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "wire/wire.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static pthread_key_t at_thread_end;

/* --- threads --- */

static void thread_end(void *arg)
{
	struct leat_thread *t = arg;

	if (t->conn >= 0)
		leat_fd_unhide(t->conn);
	leat_client_set_self(NULL);
	raw(SYS_munmap, t, sizeof(*t));
}

int leat_thread_init(void)
{
	return -pthread_key_create(&at_thread_end, thread_end);
}

static struct leat_thread *thread_new(void)
{
	struct leat_thread *t;
	long at = raw(SYS_mmap, 0, sizeof(struct leat_thread), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	t = (struct leat_thread *)at;
	t->conn = -1;
	leat_client_set_self(t);
	pthread_setspecific(at_thread_end, t);
	return t;
}

int leat_guard_acquire(struct leat_guard *g)
{
	leat_block_signals(&g->mask);
	g->t = leat_client_self();
	if (!g->t)
		g->t = thread_new();
	if (!g->t) {
		leat_restore_signals(&g->mask);
		return leat_lost(LEAT_LOST_MEMORY);
	}
	g->t->checked = false;
	g->t->transient = leat_in_vfork() && (g->t->conn < 0 || !leat_server_known());
	return 0;
}

/* Descriptors a vfork child opens are not its parent's, with whom it shares the
 * memory that would remember them: it keeps a connection for one call only. */
static void end_transient(struct leat_thread *t)
{
	struct leat_server_info *w = t->private_server;

	if (t->conn >= 0)
		raw(SYS_close, t->conn);
	t->conn = -1;
	t->transient = false;
	t->private_server = NULL;
	if (!w)
		return;
	raw(SYS_close, w->store_fd);
	raw(SYS_close, w->dir_fd);
	raw(SYS_munmap, w->shm, sizeof(*w->shm));
	raw(SYS_munmap, w, sizeof(*w));
}

void leat_guard_release(struct leat_guard *g)
{
	if (g->t->transient)
		end_transient(g->t);
	g->t = NULL;
	leat_restore_signals(&g->mask);
}

int leat_client_put_away(const struct leat_thread *t, int fd)
{
	return t->transient ? fd : leat_fd_hide(fd);
}

void leat_client_drop(const struct leat_thread *t, int fd)
{
	if (t->transient)
		raw(SYS_close, fd);
	else
		leat_fd_unhide(fd);
}
