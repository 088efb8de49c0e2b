/* What the daemon says at the first connection. */
#include "preload/connection/client.h"
#include "preload/connection/handed.h"
#include "preload/connection/session.h"
#include "preload/connection/user.h"
#include "preload/core/call.h"
#include "preload/core/fd_kinds.h"
#include "preload/core/process.h"
#include "preload/core/text.h"
#include "shm/limit.h"
#include "shm/state.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

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

/* Is what is there by that name the directory that the daemon means? */
static int check_directory(int fd, const struct leat_msg_welcome *m)
{
	struct stat st;
	int rc = (int)raw(SYS_fstat, fd, &st);

	if (rc)
		return rc;
	return st.st_dev == m->dir_dev && st.st_ino == m->dir_ino ? 0 : -ESTALE;
}

static int fill_server(struct leat_server_info *w, const struct leat_thread *t, int fds[2])
{
	const struct leat_msg_welcome *m = (const struct leat_msg_welcome *)t->msg;
	struct stat st;
	/* The kernel hands over as many descriptors as there is space for. */
	int rc = fds[0] < 0 || fds[1] < 0 ? -EMFILE : (int)raw(SYS_fstat, fds[1], &st);

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
		w->dir_dev = m->dir_dev;
		w->step = m->step;
		w->acts = m->acts;
		w->of_program = m->of_program;
		w->mount_length = strlen(w->mount);
		if (leat_user_dir() >= 0)
			w->dir_fd = (int)raw(SYS_fcntl, leat_user_dir(), F_DUPFD_CLOEXEC, 3);
		else
			w->dir_fd = (int)raw(SYS_openat, AT_FDCWD, leat_session.real,
					     O_PATH | O_DIRECTORY | O_CLOEXEC);
		rc = w->dir_fd < 0 ? w->dir_fd : check_directory(w->dir_fd, m);
		if (rc && w->dir_fd >= 0)
			raw(SYS_close, w->dir_fd);
	}
	if (rc)
		raw(SYS_munmap, w->shm, sizeof(*w->shm));
	return rc;
}

static int new_server(struct leat_thread *t, int fds[2], struct leat_server_info **out)
{
	struct leat_server_info *w;
	int rc;
	long at = raw(SYS_mmap, 0, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);

	if (at < 0 && at > -4096)
		return (int)at;
	w = (struct leat_server_info *)at;
	rc = fill_server(w, t, fds);
	if (rc) {
		raw(SYS_munmap, w, sizeof(*w));
		return rc;
	}
	w->store_fd = leat_client_put_away(t, fds[0]);
	w->dir_fd = leat_client_put_away(t, w->dir_fd);
	w->shm_fd = leat_client_put_away(t, fds[1]);
	fds[0] = fds[1] = -1;
	*out = w;
	return 0;
}

static int publish_server(struct leat_thread *t, struct leat_server_info *w)
{
	if (t->transient) {
		t->private_server = w;
		return 0;
	}
	if (leat_server_share(w)) {
		/* A process that is not active yet looks itself when it begins. */
		if (leat_active && leat_limit_is_set(leat_client_limit()))
			leat_active = LEAT_ACTIVE_LIMITED;
		return 0;
	}
	leat_fd_unhide(w->store_fd);
	leat_fd_unhide(w->dir_fd);
	leat_fd_unhide(w->shm_fd);
	raw(SYS_munmap, w->shm, sizeof(*w->shm));
	raw(SYS_munmap, w, sizeof(*w));
	return 0;
}

/* The texts fit: they were made of those of such a structure. */
static void fill_from(struct leat_server_info *w, const struct leat_server_told *told)
{
	w->store_fd = told->fds[LEAT_TOLD_STORE];
	w->dir_fd = told->fds[LEAT_TOLD_DIR];
	w->shm_fd = told->fds[LEAT_TOLD_SHM];
	w->store_dev = told->store_dev;
	w->step = told->step;
	w->mount_length = strlen(told->mount);
	memcpy(w->mount, told->mount, w->mount_length + 1);
	memcpy(w->exec_prefix, told->exec_prefix, strlen(told->exec_prefix) + 1);
}

int leat_client_share_server(struct leat_thread *t, const struct leat_server_told *told)
{
	struct leat_server_info *w;
	struct stat st, dir;
	long at = raw(SYS_mmap, 0, sizeof(*w), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	int rc;

	if (at < 0 && at > -4096)
		return (int)at;
	w = (struct leat_server_info *)at;
	fill_from(w, told);
	rc = (int)raw(SYS_fstat, w->shm_fd, &st);
	if (!rc)
		rc = (int)raw(SYS_fstat, w->dir_fd, &dir);
	if (!rc)
		rc = map_segment(w->shm_fd, &st, &w->shm);
	if (rc) {
		raw(SYS_munmap, w, sizeof(*w));
		return rc;
	}
	w->shm_ino = st.st_ino;
	w->dir_dev = dir.st_dev;
	return publish_server(t, w);
}

int leat_client_take_server(struct leat_thread *t, int fds[2])
{
	const struct leat_server_info *known = leat_server_known();
	struct leat_server_info *w = NULL;
	struct stat st;
	int rc = 0;

	if (known && fds[1] < 0) {
		rc = -EMFILE;
	} else if (known && (raw(SYS_fstat, fds[1], &st) || st.st_ino != known->shm_ino)) {
		rc = -EPROTO; /* another daemon's */
	} else if (!known) {
		rc = new_server(t, fds, &w);
		if (!rc)
			rc = publish_server(t, w);
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			raw(SYS_close, fds[i]);
	return rc;
}

int leat_client_vacate(int fd)
{
	struct leat_server_info *w = leat_server_shared();
	struct leat_thread *t = leat_client_self();
	int *holder = leat_user_holder(fd);
	long copy;

	if (!holder)
		holder = leat_handed_holder(fd);
	if (holder)
		; /* known */
	else if (t && t->conn == fd)
		holder = &t->conn;
	else if (w && w->store_fd == fd)
		holder = &w->store_fd;
	else if (w && w->dir_fd == fd)
		holder = &w->dir_fd;
	else if (w && w->shm_fd == fd)
		holder = &w->shm_fd;
	else
		return -EBUSY; /* another thread speaks on it */
	copy = raw(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -EBUSY;
	*holder = leat_fd_hide((int)copy);
	leat_fd_unhide(fd);
	return 0;
}
