/* Operations of more than one process or thread. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CHILD_STEPS = 6, CHILD_BASE = 100000 };

/* Numbers for the steps of a child; those of a child's child are others still. */
static unsigned child_step(const struct world *w)
{
	return CHILD_BASE * (w->depth + 1) + w->step % CHILD_BASE * 10;
}

static void await(struct world *w, pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid)
		result(w, -1);
	say(w, "%llu.%u child ended with %x", (unsigned long long)w->seed, w->step, status);
}

/* A child goes on with the same descriptors and offsets. */
static void do_fork(struct world *w)
{
	unsigned step = child_step(w);
	pid_t pid;

	say(w, "fork");
	done(w);
	if (w->depth >= 2)
		return;
	pid = fork();
	if (pid == 0) {
		w->depth++;
		for (int i = 0; i < CHILD_STEPS; i++)
			act(w, step++);
		_exit(0);
	}
	await(w, pid);
}

/* A new image goes on with the descriptors it inherits. */
static void do_exec(struct world *w)
{
	char seed[32], step[32], count[32];
	char *argv[] = {(char[]){"differ"}, (char[]){"--resume"}, NULL, seed, step, count, NULL};
	char root[512];
	pid_t pid;
	bool spawn = chance(w, 50);

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)w->seed);
	snprintf(step, sizeof(step), "%u", child_step(w));
	snprintf(count, sizeof(count), "%d", CHILD_STEPS);
	snprintf(root, sizeof(root), "%s", w->root);
	argv[2] = root;
	say(w, "exec");
	done(w);
	if (w->depth)
		return;
	if (spawn) {
		if (posix_spawn(&pid, w->self, NULL, NULL, argv, environ) != 0)
			return;
	} else {
		pid = fork();
		if (pid == 0) {
			execv(w->self, argv);
			_exit(127);
		}
	}
	await(w, pid);
}

/* A program with a descriptor as standard input or output: `cat < fd`, `echo >> path`. */
static void do_spawn(struct world *w)
{
	static const char *const scripts[] = {"exec cksum", "echo one; echo two >&3; echo three",
					      "read x; echo \"$x\" | cksum",
					      "head -c 100 | cksum; cksum"};
	const char *path = pick_path(w), *script = PICK(w, scripts);
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};
	int fd = pick_fd(w), in = pick_fd(w);
	posix_spawn_file_actions_t actions;
	bool output = chance(w, 50);
	struct stat st;
	pid_t pid;
	int rc;

	say(w, "spawn %s in %d out %d ", script, in, fd);
	say_path(w, path);
	if (fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (output)
		posix_spawn_file_actions_addopen(&actions, 3, path, O_WRONLY | O_CREAT | O_APPEND,
						 0644);
	posix_spawn_file_actions_adddup2(&actions, fd, 1);
	rc = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	say(w, " = %s", rc ? strerrorname_np(rc) : "0");
	done(w);
	if (!rc)
		await(w, pid);
	say(w, " at %lld", (long long)lseek(in, 0, SEEK_CUR));
}

struct worker {
	char path[32];
	uint64_t seen;
	unsigned step;
};

static void *work(void *arg)
{
	struct worker *me = arg;
	char bytes[3000];
	int fd = open(me->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	for (unsigned i = 0; i < 8; i++) {
		size_t n = 100 + (me->step * 7 + i * 331) % 2800;
		long rc;

		memset(bytes, 'A' + (int)(i + me->step) % 20, n);
		rc = i % 3 ? write(fd, bytes, n) : pwrite(fd, bytes, n, i * 1000);
		me->seen = me->seen * 31 + (uint64_t)rc;
		rc = pread(fd, bytes, sizeof(bytes), i * 500);
		me->seen = me->seen * 31 + (rc > 0 ? digest(bytes, (size_t)rc) : (uint64_t)rc);
	}
	me->seen = me->seen * 31 + (uint64_t)lseek(fd, 0, SEEK_CUR);
	close(fd);
	return NULL;
}

/* Two threads, each with a file of its own; descriptors come in any order. */
static void do_threads(struct world *w)
{
	struct worker workers[2];
	pthread_t threads[2];

	say(w, "threads");
	for (int i = 0; i < 2; i++) {
		workers[i] = (struct worker){.step = w->step + (unsigned)i};
		snprintf(workers[i].path, sizeof(workers[i].path), "thread%d", i);
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			abort();
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		say(w, " %016llx", (unsigned long long)workers[i].seen);
	}
}

const struct operation process_operations[] = {
	{12, do_fork}, {5, do_exec}, {6, do_spawn}, {5, do_threads}, {0, NULL},
};
