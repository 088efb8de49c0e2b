#include "fuse/session.h"

#include "base/log.h"
#include "base/pidstat.h"

#include <dirent.h>
#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* A thread for each request that waits: the blocked must not block the others. */
enum { MAX_THREADS = 4096 };

/* Of an open's reply, since Linux 6.9. */
#define OPENED_PASSTHROUGH (UINT32_C(1) << 7)

struct backing_map {
	int32_t fd;
	uint32_t flags;
	uint64_t padding;
};
#define DEV_IOC_BACKING_OPEN _IOW(229, 1, struct backing_map)
#define DEV_IOC_BACKING_CLOSE _IOW(229, 2, uint32_t)

/* The reply to open; older headers know no backing file. */
struct open_reply {
	uint64_t fh;
	uint32_t flags;
	int32_t backing;
};

/* FUSE_INIT's reply, with the fields that the header of this build may not have. */
struct init_reply {
	uint32_t major, minor;
	uint32_t max_readahead;
	uint32_t flags;
	uint16_t max_background, congestion_threshold;
	uint32_t max_write;
	uint32_t time_gran;
	uint16_t max_pages, map_alignment;
	uint32_t flags2;
	uint32_t max_stack_depth;
	uint32_t unused[6];
};
_Static_assert(sizeof(struct init_reply) == 64, "as the kernel has it");

struct leat_fuse {
	struct fuse_session *session; /* owned */
	void *context;                /* borrowed */
	uint64_t wanted;
	pthread_mutex_t lock;
	uint64_t granted;  /* under the lock */
	unsigned releases; /* under the lock; received, and not answered yet */
	void (*release)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
};

/* The request being answered by this thread needs its reply amended. */
static _Thread_local struct {
	uint64_t init; /* unique of a FUSE_INIT, 0: none */
	uint64_t offered;
	int32_t backing; /* for the next reply to an open */
} amend;

/* ---- messages on their way ---- */

static void count_releases(struct leat_fuse *f, int change)
{
	pthread_mutex_lock(&f->lock);
	f->releases += (unsigned)change;
	pthread_mutex_unlock(&f->lock);
}

static ssize_t receive(int fd, void *buf, size_t size, void *userdata)
{
	ssize_t n = read(fd, buf, size);
	const struct fuse_in_header *in = buf;
	const struct fuse_init_in *init = (const struct fuse_init_in *)(in + 1);
	struct leat_fuse *f = userdata;

	if (n < 0 && errno == ECONNABORTED)
		errno = ENODEV; /* the mount is gone, whichever way */
	if (n >= (ssize_t)sizeof(*in) && in->opcode == FUSE_RELEASE)
		count_releases(f, 1);
	if (n >= (ssize_t)(sizeof(*in) + sizeof(*init)) && in->opcode == FUSE_INIT) {
		amend.init = in->unique;
		amend.offered = init->flags;
		if (init->flags & FUSE_INIT_EXT)
			amend.offered |= (uint64_t)init->flags2 << 32;
	}
	return n;
}

static void amend_init(struct leat_fuse *f, struct init_reply *out)
{
	const uint64_t granted = amend.offered & f->wanted;

	out->flags |= (uint32_t)granted;
	if (granted >> 32) {
		out->flags |= FUSE_INIT_EXT;
		out->flags2 |= (uint32_t)(granted >> 32);
	}
	if (granted & LEAT_FUSE_PASSTHROUGH)
		out->max_stack_depth = 1;
	pthread_mutex_lock(&f->lock);
	f->granted = granted;
	pthread_mutex_unlock(&f->lock);
}

static ssize_t reply(int fd, struct iovec *iov, int count, void *userdata)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	struct open_reply *opened;

	if (amend.init && h->unique == amend.init && count > 1 && !h->error &&
	    iov[1].iov_len >= sizeof(struct init_reply)) {
		amend_init(userdata, iov[1].iov_base);
		amend.init = 0;
	}
	if (amend.backing && count > 1 && iov[1].iov_len >= sizeof(*opened)) {
		/* The last part of a reply to open and to create. */
		opened = (struct open_reply *)((char *)iov[1].iov_base + iov[1].iov_len -
					       sizeof(*opened));
		opened->flags |= OPENED_PASSTHROUGH;
		opened->backing = amend.backing;
		amend.backing = 0;
	}
	return writev(fd, iov, count);
}

/* ---- the session ---- */

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	/* One request for each call: copies by way of pipes cost more than they save. */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
				  FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_WRITEBACK_CACHE);
	conn->want |= conn->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
				       FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_ASYNC_DIO);
	conn->max_background = 64;
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct leat_fuse *f = fuse_req_userdata(req);

	f->release(req, ino, fi);
	count_releases(f, -1);
}

