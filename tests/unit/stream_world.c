#include "stream_world.h"

#include "model/version.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- workflows ---- */

static void parse_commit(struct leat_rule *rule, char *word)
{
	static const char *const names[] = {
		[LEAT_COMMIT_ON_TERMINATION] = "on_termination",
		[LEAT_COMMIT_ON_CLOSE] = "on_close",
		[LEAT_COMMIT_ON_FILE] = "on_file",
		[LEAT_COMMIT_N_FILES] = "n_files",
	};
	char *rest = word + strcspn(word, ":="), *dep;
	char separator = *rest;
	int i;

	if (separator)
		*rest++ = '\0';
	for (i = 0; i < 4 && strcmp(names[i], word) != 0; i++)
		;
	assert_in_range(i, 0, 3);
	rule->commit = (enum leat_commit)i;
	if (separator == ':')
		rule->count = (unsigned)atoi(rest);
	while (separator == '=' && (dep = strsep(&rest, ",")))
		assert_int_equal(leat_names_add(&rule->deps, dep, (struct leat_pos){0}), 0);
}

static void parse_rule(struct leat_step *step, char *rest, bool is_dir)
{
	struct leat_rule *rule;
	char *word;

	step->rules = reallocarray(step->rules, step->n_rules + 1, sizeof(*step->rules));
	assert_non_null(step->rules);
	rule = &step->rules[step->n_rules++];
	*rule = (struct leat_rule){.is_dir = is_dir};
	rule->name.text = strdup(strsep(&rest, " "));
	parse_commit(rule, strsep(&rest, " "));
	while ((word = strsep(&rest, " "))) {
		if (!strncmp(word, "n_files:", 8))
			rule->n_files = (unsigned)atoi(word + 8);
		else
			rule->fire = strcmp(word, "no_update") ? LEAT_FIRE_ON_COMMIT
							       : LEAT_FIRE_NO_UPDATE;
	}
}

/* "some:3 0=x 1=y" of what is seen as `seen`. */
static void parse_view(struct leat_step *step, char *rest)
{
	static const char *const flows[] = {"batch", "all", "some", "latest"};
	struct leat_inport *in;
	char *word;

	step->inports = reallocarray(step->inports, step->n_inports + 1, sizeof(*step->inports));
	assert_non_null(step->inports);
	in = &step->inports[step->n_inports++];
	*in = (struct leat_inport){.seen.text = strdup(strsep(&rest, " "))};
	word = strsep(&rest, " ");
	for (int i = 0; i < 4; i++)
		if (!strncmp(word, flows[i], strlen(flows[i])))
			in->flow = (enum leat_flow)i;
	in->every = strchr(word, ':') ? (unsigned)atoi(strchr(word, ':') + 1) : 0;
	while ((word = strsep(&rest, " "))) {
		in->sources = reallocarray(in->sources, in->n_sources + 1, sizeof(*in->sources));
		assert_non_null(in->sources);
		in->sources[in->n_sources++] = (struct leat_source){
			.step = atoi(word), .made = strdup(strchr(word, '=') + 1)};
	}
}

