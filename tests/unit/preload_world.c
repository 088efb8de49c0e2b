#include "preload_world.h"

#include "preload/connection/client.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/engine/patch.h"
#include "preload/entry/entry.h"
#include "preload/exec/exec.h"
#include "preload/hooks/hooks.h"
#include "preload/trace/trace.h"
#include "store/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PEERS = 64, MAX_FILES = 64, MAX_OFDS = 1 << 20 };

bool (*world_raw)(const struct leat_syscall *c, long *result);
struct leat_shm *world_shm;

static struct {
	char base[PATH_MAX - 64], dir[PATH_MAX];
	int listener, shm_fd, store_fd;
	int alive; /* closed by whatever ends this program */
	pid_t guard;
	pthread_t daemon;
	struct {
		char name[32];
		enum leat_kind kind;
	} files[MAX_FILES]; /* by slot */
	_Atomic uint32_t n_files;
	_Atomic uint64_t ofds;
	_Atomic unsigned identified;
	int log, held;
	_Atomic unsigned closed[MAX_OFDS];
} world = {.n_files = 1};

/* ---- the engine ---- */

/* Who is given a number comes after who closed it: the kernel sees to that, and a sanitiser does
 * not see it. */
static _Atomic unsigned numbers[LEAT_MAX_FD];

static bool gives_number(long nr)
{
	return nr == SYS_openat || nr == SYS_dup || nr == SYS_fcntl || nr == SYS_socket;
}

static void close_number(long fd)
{
	if (fd >= 0 && fd < LEAT_MAX_FD)
		numbers[fd]++;
}

static void take_number(long fd)
{
	if (fd >= 0 && fd < LEAT_MAX_FD)
		(void)numbers[fd];
}

long leat_raw(long nr, long a, long b, long c, long d, long e, long f)
{
	const struct leat_syscall call = {.nr = nr, .a = {a, b, c, d, e, f}};
	int saved = errno;
	long rc;

	if (world_raw && world_raw(&call, &rc))
		return rc;
	if (nr == SYS_close)
		close_number(a);
	rc = syscall(nr, a, b, c, d, e, f);
	if (gives_number(nr))
		take_number(rc);
	if (rc == -1 && nr != SYS_getpriority)
		rc = -errno;
	errno = saved;
	return rc;
}

long leat_exec(int dirfd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return leat_raw(SYS_execveat, dirfd, (long)path, (long)argv, (long)envp, flags, 0);
}

uintptr_t leat_caller(const struct leat_syscall *c)
{
	(void)c;
	return 0;
}

