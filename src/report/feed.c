#include "report/feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	RECORDS = 1024, /* of a batch */
	BATCHES = 3,
	STRINGS = 4,            /* of a record, at most */
	TEXT_BYTES = 256 << 10, /* a batch ends when its strings are more */
};

/* Records that were read, with their strings. */
struct batch {
	struct leat_trace_record v[RECORDS];
	size_t at[RECORDS][STRINGS]; /* where in the text the strings of each are */
	size_t n;
	char *text; /* owned; it may move until all are read */
	size_t length, capacity;
	int status; /* behind the records: 1 more follow, 0 the end, -errno */
	char *why;  /* owned; of status -EBADMSG; NULL */
};

struct leat_feed {
	struct leat_trace_reader *reader; /* borrowed */
	struct batch *batches;            /* owned; BATCHES */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	size_t filled, taken; /* batches, in all */
	bool stop;
	/* Of who takes. */
	size_t at;     /* in the batch `taken` */
	bool reported; /* the batch's status was returned */
	bool holds;
};

/* ---- strings ---- */

/* All strings of a record, so that they are copied, and found again. */
static size_t strings(struct leat_trace_record *r, const char **v[STRINGS])
{
	size_t n = 0;

	switch (r->kind) {
	case LEAT_TRACE_CALL:
		v[n++] = &r->call.path;
		v[n++] = &r->call.to;
		v[n++] = &r->call.outside;
		v[n++] = &r->call.to_outside;
		break;
	case LEAT_TRACE_PROCESS:
		v[n++] = &r->process.program;
		v[n++] = &r->process.dir;
		v[n++] = &r->process.labels;
		break;
	case LEAT_TRACE_CGROUP:
		v[n++] = &r->cgroup.path;
		break;
	case LEAT_TRACE_MOUNT:
		v[n++] = &r->mount.at;
		v[n++] = &r->mount.from;
		v[n++] = &r->mount.type;
		break;
	case LEAT_TRACE_UNSEEN:
		v[n++] = &r->unseen.program;
		v[n++] = &r->unseen.why;
		break;
	}
	return n;
}

static int copy_string(struct batch *b, const char *string, size_t *at)
{
	size_t size = string ? strlen(string) + 1 : 0;

	if (!size)
		return 0;
	if (b->length + size > b->capacity) {
		size_t capacity = b->capacity ? b->capacity : TEXT_BYTES;
		char *text;

		while (capacity < b->length + size)
			capacity *= 2;
		text = realloc(b->text, capacity);
		if (!text)
			return -ENOMEM;
		b->text = text;
		b->capacity = capacity;
	}
	memcpy(b->text + b->length, string, size);
	*at = b->length;
	b->length += size;
	return 0;
}

static void place_strings(struct batch *b, size_t record)
{
	const char **v[STRINGS];
	size_t n = strings(&b->v[record], v);

	for (size_t i = 0; i < n; i++)
		if (*v[i])
			*v[i] = b->text + b->at[record][i];
}

/* ---- the thread that reads ---- */

static bool has_names(const struct leat_trace_call *c)
{
	return c->path || c->to || c->outside || c->to_outside;
}

static int read_one(struct leat_feed *f, struct batch *b)
{
	struct leat_trace_record *r = &b->v[b->n];
	const char **v[STRINGS];
	size_t n;
	int status = leat_trace_read(f->reader, r);

	if (status == -EBADMSG) {
		b->why = strdup(leat_trace_reader_why(f->reader));
		return b->why ? -EBADMSG : -ENOMEM;
	}
	if (status <= 0)
		return status;
	n = r->kind == LEAT_TRACE_CALL && !has_names(&r->call) ? 0 : strings(r, v);
	for (size_t i = 0; i < n; i++)
		if (copy_string(b, *v[i], &b->at[b->n][i]))
			return -ENOMEM;
	b->n++;
	return 1;
}

static void fill(struct leat_feed *f, struct batch *b)
{
	free(b->why);
	b->why = NULL;
	b->n = b->length = 0;
	b->status = 1;
	while (b->status > 0 && b->n < RECORDS && b->length < TEXT_BYTES)
		b->status = read_one(f, b);
	for (size_t i = 0; i < b->n; i++)
		place_strings(b, i);
}

static void *read_all(void *ctx)
{
	struct leat_feed *f = ctx;
	bool stop = false;

	while (!stop) {
		struct batch *b = &f->batches[f->filled % BATCHES];

		pthread_mutex_lock(&f->lock);
		while (f->filled - f->taken == BATCHES && !f->stop)
			pthread_cond_wait(&f->changed, &f->lock);
		stop = f->stop;
		pthread_mutex_unlock(&f->lock);
		if (stop)
			break;
		fill(f, b);
		stop = b->status <= 0 && b->status != -EBADMSG;
		pthread_mutex_lock(&f->lock);
		f->filled++;
		pthread_cond_signal(&f->changed);
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

/* ---- who takes ---- */

static struct batch *next_batch(struct leat_feed *f)
{
	pthread_mutex_lock(&f->lock);
	if (f->holds)
		f->taken++;
	f->holds = true;
	pthread_cond_signal(&f->changed);
	while (f->filled == f->taken)
		pthread_cond_wait(&f->changed, &f->lock);
	pthread_mutex_unlock(&f->lock);
	f->at = 0;
	f->reported = false;
	return &f->batches[f->taken % BATCHES];
}

int leat_feed_next(struct leat_feed *f, const struct leat_trace_record **record)
{
	struct batch *b = f->holds ? &f->batches[f->taken % BATCHES] : next_batch(f);

	for (;;) {
		if (f->at < b->n) {
			*record = &b->v[f->at++];
			return 1;
		}
		if (b->status == -EBADMSG && !f->reported) {
			f->reported = true;
			return -EBADMSG;
		}
		if (b->status <= 0 && b->status != -EBADMSG)
			return b->status;
		b = next_batch(f);
	}
}

const char *leat_feed_why(const struct leat_feed *f)
{
	const char *why = f->holds ? f->batches[f->taken % BATCHES].why : NULL;

	return why ? why : "";
}

struct leat_feed *leat_feed_new(struct leat_trace_reader *reader)
{
	struct leat_feed *f = calloc(1, sizeof(*f));
	int error;

	if (!f)
		return NULL;
	f->reader = reader;
	f->batches = calloc(BATCHES, sizeof(*f->batches));
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	error = f->batches ? pthread_create(&f->thread, NULL, read_all, f) : ENOMEM;
	if (!error)
		return f;
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f->batches);
	free(f);
	errno = error;
	return NULL;
}

void leat_feed_free(struct leat_feed *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	for (size_t i = 0; i < BATCHES; i++) {
		free(f->batches[i].text);
		free(f->batches[i].why);
	}
	free(f->batches);
	free(f);
}