static void parse_line(struct leat_workflow *wf, char *line)
{
	char *rest = line, *key = strsep(&rest, " "), *word;
	struct leat_step *step = wf->n_steps ? &wf->steps[wf->n_steps - 1] : NULL;

	if (!strcmp(key, "step")) {
		wf->steps = reallocarray(wf->steps, wf->n_steps + 1, sizeof(*wf->steps));
		assert_non_null(wf->steps);
		step = &wf->steps[wf->n_steps++];
		*step = (struct leat_step){.instances = 1};
		word = strsep(&rest, " ");
		step->name = strdup(word);
		if (rest)
			step->instances = (unsigned)atoi(rest);
	} else if (!strcmp(key, "staged")) {
		step->staged = true;
	} else if (!strcmp(key, "concurrent")) {
		step->staged = step->concurrent = true;
	} else if (!strcmp(key, "actions")) {
		step->action_file = strdup("actions.py");
	} else if (!strcmp(key, "nprocs")) {
		step->nprocs = (unsigned)atoi(rest);
	} else if (!strcmp(key, "nwriters")) {
		step->nwriters = (unsigned)atoi(rest);
	} else if (!strcmp(key, "at")) {
		step->dir = strdup(rest);
	} else if (!strcmp(key, "view")) {
		parse_view(step, rest);
	} else if (!strcmp(key, "relaunch")) {
		step->relaunch = strcmp(rest, "never") ? LEAT_RELAUNCH_ALWAYS : LEAT_RELAUNCH_NEVER;
	} else if (!strcmp(key, "private")) {
		while ((word = strsep(&rest, " ")))
			assert_int_equal(leat_names_add(&step->private, word, (struct leat_pos){0}),
					 0);
	} else if (!strcmp(key, "rule") || !strcmp(key, "dir")) {
		parse_rule(step, rest, *key == 'd');
	} else {
		struct leat_names *names = !strcmp(key, "in")    ? &step->inputs
					   : !strcmp(key, "out") ? &step->outputs
					   : !strcmp(key, "fs")  ? &wf->store_fs
								 : &wf->exclude;

		while ((word = strsep(&rest, " ")))
			assert_int_equal(leat_names_add(names, word, (struct leat_pos){0}), 0);
	}
}

struct leat_workflow *world_parse(const char *text)
{
	struct leat_workflow *wf = leat_workflow_new();
	char *copy = strdup(text), *rest = copy, *line;

	assert_non_null(wf);
	assert_non_null(copy);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			parse_line(wf, line);
	free(copy);
	return wf;
}

/* ---- what the stream says ---- */

static void say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct world *w, const char *format, ...)
{
	size_t used = strlen(w->said);
	va_list ap;

	va_start(ap, format);
	vsnprintf(w->said + used, sizeof(w->said) - used, format, ap);
	va_end(ap);
}

/* "x@2" for the second version of x. */
static void say_name(struct world *w, const char *before, const char *name, const char *after)
{
	uint64_t number;
	const char *base = leat_version_base(name, &number);

	if (number > 1)
		say(w, "%s%s@%" PRIu64 "%s ", before, base, number, after);
	else
		say(w, "%s%s%s ", before, base, after);
}

static void on_unwanted(void *ctx, const char *name)
{
	say_name(ctx, "-", name, "");
}

static void on_state(void *ctx, const char *name, enum leat_file_state state)
{
	static const char *const names[] = {"=absent", "=produced", "=committed", "=failed",
					    "=gone"};

	say_name(ctx, "", name, names[state]);
}

static void on_wake(void *ctx, const char *name)
{
	say_name(ctx, "!", name, "");
}

static void on_violation(void *ctx, enum leat_violation kind, const char *name, int step,
			 const char *text)
{
	struct world *w = ctx;

	(void)name;
	(void)step;
	assert_non_null(text);
	w->violations[kind]++;
}

static void on_failed(void *ctx, const char *name, const char *why)
{
	(void)ctx;
	(void)name;
	assert_non_null(why);
}

/* "x:A/B": B used x after A, as it would not have in a batch; "x~A/B": both append to it. */
static void on_conflict(void *ctx, const char *name, int step, int other, bool harmless,
			const char *text)
{
	struct world *w = ctx;

	assert_non_null(text);
	say(w, "%s%c%s/%s ", name, harmless ? '~' : ':', w->wf->steps[other].name,
	    w->wf->steps[step].name);
}

void world_init(struct world *w, const char *text)
{
	static const struct leat_stream_ops ops = {on_state,  on_wake,     on_violation,
						   on_failed, on_unwanted, on_conflict};

	*w = (struct world){.next_waiter = 1};
	w->wf = world_parse(text);
	w->m = leat_matcher_new(w->wf);
	assert_non_null(w->m);
	w->s = leat_stream_new(w->m, w->wf, &ops, w);
	assert_non_null(w->s);
	w->said[0] = '\0';
}

void world_release(struct world *w)
{
	leat_stream_free(w->s);
	leat_matcher_free(w->m);
	leat_workflow_free(w->wf);
}

const char *world_said(struct world *w)
{
	static char copy[sizeof(w->said)];

	memcpy(copy, w->said, sizeof(copy));
	if (*copy)
		copy[strlen(copy) - 1] = '\0';
	w->said[0] = '\0';
	return copy;
}

