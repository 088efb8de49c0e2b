/* What need not run again: the decision as a table, the record at every byte, how files look. */
#include "resume/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the decision ---- */

/* A case's world: `edges` are words "A>B" (B reads a permanent file of A) or "A~B" (one that is not
 * kept), `steps` a word a step: a letter of its state and what differs, see `findings_of`. */
struct ties_ctx {
	const char *edges;
	size_t n;
};

static const char *edge(const struct ties_ctx *c, size_t up, size_t down, char kind)
{
	for (const char *p = c->edges; *p; p += p[3] ? 4 : 3)
		if (p[0] == (char)('A' + up) && p[1] == kind && p[2] == (char)('A' + down))
			return p;
	return NULL;
}

static bool reaches(const struct ties_ctx *c, size_t up, size_t down, unsigned depth)
{
	if (edge(c, up, down, '>') || edge(c, up, down, '~'))
		return true;
	for (size_t via = 0; depth && via < c->n; via++)
		if ((edge(c, up, via, '>') || edge(c, up, via, '~')) &&
		    reaches(c, via, down, depth - 1))
			return true;
	return false;
}

static bool is_upstream(void *ctx, size_t up, size_t down)
{
	const struct ties_ctx *c = ctx;

	return reaches(c, up, down, (unsigned)c->n);
}

static const char *lends(void *ctx, size_t up, size_t down)
{
	return edge(ctx, up, down, '~') ? "tmp" : NULL;
}

static const char *name(void *ctx, size_t step)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};

	(void)ctx;
	return names[step];
}

static struct leat_finding finding_of(char letter)
{
	struct leat_finding f = {.state = LEAT_ENTRY_COMPLETE, .n_inputs = 1, .n_outputs = 2};

	switch (letter) {
	case 'n':
		f.state = LEAT_ENTRY_NONE;
		break;
	case 'b':
		f.state = LEAT_ENTRY_BEGUN;
		break;
	case 's':
		f.state = LEAT_ENTRY_STOPPED;
		f.why = "exit 3";
		break;
	case 'c':
		f.other_command = true;
		break;
	case 'd':
		f.other_declared = true;
		break;
	case 'i':
		f.input = "in";
		f.input_is = "changed";
		break;
	case 'm':
		f.input = "in";
		f.input_is = "missing";
		break;
	case 'w':
		f.input = "in";
		f.input_is = "new";
		break;
	case 'o':
		f.output = "out";
		f.output_is = "changed";
		break;
	case 'g':
		f.output = "out";
		f.output_is = "missing";
		break;
	default:
		assert_int_equal('.', letter);
	}
	return f;
}

