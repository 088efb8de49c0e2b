/* probe_trace PROGRAM: as a debugger does, change a byte of libc's text in the program before the
 * library under test looks at it (it first asks for a kept image). Ends with the program's status.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED_TAIL 16 /* bytes behind the last function, in the last page of the text */

static void fail(const char *what)
{
	perror(what);
	exit(100);
}

/* The end of libc's text. */
static unsigned long find_text(pid_t pid)
{
	char path[64], line[512];
	unsigned long end = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	if (!maps)
		fail(path);
	while (!end && fgets(line, sizeof(line), maps))
		if (strstr(line, " r-xp ") && strstr(line, "/libc.so.6"))
			sscanf(line, "%*x-%lx", &end);
	fclose(maps);
	return end;
}

static void read_text(pid_t pid, unsigned long at, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : pread(fd, to, size - 1, (off_t)at);
	close(fd);
	to[n > 0 ? n : 0] = 0;
}

/* Is the program about to open an image? */
static int asks_for_image(pid_t pid)
{
	struct user_regs_struct r;
	char name[256];

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
		fail("PTRACE_GETREGS");
	read_text(pid, r.rsi, name, sizeof(name));
	return strstr(name, ".image") != NULL;
}

static void change(pid_t pid)
{
	unsigned long end = find_text(pid);

	if (!end)
		fail("no libc");
	if (ptrace(PTRACE_POKETEXT, pid, end - UNUSED_TAIL, 0x5a5a5a5a5a5a5a5aL) < 0)
		fail("PTRACE_POKETEXT");
}

int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? fork() : -1;
	int status, done = 0;

	if (pid < 0)
		return 2;
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int signo = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);

		if (!done && !signo && asks_for_image(pid)) {
			change(pid);
			done = 1;
		}
		if (ptrace(done ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL, signo) < 0)
			fail("PTRACE");
	}
	if (!done)
		return 101; /* it never asked */
	return WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}
