/* leat-action [--check] FILE FUNCTION: the process in which actions run. leat starts it. */
#include "action/host.h"
#include "base/installed.h"
#include "base/str.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>

_Static_assert((int)LEAT_ACTION_BEFORE_LAUNCH == LEAT_ACT_BEFORE_LAUNCH &&
		       (int)LEAT_ACTION_AFTER_EXIT == LEAT_ACT_AFTER_EXIT,
	       "two names of the same events");

/* Relative to this program: installed, and in the build tree. */
static const char *const python_paths[] = {"libleat-python.so",
					   "../" LEAT_LIBDIR "/leat/libleat-python.so",
					   "../../" LEAT_LIBDIR "/leat/libleat-python.so", NULL};

#ifdef __SANITIZE_ADDRESS__
/* An interpreter ends without giving back what it has. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static leat_action_setup *setup;

static int load_object(struct leat_action *a, const char *file, const char *function)
{
	char *path = *file == '/' ? strdup(file) : leat_strf("./%s", file);
	void *object = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	free(path);
	if (!object)
		return leat_action_fail(a, "%s", dlerror());
	return leat_find_function(object, function, &setup)
		       ? 0
		       : leat_action_fail(a, "it has no function %s", function);
}

static int load_python(struct leat_action *a, const char *file, const char *function)
{
	char *path = leat_find_installed(python_paths, NULL);
	/* Modules written in C look for the interpreter among the global symbols. */
	void *object = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	const bool is_there = path != NULL;
	leat_python_loader *load;

	free(path);
	if (!object)
		return leat_action_fail(a,
					"this leat cannot run Python: libleat-python.so was not "
					"found, or not loaded (%s)",
					is_there ? dlerror() : "it is not there");
	if (!leat_find_function(object, "leat_python_load", &load) ||
	    !leat_find_function(object, "leat_python_setup", &setup))
		return leat_action_fail(a, "libleat-python.so is of another version");
	return load(a, file, function);
}

static int load(struct leat_action *a, const char *file, const char *function)
{
	const char *ending = strrchr(file, '.');

	return ending && !strcmp(ending, ".py") ? load_python(a, file, function)
						: load_object(a, file, function);
}

/* ---- events ---- */

static int status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int call(struct leat_action *a, const struct leat_msg_act *m, const char *file)
{
	const struct leat_action_info info = {.event = (enum leat_action_event)m->act,
					      .file = file,
					      .writes = m->writes,
					      .status = status_of(m->status)};

	if (m->act < LEAT_ACT_BEFORE_LAUNCH || m->act >= LEAT_ACT_KINDS || !a->on[m->act].fn)
		return 0;
	return a->on[m->act].fn(a, &info, a->on[m->act].data);
}

static uint32_t wanted(const struct leat_action *a)
{
	uint32_t mask = 0;

	for (unsigned act = LEAT_ACT_BEFORE_LAUNCH; act < LEAT_ACT_KINDS; act++)
		mask |= a->on[act].fn ? 1u << act : 0;
	return mask;
}

static int reply(const struct leat_action *a, uint64_t id, int error)
{
	static char buf[LEAT_WIRE_MAX];
	struct leat_msg_acted *m = leat_wire_begin(buf, LEAT_MSG_ACTED, sizeof(*m));

	m->id = id;
	m->step = a->step;
	m->rank = a->rank;
	m->error = error;
	m->wants = wanted(a);
	m->served = a->served;
	if (leat_wire_put(m, error && !*a->why ? "it gave no reason" : a->why))
		return -EMSGSIZE;
	return send(a->fd, m, m->h.size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* One event; loads the actions for the first. -1: there is nobody to go on for. */
static int handle(struct leat_action *a, const struct leat_msg_act *m, char *const *names)
{
	const char *file = leat_wire_string(m, sizeof(*m), 0);
	int failed = 0;

	a->served = false;
	a->step = m->step;
	a->rank = m->rank;
	a->closes += m->act == LEAT_ACT_AFTER_CLOSE;
	if (!setup) {
		failed = load(a, names[0], names[1]);
		if (!failed)
			failed = setup(a, (int)m->rank);
	}
	if (!failed)
		failed = call(a, m, file ? file : "");
	fflush(NULL);
	return reply(a, m->id, failed ? -EIO : 0) || failed ? -1 : 0;
}

static int serve(char *const *names)
{
	static struct leat_action action = {.fd = LEAT_ACTION_FD};
	static char buf[LEAT_WIRE_MAX];
	ssize_t n;

	for (;;) {
		n = recv(LEAT_ACTION_FD, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (leat_wire_check(buf, (size_t)n, sizeof(struct leat_msg_act)) ||
		    handle(&action, (const struct leat_msg_act *)(void *)buf, names))
			return 1;
	}
}

static int check(char *const *names)
{
	struct leat_action action = {.fd = -1};

	if (!load(&action, names[0], names[1]))
		return 0;
	fprintf(stderr, "%s\n", action.why);
	return 1;
}

int main(int argc, char **argv)
{
	bool checks = argc == 4 && !strcmp(argv[1], "--check");

	if (!checks && argc != 3) {
		fprintf(stderr, "usage: leat-action [--check] FILE FUNCTION (leat starts it)\n");
		return 2;
	}
	/* Whatever the user's code does, it does not outlive the run. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return checks ? check(argv + 2) : serve(argv + 1);
}
