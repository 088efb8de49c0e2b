#include "preload/connection/lost.h"

#include "preload/connection/client.h"
#include "preload/connection/session.h"
#include "preload/core/call.h"
#include "preload/core/first.h"
#include "preload/core/log.h"
#include "preload/core/text.h"
#include "shm/state.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define CANNOT_EXECUTE 126

static struct leat_word lost LEAT_FIRST; /* 1 once it is reported */

enum leat_lost leat_lost_cause(long error)
{
	switch (-error) {
	case EMFILE:
	case ENFILE:
		return LEAT_LOST_FILES;
	case ENOMEM:
	case ENOBUFS:
		return LEAT_LOST_MEMORY;
	case EAGAIN:
		return LEAT_LOST_LOCKED;
	case EPERM:
	case EACCES:
	case ENOSYS:
		return LEAT_LOST_FORBIDDEN;
	case EBADF:
	case ENOTSOCK:
		return LEAT_LOST_CLOSED;
	case ENOENT:
	case ESTALE:
	case ENOTDIR:
		return LEAT_LOST_RENAMED;
	case EPROTO:
		return LEAT_LOST_VERSION;
	default:
		return LEAT_LOST_BROKEN;
	}
}

bool leat_lost_any(void)
{
	return leat_word_get(&lost) != 0;
}

struct story {
	enum leat_lost cause;
	char program[17];
};

/* The segment that this process has mapped needs no call. */
static bool flag_in_segment(const struct story *s)
{
	const struct leat_server_info *w = leat_server_known();

	if (!w || w->step < 0 || w->step >= (int32_t)LEAT_SHM_MAX_STEPS)
		return false;
	leat_shm_lose(w->shm, (uint32_t)w->step, s->cause);
	return true;
}

/* A symlink takes neither a descriptor nor memory. */
static bool leave_link(const struct story *s)
{
	const char *slash = strrchr(leat_session.socket, '/');
	char name[sizeof(leat_session.socket) + 32], target[512];
	struct leat_text n = leat_text_in(name, sizeof(name));
	struct leat_text t = leat_text_in(target, sizeof(target));
	long rc;

	if (!slash)
		return false;
	leat_text_add_n(&n, leat_session.socket, (size_t)(slash - leat_session.socket));
	leat_text_add(&n, "/" LEAT_LOST_LINKS "/");
	leat_text_add_number(&n, (unsigned long)raw(SYS_getpid));
	leat_text_add_number(&t, (unsigned long)s->cause);
	leat_text_add(&t, "\n");
	leat_text_add(&t, s->program);
	leat_text_add(&t, "\n");
	leat_text_add(&t, leat_session.step);
	rc = n.full || t.full ? -ENAMETOOLONG : raw(SYS_symlinkat, target, AT_FDCWD, name);
	return rc == 0 || rc == -EEXIST;
}

/* On a connection that is there already. What the thread was about to say is lost. */
static bool report(const struct story *s)
{
	struct leat_thread *t = leat_client_self();
	struct leat_text text;
	struct leat_msg_text *m;

	if (!t || t->conn < 0)
		return false;
	text = leat_text_in(t->name, sizeof(t->name));
	leat_text_add(&text, s->program);
	leat_text_add(&text, " ");
	leat_text_add(&text, leat_wire_lost_what(s->cause));
	leat_text_add(&text, ": ");
	leat_text_add(&text, leat_wire_lost(s->cause));
	m = leat_wire_begin(t->msg, LEAT_MSG_REFUSED, sizeof(*m));
	m->error = -EIO;
	return !leat_wire_put(m, t->name) && raw(SYS_sendto, t->conn, m, m->h.size,
						 MSG_NOSIGNAL | MSG_DONTWAIT) == (long)m->h.size;
}

int leat_lost(enum leat_lost cause)
{
	struct story s = {.cause = cause};
	bool is_flagged, reported;

	if (leat_word_swap(&lost, 1))
		return -EIO;
	raw(SYS_prctl, PR_GET_NAME, s.program);
	is_flagged = flag_in_segment(&s);
	reported = leave_link(&s) || report(&s) || is_flagged;
	if (cause == LEAT_LOST_SPACE)
		leat_log_line(s.program, " ", leat_wire_lost_what(cause), ": ",
			      leat_wire_lost(cause), NULL);
	else
		leat_log_line(s.program, " cannot reach the leat daemon for ", leat_session.real,
			      ": ", leat_wire_lost(cause), NULL);
	if (reported)
		return -EIO;
	leat_log_line("nor can it tell anybody that what it makes cannot be trusted: it ends here",
		      NULL);
	raw(SYS_exit_group, CANNOT_EXECUTE);
	return -EIO;
}

void leat_lost_end(enum leat_lost cause)
{
	leat_lost(cause);
	for (;;)
		raw(SYS_exit_group, CANNOT_EXECUTE);
}