static void test_decide(void **state)
{
	static const struct {
		const char *steps; /* a letter a step */
		const char *edges;
		const char *run; /* + runs, - is skipped */
		int step;        /* whose reason is looked at */
		const char *why;
	} cases[] = {
		/* Each reason, alone. */
		{".", "", "-", 0, "complete; its command, 1 input and 2 outputs are unchanged"},
		{"n", "", "+", 0, "no run that is recorded had it"},
		{"b", "", "+", 0, "it was not complete when the last run was cut off"},
		{"s", "", "+", 0, "it was not complete in the last run: exit 3"},
		{"c", "", "+", 0, "its command changed"},
		{"d", "", "+", 0, "its inputs, outputs or rules changed in the workflow file"},
		{"i", "", "+", 0, "input in changed"},
		{"m", "", "+", 0, "input in is missing"},
		{"w", "", "+", 0, "input in is new"},
		{"o", "", "+", 0, "output out changed"},
		{"g", "", "+", 0, "output out is missing"},
		/* Independent steps do not care. */
		{"i.", "", "+-", 1, NULL},
		/* Everything downstream runs, near or far; nothing upstream of what is kept. */
		{"...", "A>B B>C", "---", 0, NULL},
		{"i..", "A>B B>C", "+++", 2, "step A, upstream of it, runs again"},
		{".i.", "A>B B>C", "-++", 2, "step B, upstream of it, runs again"},
		{"..i", "A>B B>C", "--+", 2, "input in changed"},
		{"c....", "A>B A>C B>D", "++++-", 3, "step A, upstream of it, runs again"},
		/* The order of the file says nothing. */
		{"..i", "C>B B>A", "+++", 0, "step C, upstream of it, runs again"},
		/* What was not kept has to be made again, */
		{"..i", "A~B B~C", "+++", 1, "step C needs tmp, which was not kept"},
		{"..i", "A~B B~C", "+++", 0, "step B needs tmp, which was not kept"},
		/* but only as far as it is needed: B's file for C is there. */
		{"..i", "A~B B>C", "--+", 0, NULL},
		{".i.", "A~B B>C", "+++", 0, "step B needs tmp, which was not kept"},
		{".g.", "A>B B~C", "-++", 2, "step B, upstream of it, runs again"},
		/* A producer that runs for one consumer has its others run, too. */
		{".i..", "A~B A>C C>D", "++++", 3, "step A, upstream of it, runs again"},
		/* They in turn need what others made for them. */
		{".i..", "A~B A>C D~C", "++++", 3, "step C needs tmp, which was not kept"},
		/* The own reason is the one that is told. */
		{"io", "A>B", "++", 1, "output out changed"},
		/* Both kept and not kept files between two steps. */
		{".i", "A>B A~B", "++", 0, "step B needs tmp, which was not kept"},
		/* Steps that read each other's files run together. */
		{".i", "A>B B>A", "++", 0, "step B, upstream of it, runs again"},
		{"..", "A~B B~A", "--", 0, NULL},
		/* A cut off run: what had ended before its producer was cut off runs again. */
		{"b.", "A>B", "++", 1, "step A, upstream of it, runs again"},
		{".b.", "A~B A~C", "+++", 2, "step A, upstream of it, runs again"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ties_ctx ctx = {cases[i].edges, strlen(cases[i].steps)};
		const struct leat_ties ties = {&ctx, is_upstream, lends, name};
		struct leat_finding findings[5];
		struct leat_verdict verdicts[5] = {0};
		char run[6] = "";

		for (size_t k = 0; k < ctx.n; k++)
			findings[k] = finding_of(cases[i].steps[k]);
		assert_int_equal(0, leat_decide_resume(findings, ctx.n, &ties, verdicts));
		for (size_t k = 0; k < ctx.n; k++) {
			run[k] = verdicts[k].run ? '+' : '-';
			assert_non_null(verdicts[k].why);
		}
		if (strcmp(cases[i].run, run) != 0)
			print_error("case %zu: %s %s\n", i, cases[i].steps, cases[i].edges);
		assert_string_equal(cases[i].run, run);
		if (cases[i].why)
			assert_string_equal(cases[i].why, verdicts[cases[i].step].why);
		for (size_t k = 0; k < ctx.n; k++)
			free(verdicts[k].why);
	}
}

/* What must hold whatever the graph: all graphs of four steps in the order A, B, C, D, with each
 * edge absent, kept or not kept, and each set of steps with a reason of their own. */
static void test_decide_all(void **state)
{
	static const char pairs[6][3] = {"AB", "AC", "AD", "BC", "BD", "CD"};

	(void)state;
	for (unsigned graph = 0; graph < 729; graph++)
		for (unsigned own = 0; own < 16; own++) {
			char edges[32] = "";
			struct ties_ctx ctx = {edges, 4};
			const struct leat_ties ties = {&ctx, is_upstream, lends, name};
			struct leat_finding findings[4];
			struct leat_verdict v[4] = {0};

			for (unsigned k = 0, g = graph; k < 6; k++, g /= 3)
				if (g % 3)
					snprintf(edges + strlen(edges),
						 sizeof(edges) - strlen(edges), "%s%c%c%c",
						 *edges ? " " : "", pairs[k][0],
						 g % 3 == 1 ? '>' : '~', pairs[k][1]);
			for (unsigned k = 0; k < 4; k++)
				findings[k] = finding_of(own >> k & 1 ? 'i' : '.');
			assert_int_equal(0, leat_decide_resume(findings, 4, &ties, v));
			for (size_t a = 0; a < 4; a++) {
				/* Who has a reason runs; nobody runs without one. */
				bool because = own >> a & 1;

				for (size_t b = 0; b < 4; b++) {
					bool follows =
						v[b].run && a != b &&
						(is_upstream(&ctx, b, a) || lends(&ctx, a, b));

					assert_true(!follows || v[a].run);
					because |= follows;
				}
				assert_int_equal(because, v[a].run);
			}
			if (own == 0)
				assert_false(v[0].run || v[1].run || v[2].run || v[3].run);
			for (size_t a = 0; a < 4; a++)
				free(v[a].why);
		}
}

/* ---- the record ---- */

static struct leat_workflow *workflow(void)
{
	static const char *const commands[][4] = {
		{"sh", "-c", "a\tb\nc%d \xff", NULL}, {"true", "", NULL}, {"x", NULL}};
	struct leat_workflow *wf = leat_workflow_new();
	const struct leat_pos pos = {0};

	assert_non_null(wf);
	wf->name = strdup("w");
	for (size_t i = 0; i < 3; i++) {
		struct leat_step *step = leat_workflow_add_step(
			wf, (const char *[]){"one", "two\t%", "three"}[i], pos);
		size_t n = 0;

		while (commands[i][n])
			n++;
		step->argv = calloc(n + 1, sizeof(*step->argv));
		for (size_t k = 0; k < n; k++)
			step->argv[k] = strdup(commands[i][k]);
	}
	return wf;
}

static char *record(const struct leat_workflow *wf, const struct leat_entry_of_step *e,
		    size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	leat_record_put_header(out, wf);
	for (size_t i = 0; i < wf->n_steps; i++)
		leat_record_put_entry(out, wf->steps[i].name, &e[i]);
	assert_int_equal(0, fclose(out));
	return text;
}

static void fill(const struct leat_workflow *wf, struct leat_entry_of_step e[3])
{
	const struct leat_stamp big = {UINT64_MAX, INT64_MIN + 1, UINT64_MAX, UINT64_MAX, true};
	const struct leat_stamp small = {0, -1, 1, 0, false};

	e[0].state = LEAT_ENTRY_COMPLETE;
	e[0].command = leat_entry_command(&wf->steps[0]);
	e[0].declared = leat_entry_declared(&wf->steps[0]);
	assert_int_equal(0, leat_stamped_add(&e[0].inputs, "b\n%41\xfe", &big));
	assert_int_equal(0, leat_stamped_add(&e[0].inputs, "a b", &small));
	assert_int_equal(0, leat_stamped_add(&e[0].outputs, "-", &small));
	leat_stamped_sort(&e[0].inputs);
	e[1].state = LEAT_ENTRY_STOPPED;
	e[1].why = strdup("exit 3: \"so\"\t\n");
	e[2].state = LEAT_ENTRY_COMPLETE;
	e[2].command = leat_entry_command(&wf->steps[2]);
}

static void check_same(const struct leat_stamped_list *a, const struct leat_stamped_list *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->v[i].name, b->v[i].name);
		assert_int_equal(a->v[i].stamp.size_bytes, b->v[i].stamp.size_bytes);
		assert_int_equal(a->v[i].stamp.mtime_ns, b->v[i].stamp.mtime_ns);
		assert_int_equal(a->v[i].stamp.inode, b->v[i].stamp.inode);
		assert_int_equal(a->v[i].stamp.hashed, b->v[i].stamp.hashed);
		assert_int_equal(a->v[i].stamp.hash, b->v[i].stamp.hash);
	}
}

