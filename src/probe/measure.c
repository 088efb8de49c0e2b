/* One measurement: so many threads write a file each, up to the device, and read it again. */
#include "probe/probe.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK = 1 << 20,
	DATA = 8 << 20,    /* of leat_probe_data */
	SAMPLE = 16 << 20, /* what each writes to begin with */
};

struct writer {
	pthread_t thread;
	struct point *point; /* borrowed */
	int fd;
	unsigned number;
	int error; /* -errno */
};

/* Threads come and go between two times of the clock; the files stay. */
struct point {
	const struct leat_probe_options *options; /* borrowed */
	const char *data;                         /* borrowed */
	struct writer *writers;                   /* owned */
	pthread_mutex_t lock;
	pthread_cond_t gate;
	enum { CLOSED, OPEN, GIVEN_UP } state;
	uint64_t bytes; /* each is to write */
	bool cached;
};

void *leat_probe_data(void)
{
	uint64_t *data = aligned_alloc(BLOCK, DATA), x = UINT64_C(0x9e3779b97f4a7c15);

	if (!data)
		return NULL;
	for (size_t i = 0; i < DATA / sizeof(*data); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = x;
	}
	return data;
}

/* --- what the threads do --- */

static int write_file(struct writer *w)
{
	const struct point *p = w->point;

	if (lseek(w->fd, 0, SEEK_SET) < 0)
		return -errno;
	for (uint64_t at = 0; at < p->bytes; at += BLOCK) {
		size_t from = (size_t)((at / BLOCK + w->number) % (DATA / BLOCK)) * BLOCK;
		int ret = leat_write_all(w->fd, p->data + from, BLOCK);

		if (ret < 0)
			return ret;
	}
	return fsync(w->fd) < 0 ? -errno : 0;
}

static int read_file(struct writer *w)
{
	void *block = NULL;
	long n = 1;

	if (posix_memalign(&block, BLOCK, BLOCK) != 0)
		return -ENOMEM;
	if (lseek(w->fd, 0, SEEK_SET) < 0)
		n = -errno;
	while (n > 0)
		n = leat_read_all(w->fd, block, BLOCK);
	free(block);
	return (int)n;
}

/* Nobody begins before all are there. */
static bool pass_gate(struct point *p)
{
	bool open;

	pthread_mutex_lock(&p->lock);
	while (p->state == CLOSED)
		pthread_cond_wait(&p->gate, &p->lock);
	open = p->state == OPEN;
	pthread_mutex_unlock(&p->lock);
	return open;
}

static void *write_thread(void *data)
{
	struct writer *w = data;

	if (pass_gate(w->point))
		w->error = write_file(w);
	return NULL;
}

static void *read_thread(void *data)
{
	struct writer *w = data;

	if (pass_gate(w->point))
		w->error = read_file(w);
	return NULL;
}

/* --- a point --- */

static void set_gate(struct point *p, int state)
{
	pthread_mutex_lock(&p->lock);
	p->state = state;
	pthread_cond_broadcast(&p->gate);
	pthread_mutex_unlock(&p->lock);
}

static int run_all(struct point *p, void *(*work)(void *), double *took_s)
{
	unsigned n = p->options->tasks, made = 0;
	uint64_t begin;
	int ret = 0;

	set_gate(p, CLOSED);
	while (made < n && ret == 0) {
		ret = -pthread_create(&p->writers[made].thread, NULL, work, &p->writers[made]);
		made += ret == 0;
	}
	begin = leat_clock_ns();
	set_gate(p, ret == 0 ? OPEN : GIVEN_UP);
	for (unsigned i = 0; i < made; i++) {
		pthread_join(p->writers[i].thread, NULL);
		if (ret == 0)
			ret = p->writers[i].error;
	}
	*took_s = (double)(leat_clock_ns() - begin) / 1e9;
	return ret;
}

/* Reads are to come from the device: with O_DIRECT, or after the page cache was told to forget. */
static int prepare_read(struct point *p)
{
	for (unsigned i = 0; i < p->options->tasks; i++) {
		int fd = p->writers[i].fd, error;

		error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (error)
			return -error;
		if (fcntl(fd, F_SETFL, O_DIRECT) < 0)
			p->cached = true;
	}
	return 0;
}

static int prepare_write(struct point *p)
{
	int flags = p->options->method == LEAT_PROBE_DIRECT ? O_DIRECT : 0;

	for (unsigned i = 0; i < p->options->tasks; i++)
		if (fcntl(p->writers[i].fd, F_SETFL, flags) < 0 ||
		    ftruncate(p->writers[i].fd, 0) < 0)
			return -errno;
	return 0;
}

static int open_files(struct point *p)
{
	for (unsigned i = 0; i < p->options->tasks; i++) {
		char *name = leat_path_join(p->options->dir, ".leat-probe-XXXXXX");
		int ret = 0;

		if (!name)
			return -ENOMEM;
		p->writers[i].fd = mkostemp(name, O_CLOEXEC);
		if (p->writers[i].fd < 0 || unlink(name) < 0)
			ret = -errno;
		free(name);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Writes more until it has taken long enough. */
static int measure(struct point *p, struct leat_probe_result *r)
{
	const struct leat_probe_options *o = p->options;
	uint64_t most = o->max_bytes / o->tasks / BLOCK * BLOCK;
	int ret;

	p->bytes = SAMPLE;
	for (;;) {
		if (p->bytes > most)
			p->bytes = most > BLOCK ? most : BLOCK;
		ret = prepare_write(p);
		if (ret == 0)
			ret = run_all(p, write_thread, &r->write_s);
		if (ret < 0)
			return ret;
		if (r->write_s >= o->seconds || p->bytes >= most)
			break;
		p->bytes *= r->write_s < o->seconds / 8 ? 8 : 2;
	}
	ret = prepare_read(p);
	if (ret == 0)
		ret = run_all(p, read_thread, &r->read_s);
	r->bytes = p->bytes * o->tasks;
	return ret;
}

int leat_probe_measure(const struct leat_probe_options *options, const void *data,
		       struct leat_probe_result *result)
{
	struct point p = {.options = options,
			  .data = data,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .gate = PTHREAD_COND_INITIALIZER};
	struct leat_probe_result r = {.tasks = options->tasks};
	int ret;

	p.writers = calloc(options->tasks, sizeof(*p.writers));
	if (!p.writers)
		return -ENOMEM;
	for (unsigned i = 0; i < options->tasks; i++)
		p.writers[i] = (struct writer){.point = &p, .fd = -1, .number = i};
	ret = open_files(&p);
	if (ret == 0)
		ret = measure(&p, &r);
	for (unsigned i = 0; i < options->tasks; i++)
		leat_close(&p.writers[i].fd);
	free(p.writers);
	if (ret < 0)
		return ret;
	r.cached = p.cached;
	r.write_mbps = (double)r.bytes / 1e6 / r.write_s;
	r.read_mbps = (double)r.bytes / 1e6 / r.read_s;
	*result = r;
	return 0;
}