int world_step(const struct world *w, const char *name)
{
	int step = leat_workflow_find_step(w->wf, name);

	assert_true(step >= 0);
	return step;
}

/* ---- events in words ---- */

/* "B@3" is rank 3 of step B. Splits it. */
static unsigned rank_in(char *word)
{
	char *at = strchr(word, '@');

	if (at)
		*at++ = '\0';
	return at ? (unsigned)atoi(at) : 0;
}

/* Arguments: v name of a file the step makes anew, V one that it takes, s step, R step and rank,
 * L step and the rank of it that has ended, p pid, n name, N
 * name of which a final "/" says directory, t second name, u how it is used, o ofd, l length, b
 * offset, w waiter, c code. */
static const struct verb {
	const char *word;
	enum leat_event_kind kind;
	unsigned flags;
	int status;
	const char *arguments;
} verbs[] = {
	{"start", LEAT_EV_STEP_START, 0, 0, "s"},
	{"end", LEAT_EV_STEP_END, 0, 0, "s"},
	{"fail", LEAT_EV_STEP_END, 0, 1, "s"},
	{"closed", LEAT_EV_STEP_CLOSED, 0, 0, "s"},
	{"exit", LEAT_EV_PROC_EXIT, 0, 0, "sp"},
	{"killed", LEAT_EV_PROC_EXIT, 0, -9, "sp"},
	{"leave", LEAT_EV_PROC_EXIT, 0, 0, "Lp"},
	{"present", LEAT_EV_PRESENT, 0, 0, "Nl"},
	{"presentdir", LEAT_EV_PRESENT, LEAT_EVF_DIR, 0, "N"},
	{"mkdir", LEAT_EV_CREATE, LEAT_EVF_DIR, 0, "sn"},
	{"symlink", LEAT_EV_CREATE, 0, 0, "sn"},
	{"found", LEAT_EV_CREATE, 0, 0, "snl"},
	{"link", LEAT_EV_CREATE, 0, 0, "stn"},
	{"open", LEAT_EV_OPEN, 0, 0, "svop"},
	{"openat", LEAT_EV_OPEN, 0, 0, "svol"},
	{"openapp", LEAT_EV_OPEN, LEAT_EVF_APPEND, 0, "svol"},
	{"stray", LEAT_EV_OPEN, 0, 0, "nop"},
	{"edit", LEAT_EV_OPEN, LEAT_EVF_INTACT, 0, "svop"},
	{"write", LEAT_EV_WRITE, 0, 0, "o"},
	{"creat", LEAT_EV_OPEN, LEAT_EVF_CREAT | LEAT_EVF_TRUNC, 0, "svop"},
	{"trunc", LEAT_EV_OPEN, LEAT_EVF_TRUNC, 0, "svop"},
	{"close", LEAT_EV_CLOSE, 0, 0, "ol"},
	{"abort", LEAT_EV_CLOSE, LEAT_EVF_ABNORMAL, 0, "ol"},
	{"extent", LEAT_EV_EXTENT, 0, 0, "nbl"},
	{"cut", LEAT_EV_TRUNCATE, 0, 0, "snl"},
	{"mv", LEAT_EV_RENAME, 0, 0, "snT"},
	{"mvdir", LEAT_EV_RENAME, LEAT_EVF_DIR, 0, "snt"},
	{"rm", LEAT_EV_UNLINK, 0, 0, "sn"},
	{"cancel", LEAT_EV_CANCEL, 0, 0, "w"},
	{"violate", LEAT_EV_VIOLATION, 0, 0, "nc"},
	{"take", LEAT_EV_TAKE, 0, 0, "RVo"},
	{"read", LEAT_EV_READ, 0, 0, "o"},
	{"look", LEAT_EV_READ, 0, 0, "o"},
	{"glance", LEAT_EV_READ, 0, 0, "ob"},
	{"had", LEAT_EV_READ, 0, 0, "obl"},
	{"back", LEAT_EV_RETURN, 0, 0, "o"},
	{"over", LEAT_EV_LAUNCH, 0, 0, "s"},
	{"again", LEAT_EV_LAUNCH, 0, 0, "s "},
	{"serve", LEAT_EV_SERVE, 0, 0, "sn"},
	{"rights", LEAT_EV_RIGHTS, 0, 0, "snc"},
	{"hold", LEAT_EV_HOLD, 0, 0, "snoc"},
	{"letgo", LEAT_EV_LET_GO, 0, 0, "o"},
	{"use", LEAT_EV_USE, 0, 0, "sunt"},
	{"put", LEAT_EV_WRITTEN, 0, 0, "snbl"},
	{"add", LEAT_EV_WRITTEN, 0, 0, "snblc"},
	{"useguess", LEAT_EV_USE, LEAT_EVF_INTACT, 0, "sun"},
	{"usedir", LEAT_EV_USE, LEAT_EVF_DIR, 0, "sun"},
	{"usethere", LEAT_EV_USE, LEAT_EVF_DIR | LEAT_EVF_INTACT, 0, "sun"},
	{"uselink", LEAT_EV_USE, LEAT_EVF_SYMLINK, 0, "sun"},
};