static void release(struct leat_entry_of_step e[3])
{
	for (size_t i = 0; i < 3; i++)
		leat_entry_release(&e[i]);
}

static void test_record(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_entry_of_step wrote[3] = {0}, got[3] = {0};
	const char *what;
	char *text;
	size_t size;
	long line;

	(void)state;
	fill(wf, wrote);
	text = record(wf, wrote, &size);
	assert_int_equal(0, leat_record_parse(text, size, wf, got, &line, &what));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(wrote[i].state, got[i].state);
		assert_int_equal(wrote[i].declared, got[i].declared);
		check_same(&wrote[i].inputs, &got[i].inputs);
		check_same(&wrote[i].outputs, &got[i].outputs);
	}
	assert_string_equal(wrote[0].command, got[0].command);
	assert_string_equal(wrote[2].command, got[2].command);
	assert_string_equal(wrote[1].why, got[1].why);
	free(text);
	release(wrote);
	release(got);
	leat_workflow_free(wf);
}

/* Cut off at any byte, it says less, but nothing wrong. */
static void test_record_cut(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_entry_of_step wrote[3] = {0};
	size_t size, header;
	char *whole;

	(void)state;
	fill(wf, wrote);
	whole = record(wf, wrote, &size);
	header = (size_t)(strstr(whole, "step\t") - whole);
	for (size_t cut = 0; cut <= size; cut++) {
		struct leat_entry_of_step got[3] = {0};
		char *text = strndup(whole, cut);
		const char *what;
		long line;
		int rc = leat_record_parse(text, cut, wf, got, &line, &what);

		assert_int_equal(cut < header ? -EBADMSG : 0, rc);
		for (size_t i = 0; !rc && i < 3; i++) {
			if (got[i].state == LEAT_ENTRY_NONE)
				continue;
			assert_int_equal(wrote[i].state, got[i].state);
			check_same(&wrote[i].inputs, &got[i].inputs);
			check_same(&wrote[i].outputs, &got[i].outputs);
		}
		assert_true(rc ||
			    got[2].state == (cut == size ? LEAT_ENTRY_COMPLETE : LEAT_ENTRY_NONE));
		release(got);
		free(text);
	}
	free(whole);
	release(wrote);
	leat_workflow_free(wf);
}

