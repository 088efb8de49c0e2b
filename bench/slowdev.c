/* A slow storage device that congests: a directory, mounted by FUSE, whose files lie in another one
 * (best in memory), and whose writes take as long as the model of docs/adr/0034 says. So it can be
 * had without root, without a disk, and with the same speed on every machine.
 *
 *     bench_slowdev DIR STORE MBPS [PEAK RAMP KNEE SLOPE]
 *
 * Writes are requests of at most 64 KB, one after the other; k files that are open for writing get
 * X(k) MB/s together. Reads, names and fsync cost nothing: a write is done when it returns. "ready"
 * on standard output means that it is mounted; it ends with the program that started it. It mounts
 * by itself, so it is started where it may: by root, or in a user namespace (unshare -rm). */
#define FUSE_USE_VERSION 314
#include "bench.h"

#include "sched/congestion.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 64 << 10, MAX_THREADS = 1024 };

static struct {
	int store; /* directory that has the files */
	double bandwidth_mbps;
	struct leat_congestion model;
	pthread_mutex_t lock; /* of what follows */
	unsigned n_writers;   /* files open for writing */
	int64_t busy_until_ns;
} device = {
	.model = {.peak = 1.25, .ramp = 1, .knee = 4, .slope = 12},
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* --- time ------------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Wait as long as the device takes for so many bytes, after those it has already. */
static void serve(size_t bytes)
{
	int64_t now = now_ns(), end;
	struct timespec until;
	double mbps;

	pthread_mutex_lock(&device.lock);
	mbps = leat_congestion_mbps(&device.model, device.bandwidth_mbps,
				    device.n_writers ? device.n_writers : 1);
	if (device.busy_until_ns < now)
		device.busy_until_ns = now;
	device.busy_until_ns += (int64_t)((double)bytes * 1e3 / mbps);
	end = device.busy_until_ns;
	pthread_mutex_unlock(&device.lock);
	until = (struct timespec){.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void count_writer(const struct fuse_file_info *file, int change)
{
	if ((file->flags & O_ACCMODE) == O_RDONLY)
		return;
	pthread_mutex_lock(&device.lock);
	device.n_writers += (unsigned)change;
	pthread_mutex_unlock(&device.lock);
}

/* --- files ------------------------------------------------------------------------------------ */

static int result(long returned)
{
	return returned < 0 ? -errno : (int)returned;
}

/* The name below the store. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int opened(int fd, struct fuse_file_info *file)
{
	if (fd < 0)
		return -errno;
	file->fh = (uint64_t)fd;
	/* Past the page cache: the program that writes is the one that waits. */
	file->direct_io = 1;
	count_writer(file, 1);
	return 0;
}

static int op_create(const char *path, mode_t mode, struct fuse_file_info *file)
{
	int flags = (file->flags & ~O_DIRECT) | O_CREAT | O_CLOEXEC;

	return opened(openat(device.store, below(path), flags, mode), file);
}

static int op_open(const char *path, struct fuse_file_info *file)
{
	int flags = (file->flags & ~O_DIRECT) | O_CLOEXEC;

	return opened(openat(device.store, below(path), flags), file);
}

static int op_release(const char *path, struct fuse_file_info *file)
{
	(void)path;
	count_writer(file, -1);
	return result(close((int)file->fh));
}

static int op_read(const char *path, char *to, size_t size, off_t offset,
		   struct fuse_file_info *file)
{
	(void)path;
	return result(pread((int)file->fh, to, size, offset));
}

static int op_write(const char *path, const char *from, size_t size, off_t offset,
		    struct fuse_file_info *file)
{
	(void)path;
	serve(size);
	return result(pwrite((int)file->fh, from, size, offset));
}

static int op_fsync(const char *path, int data_only, struct fuse_file_info *file)
{
	(void)path;
	return result(data_only ? fdatasync((int)file->fh) : fsync((int)file->fh));
}

static int op_truncate(const char *path, off_t size, struct fuse_file_info *file)
{
	int fd = file ? (int)file->fh : openat(device.store, below(path), O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : result(ftruncate(fd, size));

	if (!file && fd >= 0)
		close(fd);
	return ret;
}

/* --- names ------------------------------------------------------------------------------------ */

static int op_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	if (file)
		return result(fstat((int)file->fh, st));
	return result(fstatat(device.store, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int op_unlink(const char *path)
{
	return result(unlinkat(device.store, below(path), 0));
}

static int op_mkdir(const char *path, mode_t mode)
{
	return result(mkdirat(device.store, below(path), mode));
}

static int op_rmdir(const char *path)
{
	return result(unlinkat(device.store, below(path), AT_REMOVEDIR));
}

static int op_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	int fd = openat(device.store, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	DIR *dir;

	(void)offset;
	(void)file;
	(void)flags;
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	for (errno = 0; (entry = readdir(dir));)
		if (fill(to, entry->d_name, NULL, 0, 0))
			break;
	fd = entry ? -ENOMEM : -errno;
	closedir(dir);
	return fd;
}

static void *op_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	connection->max_write = REQUEST_BYTES;
	/* A call's requests come one after the other. */
	connection->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
	connection->max_background = MAX_THREADS;
	config->use_ino = 1;
	/* Otherwise files that are still open are renamed. */
	config->hard_remove = 1;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = op_init,
	.create = op_create,
	.open = op_open,
	.release = op_release,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
	.truncate = op_truncate,
	.getattr = op_getattr,
	.unlink = op_unlink,
	.mkdir = op_mkdir,
	.rmdir = op_rmdir,
	.readdir = op_readdir,
};

/* --- the program ------------------------------------------------------------------------------ */

/* A thread for each request that waits. */
static int loop(struct fuse *fuse)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int ret;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_idle_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_clone_fd(config, 0);
	ret = fuse_loop_mt(fuse, config);
	fuse_loop_cfg_destroy(config);
	return ret;
}

static int serve_directory(const char *dir)
{
	char *argv[] = {(char[]){"bench_slowdev"}, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse *fuse = fuse_new(&args, &operations, sizeof(operations), NULL);
	int status = 1;

	/* What is wrong libfuse says itself. */
	fuse_opt_free_args(&args);
	if (!fuse)
		return 1;
	if (fuse_mount(fuse, dir) == 0) {
		if (fuse_set_signal_handlers(fuse_get_session(fuse)) == 0) {
			printf("ready\n");
			fflush(stdout);
			status = loop(fuse) < 0;
			fuse_remove_signal_handlers(fuse_get_session(fuse));
		}
		fuse_unmount(fuse);
	}
	fuse_destroy(fuse);
	return status;
}

static double positive(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (*end || !(x > 0)) {
		fprintf(stderr, "bench_slowdev: %s: a number above 0 is wanted\n", text);
		exit(2);
	}
	return x;
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 8) {
		fprintf(stderr, "usage: bench_slowdev DIR STORE MBPS [PEAK RAMP KNEE SLOPE]\n");
		return 2;
	}
	device.bandwidth_mbps = positive(argv[3]);
	if (argc == 8)
		device.model = (struct leat_congestion){.peak = positive(argv[4]),
							.ramp = positive(argv[5]),
							.knee = positive(argv[6]),
							.slope = positive(argv[7])};
	device.store = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (device.store < 0)
		bench_die("open", argv[2]);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		bench_die("prctl", argv[1]);
	return serve_directory(argv[1]);
}