/* What is behind `name`; valid until the next but one. */
static const char *behind(const struct world *w, int step, unsigned rank, enum leat_call call,
			  const char *name)
{
	static char names[2][PATH_MAX];
	static int turn;

	turn = !turn;
	return leat_stream_version(w->s, step, rank, call, name, names[turn]) == LEAT_VERSION_NAMED
		       ? names[turn]
		       : NULL;
}

static enum leat_use use_of(const char *word)
{
	static const char *const words[LEAT_USE_KINDS] = {
		"",       "read",     "seek",   "need", "mkdir",   "own",  "append", "write",
		"create", "truncate", "remove", "move", "replace", "link", "rights"};

	for (unsigned i = 1; i < LEAT_USE_KINDS; i++)
		if (!strcmp(words[i], word))
			return (enum leat_use)i;
	fail_msg("no such use: %s", word);
	return LEAT_USE_KINDS;
}

static void take_argument(const struct world *w, char kind, char *word, struct leat_event *ev)
{
	size_t length = strlen(word);

	switch (kind) {
	case 's':
		ev->step = world_step(w, word);
		ev->pid = 100 + ev->step;
		break;
	case 'R':
	case 'L':
		ev->code = rank_in(word) + (kind == 'L');
		ev->step = world_step(w, word);
		ev->pid = 100 + ev->step;
		break;
	case 'p':
		ev->pid = atoi(word + (*word == '@'));
		break;
	case 'N':
		if (length && word[length - 1] == '/') {
			word[length - 1] = '\0';
			ev->flags |= LEAT_EVF_DIR;
		}
		ev->name = word;
		break;
	case 'n':
		ev->name = word;
		break;
	case 'v':
		ev->name = behind(w, ev->step, 0, LEAT_CALL_WRITE, word);
		break;
	case 'T':
		ev->to = behind(w, ev->step, 0, LEAT_CALL_WRITE, word);
		break;
	case 'V':
		ev->name = behind(w, ev->step, ev->code, LEAT_CALL_OPEN, word);
		ev->to = word;
		break;
	case 'u':
		ev->code = use_of(word);
		break;
	case 't':
		ev->to = word;
		break;
	case 'o':
		ev->ofd = strtoull(word, NULL, 10);
		break;
	case 'w':
		ev->waiter = strtoull(word, NULL, 10);
		break;
	case 'c':
		ev->code = (unsigned)atoi(word);
		break;
	case 'l':
		ev->length = strtoull(word, NULL, 10);
		break;
	case 'b':
		ev->offset = strtoull(word, NULL, 10);
		break;
	default:
		fail_msg("no such argument");
	}
}