#define HEAD "# leat record 1: \nworkflow\tw\n"

static void test_record_broken(void **state)
{
	static const struct {
		const char *text;
		long line; /* of the mistake, 0: there is none */
	} cases[] = {
		{HEAD, 0},
		{HEAD "step\tone\tbegun\nend\n", 0},
		{HEAD "step\tgone\tcomplete\ncommand\tx\nend\n", 0}, /* of no interest */
		{HEAD "step\tone\tbegun\nend\nstep\tone\tstopped\tso\nend\n", 0},
		{HEAD "step\tone\tcomplete\ncommand\tx\ninput\ta\t1\t2\t3\t-\n", 0}, /* cut off */
		{HEAD "step\tone\tcomplete\ncommand\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\nend\n", 0},
		{"\n", 1},
		{"# leat record 2: \nworkflow\tw\n", 1},
		{"{\"json\": 1}\n", 1},
		{"# leat record 1: \n", 1},
		{"# leat record 1: \nworkflow\tother\n", 2},
		{"# leat record 1: \nworkflow\n", 2},
		{HEAD "\n", 3},
		{HEAD "end\n", 3},
		{HEAD "step\n", 3},
		{HEAD "step\tone\n", 3},
		{HEAD "step\tone\tdone\n", 3},
		{HEAD "step\tone\tcomplete\tx\n", 3},
		{HEAD "step\tone\tstopped\n", 3},
		{HEAD "step\ton%0\tbegun\nend\n", 3},
		{HEAD "step\ton%00\tbegun\nend\n", 3},
		{HEAD "step\tone\tbegun\nstep\ttwo\tbegun\n", 4},
		{HEAD "step\tone\tbegun\ncommand\tx\n", 4},
		{HEAD "step\tone\tcomplete\nend\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t3\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t3\t-\t4\n", 4},
		{HEAD "step\tone\tcomplete\ninput\t\t1\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t-1\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2x\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t1\t2\t 3\t-\n", 4},
		{HEAD "step\tone\tcomplete\ninput\ta\t99999999999999999999\t2\t3\t-\n", 4},
		{HEAD "step\tone\tcomplete\noutput\ta\t1\t2\t3\tgg\n", 4},
		{HEAD "step\tone\tcomplete\ndeclared\t\n", 4},
		{HEAD "step\tone\tcomplete\ncommand\tx\ndeclared\t12\nwhat\n", 6},
	};
	struct leat_workflow *wf = workflow();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_entry_of_step got[3] = {0};
		char *text = strdup(cases[i].text);
		const char *what = NULL;
		long line;
		int rc = leat_record_parse(text, strlen(text), wf, got, &line, &what);

		if ((rc == -EBADMSG) != (cases[i].line > 0))
			print_error("case %zu: %s\n", i, cases[i].text);
		assert_int_equal(cases[i].line ? -EBADMSG : 0, rc);
		assert_int_equal(cases[i].line > 0, what != NULL);
		if (cases[i].line)
			assert_int_equal(cases[i].line, line);
		release(got);
		free(text);
	}
	leat_workflow_free(wf);
}

