#include "daemon/files/moving.h"

#include "daemon/files/files.h"

#include <string.h>

/* It is not being moved any more. Clients that had to wait look where it is. */
void leat_move_end(struct leat_file *f)
{
	struct leat_move *m = f->move;
	struct leat_shm_file *s = leat_file_shm(m->d, f);

	m->f = NULL;
	f->move = NULL;
	if (m->live && leat_shm_generation(s) != m->generation + LEAT_GENERATION_NEXT)
		leat_shm_set_generation(s, m->generation);
	leat_shm_file_update(s, 0, 0);
}

void leat_move_forget(struct leat_file *f)
{
	if (f->move)
		leat_move_end(f);
}

bool leat_move_is_live(const struct leat_file *f)
{
	return f->move && f->move->live;
}

struct leat_file *leat_move_below(struct leat_daemon *d, const char *path)
{
	size_t length = strlen(path);
	struct leat_move *m;

	DL_FOREACH(d->files->moves, m)
	if (m->f && strncmp(m->f->name, path, length) == 0 &&
	    (!m->f->name[length] || m->f->name[length] == '/'))
		return m->f;
	return NULL;
}
