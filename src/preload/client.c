#include "preload/client.h"
#include "preload/fdtab.h"
#include "preload/hooks.h"
#include "preload/text.h"
#include "shm/word.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Set to 1 by the first who has to say it. */
static struct leat_word said;
/* struct leat_world *, set once */
static struct leat_word world;
/* pid that has said hello; exit must then say goodbye */
static struct leat_word greeted;

static __thread struct leat_thread *self __attribute__((tls_model("initial-exec")));
static pthread_key_t at_thread_end;

/* --- threads --- */

static void thread_end(void *arg)
{
	struct leat_thread *t = arg;

	if (t->conn >= 0)
		leat_fd_unhide(t->conn);
	self = NULL;
	raw(SYS_munmap, t, sizeof(*t));
}

int leat_client_init(void)
{
	return -pthread_key_create(&at_thread_end, thread_end);
}

static struct leat_thread *thread_new(void)
{
	long at = raw(SYS_mmap, 0, sizeof(struct leat_thread), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	self = (struct leat_thread *)at;
	self->conn = -1;
	pthread_setspecific(at_thread_end, self);
	return self;
}

int leat_guard_take(struct leat_guard *g)
{
	static const uint64_t all = ~UINT64_C(0);

	raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &g->mask, sizeof(all));
	g->t = self ? self : thread_new();
	if (!g->t) {
		raw(SYS_rt_sigprocmask, SIG_SETMASK, &g->mask, NULL, sizeof(g->mask));
		return -ENOMEM;
	}
	g->t->transient = leat_in_vfork() && (g->t->conn < 0 || !leat_client_known());
	return 0;
}

/* Descriptors a vfork child opens are not its parent's, with whom it shares the
 * memory that would remember them: it keeps a connection for one call only. */
static void end_transient(struct leat_thread *t)
{
	struct leat_world *w = t->private_world;

	if (t->conn >= 0)
		raw(SYS_close, t->conn);
	t->conn = -1;
	t->transient = false;
	t->private_world = NULL;
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
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &g->mask, NULL, sizeof(g->mask));
}

/* Number of a descriptor of ours once it is out of the program's way. */
static int put_away(const struct leat_thread *t, int fd)
{
	return t->transient ? fd : leat_fd_hide(fd);
}

static void drop(const struct leat_thread *t, int fd)
{
	if (t->transient)
		raw(SYS_close, fd);
	else
		leat_fd_unhide(fd);
}

/* --- the connection --- */

static int complain(const char *what, const char *then)
{
	if (!leat_word_swap(&said, 1))
		leat_say(what, leat_session.real, then, NULL);
	return -EIO;
}

static int gone(struct leat_thread *t)
{
	if (t->conn >= 0)
		drop(t, t->conn);
	t->conn = -1;
	return complain("the leat daemon for ", " is gone");
}

static int refused(long error)
{
	if (error == -ENOENT || error == -ECONNREFUSED)
		return complain("no leat daemon for ", ": start it with leat run or leat serve");
	if (error == -EACCES || error == -EPERM)
		return complain("the leat daemon for ", " belongs to another user");
	return complain("cannot connect to the leat daemon for ", ": no descriptors or memory");
}

static int open_socket(struct leat_thread *t)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	long fd = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	long rc;

	if (fd < 0)
		return refused(fd);
	memcpy(to.sun_path, leat_session.socket, strlen(leat_session.socket) + 1);
	rc = raw(SYS_connect, fd, &to, sizeof(to));
	if (rc < 0) {
		raw(SYS_close, fd);
		return refused(rc);
	}
	t->conn = put_away(t, (int)fd);
	return 0;
}

int leat_client_send(struct leat_thread *t)
{
	const struct leat_msg *h = (const struct leat_msg *)t->msg;
	long rc;

	do
		rc = raw(SYS_sendto, t->conn, t->msg, h->size, MSG_NOSIGNAL);
	while (rc == -EINTR);
	return rc == (long)h->size ? 0 : gone(t);
}

/* Receives one packet into t->msg, with up to two descriptors. Bytes or -errno. */
static long receive(struct leat_thread *t, int fds[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8)));
	struct iovec io = {.iov_base = t->msg, .iov_len = sizeof(t->msg)};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = fds ? control : NULL,
			     .msg_controllen = fds ? sizeof(control) : 0};
	struct cmsghdr *c;
	long n;

	do
		n = raw(SYS_recvmsg, t->conn, &msg, MSG_CMSG_CLOEXEC);
	while (n == -EINTR);
	if (n < 0 || !fds)
		return n;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	return n;
}