long leat_code_map(const struct leat_syscall *c)
{
	return leat_raw(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

void leat_trace_forking(long nr)
{
	(void)nr;
}

void leat_trace_forked(void)
{
}

int world_fork(void)
{
	int pid;

	leat_engine_forking(SYS_fork);
	pid = fork();
	if (!pid)
		leat_engine_forked();
	return pid;
}

/* ---- the daemon ---- */

static void welcome(int peer, char *out)
{
	struct leat_msg_welcome *m = leat_wire_begin(out, LEAT_MSG_WELCOME, sizeof(*m));
	const int fds[2] = {world.store_fd, world.shm_fd};
	char space[CMSG_SPACE(sizeof(fds))] = {0};
	struct iovec io = {.iov_base = m};
	struct msghdr msg = {.msg_iov = &io,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	struct stat st;

	fstat(world.store_fd, &st);
	m->store_dev = st.st_dev;
	stat(world.dir, &st);
	m->dir_dev = st.st_dev;
	m->dir_ino = st.st_ino;
	leat_wire_put(m, world.dir);
	leat_wire_put(m, "/nowhere");
	leat_wire_put(m, "/nowhere");
	leat_wire_put(m, "");
	io.iov_len = m->h.size;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	sendmsg(peer, &msg, MSG_NOSIGNAL);
}

static uint32_t slot_of(const char *name)
{
	for (uint32_t i = 1; i < world.n_files; i++)
		if (strcmp(world.files[i].name, name) == 0)
			return i;
	return 0;
}

static void resolved(int peer, const struct leat_msg_resolve *q, char *out)
{
	const char *name = leat_wire_string(q, sizeof(*q), 0);
	uint32_t slot = slot_of(name), op = q->op, flags = q->flags;
	struct leat_msg_resolved *m = leat_wire_begin(out, LEAT_MSG_RESOLVED, sizeof(*m));

	m->location = slot ? LEAT_LOCATION_STORE : LEAT_LOCATION_DISK;
	m->slot = slot;
	m->kind = slot ? world.files[slot].kind : LEAT_KIND_NONE;
	m->flags = flags;
	m->generation = slot ? leat_shm_generation(world_record(slot)) : 0;
	if (op == LEAT_OP_OPEN && slot && (flags & O_ACCMODE) != O_RDONLY)
		m->ofd = ++world.ofds;
	leat_wire_put(m, name);
	send(peer, m, m->h.size, MSG_NOSIGNAL);
}

static void identified(int peer, const struct leat_msg_identify *q, char *out)
{
	const char *slash = strrchr(leat_wire_string(q, sizeof(*q), 0), '/');
	uint32_t slot = slash ? slot_of(slash + 1) : 0;
	struct leat_msg_resolved *m = leat_wire_begin(out, LEAT_MSG_RESOLVED, sizeof(*m));

	m->location = LEAT_LOCATION_ASIS;
	m->slot = slot;
	m->kind = slot ? world.files[slot].kind : LEAT_KIND_NONE;
	m->seq = slot ? leat_shm_generation(world_record(slot)) : 0;
	leat_wire_put(m, "");
	world.identified++;
	send(peer, m, m->h.size, MSG_NOSIGNAL);
}

static void answer(int peer, char *out)
{
	struct leat_msg_answer *m = leat_wire_begin(out, LEAT_MSG_ANSWER, sizeof(*m));

	leat_wire_put(m, "");
	send(peer, m, m->h.size, MSG_NOSIGNAL);
}

/* False: the peer has hung up. */
static bool serve(int peer)
{
	static char in[LEAT_WIRE_MAX], out[LEAT_WIRE_MAX];
	const struct leat_msg *h = (const struct leat_msg *)(const void *)in;

	if (recv(peer, in, sizeof(in), 0) <= 0)
		return false;
	switch (h->type) {
	case LEAT_MSG_HELLO:
		welcome(peer, out);
		break;
	case LEAT_MSG_RESOLVE:
		resolved(peer, (const struct leat_msg_resolve *)(const void *)in, out);
		break;
	case LEAT_MSG_IDENTIFY:
		identified(peer, (const struct leat_msg_identify *)(const void *)in, out);
		break;
	case LEAT_MSG_ASK_READ:
	case LEAT_MSG_ASK_WHOLE:
	case LEAT_MSG_ASK_WRITE:
	case LEAT_MSG_ASK_SPACE:
	case LEAT_MSG_ASK_BUDGET:
	case LEAT_MSG_ASK_TRUE_SIZE:
	case LEAT_MSG_ASK_ACTIONS:
	case LEAT_MSG_SYNC:
		answer(peer, out);
		break;
	case LEAT_MSG_CLOSED:
		world.closed[((const struct leat_msg_closed *)(const void *)in)->ofd % MAX_OFDS]++;
		break;
	default: /* one way */
		break;
	}
	return true;
}

static void *run_daemon(void *unused)
{
	struct pollfd p[MAX_PEERS] = {{.fd = world.listener, .events = POLLIN}};
	nfds_t n = 1;

	(void)unused;
	while (poll(p, n, -1) > 0) {
		if (p[0].revents & ~POLLIN)
			break;
		if (p[0].revents && n < MAX_PEERS) {
			p[n].events = POLLIN;
			p[n].revents = 0;
			p[n].fd = accept4(world.listener, NULL, NULL, SOCK_CLOEXEC);
			if (p[n].fd < 0)
				break;
			n++;
		}
		for (nfds_t i = 1; i < n; i++)
			if (p[i].revents && !serve(p[i].fd)) {
				close(p[i].fd);
				p[i--] = p[--n];
			}
	}
	for (nfds_t i = 1; i < n; i++)
		close(p[i].fd);
	return NULL;
}

/* ---- the world ---- */

static int listen_at(const char *runtime)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char *slash;

	if (leat_wire_session_path(runtime, geteuid(), world.dir, a.sun_path, sizeof(a.sun_path)))
		return -1;
	slash = strrchr(a.sun_path, '/');
	*slash = 0;
	if (mkdir(a.sun_path, 0700) < 0)
		return -1;
	*slash = '/';
	world.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(world.listener, (struct sockaddr *)&a, sizeof(a)) < 0)
		return -1;
	return listen(world.listener, MAX_PEERS);
}

static int make_places(void)
{
	char template[] = "/dev/shm/leat-hooks-XXXXXX", store[PATH_MAX + 8];

	if (!mkdtemp(template))
		return -1;
	snprintf(world.base, sizeof(world.base), "%s", template);
	snprintf(world.dir, sizeof(world.dir), "%s/flow", template);
	snprintf(store, sizeof(store), "%s/store", template);
	if (mkdir(world.dir, 0755) < 0 || mkdir(store, 0755) < 0)
		return -1;
	world.store_fd = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return world.store_fd < 0 ? -1 : leat_shm_create(&world.shm_fd, &world_shm);
}

/* What a program before this one has left open: a file that nobody waits for, and one of which the
 * daemon waits for the last close. */
static int leave_open(void)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LEAT_OFD_LOCK + 1, .l_len = 1};
	char path[PATH_MAX + 8];

	world_file("log", LEAT_KIND_COUNTED);
	world_file("held", LEAT_KIND_PRODUCER);
	snprintf(path, sizeof(path), "%s/log", world.dir);
	world.log = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	snprintf(path, sizeof(path), "%s/held", world.dir);
	world.held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	return world.log < 0 || fcntl(world.held, F_OFD_SETLK, &lock) < 0 ? -1 : 0;
}

