/* Names: renames, links, removals, directories. */
#include "peer.h"
#include "shm/names.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A makes mid (on close) and grow (no_update), B reads them
 * and makes final, which is permanent. */

static int setup(void **state)
{
	world_setup(state, world_flow(), false);
	return 0;
}

static void test_rename_publishes(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file g;
	char text[16] = "";

	world_meet_both(w, a, b);
	peer_make(w, a, "mid.tmp", "whole"); /* undeclared: on disk */
	world_check_disk(w, "mid.tmp", "whole");
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "mid.tmp", "mid"), 0);
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_equal(read(g.fd, text, sizeof(text)), 5);
	assert_string_equal(text, "whole");
	close(g.fd);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "mid.tmp", "mid"), -ENOENT);
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "nothing", ""), -ENOENT);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, true);
	world_check_disk(w, "mid", NULL); /* a temporary leaves nothing behind */
	peer_free(a);
	peer_free(b);
}

/* Names of the listing, joined, in `out`; the error told. */
static int list(struct peer *p, const char *path, char *out, size_t size)
{
	struct leat_msg_list *m = leat_wire_begin(p->buf, LEAT_MSG_LIST, sizeof(*m));
	const struct leat_msg_names *n;
	const char *at;

	leat_wire_put(m, path);
	peer_say(p);
	n = peer_receive(p, LEAT_MSG_NAMES, sizeof(*n));
	*out = 0;
	at = (const char *)n + sizeof(*n);
	for (unsigned i = 0; !n->error && i < n->count; i++) {
		at += sizeof(uint64_t) + 1;
		if (*at != '.')
			snprintf(out + strlen(out), size - strlen(out), "%s ", at);
		at += strlen(at) + 1;
	}
	return n->error;
}

static void test_directory(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	char names[64];

	world_meet_both(w, a, b);
	assert_int_equal(peer_resolve(b, LEAT_OP_OPEN, "parts", O_RDONLY | O_DIRECTORY)->error,
			 -EAGAIN);
	m = peer_resolve(a, LEAT_OP_MKDIR, "parts", 0);
	assert_int_equal(m->error, 0);
	assert_int_equal(m->location, LEAT_LOCATION_STORE);
	assert_int_equal(mkdirat(a->store_fd, peer_path(m), 0755), 0);
	assert_int_equal(peer_resolve(a, LEAT_OP_MKDIR, "parts", 0)->error, -EEXIST);
	peer_make(w, a, "parts/1", "one");
	m = peer_resolve(b, LEAT_OP_OPEN, "parts", O_RDONLY | O_DIRECTORY);
	assert_int_equal(m->error, 0);
	assert_int_equal(m->kind, LEAT_KIND_DIR);
	assert_int_equal(list(b, "parts", names, sizeof(names)), -EAGAIN);
	assert_int_equal(list(a, "parts", names, sizeof(names)), 0);
	assert_string_equal(names, "1 ");
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(list(b, "parts", names, sizeof(names)), 0);
	assert_string_equal(names, "1 ");
	assert_int_equal(peer_change(b, LEAT_CHANGE_RMDIR, "parts", ""), -ENOTEMPTY);
	peer_free(a);
	peer_free(b);
}

static void start_both(struct world *w, struct peer *a, struct peer *b)
{
	world_meet_both(w, a, b);
}

static void make_dir(struct world *w, struct peer *p, const char *path)
{
	const struct leat_msg_resolved *m = peer_resolve(p, LEAT_OP_MKDIR, path, 0);

	assert_int_equal(m->error, 0);
	assert_int_equal(mkdirat(m->location == LEAT_LOCATION_STORE ? p->store_fd : w->dir_fd,
				 peer_path(m), 0755),
			 0);
}

