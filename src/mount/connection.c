/* The FUSE connection: libfuse speaks the protocol; what the kernel offers beyond the library's
 * version is asked for in its messages on their way. */
#include "base/log.h"
#include "mount/internal.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of FUSE_INIT's flags2, since Linux 6.6 and 6.9. */
#define DIRECT_IO_ALLOW_MMAP (UINT32_C(1) << 4)
#define PASSTHROUGH (UINT32_C(1) << 5)
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

/* The request being answered by this thread needs its reply amended. */
static _Thread_local struct {
	uint64_t init; /* unique of a FUSE_INIT, 0: none */
	uint32_t offered, offered2;
	int32_t backing; /* for the next reply to an open */
} amend;

static ssize_t receive(int fd, void *buf, size_t size, void *userdata)
{
	ssize_t n = read(fd, buf, size);
	const struct fuse_in_header *in = buf;
	const struct fuse_init_in *init = (const struct fuse_init_in *)(in + 1);

	(void)userdata;
	if (n < 0 && errno == ECONNABORTED)
		errno = ENODEV; /* the mount is gone, whichever way */
	if (n >= (ssize_t)(sizeof(*in) + sizeof(*init)) && in->opcode == FUSE_INIT) {
		amend.init = in->unique;
		amend.offered = init->flags;
		amend.offered2 = init->flags & FUSE_INIT_EXT ? init->flags2 : 0;
	}
	return n;
}

static void amend_init(struct leat_mount *m, struct init_reply *out)
{
	uint32_t wanted = amend.offered2 & DIRECT_IO_ALLOW_MMAP;

	if (amend.offered2 & PASSTHROUGH && m->as_root)
		wanted |= PASSTHROUGH;
	/* Without it the kernel asks for security.capability before each write. */
	out->flags |= amend.offered & FUSE_HANDLE_KILLPRIV_V2;
	if (wanted) {
		out->flags |= FUSE_INIT_EXT;
		out->flags2 |= wanted;
		out->max_stack_depth = wanted & PASSTHROUGH ? 1 : 0;
	}
	m->direct_mmap = wanted & DIRECT_IO_ALLOW_MMAP;
	m->passthrough = wanted & PASSTHROUGH;
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

int32_t leat_connection_back(struct leat_mount *m, int fd)
{
	struct backing_map map = {.fd = fd};
	int id;

	if (!m->passthrough)
		return 0;
	id = ioctl(fuse_session_fd(m->session), DEV_IOC_BACKING_OPEN, &map);
	if (id <= 0)
		m->passthrough = false; /* not with these rights: we read ourselves */
	return id > 0 ? id : 0;
}

void leat_connection_unback(struct leat_mount *m, int32_t backing)
{
	uint32_t id = (uint32_t)backing;

	if (backing)
		ioctl(fuse_session_fd(m->session), DEV_IOC_BACKING_CLOSE, &id);
}

/* What is stored in the kernel's pages makes the file that long, and voids answers to earlier
 * questions about it. The page is still one to be read, unless the byte is all there is of it. The
 * kernel holds no lock during an open or a seek that this would wait for; the page is locked by who
 * reads it, and such a read of a final file is answered without waiting. */
void leat_connection_size(struct leat_mount *m, fuse_ino_t ino, int fd, uint64_t size)
{
	struct fuse_bufvec last = FUSE_BUFVEC_INIT(1);
	char byte;
	int rc;

	last.buf[0].mem = &byte;
	if (!size || pread(fd, &byte, 1, (off_t)size - 1) != 1)
		return; /* it was cut again */
	rc = fuse_lowlevel_notify_store(m->session, ino, (off_t)size - 1, &last,
					FUSE_BUF_NO_SPLICE);
	if (rc && rc != -ENOENT)
		leat_warn("cannot tell the kernel that a file has grown: %s; a program that maps "
			  "it may get SIGBUS",
			  strerror(-rc));
}

void leat_connection_opened(fuse_req_t req, const struct leat_handle *h, struct fuse_file_info *fi,
			    const struct fuse_entry_param *e)
{
	amend.backing = h->backing;
	if (e)
		fuse_reply_create(req, e, fi);
	else
		fuse_reply_open(req, fi);
	amend.backing = 0;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	/* One request for each call: copies by way of pipes cost more than they save. */
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_READDIRPLUS |
			    FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_HANDLE_KILLPRIV);
	conn->want |= conn->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
				       FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_ASYNC_DIO);
	conn->max_readahead = 1u << 20;
	conn->max_background = 64;
}

int leat_connection_new(struct leat_mount *m, int fd)
{
	static const struct fuse_custom_io io = {.writev = reply, .read = receive};
	struct fuse_lowlevel_ops ops = {.init = op_init};
	char *argv[] = {(char[]){"leat"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	int rc;

	leat_ops_add_names(&ops);
	leat_ops_add_attributes(&ops);
	leat_ops_add_directories(&ops);
	leat_ops_add_files(&ops);
	leat_ops_add_data(&ops);
	m->session = fuse_session_new(&args, &ops, sizeof(ops), m);
	fuse_opt_free_args(&args);
	if (!m->session) {
		close(fd);
		return -ENOMEM;
	}
	rc = fuse_session_custom_io(m->session, &io, fd);
	if (rc < 0) {
		close(fd);
		return rc == -1 ? -EINVAL : rc;
	}
	return 0;
}

/* A thread for each request that waits: the blocked must not block the others. */
enum { MAX_THREADS = 4096, IDLE_THREADS = 8 };

int leat_connection_loop(struct leat_mount *m)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int rc;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_idle_threads(config, IDLE_THREADS);
	fuse_loop_cfg_set_clone_fd(config, 0);
	rc = fuse_session_loop_mt(m->session, config);
	fuse_loop_cfg_destroy(config);
	return rc;
}
