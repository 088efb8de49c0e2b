/* Libraries that the dynamic loader finds by a search: the directories in which ld.so(8) looks for
 * each, in its order, for the program, for what LD_PRELOAD names and for what these need. Done only
 * if one of these directories, as far as the environment and the program name them, is inside, or
 * the program needs a library by a path. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/elf_links.h"
#include "preload/core/call.h"
#include "preload/core/text.h"
#include "preload/exec/cache.h"
#include "preload/exec/exec.h"
#include "preload/path/program.h"

#define MAX_OBJECTS 512
#define MAX_TEXT (256u << 10)

#if defined(__x86_64__)
#define PLATFORM "x86_64"
#elif defined(__aarch64__)
#define PLATFORM "aarch64"
#else
#define PLATFORM "riscv64"
#endif

/* What $LIB may stand for: that is built into the loader. */
static const char *const lib_names[] = {"lib/" PLATFORM "-linux-gnu", "lib64", "lib"};
/* Where the loader looks last. */
static const char system_path[] = "/lib/" PLATFORM "-linux-gnu:/usr/lib/" PLATFORM
				  "-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";

/* A program or library; its strings are the search's. */
struct object {
	const char *name;            /* by which it is needed */
	const char *path;            /* NULL: not found, or its own file is open */
	const char *rpath, *runpath; /* NULL: none */
	const struct object *parent; /* that needs it */
	size_t origin;               /* length of the directory in `path` */
};

/* In a mapping, of which mostly its beginning only is touched. */
struct search {
	const struct leat_loader_orders *orders;
	struct leat_cache cache;
	size_t n_objects, n_text;
	struct leat_elf_links links;
	char path[PATH_MAX], buffer[PATH_MAX], string[PATH_MAX];
	struct object objects[MAX_OBJECTS];
	char text[MAX_TEXT];
};

static ssize_t read_at(int fd, void *buffer, size_t size, off_t at)
{
	return leat_raw(SYS_pread64, fd, (long)buffer, (long)size, at, 0, 0);
}

/* NULL: there is no space, and what comes after is not looked at. */
static const char *keep(struct search *s, const char *text)
{
	size_t size = strlen(text) + 1;
	char *at = s->text + s->n_text;

	if (size > sizeof s->text - s->n_text)
		return NULL;
	memcpy(at, text, size);
	s->n_text += size;
	return at;
}

/* ---- a directory of a list ---- */

static size_t token(const char *text, const char *name)
{
	size_t n = strlen(name);

	if (text[0] == '$' && strncmp(text + 1, name, n) == 0)
		return n + 1;
	if (text[0] == '$' && text[1] == '{' && strncmp(text + 2, name, n) == 0 &&
	    text[n + 2] == '}')
		return n + 3;
	return 0;
}

/* `size` bytes of `text`, in which an object's tokens are replaced. True: it has $LIB. */
static bool expand(struct leat_text *t, const char *text, size_t size, const struct object *of,
		   const char *lib)
{
	bool has_lib = false;

	for (size_t i = 0; i < size;) {
		size_t n;

		if ((n = token(text + i, "ORIGIN")) != 0) {
			leat_text_add_n(t, of->path ? of->path : "", of->path ? of->origin : 0);
		} else if ((n = token(text + i, "LIB")) != 0) {
			leat_text_add(t, lib);
			has_lib = true;
		} else if ((n = token(text + i, "PLATFORM")) != 0) {
			leat_text_add(t, PLATFORM);
		} else {
			n = 1;
			leat_text_add_n(t, text + i, 1);
		}
		i += n;
	}
	return has_lib;
}

/* The path of `name` in a directory of a list into s->path. True: there is another, by $LIB. */
static bool join(struct search *s, const char *dir, size_t size, const struct object *of,
		 unsigned lib, const char *name)
{
	struct leat_text t = leat_text_in(s->path, sizeof s->path);
	bool more;

	s->path[0] = '\0';
	more = expand(&t, dir, size, of, lib_names[lib]) &&
	       lib + 1 < sizeof lib_names / sizeof *lib_names;
	leat_text_add(&t, size ? "/" : "./");
	leat_text_add(&t, name);
	if (t.full)
		s->path[0] = '\0';
	return more;
}