static void test_rename_directory(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	char names[64];

	start_both(w, a, b);
	make_dir(w, a, "build");
	make_dir(w, a, "build/sub");
	peer_make(w, a, "build/x", "ex");
	f = peer_open(w, a, "build/sub/y", O_WRONLY | O_CREAT);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "build", "build/sub/in"), -EINVAL);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "build", "parts"), 0);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "build", "parts"), -ENOENT);
	peer_write(&f, "why");
	peer_close(a, &f);
	assert_int_equal(list(a, "parts", names, sizeof(names)), 0);
	assert_true(strcmp(names, "x sub ") == 0 || strcmp(names, "sub x ") == 0);
	assert_int_equal(peer_try_open(w, b, "parts/x", O_RDONLY, &g), -EAGAIN);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	g = peer_open(w, b, "parts/x", O_RDONLY);
	close(g.fd);
	g = peer_open(w, b, "parts/sub/../sub/y", O_RDONLY);
	close(g.fd);
	peer_free(a);
	peer_free(b);
}

static void test_open_over_rename(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	char text[16] = "";

	start_both(w, a, b);
	/* renamed while it is written: complete when it is closed */
	f = peer_open(w, a, "mid.tmp", O_WRONLY | O_CREAT);
	peer_write(&f, "one");
	peer_close(a, &f);
	f = peer_open(w, a, "late", O_WRONLY | O_CREAT);
	peer_write(&f, "two");
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "late", "mid"), 0);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	peer_close(a, &f);
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_equal(read(g.fd, text, sizeof(text)), 3);
	assert_string_equal(text, "two");
	close(g.fd);
	peer_free(a);
	peer_free(b);
}

static void test_unlink(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file f, g;
	int fd = openat(w->dir_fd, "mid", O_WRONLY | O_CREAT, 0600);

	close(fd);
	start_both(w, a, b);
	f = peer_open(w, a, "mid", O_WRONLY | O_CREAT | O_TRUNC);
	peer_write(&f, "gone");
	/* both the file and what was on disk before; the open file goes on */
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "mid", ""), 0);
	world_check_disk(w, "mid", NULL);
	assert_int_equal(peer_resolve(a, LEAT_OP_STAT, "mid", 0)->error, -ENOENT);
	peer_write(&f, "!");
	peer_close(a, &f);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -EAGAIN);
	peer_make(w, a, "mid", "anew");
	g = peer_open(w, b, "mid", O_RDONLY);
	assert_int_not_equal(g.slot, f.slot);
	close(g.fd);
	assert_int_equal(peer_change(b, LEAT_CHANGE_UNLINK, "mid", ""), 0);
	assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &g), -ENOENT);
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, ".", ""), -EISDIR);
	peer_free(a);
	peer_free(b);
}

static void test_link(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct file g;

	start_both(w, a, b);
	peer_make(w, a, "scratch", "text");
	assert_int_equal(peer_change(a, LEAT_CHANGE_LINK, "scratch", "mid"), 0);
	assert_int_equal(peer_change(a, LEAT_CHANGE_LINK, "scratch", "mid"), -EEXIST);
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "scratch", ""), 0);
	g = peer_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	peer_free(a);
	peer_free(b);
}

/* Names outside come absolute. */
static void test_border(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	char outside[128], text[16] = "";
	struct file g;
	int fd;

	start_both(w, a, b);
	snprintf(outside, sizeof(outside), "%s/elsewhere", w->base);
	peer_make(w, a, "mid", "moved");
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "mid", outside), 0);
	fd = open(outside, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "moved");
	close(fd);
	assert_int_equal(peer_resolve(a, LEAT_OP_STAT, "mid", 0)->error, -ENOENT);
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, outside, "mid"), 0);
	g = peer_open(w, b, "mid", O_RDONLY);
	close(g.fd);
	m = peer_resolve(a, LEAT_OP_OPEN, "../elsewhere", O_RDONLY);
	assert_int_equal(m->error, 0);
	assert_int_equal(m->location, LEAT_LOCATION_ASIS);
	assert_string_equal(peer_path(m), outside);
	peer_free(a);
	peer_free(b);
}