void world_event(const struct world *w, const char *text, struct leat_event *ev, char *buf)
{
	const struct verb *verb = NULL;
	char *rest, *word;

	snprintf(buf, 256, "%s", text);
	rest = buf;
	word = strsep(&rest, " ");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].word, word))
			verb = &verbs[i];
	if (!verb)
		fail_msg("no such event: %s", text);
	*ev = (struct leat_event){.kind = verb->kind,
				  .flags = verb->flags,
				  .status = verb->status,
				  .step = -1,
				  .name = verb->status > 0 ? "exited with status 1" : NULL};
	ev->code = verb->kind == LEAT_EV_LAUNCH && verb->arguments[1];
	if (!strcmp(verb->word, "look"))
		ev->code = LEAT_READ_LOOK;
	if (!strcmp(verb->word, "glance") || !strcmp(verb->word, "had"))
		ev->code = LEAT_READ_PART;
	for (const char *a = verb->arguments; *a && (word = strsep(&rest, " ")); a++)
		take_argument(w, *a, word, ev);
}

void world_do(struct world *w, const char *events)
{
	char *copy = strdup(events), *rest = copy, *one;

	assert_non_null(copy);
	while ((one = strsep(&rest, ";"))) {
		struct leat_event ev;
		char buf[256];
		int rc;

		one += strspn(one, " ");
		world_event(w, one, &ev, buf);
		rc = leat_stream_apply(w->s, &ev);
		if (rc)
			fail_msg("%s: %s", one, strerror(-rc));
	}
	free(copy);
}

/* ---- questions ---- */

/* The question of a step, or of a rank of it. False: the name stands for nothing. */
static bool question(const struct world *w, const char *step, enum leat_call call, const char *name,
		     struct leat_event *ev)
{
	char copy[64];
	unsigned rank;

	snprintf(copy, sizeof(copy), "%s", step);
	rank = rank_in(copy);
	ev->kind = LEAT_EV_ASK;
	ev->step = world_step(w, copy);
	ev->call = call;
	ev->name = behind(w, ev->step, rank, call, name);
	return ev->name;
}

enum leat_answer world_ask(struct world *w, const char *step, enum leat_call call, const char *name,
			   uint64_t offset, uint64_t length)
{
	struct leat_event ev = {.offset = offset, .length = length};
	bool any = question(w, step, call, name, &ev);

	return any ? leat_stream_ask(w->s, &ev) : LEAT_NOENT;
}

uint64_t world_wait(struct world *w, const char *step, enum leat_call call, const char *name,
		    uint64_t offset, uint64_t length)
{
	struct leat_event ev = {.waiter = w->next_waiter++, .offset = offset, .length = length};
	enum leat_answer answer;

	assert_true(question(w, step, call, name, &ev));
	answer = leat_stream_ask(w->s, &ev);
	if (answer != LEAT_WAIT)
		fail_msg("%s on %s is answered %d at once", step, name, (int)answer);
	return ev.waiter;
}

/* ---- scripts ---- */

static int index_of(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++)
		if (words[i] && word && !strcmp(words[i], word))
			return i;
	fail_msg("no such word: %s", word ? word : "(none)");
	return -1;
}

static const char *const call_words[] = {"open", "look",   "read",   "whole", "write",
					 "list", "remove", "launch", "more"};
static const char *const answer_words[] = {"go", "stream", "wait", "noent", "failed"};
static const char *const violation_words[] = {NULL,   "rewrite", "late",   "closes", "undeclared",
					      "size", "again",   "linked", "listed", "amended"};

/* "B open x [offset length] [answer]"; a name "." is the workflow's directory. */
static void run_question(struct world *w, char *line, bool waits)
{
	char *rest = line, *words[6] = {NULL};
	const char *name, *wanted;
	uint64_t offset, length;
	enum leat_call call;
	int n = 0, answer;

	while (n < 6 && (words[n] = strsep(&rest, " ")))
		n++;
	if (n < 3 || !words[2]) {
		fail_msg("no such question: %s", line);
		return;
	}
	call = (enum leat_call)index_of(call_words, 9, words[1]);
	name = strcmp(words[2], ".") ? words[2] : "";
	offset = n >= 5 ? strtoull(words[3], NULL, 10) : 0;
	length = n >= 5 ? strtoull(words[4], NULL, 10) : 0;
	if (waits) {
		world_wait(w, words[0], call, name, offset, length);
		return;
	}
	wanted = words[n - 1];
	answer = (int)world_ask(w, words[0], call, name, offset, length);
	if (answer != index_of(answer_words, 5, wanted))
		fail_msg("%s %s %s: %s, not %s", words[0], words[1], words[2], answer_words[answer],
			 wanted);
}