static size_t element(const char *list)
{
	size_t n = 0;

	while (list[n] && list[n] != ':' && list[n] != ';')
		n++;
	return n;
}

/* Is one of the directories inside? */
static bool leads_inside(struct search *s, const char *list, const struct object *of)
{
	bool last = !list || !*list;

	while (!last) {
		size_t n = element(list);
		unsigned lib = 0;
		bool more;

		do {
			more = join(s, list, n, of, lib++, "x");
			if (s->path[0] && leat_exec_is_inside(s->path, s->buffer))
				return true;
		} while (more);
		last = !list[n];
		list += n + 1;
	}
	return false;
}

static enum leat_sight look_in(struct search *s, const char *list, const struct object *of,
			       const char *name, bool waits)
{
	bool last = !list || !*list;

	while (!last) {
		size_t n = element(list);
		enum leat_sight sight = LEAT_SIGHT_NOTHING;
		unsigned lib = 0;
		bool more;

		do {
			more = join(s, list, n, of, lib++, name);
			if (s->path[0])
				sight = leat_exec_look(s->path, waits, s->buffer);
		} while (more && sight == LEAT_SIGHT_NOTHING);
		if (sight != LEAT_SIGHT_NOTHING)
			return sight;
		last = !list[n];
		list += n + 1;
	}
	return LEAT_SIGHT_NOTHING;
}

/* ---- one library ---- */

/* The directories that are named somewhere. */
static enum leat_sight look_where_named(struct search *s, const struct object *by, const char *name,
					bool waits)
{
	enum leat_sight sight = LEAT_SIGHT_NOTHING;

	if (!by->runpath)
		for (const struct object *o = by; o && sight == LEAT_SIGHT_NOTHING; o = o->parent)
			if (o->rpath && !o->runpath)
				sight = look_in(s, o->rpath, o, name, waits);
	if (sight == LEAT_SIGHT_NOTHING)
		sight = look_in(s, s->orders->path, s->objects, name, waits);
	if (sight == LEAT_SIGHT_NOTHING)
		sight = look_in(s, by->runpath, by, name, waits);
	return sight;
}

/* A name that a pattern only may match is waited for if nothing else has it. */
static enum leat_sight look_for(struct search *s, const struct object *by, const char *name)
{
	struct leat_text t = leat_text_in(s->path, sizeof s->path);
	enum leat_sight sight;
	const char *cached;

	if (strchr(name, '/')) {
		expand(&t, name, strlen(name), by, lib_names[0]);
		return t.full ? LEAT_SIGHT_NOTHING : leat_exec_look(s->path, true, s->buffer);
	}
	sight = look_where_named(s, by, name, false);
	if (sight != LEAT_SIGHT_NOTHING)
		return sight;
	cached = leat_cache_find(&s->cache, name);
	if (cached && strlen(cached) < sizeof s->path) {
		memcpy(s->path, cached, strlen(cached) + 1);
		return LEAT_SIGHT_SAME;
	}
	sight = look_in(s, system_path, by, name, false);
	return sight == LEAT_SIGHT_NOTHING ? look_where_named(s, by, name, true) : sight;
}

static bool is_known(const struct search *s, const char *name)
{
	for (size_t i = 0; i < s->n_objects; i++)
		if (s->objects[i].name && strcmp(s->objects[i].name, name) == 0)
			return true;
	return strncmp(name, "ld-linux", 8) == 0; /* is there already */
}

/* True: the loader would not see it where it is, which s->path says. */
static bool add(struct search *s, const struct object *by, const char *name)
{
	struct object *o = &s->objects[s->n_objects];
	enum leat_sight sight;

	if (s->n_objects == MAX_OBJECTS || is_known(s, name))
		return false;
	*o = (struct object){.parent = by, .name = keep(s, name)};
	if (!o->name)
		return false;
	sight = look_for(s, by, o->name);
	if (sight == LEAT_SIGHT_OTHER)
		return true;
	if (sight == LEAT_SIGHT_SAME)
		o->path = keep(s, s->path);
	o->origin =
		o->path && strrchr(o->path, '/') ? (size_t)(strrchr(o->path, '/') - o->path) : 0;
	s->n_objects++;
	return false;
}

/* ---- what needs it ---- */