/* A permanent file under another name than it was committed with. */
static void test_rename_permanent(void **state)
{
	struct world *w = *state;
	struct peer *b = calloc(1, sizeof(*b));

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, b, "B");
	make_dir(w, b, "out");
	peer_make(w, b, "out/final.new", "right"); /* undeclared: on disk */
	assert_int_equal(peer_change(b, LEAT_CHANGE_RENAME, "out/final.new", "out/final"), 0);
	peer_free(b);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, true);
	world_check_disk(w, "out/final", "right");
	world_check_disk(w, "out/final.new", NULL);
}

/* A declared file that gets a name nobody declared has to be on disk at the end. */
static void test_rename_to_undeclared(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a));

	world_step(w, LEAT_MSG_STEP_START, "A", 0);
	world_step(w, LEAT_MSG_STEP_START, "B", 0);
	peer_meet(w, a, "A");
	peer_make(w, a, "late", "log");
	assert_int_equal(peer_change(a, LEAT_CHANGE_RENAME, "late", "kept.log"), 0);
	peer_free(a);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, true);
	world_check_disk(w, "kept.log", "log");
	world_check_disk(w, "late", NULL);
}

/* A makes x and parts/ as they grow; B and C read both. */
static struct leat_workflow *with_two_readers(void)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};
	struct leat_step *s;
	struct leat_rule *r;

	wf->name = strdup("readers");
	s = leat_workflow_add_step(wf, "A", pos);
	leat_names_add(&s->outputs, "x", pos);
	leat_names_add(&s->outputs, "parts/*", pos);
	r = leat_step_add_rule(s, "x", pos);
	r->commit = LEAT_COMMIT_ON_CLOSE;
	r->count = 1;
	r = leat_step_add_rule(s, "parts/*", pos);
	r->commit = LEAT_COMMIT_ON_CLOSE;
	r->count = 1;
	r->fire = LEAT_FIRE_NO_UPDATE;
	for (int i = 0; i < 2; i++) {
		s = leat_workflow_add_step(wf, i ? "C" : "B", pos);
		leat_names_add(&s->inputs, "x", pos);
		leat_names_add(&s->inputs, "parts/*", pos);
	}
	return wf;
}

static int setup_readers(void **state)
{
	world_setup(state, with_two_readers(), false);
	return 0;
}

/* What one consumer removes is gone for it at once, for the other when it is done. */
static void test_unlink_by_one_of_two(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b)),
		    *c = calloc(1, sizeof(*c));
	struct file f;

	start_both(w, a, b);
	world_step(w, LEAT_MSG_STEP_START, "C", 0);
	peer_meet(w, c, "C");
	peer_make(w, a, "x", "data");
	f = peer_open(w, b, "x", O_RDONLY);
	close(f.fd);
	assert_int_equal(peer_change(b, LEAT_CHANGE_UNLINK, "x", ""), 0);
	assert_int_equal(peer_try_open(w, b, "x", O_RDONLY, &f), -ENOENT);
	assert_int_equal(peer_change(b, LEAT_CHANGE_UNLINK, "x", ""), -ENOENT);
	assert_int_equal(peer_try_open(w, c, "x", O_RDONLY, &f), 0);
	close(f.fd);
	peer_part(c);
	world_step(w, LEAT_MSG_STEP_END, "C", 0);
	assert_int_equal(faccessat(b->store_fd, "x", F_OK, 0), -1);
	peer_free(a);
	peer_free(b);
	free(c);
}