/* ---- files ---- */

static void put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(strlen(text), write(fd, text, strlen(text)));
	close(fd);
}

static void set_time(int dir, const char *name, long seconds)
{
	const struct timespec times[] = {{seconds, 5}, {seconds, 7}};

	assert_int_equal(0, utimensat(dir, name, times, 0));
}

static int scratch(char path[])
{
	assert_non_null(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void clean(const char *path, int dir)
{
	char command[100];

	close(dir);
	snprintf(command, sizeof(command), "rm -rf %s", path);
	assert_int_equal(0, system(command));
}

static bool is_same(int dir, const char *name, const struct leat_stamp *then)
{
	struct leat_stamp now;

	return leat_stamp_take(dir, name, &now) == 0 && leat_stamp_same(dir, name, then, &now);
}

static void test_stamp(void **state)
{
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);
	struct leat_stamp s, plain;

	(void)state;
	put(dir, "f", "text");
	set_time(dir, "f", 1000);
	assert_int_equal(0, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(4, plain.size_bytes);
	assert_int_equal(1000 * 1000000000L + 7, plain.mtime_ns);
	s = plain;
	leat_stamp_hash(dir, "f", &s);
	assert_true(s.hashed);
	assert_true(is_same(dir, "f", &s) && is_same(dir, "f", &plain));
	/* Only touched: found by its contents. */
	set_time(dir, "f", 2000);
	assert_true(is_same(dir, "f", &s));
	assert_false(is_same(dir, "f", &plain));
	/* Copied: another inode. */
	put(dir, "copy", "text");
	assert_int_equal(0, renameat(dir, "copy", dir, "f"));
	assert_true(is_same(dir, "f", &s));
	assert_false(is_same(dir, "f", &plain));
	/* Other bytes, as many. */
	put(dir, "f", "TEXT");
	assert_false(is_same(dir, "f", &s));
	put(dir, "f", "text and more");
	assert_false(is_same(dir, "f", &s));
	assert_int_equal(0, unlinkat(dir, "f", 0));
	assert_false(is_same(dir, "f", &s));
	assert_int_equal(-ENOENT, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(-EISDIR, leat_stamp_take(dir, ".", &plain));
	/* A stamp that is out of date is not hashed: the bytes would be others. */
	put(dir, "f", "text");
	assert_int_equal(0, leat_stamp_take(dir, "f", &s));
	set_time(dir, "f", 3000);
	leat_stamp_hash(dir, "f", &s);
	assert_false(s.hashed);
	/* Links are what they lead to, as long as they lead to a file. */
	assert_int_equal(0, symlinkat("f", dir, "link"));
	assert_int_equal(0, symlinkat("nowhere", dir, "dangling"));
	assert_int_equal(0, leat_stamp_take(dir, "f", &plain));
	assert_int_equal(0, leat_stamp_take(dir, "link", &s));
	assert_int_equal(plain.inode, s.inode);
	assert_int_equal(0, leat_stamp_take(dir, "dangling", &s));
	clean(path, dir);
}

static void test_stamp_large(void **state)
{
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);
	struct leat_stamp s;
	int fd;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		fd = openat(dir, "f", O_WRONLY | O_CREAT, 0666);
		assert_int_equal(0, ftruncate(fd, (off_t)(LEAT_STAMP_HASH_BYTES + more)));
		close(fd);
		assert_int_equal(0, leat_stamp_take(dir, "f", &s));
		leat_stamp_hash(dir, "f", &s);
		assert_int_equal(!more, s.hashed);
	}
	clean(path, dir);
}

static void test_look(void **state)
{
	static const struct {
		const char *input, *output, *permanent; /* of the step `one` */
		const char *found[2];                   /* inputs, outputs */
	} cases[] = {
		{"a", "b", "b", {"a", "b"}},
		{"missing", "b", "", {"", ""}}, /* `b` is not kept */
		{"d", "none", "", {"d/e/y d/x", ""}},
		{"d/*", "none", "", {"d/e/y d/x", ""}},
		{"d/?", "none", "", {"d/e/y d/x", ""}}, /* d/e is a directory */
		{"d/[x-z]", "none", "", {"d/x", ""}},
		{"*x", "none", "", {"d/x far/x", ""}},
		{"d/e/*", "d/*", "d/*", {"d/e/y", "d/e/y d/x"}},
		{"to-dir", "none", "", {"to-dir/x to-dir/y", ""}},
		/* Links to directories are not followed in a search, but noticed. */
		{"*", "none", "", {"a b d/e/y d/x far/x far/y to-dir", ""}},
	};
	char path[] = "/tmp/leat-test-resume.XXXXXX";
	int dir = scratch(path);

	(void)state;
	put(dir, "a", "1");
	put(dir, "b", "2");
	put(dir, ".leat-record-x", "no file of any step's");
	assert_int_equal(0, mkdirat(dir, "d", 0777));
	assert_int_equal(0, mkdirat(dir, "d/e", 0777));
	assert_int_equal(0, mkdirat(dir, "far", 0777));
	put(dir, "d/x", "3");
	put(dir, "d/e/y", "4");
	put(dir, "far/x", "5");
	put(dir, "far/y", "6");
	assert_int_equal(0, symlinkat("far", dir, "to-dir"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = leat_workflow_new();
		struct leat_step *step = leat_workflow_add_step(wf, "one", (struct leat_pos){0});
		struct leat_matcher *m;

		leat_names_add(&step->inputs, cases[i].input, (struct leat_pos){0});
		leat_names_add(&step->outputs, cases[i].output, (struct leat_pos){0});
		if (*cases[i].permanent)
			leat_names_add(&wf->permanent, cases[i].permanent, (struct leat_pos){0});
		m = leat_matcher_new(wf);
		for (unsigned side = 0; side < 2; side++) {
			struct leat_stamped_list list = {0};
			char found[200] = "";

			assert_int_equal(0, leat_look(dir, wf, m, 0, side, &list));
			for (size_t k = 0; k < list.n; k++)
				snprintf(found + strlen(found), sizeof(found) - strlen(found),
					 "%s%s", k ? " " : "", list.v[k].name);
			assert_string_equal(cases[i].found[side], found);
			leat_stamped_release(&list);
		}
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
	clean(path, dir);
}

static void test_lends(void **state)
{
	static const struct {
		const char *output, *input, *permanent;
		const char *lent; /* NULL: nothing */
	} cases[] = {
		{"a", "a", "", "a"},
		{"a", "a", "a", NULL},
		{"a", "a", "*", NULL},
		{"a", "b", "", NULL},
		{"a", "?", "", "a"},
		{"a", "?", "a", NULL},
		{"p/*", "p/1", "", "p/1"},
		{"p/*", "p/1", "p/1", NULL},
		{"p/*", "p/1", "p/2", "p/1"},
		{"p/*", "p/*", "", "p/*"},
		{"p/*", "p/*", "p/*", NULL},
		{"p/*", "p/*", "*", NULL},
		{"p/*", "p/*", "p/?", "p/*"}, /* "p/12" is not kept */
		{"p/*", "p/*", "p/?*", NULL}, /* every name has a character */
		{"p/*", "p/*", "p/*.bam", "p/*"},
		{"p/*.bam", "p/*", "p/*", NULL},
		{"p/?.bam", "p/*", "p/?.bam", NULL},
		{"p/?.bam", "p/*", "p/*.bam", NULL},
		{"p/[ab]", "p/*", "p/[ab]", NULL},
		{"p/[ab]", "p/*", "p/a", "p/[ab]"},
		{"p/[ab]", "p/*", "p/?", "p/[ab]"}, /* it is, but that is not looked into */
		{"d", "d/x", "", "d/x"},            /* a directory */
		{"d", "d/x", "d/x", NULL},
		{"d", "d/x", "d", NULL},
		{"d/x", "d", "", "d/x"},
		{"d/x", "d", "d/x", NULL},
		{"d", "d", "d/*", NULL},
		{"d", "d", "d/*.bam", "d"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct leat_workflow *wf = leat_workflow_new();
		const struct leat_pos pos = {0};
		struct leat_matcher *m;
		const char *lent;

		leat_names_add(&leat_workflow_add_step(wf, "up", pos)->outputs, cases[i].output,
			       pos);
		leat_names_add(&leat_workflow_add_step(wf, "down", pos)->inputs, cases[i].input,
			       pos);
		if (*cases[i].permanent)
			leat_names_add(&wf->permanent, cases[i].permanent, pos);
		m = leat_matcher_new(wf);
		lent = leat_lends(wf, m, 0, 1);
		if ((lent != NULL) != (cases[i].lent != NULL))
			print_error("case %zu: %s\n", i, cases[i].output);
		assert_int_equal(cases[i].lent != NULL, lent != NULL);
		if (lent)
			assert_string_equal(cases[i].lent, lent);
		assert_null(leat_lends(wf, m, 1, 0));
		leat_matcher_free(m);
		leat_workflow_free(wf);
	}
}

/* Declarations tell steps apart, names of steps do not. */
static void test_declared(void **state)
{
	struct leat_workflow *wf = workflow();
	struct leat_step *a = &wf->steps[0], *b = &wf->steps[1];
	struct leat_rule *rule;

	(void)state;
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	a->staged = true;
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	a->staged = false;
	leat_names_add(&a->inputs, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_names_add(&b->outputs, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_names_add(&b->inputs, "x", (struct leat_pos){0});
	leat_names_add(&a->outputs, "x", (struct leat_pos){0});
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule = leat_step_add_rule(a, "x", (struct leat_pos){0});
	rule->fire = LEAT_FIRE_NO_UPDATE;
	rule = leat_step_add_rule(b, "x", (struct leat_pos){0});
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule->fire = LEAT_FIRE_NO_UPDATE;
	assert_int_equal(leat_entry_declared(a), leat_entry_declared(b));
	rule->commit = LEAT_COMMIT_ON_CLOSE;
	rule->count = 2;
	assert_int_not_equal(leat_entry_declared(a), leat_entry_declared(b));
	leat_workflow_free(wf);
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *record; /* NULL: by a hash */
	} cases[] = {
		{"flow", ".leat-record-flow"},
		{"my flow", ".leat-record-my flow"},
		{"a/b", NULL},
		{"a\nb", NULL},
		{"", NULL},
	};
	struct leat_workflow wf = {0};
	char name[NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		wf.name = (char *)(uintptr_t)cases[i].name;
		leat_record_name(&wf, name);
		if (!cases[i].record)
			assert_int_equal(strlen(".leat-record-") + 16, strlen(name));
		else
			assert_string_equal(cases[i].record, name);
		assert_null(strchr(name, '/'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide),        cmocka_unit_test(test_decide_all),
		cmocka_unit_test(test_record),        cmocka_unit_test(test_record_cut),
		cmocka_unit_test(test_record_broken), cmocka_unit_test(test_stamp),
		cmocka_unit_test(test_stamp_large),   cmocka_unit_test(test_look),
		cmocka_unit_test(test_lends),

		cmocka_unit_test(test_declared),      cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
