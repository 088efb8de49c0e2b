#include "driver/process.h"

#include "base/fd.h"
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals and their mask as a program expects to find them. */
static void reset_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

enum { PASSED = 3 };

/* -1 and errno if it fails. */
static int redirect(const struct leat_process_spec *spec, int out, int err)
{
	if (spec->own_group) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0)
			return -1;
	}
	if (spec->capture && (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0))
		return -1;
	if (spec->passed_fd <= 0)
		return 0;
	/* dup2 of a descriptor to itself would leave it to be closed by exec. */
	return spec->passed_fd == PASSED ? fcntl(PASSED, F_SETFD, 0)
					 : dup2(spec->passed_fd, PASSED);
}

static bool confine(const struct leat_process_spec *spec)
{
	int rc = spec->confined ? leat_confine_enter() : 0;

	errno = -rc;
	return rc == 0;
}

/* The child's side; never returns. */
static void run_child(const struct leat_process_spec *spec, int go, int error, int out, int err)
{
	char byte;
	int32_t code;

	reset_signals();
	if (spec->own_group)
		setpgid(0, 0);
	if (leat_read_all(go, &byte, 1) != 1)
		_exit(127);
	if (spec->passed_fd > 0)
		error = fcntl(error, F_DUPFD_CLOEXEC, PASSED + 1);
	if (redirect(spec, out, err) >= 0 && (!spec->dir || chdir(spec->dir) == 0) && confine(spec))
		execve(spec->program, spec->argv, spec->envp);
	code = errno;
	leat_write_all(error, &code, sizeof(code));
	_exit(code == ENOENT ? 127 : 126);
}

/* Two ends, close-on-exec; the reader's end not blocking where asked for. */
static int make_pipe(int ends[2], bool nonblocking)
{
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	if (nonblocking && fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int leat_process_fork(const struct leat_process_spec *spec, struct leat_driver_process *p)
{
	int go[2] = {-1, -1}, error[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
	int result = make_pipe(go, false);
	pid_t pid = -1;

	if (result == 0)
		result = make_pipe(error, false);
	if (result == 0 && spec->capture)
		result = make_pipe(out, true);
	if (result == 0 && spec->capture)
		result = make_pipe(err, true);
	if (result < 0)
		goto out;
	pid = fork();
	if (pid == 0) {
		/* Else the end of the parent would not be seen. */
		close(go[1]);
		run_child(spec, go[0], error[1], out[1], err[1]);
	}
	if (pid < 0)
		result = -errno;
	else if (spec->own_group)
		setpgid(pid, pid); /* whoever comes first; the other's call changes nothing */
out:
	leat_close(&go[0]);
	leat_close(&error[1]);
	leat_close(&out[1]);
	leat_close(&err[1]);
	*p = (struct leat_driver_process){pid, go[1], error[0], out[0], err[0]};
	if (result < 0)
		leat_process_close(p);
	return result;
}

int leat_process_release(struct leat_driver_process *p)
{
	int32_t code = 0;
	int result = leat_write_all(p->go_fd, "", 1);

	leat_close(&p->go_fd);
	if (result == 0 && leat_read_all(p->error_fd, &code, sizeof(code)) == sizeof(code))
		result = -code;
	leat_close(&p->error_fd);
	return result;
}

void leat_process_abandon(struct leat_driver_process *p)
{
	leat_close(&p->go_fd);
}

void leat_process_close(struct leat_driver_process *p)
{
	leat_close(&p->go_fd);
	leat_close(&p->error_fd);
	leat_close(&p->out_fd);
	leat_close(&p->err_fd);
}

int leat_process_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