static bool is_reply(const struct leat_thread *t, long n, enum leat_msg_type type)
{
	const struct leat_msg *h = (const struct leat_msg *)t->msg;

	return n > 0 && !leat_wire_check(t->msg, (size_t)n, leat_wire_fixed_size(type)) &&
	       h->type == type;
}

int leat_client_roundtrip(struct leat_thread *t, enum leat_msg_type reply)
{
	int rc = leat_client_send(t);

	if (rc)
		return rc;
	return is_reply(t, receive(t, NULL), reply) ? 0 : gone(t);
}

static int copy_string(char *out, size_t size, const char *msg, unsigned i)
{
	struct leat_text text = leat_text_in(out, size);
	const char *s = leat_wire_string(msg, sizeof(struct leat_msg_welcome), i);

	leat_text_add(&text, s ? s : "");
	return text.full || !s ? -EPROTO : 0;
}

/* leat_shm_map without libc. */
static int map_segment(int fd, const struct stat *st, struct leat_shm **shm)
{
	struct leat_shm *map;
	long at;

	if ((uint64_t)st->st_size != sizeof(*map))
		return -EPROTO;
	at = raw(SYS_mmap, 0, sizeof(*map), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at < 0 && at > -4096)
		return (int)at;
	map = (struct leat_shm *)at;
	if (map->magic != LEAT_SHM_MAGIC || map->version != LEAT_SHM_VERSION) {
		raw(SYS_munmap, map, sizeof(*map));
		return -EPROTO;
	}
	*shm = map;
	return 0;
}