static void test_growing_directory(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	uint64_t handle = 0, cookie = 0;
	char names[64];
	struct file f, g;

	start_both(w, a, b);
	assert_int_equal(peer_try_open(w, b, "parts/1", O_RDONLY, &g), -EAGAIN);
	make_dir(w, a, "parts");
	f = peer_open(w, a, "parts/1", O_WRONLY | O_CREAT);
	peer_write(&f, "first");
	leat_shm_publish(&a->shm->files[f.slot], 5);
	g = peer_open(w, b, "parts/1", O_RDONLY);
	assert_int_equal(g.kind, LEAT_KIND_CONSUMER);
	close(g.fd);
	/* a name that only a pattern declares is shown when it is complete */
	assert_int_equal(peer_list(b, "parts", &handle, &cookie, names, 64), -EAGAIN);
	peer_close(a, &f);
	for (int i = 0; i < 1000 && !*names; i++)
		if (peer_list(b, "parts", &handle, &cookie, names, 64))
			usleep(1000);
	assert_string_equal(names, "1 ");
	assert_int_equal(peer_list(b, "parts", &handle, &cookie, names, 64), -EAGAIN);
	peer_make(w, a, "parts/2", "second");
	for (int i = 0; i < 1000 && !*names; i++)
		if (peer_list(b, "parts", &handle, &cookie, names, 64))
			usleep(1000);
	assert_string_equal(names, "2 ");
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(peer_list(b, "parts", &handle, &cookie, names, 64), 0);
	assert_string_equal(names, "");
	handle = 12345;
	assert_int_equal(peer_list(b, "parts", &handle, &cookie, names, 64), -ESTALE);
	peer_free(a);
	peer_free(b);
}

/* A makes what is in parts, B reads it when A has ended. */
static int setup_parts(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};

	wf->name = strdup("parts");
	leat_names_add(&leat_workflow_add_step(wf, "A", pos)->outputs, "parts/*", pos);
	leat_names_add(&leat_workflow_add_step(wf, "B", pos)->inputs, "parts/*", pos);
	world_setup(state, wf, false);
	return 0;
}

/* A directory for outputs that was there before the run is found by a listing, before
 * anything is made in it. */
static void test_listing_finds_what_was_there(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	char names[64];

	assert_int_equal(mkdirat(w->dir_fd, "parts", 0755), 0);
	start_both(w, a, b);
	assert_int_equal(list(b, "", names, sizeof(names)), 0);
	assert_non_null(strstr(names, "parts "));
	assert_int_equal(list(b, "parts", names, sizeof(names)), -EAGAIN);
	peer_free(a);
	peer_free(b);
}

/* What `p` finds in shared memory of a name; its slot, 0: nothing that holds. */
static uint32_t published(struct peer *p, const char *name, uint64_t *consumers)
{
	struct leat_shm_fact fact;

	if (!leat_shm_name_find(p->shm, name, strlen(name), &fact) ||
	    fact.common != leat_shm_changes(p->shm) ||
	    fact.changes != leat_shm_file_changes(&p->shm->files[fact.slot]))
		return 0;
	*consumers = fact.consumers;
	return fact.slot;
}

/* Asks, and so waits until the daemon has seen what was said before. */
static void catch_up(struct peer *p)
{
	peer_ask_write(p, 0);
}

/* A committed file is found without asking, until its name is changed. */
static void test_published(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	uint64_t consumers = 0;
	struct file f;

	world_meet_both(w, a, b);
	f = peer_open(w, a, "mid", O_WRONLY | O_CREAT);
	assert_int_equal(published(b, "mid", &consumers), 0);
	peer_write(&f, "whole");
	peer_close(a, &f);
	catch_up(a);
	assert_int_equal(published(b, "mid", &consumers), f.slot);
	assert_int_equal(consumers, 1 << 1);
	/* open for writing: not any more, and again after the close */
	f = peer_open(w, b, "mid", O_WRONLY);
	assert_int_equal(published(b, "mid", &consumers), 0);
	peer_close(b, &f);
	catch_up(b);
	assert_int_equal(published(b, "mid", &consumers), f.slot);
	assert_int_equal(peer_change(a, LEAT_CHANGE_LINK, "mid", "other"), 0);
	assert_int_equal(published(b, "mid", &consumers), 0);
	/* and removed: B, which has used it, would not have found it in a batch */
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "mid", ""), -EIO);
	assert_int_equal(published(b, "mid", &consumers), 0);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, false);
	peer_free(a);
	peer_free(b);
}

