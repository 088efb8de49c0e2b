#include "base/procstatus.h"

#include "base/fd.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT LEAT_SIGNAL_BIT

/* These end no process; one that is stopped goes on later. */
#define HARMLESS                                                                                   \
	(BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT) | BIT(SIGSTOP) | BIT(SIGTSTP) | \
	 BIT(SIGTTIN) | BIT(SIGTTOU))

uint64_t leat_procstatus_mask(const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0)
			return strtoull(line + length, NULL, 16);
	}
	return 0;
}

uint64_t leat_procstatus_pending(const char *text)
{
	return (leat_procstatus_mask(text, "SigPnd:") | leat_procstatus_mask(text, "ShdPnd:")) &
	       ~leat_procstatus_mask(text, "SigBlk:") & ~leat_procstatus_mask(text, "SigIgn:");
}

uint64_t leat_procstatus_fatal(const char *text)
{
	return leat_procstatus_pending(text) & ~leat_procstatus_mask(text, "SigCgt:") & ~HARMLESS;
}

/* ---- threads ---- */

enum thread { THREAD_GONE, THREAD_ENDS, THREAD_LIVES };

/* It gives up its memory before its files. */
static enum thread judge(const char *text)
{
	const char *state = strstr(text, "\nState:\t");

	if (state && (state[8] == 'Z' || state[8] == 'X'))
		return THREAD_GONE;
	return leat_procstatus_fatal(text) || !strstr(text, "\nVmSize:") ? THREAD_ENDS
									 : THREAD_LIVES;
}

static enum thread look(pid_t pid, const char *tid)
{
	enum thread seen = THREAD_GONE;
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%.12s/status", (int)pid, tid);
	if (leat_read_file(path, 65536, &text, NULL) == 0)
		seen = judge(text);
	free(text);
	return seen;
}

bool leat_process_is_dying(pid_t pid)
{
	bool lives = false, ends = false;
	char path[32];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !lives && (e = readdir(dir))) {
		enum thread seen = e->d_name[0] == '.' ? THREAD_GONE : look(pid, e->d_name);

		ends |= seen == THREAD_ENDS;
		lives = seen == THREAD_LIVES;
	}
	if (dir)
		closedir(dir);
	return ends && !lives;
}
