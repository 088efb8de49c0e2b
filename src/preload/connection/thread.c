/* The thread's scratch area, and the guard under which it is used. */
#include "preload/connection/client.h"
#include "preload/connection/lost.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/first.h"
#include "preload/core/process.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static struct leat_word at_thread_end LEAT_FIRST; /* 1 + a key; 0: there is none yet */

/* --- threads --- */

static void thread_end(void *arg)
{
	struct leat_thread *t = arg;

	if (t->conn >= 0)
		leat_fd_unhide(t->conn);
	leat_client_set_self(NULL);
	raw(SYS_munmap, t, sizeof(*t));
}

/* Of a key from here on glibc allocates space in pthread_setspecific, which a hook must not: it may
 * have interrupted malloc. */
enum { KEYS_WITH_SPACE = 32 };

/* Made when it is first needed: few programs need one. Two threads may make two, which does no
 * harm. Where there is none of use the area stays when its thread ends. */
static void end_with_thread(struct leat_thread *t)
{
	pthread_key_t key;

	if (!leat_word_get(&at_thread_end) && pthread_key_create(&key, thread_end) == 0)
		leat_word_set(&at_thread_end, (uint64_t)key + 1);
	key = (pthread_key_t)leat_word_get(&at_thread_end) - 1;
	if (key < KEYS_WITH_SPACE)
		pthread_setspecific(key, t);
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
	end_with_thread(t);
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
	raw(SYS_close, w->shm_fd);
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
