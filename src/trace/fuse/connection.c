/* The FUSE connection: libfuse speaks the protocol; what the kernel offers beyond the library's
 * version is asked for in its messages on their way. */
#include "trace/fuse/internal.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of FUSE_INIT's flags2, since Linux 6.6. */
#define DIRECT_IO_ALLOW_MMAP (UINT32_C(1) << 4)

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
	uint32_t unused[7];
};
_Static_assert(sizeof(struct init_reply) == 64, "as the kernel has it");

/* The FUSE_INIT that is being answered by this thread. */
static _Thread_local struct {
	uint64_t unique; /* 0: none */
	uint32_t offered2;
} init;

static ssize_t receive(int fd, void *buf, size_t size, void *userdata)
{
	ssize_t n = read(fd, buf, size);
	const struct fuse_in_header *in = buf;
	const struct fuse_init_in *asked = (const struct fuse_init_in *)(in + 1);

	(void)userdata;
	if (n < 0 && errno == ECONNABORTED)
		errno = ENODEV; /* the mount is gone, whichever way */
	if (n >= (ssize_t)(sizeof(*in) + sizeof(*asked)) && in->opcode == FUSE_INIT) {
		init.unique = in->unique;
		init.offered2 = asked->flags & FUSE_INIT_EXT ? asked->flags2 : 0;
	}
	return n;
}

static ssize_t reply(int fd, struct iovec *iov, int count, void *userdata)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	struct overlay *o = userdata;
	struct init_reply *out;

	if (init.unique && h->unique == init.unique && count > 1 && !h->error &&
	    iov[1].iov_len >= sizeof(*out)) {
		out = iov[1].iov_base;
		if (init.offered2 & DIRECT_IO_ALLOW_MMAP) {
			out->flags |= FUSE_INIT_EXT;
			out->flags2 |= DIRECT_IO_ALLOW_MMAP;
			pthread_mutex_lock(&o->lock);
			o->maps = true;
			pthread_mutex_unlock(&o->lock);
		}
		init.unique = 0;
	}
	return writev(fd, iov, count);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	/* One request for each call: copies by way of pipes cost more than they save. */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO |
				  FUSE_CAP_HANDLE_KILLPRIV | FUSE_CAP_WRITEBACK_CACHE);
	conn->want |= conn->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS);
	conn->max_background = 64;
}

int connection_new(struct overlay *o, int fd)
{
	static const struct fuse_custom_io io = {.writev = reply, .read = receive};
	struct fuse_lowlevel_ops ops = {.init = op_init};
	char *argv[] = {(char[]){"leat"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	int rc;

	ops_add_names(&ops);
	ops_add_attributes(&ops);
	ops_add_directories(&ops);
	ops_add_files(&ops);
	ops_add_data(&ops);
	o->session = fuse_session_new(&args, &ops, sizeof(ops), o);
	fuse_opt_free_args(&args);
	if (!o->session) {
		close(fd);
		return -ENOMEM;
	}
	rc = fuse_session_custom_io(o->session, &io, fd);
	if (rc < 0) {
		close(fd);
		return rc == -1 ? -EINVAL : rc;
	}
	return 0;
}

/* As many as wait: a call that blocks must not block the others, nor a close the lock. */
enum { MAX_THREADS = 4096, IDLE_THREADS = 4 };

int connection_loop(struct overlay *o)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int rc;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_idle_threads(config, IDLE_THREADS);
	fuse_loop_cfg_set_clone_fd(config, 0);
	rc = fuse_session_loop_mt(o->session, config);
	fuse_loop_cfg_destroy(config);
	return rc;
}