static struct fuse_session *new_session(struct leat_fuse *f, const struct fuse_lowlevel_ops *ops)
{
	struct fuse_lowlevel_ops all = *ops;
	char *argv[] = {(char[]){"leat"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *session;

	all.init = op_init;
	f->release = ops->release;
	if (ops->release)
		all.release = op_release;
	session = fuse_session_new(&args, &all, sizeof(all), f);
	fuse_opt_free_args(&args);
	return session;
}

int leat_fuse_new(int fd, const struct fuse_lowlevel_ops *ops, uint64_t wanted, void *context,
		  struct leat_fuse **session)
{
	static const struct fuse_custom_io io = {.writev = reply, .read = receive};
	struct leat_fuse *f = calloc(1, sizeof(*f));
	int rc = -ENOMEM;

	if (f) {
		f->wanted = wanted;
		f->context = context;
		pthread_mutex_init(&f->lock, NULL);
		f->session = new_session(f, ops);
	}
	if (f && f->session)
		rc = fuse_session_custom_io(f->session, &io, fd);
	if (rc < 0) {
		close(fd);
		leat_fuse_free(f);
		return rc == -1 ? -EINVAL : rc;
	}
	*session = f;
	return 0;
}

void leat_fuse_free(struct leat_fuse *f)
{
	if (!f)
		return;
	if (f->session)
		fuse_session_destroy(f->session);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int leat_fuse_loop(struct leat_fuse *f, unsigned idle_threads)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int rc;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_idle_threads(config, idle_threads);
	fuse_loop_cfg_set_clone_fd(config, 0);
	rc = fuse_session_loop_mt(f->session, config);
	fuse_loop_cfg_destroy(config);
	return rc;
}

void *leat_fuse_context(fuse_req_t req)
{
	const struct leat_fuse *f = fuse_req_userdata(req);

	return f->context;
}

/* A release that a thread has received and not counted yet: it has not slept since. */
static bool does_another_thread_run(void)
{
	DIR *threads = opendir("/proc/self/task");
	const pid_t self = gettid();
	struct leat_pidstat stat;
	struct dirent *entry;
	bool any = false;

	while (threads && !any && (entry = readdir(threads)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		any = tid > 0 && tid != self && leat_pidstat_read(tid, &stat) && stat.state != 'S';
	}
	if (threads)
		closedir(threads);
	return any;
}

bool leat_fuse_releases(struct leat_fuse *f)
{
	struct pollfd queue = {.fd = fuse_session_fd(f->session), .events = POLLIN};
	/* In this order: each looks at where one is before the next has it. */
	bool any = poll(&queue, 1, 0) > 0 || does_another_thread_run();

	pthread_mutex_lock(&f->lock);
	any |= f->releases > 0;
	pthread_mutex_unlock(&f->lock);
	return any;
}

bool leat_fuse_has(struct leat_fuse *f, uint64_t flag)
{
	bool has;

	pthread_mutex_lock(&f->lock);
	has = f->granted & flag;
	pthread_mutex_unlock(&f->lock);
	return has;
}

/* ---- files that the kernel reads itself ---- */

int32_t leat_fuse_back(struct leat_fuse *f, int fd)
{
	struct backing_map map = {.fd = fd};
	int id;

	if (!leat_fuse_has(f, LEAT_FUSE_PASSTHROUGH))
		return 0;
	id = ioctl(fuse_session_fd(f->session), DEV_IOC_BACKING_OPEN, &map);
	if (id > 0)
		return id;
	pthread_mutex_lock(&f->lock);
	f->granted &= ~LEAT_FUSE_PASSTHROUGH; /* not with these rights */
	pthread_mutex_unlock(&f->lock);
	return 0;
}

void leat_fuse_unback(struct leat_fuse *f, int32_t backing)
{
	uint32_t id = (uint32_t)backing;

	if (backing)
		ioctl(fuse_session_fd(f->session), DEV_IOC_BACKING_CLOSE, &id);
}

void leat_fuse_opened(fuse_req_t req, int32_t backing, struct fuse_file_info *fi,
		      const struct fuse_entry_param *e)
{
	amend.backing = backing;
	if (e)
		fuse_reply_create(req, e, fi);
	else
		fuse_reply_open(req, fi);
	amend.backing = 0;
}

/* ---- lengths ---- */

/* What is stored in the kernel's pages makes the file that long, and voids answers to earlier
 * questions about it. The page is still one to be read, unless the byte is all there is of it. The
 * kernel holds no lock during an open or a seek that this would wait for; the page is locked by who
 * reads it, and such a read of a final file is answered without waiting. */
void leat_fuse_extend(struct leat_fuse *f, fuse_ino_t ino, int fd, uint64_t size)
{
	struct fuse_bufvec last = FUSE_BUFVEC_INIT(1);
	char byte;
	int rc;

	last.buf[0].mem = &byte;
	if (!size || pread(fd, &byte, 1, (off_t)size - 1) != 1)
		return; /* it was cut again */
	rc = fuse_lowlevel_notify_store(f->session, ino, (off_t)size - 1, &last,
					FUSE_BUF_NO_SPLICE);
	if (rc && rc != -ENOENT)
		leat_warn("cannot tell the kernel that a file has grown: %s; a program that maps "
			  "it may get SIGBUS",
			  strerror(-rc));
}

void leat_fuse_invalidate(struct leat_fuse *f, fuse_ino_t ino)
{
	/* What it does not know of it does not keep. */
	fuse_lowlevel_notify_inval_inode(f->session, ino, -1, 0);
}
