/* Contents of objects and files. */
#include "task/runtime.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leat_buffer *leat_buffer_new(size_t size, bool zero)
{
	struct leat_buffer *buffer;

	if (size > PTRDIFF_MAX - sizeof(*buffer))
		return NULL;
	buffer = zero ? calloc(1, sizeof(*buffer) + size) : malloc(sizeof(*buffer) + size);
	if (buffer) {
		buffer->next = NULL;
		buffer->size = size;
	}
	return buffer;
}

struct leat_version *leat_version_new(struct leat_tasks *t, size_t size)
{
	struct leat_version *version = leat_slab_get(&t->versions);

	if (version)
		*version = (struct leat_version){.size = size, .refs = 1};
	return version;
}

void leat_version_unref(struct leat_tasks *t, struct leat_version *version)
{
	if (!version || --version->refs > 0)
		return;
	t->copies_bytes -= version->charged;
	leat_failure_unref(version->failure);
	if (version->buffer) {
		version->buffer->next = t->garbage;
		t->garbage = version->buffer;
	}
	leat_slab_put(&t->versions, version);
}

int leat_version_fill(struct leat_version *version)
{
	if (version->buffer || version->size == 0 || version->file)
		return 0;
	version->buffer = leat_buffer_new(version->size, true);
	return version->buffer ? 0 : -ENOMEM;
}

/* --- objects --- */

static void unlink_object(struct leat_task_object *object)
{
	*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
}

struct leat_task_object *leat_task_object_new(size_t size)
{
	struct leat_tasks *t = leat_tasks_current();
	struct leat_task_object *object = t ? malloc(sizeof(*object)) : NULL;
	struct leat_version *version = NULL;

	if (!t) {
		errno = EINVAL;
		return NULL;
	}
	leat_tasks_lock(t);
	if (object)
		version = leat_version_new(t, size);
	if (version) {
		*object = (struct leat_task_object){
			.now = version, .size = size, .next = t->objects, .link = &t->objects};
		if (t->objects)
			t->objects->link = &object->next;
		t->objects = object;
	}
	leat_tasks_unlock(t);
	if (version)
		return object;
	free(object);
	leat_tasks_set_error(-ENOMEM, "out of memory for an object of %zu bytes", size);
	errno = ENOMEM;
	return NULL;
}

void leat_task_object_free(struct leat_task_object *object)
{
	struct leat_tasks *t = object ? leat_tasks_current() : NULL;

	if (!t)
		return;
	leat_tasks_lock(t);
	unlink_object(object);
	leat_version_unref(t, object->now);
	leat_tasks_unlock(t);
	free(object);
}

int leat_task_object_set(struct leat_task_object *object, const void *data, size_t size)
{
	struct leat_tasks *t = leat_tasks_current();
	struct leat_buffer *buffer;
	struct leat_version *version;

	if (!t)
		return -EINVAL;
	buffer = leat_buffer_new(size, false);
	if (!buffer)
		return leat_tasks_set_error(-ENOMEM, "out of memory for an object of %zu bytes",
					    size);
	if (size > 0)
		memcpy(buffer->bytes, data, size);
	leat_tasks_lock(t);
	version = leat_version_new(t, size);
	if (version) {
		version->buffer = buffer;
		leat_version_unref(t, object->now);
		object->now = version;
		object->size = size;
	}
	leat_tasks_unlock(t);
	if (version)
		return 0;
	free(buffer);
	return leat_tasks_set_error(-ENOMEM, "out of memory for an object");
}

/* --- files --- */

char *leat_path_real(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *real = realpath(path, NULL), *dir, *parent;

	if (real || errno != ENOENT)
		return real;
	if (!*name || leat_is_dots(name))
		return NULL;
	dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	parent = dir ? realpath(dir, NULL) : NULL;
	real = parent ? leat_path_join(parent, name) : NULL;
	free(parent);
	free(dir);
	return real;
}

struct leat_task_file *leat_file_find(struct leat_tasks *t, const char *path, bool make)
{
	size_t length = strlen(path);
	struct leat_task_file *file;

	HASH_FIND(hh, t->files, path, length, file);
	if (file || !make)
		return file;
	file = malloc(sizeof(*file) + length + 1);
	if (!file)
		return NULL;
	file->now = leat_version_new(t, 0);
	if (!file->now) {
		free(file);
		return NULL;
	}
	file->now->file = file;
	memcpy(file->path, path, length + 1);
	HASH_ADD(hh, t->files, path[0], length, file);
	return file;
}

void leat_file_forget(struct leat_tasks *t, struct leat_task_file *file)
{
	HASH_DEL(t->files, file);
	file->now->file = NULL;
	leat_version_unref(t, file->now);
	free(file);
}

/* --- all --- */

void leat_data_release(struct leat_tasks *t)
{
	struct leat_task_file *file, *next;

	while (t->objects) {
		struct leat_task_object *object = t->objects;

		unlink_object(object);
		leat_version_unref(t, object->now);
		free(object);
	}
	HASH_ITER(hh, t->files, file, next)
	leat_file_forget(t, file);
}