static int fill_world(struct leat_world *w, const struct leat_thread *t, int fds[2])
{
	const struct leat_msg_welcome *m = (const struct leat_msg_welcome *)t->msg;
	struct stat st;
	int rc = (int)raw(SYS_fstat, fds[1], &st);

	if (!rc)
		rc = map_segment(fds[1], &st, &w->shm);
	if (rc)
		return rc;
	rc = copy_string(w->mount, sizeof(w->mount), t->msg, 1);
	if (!rc)
		rc = copy_string(w->exec_prefix, sizeof(w->exec_prefix), t->msg, 2);
	if (!rc) {
		w->shm_ino = st.st_ino;
		w->store_dev = m->store_dev;
		w->step = m->step;
		w->mount_length = strlen(w->mount);
		w->dir_fd = (int)raw(SYS_openat, AT_FDCWD, leat_session.real,
				     O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = w->dir_fd < 0 ? w->dir_fd : 0;
	}
	if (rc)
		raw(SYS_munmap, w->shm, sizeof(*w->shm));
	return rc;
}

static struct leat_world *new_world(struct leat_thread *t, int fds[2])
{
	struct leat_world *w;
	long at = raw(SYS_mmap, 0, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	w = (struct leat_world *)at;
	if (fill_world(w, t, fds)) {
		raw(SYS_munmap, w, sizeof(*w));
		return NULL;
	}
	w->store_fd = put_away(t, fds[0]);
	w->dir_fd = put_away(t, w->dir_fd);
	fds[0] = -1;
	return w;
}

static int publish_world(struct leat_thread *t, struct leat_world *w)
{
	if (t->transient) {
		t->private_world = w;
		return 0;
	}
	if (leat_word_claim(&world, 0, (uintptr_t)w)) {
		leat_shm_count(&leat_client_step()->processes, 1);
		return 0;
	}
	leat_fd_unhide(w->store_fd);
	leat_fd_unhide(w->dir_fd);
	raw(SYS_munmap, w->shm, sizeof(*w->shm));
	raw(SYS_munmap, w, sizeof(*w));
	return 0;
}

/* The first to be welcomed publishes what it learnt; others only check that it
 * is the same daemon. Takes fds over. */
static int take_world(struct leat_thread *t, int fds[2])
{
	const struct leat_world *known = leat_client_known();
	struct leat_world *w;
	struct stat st;
	int rc = 0;

	if (known && (raw(SYS_fstat, fds[1], &st) || st.st_ino != known->shm_ino)) {
		rc = -ESTALE;
	} else if (!known) {
		w = new_world(t, fds);
		rc = w ? publish_world(t, w) : -ENOMEM;
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			raw(SYS_close, fds[i]);
	return rc;
}

static int welcome(struct leat_thread *t)
{
	const struct leat_msg_welcome *m = (const struct leat_msg_welcome *)t->msg;
	int fds[2] = {-1, -1};
	const char *why;

	if (!is_reply(t, receive(t, fds), LEAT_MSG_WELCOME))
		return gone(t);
	if (m->error) {
		why = leat_wire_string(t->msg, sizeof(*m), 3);
		drop(t, t->conn);
		t->conn = -1;
		if (!leat_word_swap(&said, 1))
			leat_say(why && *why ? why : "the leat daemon refused this process", NULL);
		return -EIO;
	}
	return take_world(t, fds) ? gone(t) : 0;
}

static int connect_thread(struct leat_thread *t)
{
	char program[17] = "";
	int rc = open_socket(t);

	if (rc)
		return rc;
	raw(SYS_prctl, PR_GET_NAME, program);
	leat_wire_begin(t->msg, LEAT_MSG_HELLO, sizeof(struct leat_msg_hello));
	if (leat_wire_put(t->msg, leat_session.step) ||
	    leat_wire_put(t->msg, leat_session.workflow) || leat_wire_put(t->msg, program))
		return gone(t);
	rc = leat_client_send(t);
	if (!rc)
		rc = welcome(t);
	if (!rc && !t->transient) {
		t->pid = (uint32_t)raw(SYS_getpid);
		leat_word_set(&greeted, t->pid);
	}
	return rc;
}

/* A child made without our knowledge must not speak on its parent's connection;
 * a vfork child may, its parent sleeps. */
static bool is_inherited(const struct leat_thread *t)
{
	return t->pid != (uint32_t)raw(SYS_getpid) && !leat_in_vfork();
}

static int connected(struct leat_thread *t)
{
	if (t->conn >= 0 && is_inherited(t))
		leat_client_fork_child();
	return t->conn >= 0 ? 0 : connect_thread(t);
}

int leat_client_begin(struct leat_thread *t, enum leat_msg_type type)
{
	int rc = connected(t);

	if (!rc)
		leat_wire_begin(t->msg, type, leat_wire_fixed_size(type));
	return rc;
}

const struct leat_world *leat_client_known(void)
{
	const struct leat_world *w = (const struct leat_world *)(uintptr_t)leat_word_get(&world);

	return !w && self ? self->private_world : w;
}

int leat_client_world(struct leat_thread *t, const struct leat_world **out)
{
	int rc = leat_client_known() ? 0 : connected(t);

	if (!rc)
		*out = leat_client_known();
	return rc;
}

bool leat_client_alive(struct leat_thread *t)
{
	static const struct timespec at_once;
	const struct leat_world *w = leat_client_known();
	struct pollfd p;

	if (connected(t))
		return false;
	p = (struct pollfd){.fd = t->conn, .events = POLLRDHUP};
	if (raw(SYS_ppoll, &p, 1, &at_once, NULL, 0) > 0 && p.revents)
		return gone(t) == 0;
	return (w && leat_shm_alive(w->shm)) || gone(t) == 0;
}

void leat_client_fork_child(void)
{
	if (self)
		self->conn = -1;
	leat_word_set(&greeted, 0);
	leat_fd_fork_child();
	if (leat_client_known())
		leat_shm_count(&leat_client_step()->processes, 1);
}

int leat_client_make_room(int fd)
{
	struct leat_world *w = (struct leat_world *)(uintptr_t)leat_word_get(&world);
	int *holder = NULL;
	long copy;

	if (self && self->conn == fd)
		holder = &self->conn;
	else if (w && w->store_fd == fd)
		holder = &w->store_fd;
	else if (w && w->dir_fd == fd)
		holder = &w->dir_fd;
	else
		return -EBUSY; /* another thread speaks on it */
	copy = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -EBUSY;
	*holder = leat_fd_hide((int)copy);
	leat_fd_unhide(fd);
	return 0;
}

void leat_client_exiting(int status)
{
	struct leat_guard g;

	if (leat_word_get(&greeted) != (uint64_t)raw(SYS_getpid) || leat_guard_take(&g))
		return;
	if (!leat_client_begin(g.t, LEAT_MSG_EXITING)) {
		struct leat_msg_step *m = (struct leat_msg_step *)g.t->msg;

		m->pid = (int32_t)raw(SYS_getpid);
		m->status = status;
		if (!leat_wire_put(m, leat_session.step) && !leat_wire_put(m, ""))
			leat_client_send(g.t);
	}
	leat_guard_release(&g);
}
