#include "trace/preload/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <uthash.h>

struct file_key {
	uint64_t device, inode;
	int64_t birth_ns;
};

struct file {
	struct file_key key;
	uint64_t id;
	UT_hash_handle hh;
};

struct handle {
	uint64_t id;
	struct leat_trace_handle data;
	UT_hash_handle hh;
};

/* Is a device of one of the file systems asked for? */
struct device {
	uint64_t number;
	bool kept;
	UT_hash_handle hh;
};

struct leat_trace_files {
	const struct leat_trace_sink *sink; /* borrowed */
	struct file *files;                 /* owned */
	struct handle *handles;             /* owned */
	struct device *devices;             /* owned */
	uint64_t last_id;
};

struct leat_trace_files *leat_trace_files_new(const struct leat_trace_sink *sink)
{
	struct leat_trace_files *f = calloc(1, sizeof(*f));

	if (f)
		f->sink = sink;
	return f;
}

void leat_trace_files_free(struct leat_trace_files *f)
{
	struct file *file, *next_file;
	struct handle *handle, *next_handle;
	struct device *device, *next_device;

	if (!f)
		return;
	HASH_ITER(hh, f->files, file, next_file)
	{
		HASH_DEL(f->files, file);
		free(file);
	}
	HASH_ITER(hh, f->handles, handle, next_handle)
	{
		HASH_DEL(f->handles, handle);
		free(handle);
	}
	HASH_ITER(hh, f->devices, device, next_device)
	{
		HASH_DEL(f->devices, device);
		free(device);
	}
	free(f);
}

uint64_t leat_trace_files_inode(struct leat_trace_files *f, const struct leat_tracebuf_record *r,
				bool is_new)
{
	const struct file_key key = {r->device, r->inode, r->birth_ns};
	struct file *file;

	if (!r->inode)
		return 0;
	HASH_FIND(hh, f->files, &key, sizeof(key), file);
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file)
			return 0;
		file->key = key;
		HASH_ADD(hh, f->files, key, sizeof(key), file);
		is_new = true;
	}
	if (is_new)
		file->id = ++f->last_id;
	return file->id;
}

/* Type of the file system on that device, as mountinfo has it: is it one of those asked for? */
static bool is_wanted_device(const struct leat_trace_filter *filter, uint64_t number)
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool wanted = false;

	while (in && !wanted && getline(&line, &size, in) >= 0) {
		char type[64];
		unsigned major_number, minor_number;
		const char *dash = strstr(line, " - ");

		if (sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) != 2 || !dash ||
		    makedev(major_number, minor_number) != number ||
		    sscanf(dash, " - %63s", type) != 1)
			continue;
		for (size_t i = 0; i < filter->n_filesystems; i++)
			wanted = wanted || strcmp(type, filter->filesystems[i]) == 0;
	}
	free(line);
	if (in)
		fclose(in);
	return wanted;
}

static bool is_kept_device(struct leat_trace_files *f, uint64_t number)
{
	struct device *d;
	bool kept;

	HASH_FIND(hh, f->devices, &number, sizeof(number), d);
	if (d)
		return d->kept;
	kept = is_wanted_device(&f->sink->request->filter, number);
	d = calloc(1, sizeof(*d));
	if (!d)
		return kept;
	*d = (struct device){.number = number, .kept = kept};
	HASH_ADD(hh, f->devices, number, sizeof(d->number), d);
	return kept;
}

void leat_trace_files_gone(struct leat_trace_files *f, const struct leat_tracebuf_record *r)
{
	const struct file_key key = {r->device, r->inode, r->birth_ns};
	struct file *file;

	HASH_FIND(hh, f->files, &key, sizeof(key), file);
	if (!file)
		return;
	HASH_DEL(f->files, file);
	free(file);
}

bool leat_trace_files_kept(struct leat_trace_files *f, const char *path, uint64_t device)
{
	if (path && !leat_trace_sink_wants_file(f->sink, path, NULL))
		return false;
	if (!path && f->sink->request->filter.n_dirs)
		return false;
	return !f->sink->request->filter.n_filesystems || (device && is_kept_device(f, device));
}

int leat_trace_files_open(struct leat_trace_files *f, uint64_t id,
			  const struct leat_trace_handle *data)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->id = id;
	h->data = *data;
	HASH_ADD(hh, f->handles, id, sizeof(h->id), h);
	return 0;
}

const struct leat_trace_handle *leat_trace_files_find(struct leat_trace_files *f, uint64_t id)
{
	struct handle *h;

	HASH_FIND(hh, f->handles, &id, sizeof(id), h);
	return h ? &h->data : NULL;
}

void leat_trace_files_close(struct leat_trace_files *f, uint64_t id)
{
	struct handle *h;

	HASH_FIND(hh, f->handles, &id, sizeof(id), h);
	if (!h)
		return;
	HASH_DEL(f->handles, h);
	free(h);
}