/* However this program ends, the places go: a process of their own waits for that, and removes
 * them. */
static int keep_guard(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	world.guard = fork();
	if (world.guard == 0) {
		char nothing;

		close(ends[1]);
		while (read(ends[0], &nothing, 1) < 0 && errno == EINTR)
			;
		_exit(leat_remove_tree(AT_FDCWD, world.base) != 0);
	}
	close(ends[0]);
	world.alive = ends[1];
	return world.guard < 0 ? -1 : 0;
}

int world_begin(void **state)
{
	static char dir[PATH_MAX + 16], runtime[PATH_MAX + 32], step[] = "LEAT_APP_NAME=step";
	char *environment[] = {dir, runtime, step, NULL};

	(void)state;
	if (make_places() || leave_open() || keep_guard() || listen_at(world.base) ||
	    pthread_create(&world.daemon, NULL, run_daemon, NULL))
		return -1;
	snprintf(dir, sizeof(dir), "LEAT_DIR=%s", world.dir);
	snprintf(runtime, sizeof(runtime), "LEAT_RUNTIME_DIR=%s", world.base);
	leat_hooks_init(environment);
	return leat_active ? 0 : -1;
}

int world_end(void **state)
{
	int status;

	(void)state;
	shutdown(world.listener, SHUT_RDWR);
	pthread_join(world.daemon, NULL);
	close(world.alive);
	return waitpid(world.guard, &status, 0) == world.guard && status == 0 ? 0 : -1;
}

uint32_t world_file(const char *name, enum leat_kind kind)
{
	uint32_t slot = world.n_files;

	leat_shm_file_init(world_record(slot));
	snprintf(world.files[slot].name, sizeof(world.files[slot].name), "%s", name);
	world.files[slot].kind = kind;
	world.n_files++;
	return slot;
}

struct leat_shm_file *world_record(uint32_t slot)
{
	return &world_shm->files[slot];
}

unsigned world_closed(uint64_t ofd)
{
	return world.closed[ofd % MAX_OFDS];
}

unsigned world_identified(void)
{
	return world.identified;
}

int world_log(void)
{
	return world.log;
}

int world_held(void)
{
	return world.held;
}

uint64_t world_ofds(void)
{
	return world.ofds;
}

void world_settle(void)
{
	const struct leat_msg sync = {.type = LEAT_MSG_SYNC};

	leat_client_ask(&sync, NULL);
}

int world_open(const char *name, int flags)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/%s", (int)sizeof(world.base), world.dir, name);
	return (int)leat_hook(SYS_openat, AT_FDCWD, (long)path, flags, 0644, 0, 0);
}

long world_write(int fd, const void *data, size_t length)
{
	return leat_hook(SYS_write, fd, (long)data, (long)length, 0, 0, 0);
}

long world_close(int fd)
{
	return leat_hook(SYS_close, fd, 0, 0, 0, 0, 0);
}