/* Who removes a file that a consumer found so is told of as if the consumer had asked: it is a
 * violation. One that nobody saw may be made anew. */
static void test_published_and_seen(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	uint64_t consumers;
	struct file f;

	world_meet_both(w, a, b);
	for (int seen = 0; seen < 2; seen++) {
		peer_make(w, a, "mid", "whole");
		catch_up(a);
		assert_true(published(b, "mid", &consumers));
		if (seen)
			leat_shm_see(&b->shm->files[published(b, "mid", &consumers)], 1, false);
		assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "mid", ""), seen ? -EIO : 0);
		assert_int_equal(peer_try_open(w, b, "mid", O_RDONLY, &f),
				 seen ? -ENOENT : -EAGAIN);
	}
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	world_step(w, LEAT_MSG_STEP_END, "B", 0);
	world_finish(w, false);
	peer_free(a);
	peer_free(b);
}

/* A and B, without an order, both make x and y; A is the first in the batch. */
static int setup_producers(void **state)
{
	struct leat_workflow *wf = leat_workflow_new();
	struct leat_pos pos = {.line = 1};

	wf->name = strdup("producers");
	for (int i = 0; i < 2; i++) {
		struct leat_step *s = leat_workflow_add_step(wf, i ? "B" : "A", pos);

		leat_names_add(&s->outputs, "[xy]*", pos);
	}
	world_setup(state, wf, false);
	return 0;
}

/* What another one was allowed to make, and is not there yet, is not missing for who links, renames
 * or removes it. */
static void test_change_while_it_is_made(void **state)
{
	struct world *w = *state;
	struct peer *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	const struct leat_msg_resolved *m;
	struct file f;

	world_meet_both(w, a, b);
	m = peer_resolve(a, LEAT_OP_OPEN, "x", O_WRONLY | O_CREAT);
	assert_int_equal(m->error, 0);
	assert_int_equal(peer_change(b, LEAT_CHANGE_LINK, "x", "y"), -EAGAIN);
	assert_int_equal(peer_change(b, LEAT_CHANGE_RENAME, "x", "y"), -EAGAIN);
	assert_int_equal(peer_change(b, LEAT_CHANGE_UNLINK, "x", ""), -EAGAIN);
	/* Its own step's processes see what is there. */
	assert_int_equal(peer_change(a, LEAT_CHANGE_UNLINK, "x", ""), -ENOENT);
	assert_int_equal(peer_resolve(a, LEAT_OP_MKDIR, "xd", 0)->error, 0);
	assert_int_equal(peer_change(b, LEAT_CHANGE_RMDIR, "xd", ""), -EAGAIN);
	f = peer_open(w, a, "x", O_WRONLY | O_CREAT);
	peer_close(a, &f);
	peer_part(a);
	world_step(w, LEAT_MSG_STEP_END, "A", 0);
	assert_int_equal(peer_change(b, LEAT_CHANGE_LINK, "x", "y"), 0);
	peer_free(b);
	free(a);
}

int main(void)
{
#define READERS(name) cmocka_unit_test_setup_teardown(name, setup_readers, world_teardown)
#define T(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_rename_publishes),
		T(test_directory),
		T(test_rename_directory),
		T(test_open_over_rename),
		T(test_unlink),
		T(test_link),
		T(test_border),
		T(test_rename_permanent),
		T(test_rename_to_undeclared),
		T(test_published),
		T(test_published_and_seen),
		READERS(test_unlink_by_one_of_two),
		READERS(test_growing_directory),
		cmocka_unit_test_setup_teardown(test_change_while_it_is_made, setup_producers,
						world_teardown),
		cmocka_unit_test_setup_teardown(test_listing_finds_what_was_there, setup_parts,
						world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