static void check_name(const char *line, const char *wanted, const char *name)
{
	char text[PATH_MAX];
	uint64_t number = 1;
	const char *base = name ? leat_version_base(name, &number) : "none";

	if (number > 1)
		snprintf(text, sizeof(text), "%s@%" PRIu64, base, number);
	else
		snprintf(text, sizeof(text), "%s", base);
	if (strcmp(text, wanted) != 0)
		fail_msg("%s: %s, not %s", line, text, wanted);
}

/* "B x x@3" */
static void run_behind(const struct world *w, char *line)
{
	char *rest = line, *step = strsep(&rest, " "), *seen = strsep(&rest, " "), name[PATH_MAX];
	unsigned rank = rank_in(step);
	enum leat_version_answer answer =
		leat_stream_version(w->s, world_step(w, step), rank, LEAT_CALL_OPEN, seen, name);

	check_name(seen, rest,
		   answer == LEAT_VERSION_GONE    ? "gone"
		   : answer == LEAT_VERSION_NAMED ? name
						  : NULL);
}

static int list_name(void *ctx, const char *seen, const char *made)
{
	struct world *w = ctx;

	(void)seen;
	say_name(w, "+", made, "");
	return 0;
}

/* "B": what it is shown is said. */
static void run_shown(struct world *w, char *line)
{
	char *rest = line, *step = strsep(&rest, " ");
	unsigned rank = rank_in(step);

	assert_int_equal(leat_stream_each_version(w->s, world_step(w, step), rank, list_name, w),
			 0);
}

static void list_below(void *ctx, const char *name)
{
	say_name(ctx, "*", name, "");
}

static bool list_output(void *ctx, const char *name, enum leat_file_state state)
{
	(void)state;
	say_name(ctx, "*", name, "");
	return strcmp(name, "last") != 0;
}

/* "B x" */
static void run_next(const struct world *w, char *line)
{
	char *rest = line, *step = strsep(&rest, " "), name[PATH_MAX];
	bool any = leat_stream_next(w->s, world_step(w, step), name);

	check_name(step, rest, any ? name : NULL);
}

static void run_line(struct world *w, char *line)
{
	if (*line == '=') {
		const char *said = world_said(w), *wanted = line + 1 + (line[1] == ' ');

		if (strcmp(said, wanted) != 0)
			fail_msg("said \"%s\", not \"%s\"", said, wanted);
	} else if (*line == '?') {
		run_question(w, line + 2, false);
	} else if (*line == '@') {
		run_behind(w, line + 2);
	} else if (!strncmp(line, "show ", 5)) {
		run_shown(w, line + 5);
	} else if (!strncmp(line, "below ", 6)) {
		leat_stream_each_below(w->s, line + 6, list_below, w);
	} else if (!strncmp(line, "outputs ", 8)) {
		leat_stream_each_output(w->s, world_step(w, line + 8), list_output, w);
	} else if (!strncmp(line, "next ", 5)) {
		run_next(w, line + 5);
	} else if (*line == '!') {
		char *rest = line + 2, *kind = strsep(&rest, " ");

		unsigned n = w->violations[index_of(violation_words, LEAT_VIOLATION_KINDS, kind)];

		if (n != (unsigned)atoi(rest))
			fail_msg("%u violations: %s, not %s", n, kind, rest);
	} else if (!strncmp(line, "invalid ", 8)) {
		struct leat_event ev;
		char buf[256];

		world_event(w, line + 8, &ev, buf);
		if (leat_stream_apply(w->s, &ev) != -EINVAL)
			fail_msg("accepted: %s", line);
	} else {
		char *rest = line, *one;

		while ((one = strsep(&rest, ";"))) {
			one += strspn(one, " ");
			if (!strncmp(one, "wait ", 5))
				run_question(w, one + 5, true);
			else
				world_do(w, one);
		}
	}
}

void world_script(struct world *w, const char *script)
{
	char *copy = strdup(script), *rest = copy, *line;

	assert_non_null(copy);
	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			run_line(w, line);
	}
	free(copy);
}