static const char *take_path(struct search *s, int fd, uint32_t offset)
{
	if (!offset ||
	    !leat_elf_links_text(fd, read_at, &s->links, offset, s->string, sizeof s->string))
		return NULL;
	return keep(s, s->string);
}

static void take_paths(struct search *s, int fd, struct object *o)
{
	o->rpath = take_path(s, fd, s->links.rpath);
	o->runpath = take_path(s, fd, s->links.runpath);
}

/* s->links are those of `o`, which is open. */
static bool add_needed(struct search *s, int fd, const struct object *o)
{
	for (uint32_t i = 0; i < s->links.n_needed; i++)
		if (leat_elf_links_text(fd, read_at, &s->links, s->links.needed[i], s->string,
					sizeof s->string) &&
		    add(s, o, s->string))
			return true;
	return false;
}

static bool has_slash(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == '/')
			return true;
	return false;
}

static bool add_listed(struct search *s, const char *list, char separator)
{
	while (list && *list) {
		size_t n = 0;

		while (list[n] && list[n] != ':' && list[n] != separator)
			n++;
		if (n && n < sizeof s->string && !has_slash(list, n)) {
			memcpy(s->string, list, n);
			s->string[n] = '\0';
			if (add(s, s->objects, s->string))
				return true;
		}
		list += n + (list[n] != '\0');
	}
	return false;
}

static bool add_all(struct search *s, int fd)
{
	if (add_listed(s, s->orders->preload, ' ') || add_listed(s, s->orders->audit, ':') ||
	    add_needed(s, fd, s->objects))
		return true;
	for (size_t i = 1; i < s->n_objects; i++) {
		struct object *o = &s->objects[i];
		bool found = false;
		long at = o->path ? leat_raw(SYS_openat, AT_FDCWD, (long)o->path,
					     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0)
				  : -ENOENT;

		if (at < 0)
			continue;
		if (leat_elf_links_read((int)at, read_at, &s->links)) {
			take_paths(s, (int)at, o);
			found = add_needed(s, (int)at, o);
		}
		leat_raw(SYS_close, at, 0, 0, 0, 0, 0);
		if (found)
			return true;
	}
	return false;
}

/* ---- whether to search at all ---- */

/* Without a look for directories: this is every exec. */
static bool has_reason(int fd, const struct leat_loader_orders *orders,
		       const struct leat_elf_links *links, bool *by_path)
{
	char name[256];

	*by_path = false;
	for (uint32_t i = 0; i < links->n_needed && !*by_path; i++)
		*by_path = !leat_elf_links_text(fd, read_at, links, links->needed[i], name,
						sizeof name) ||
			   strchr(name, '/');
	return *by_path || links->rpath || links->runpath || (orders->path && *orders->path);
}

static void take_program(struct search *s, int fd)
{
	struct object *o = &s->objects[0];

	s->n_objects = 1;
	if (leat_fd_name(fd, s->path, sizeof s->path) > 0 && strchr(s->path, '/')) {
		o->path = keep(s, s->path);
		o->origin = (size_t)(strrchr(o->path, '/') - o->path);
	}
	take_paths(s, fd, o);
}

static bool search(struct search *s, int fd, bool by_path)
{
	const struct object *o = s->objects;

	take_program(s, fd);
	if (!by_path && !leads_inside(s, s->orders->path, o) && !leads_inside(s, o->rpath, o) &&
	    !leads_inside(s, o->runpath, o))
		return false;
	return add_all(s, fd);
}

bool leat_exec_search(int fd, const struct leat_loader_orders *orders, char *out, size_t size)
{
	struct leat_elf_links links;
	struct leat_text t;
	struct search *s;
	bool by_path, found;
	long at;

	if (!leat_elf_links_read(fd, read_at, &links) || !has_reason(fd, orders, &links, &by_path))
		return false;
	at = leat_raw(SYS_mmap, 0, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (at < 0 && at > -4096)
		return false;
	s = (struct search *)at;
	s->orders = orders;
	s->links = links;
	found = search(s, fd, by_path);
	if (found) {
		t = leat_text_in(out, size);
		leat_text_add_n(&t, s->path, strnlen(s->path, size - 1));
	}
	leat_cache_release(&s->cache);
	leat_raw(SYS_munmap, (long)s, sizeof *s, 0, 0, 0, 0);
	return found;
}
