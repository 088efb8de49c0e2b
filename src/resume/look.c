/* The files of a step on disk: names are looked at, patterns and directories searched. */
#include "resume/internal.h"

#include "base/fd.h"
#include "base/str.h"
#include "store/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct look {
	int dir_fd;
	const struct leat_workflow *wf;
	struct leat_matcher *m;
	int step;
	enum leat_side side;
	struct leat_stamped_list *out;
};

bool leat_is_made(const struct leat_workflow *wf, const struct leat_file_rule *rule)
{
	int n = (int)wf->n_steps;

	return leat_steps_next(rule->producers, 0, n) < n;
}

static bool is_wanted(const struct look *l, const struct leat_file_rule *rule)
{
	const uint64_t *side = l->side == LEAT_SIDE_OUTPUTS ? rule->producers : rule->consumers;
	bool made = leat_is_made(l->wf, rule);

	return !rule->excluded && leat_steps_has(side, l->step) && (rule->permanent || !made) &&
	       l->side != (made ? LEAT_SIDE_GIVEN : LEAT_SIDE_MADE);
}

static int search(const struct look *l, const char *dir, bool linked);

static bool is_directory(const struct look *l, const char *name, int flags)
{
	struct stat st;

	return fstatat(l->dir_fd, name, &st, flags) == 0 && S_ISDIR(st.st_mode);
}

/* One name: a file of the step's, a directory to be searched, or nothing of both. Of links to
 * directories one on the way is followed (`linked`: one was): more may lead in circles. */
static int look_at(const struct look *l, const char *name, bool linked)
{
	const struct leat_file_rule *rule = leat_match(l->m, name);
	struct leat_stamp stamp;
	int rc;

	if (!rule)
		return -ENOMEM;
	if (is_directory(l, name, AT_SYMLINK_NOFOLLOW))
		return search(l, name, linked);
	if (!linked && is_directory(l, name, 0))
		return search(l, name, true);
	if (!is_wanted(l, rule))
		return 0;
	rc = leat_stamp_take(l->dir_fd, name, &stamp);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return 0;
	return rc ? rc : leat_stamped_add(l->out, name, &stamp);
}

static bool may_hold(const struct look *l, const char *dir)
{
	return l->side == LEAT_SIDE_OUTPUTS ? leat_step_writes_below(l->m, l->step, dir)
					    : leat_step_reads_below(l->m, l->step, dir);
}

static int search(const struct look *l, const char *dir, bool linked)
{
	char path[PATH_MAX];
	int fd, rc = 0;
	struct dirent *e;
	DIR *stream;

	if (!may_hold(l, dir))
		return 0;
	fd = openat(l->dir_fd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		rc = -errno;
		leat_close(&fd);
		return rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
	}
	while (!rc && (e = readdir(stream)))
		if (!leat_is_dots(e->d_name) && !leat_is_temporary_name(e->d_name) &&
		    leat_path_put(path, dir, e->d_name))
			rc = look_at(l, path, linked);
	closedir(stream);
	return rc;
}

int leat_look(int dir_fd, const struct leat_workflow *wf, struct leat_matcher *m, size_t step,
	      enum leat_side side, struct leat_stamped_list *out)
{
	const struct leat_names *names =
		side == LEAT_SIDE_OUTPUTS ? &wf->steps[step].outputs : &wf->steps[step].inputs;
	const struct look l = {
		.dir_fd = dir_fd, .wf = wf, .m = m, .step = (int)step, .side = side, .out = out};
	int rc = 0;

	for (size_t i = 0; !rc && i < names->n; i++) {
		const char *text = names->v[i].text;
		char dir[PATH_MAX];

		if (!leat_pattern_is_wild(text)) {
			rc = look_at(&l, text, false);
			continue;
		}
		snprintf(dir, sizeof(dir), "%.*s", (int)leat_pattern_directory(text), text);
		rc = search(&l, dir, false);
	}
	leat_stamped_sort(out);
	return rc;
}
