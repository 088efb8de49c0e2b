/* Descriptors and who has them. */
#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void dups(void)
{
	struct file f = open_it("dup", O_CREAT | O_RDWR, 0), g = f, h = f, other;

	g.fd = dup(f.fd);
	write_it(&f, 100, 0);
	write_it(&g, 100, 100); /* one offset */
	close_it(&f, false);
	h.fd = fcntl(g.fd, F_DUPFD_CLOEXEC, 20);
	close_it(&g, false);
	write_it(&h, 10, 200);
	/* dup2 closes what was there */
	other = open_it("other", O_CREAT | O_WRONLY, 0);
	if (dup2(other.fd, h.fd) < 0)
		broken("dup2");
	say('X', h.inode, h.handle, 0, 0, 0, h.flags, NULL, NULL);
	f = other;
	f.fd = h.fd;
	write_it(&f, 7, 0);
	if (dup2(f.fd, f.fd) != f.fd) /* nothing */
		broken("dup2");
	close_it(&other, false);
	if (close_range((unsigned)f.fd, (unsigned)f.fd + 3, 0) < 0)
		broken("close_range");
	say('X', f.inode, f.handle, 0, 0, 0, f.flags, NULL, NULL);
}

static void read_more(void *arg)
{
	struct file *f = arg;

	read_it(f, 100, 100, 100);
	close_it(f, false);
}

static void write_and_leave(void *arg)
{
	struct file *f = arg, own = open_it("own", O_CREAT | O_WRONLY, 0);

	write_it(f, 5, 1000);
	write_it(&own, 5, 0);
	/* its end closes what only it has */
	say('X', own.inode, own.handle, 0, 0, 0, own.flags, NULL, NULL);
}

static void forks(void)
{
	struct file f = open_it("shared", O_CREAT | O_RDWR, 0);

	write_it(&f, 1000, 0);
	lseek(f.fd, 0, SEEK_SET);
	read_it(&f, 100, 100, 0);
	in_child(read_more, &f);
	read_it(&f, 100, 100, 200); /* the offset is shared, too */
	lseek(f.fd, 0, SEEK_END);
	in_child(write_and_leave, &f);
	write_it(&f, 5, 1005);
	close_it(&f, true);
}

/* ---- executed programs ---- */

static void execute(void *arg)
{
	const struct file *files = arg;
	char kept[64];

	snprintf(kept, sizeof(kept), "%d,%u,%u,%d", files[0].fd, files[0].handle, files[0].inode,
		 files[0].flags);
	/* what is to be closed is closed by the exec */
	say('X', files[1].inode, files[1].handle, 0, 0, 0, files[1].flags, NULL, NULL);
	say('X', files[2].inode, files[2].handle, 0, 0, 0, files[2].flags, NULL, NULL);
	execl(program, program, "--go-on", kept, (char *)NULL);
	broken(program);
}

void go_on(char **argv)
{
	struct file f = {0};

	if (!*argv || sscanf(*argv, "%d,%u,%u,%d", &f.fd, &f.handle, &f.inode, &f.flags) != 4)
		broken("arguments");
	write_it(&f, 10, 10);
	if (argv[1])
		return;
	say('X', f.inode, f.handle, 0, 0, 0, f.flags, NULL, NULL);
}

static void open_three(struct file files[3])
{
	files[0] = open_it("kept", O_CREAT | O_RDWR | O_CLOEXEC, 0);
	files[1] = open_it("closed", O_CREAT | O_RDWR | O_CLOEXEC, 0);
	files[2] = open_it("closed-too", O_CREAT | O_RDWR, 0);
	if (ioctl(files[0].fd, FIONCLEX) < 0 || fcntl(files[2].fd, F_SETFD, FD_CLOEXEC) < 0)
		broken("ioctl");
	write_it(&files[0], 10, 0);
}

/* The exec is of the only process that has them. */
static void execs(void)
{
	struct file files[3];

	open_three(files);
	execute(files);
}

static void *execute_in_thread(void *arg)
{
	execute(arg);
	return NULL;
}

static void exec_from_thread(void)
{
	struct file files[3];
	pthread_t thread;

	open_three(files);
	if (pthread_create(&thread, NULL, execute_in_thread, files))
		broken("pthread_create");
	for (;;)
		pause();
}

static void vforks(void)
{
	struct file f = open_it("vforked", O_CREAT | O_RDWR, 0);
	char kept[64];
	int status;
	pid_t pid;

	write_it(&f, 10, 0);
	snprintf(kept, sizeof(kept), "%d,%u,%u,%d", f.fd, f.handle, f.inode, f.flags);
	pid = vfork();
	if (pid == 0) {
		execl(program, program, "--go-on", kept, "on", (char *)NULL);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		broken("vfork");
	write_it(&f, 1, 20);
	close_it(&f, true);
}

/* ---- threads ---- */

static void *in_thread(void *arg)
{
	struct file *f = arg, g = open_it("thread", O_CREAT | O_WRONLY, 0);

	write_it(f, 100, 0);
	f->fd = g.fd;
	f->handle = g.handle;
	f->inode = g.inode;
	f->flags = g.flags;
	return NULL;
}

static void threads(void)
{
	struct file f = open_it("main", O_CREAT | O_RDWR, 0), g = f;
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, &g) || pthread_join(thread, NULL))
		broken("thread");
	/* descriptors are the process's: what the thread opened lives on */
	write_it(&g, 10, 0);
	write_it(&f, 10, 100);
	close_it(&g, true);
	close_it(&f, true);
}

/* ---- signals ---- */

static volatile sig_atomic_t caught;

static void on_signal(int signo)
{
	static const char text[] = "12345";
	int fd = open("handler", O_CREAT | O_WRONLY | O_APPEND, 0600);

	(void)signo;
	if (fd < 0 || write(fd, text, 5) != 5 || close(fd) < 0)
		_exit(3);
	caught = caught + 1;
}

static void signals(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int flags = O_CREAT | O_WRONLY | O_APPEND;
	unsigned inode = expect_inode();

	sigaction(SIGUSR1, &act, NULL);
	for (unsigned i = 0; i < 3; i++) {
		unsigned handle = expect_handle();

		raise(SIGUSR1);
		say(i ? 'O' : 'C', inode, handle, 0, 0, 0, flags, in_dir("handler"), NULL);
		say('W', inode, handle, 5, i * 5, 5, flags, NULL, NULL);
		say('X', inode, handle, 0, 0, 0, flags, NULL, NULL);
	}
	if (caught != 3)
		broken("signal");
}

static void killed_child(void *arg)
{
	struct file f = open_it("killed", O_CREAT | O_WRONLY, 0);

	(void)arg;
	write_it(&f, 100, 0);
	say('X', f.inode, f.handle, 0, 0, 0, f.flags, NULL, NULL);
	kill(getpid(), SIGKILL);
}

/* What is killed has its files closed, and loses nothing that it wrote. */
static void killed(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		killed_child(NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		broken("kill");
}

/* ---- over a socket ---- */

static void send_fd(int socket, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(socket, &m, 0) != 1)
		broken("sendmsg");
}

static int receive_fd(int socket)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	int fd;

	if (recvmsg(socket, &m, 0) != 1)
		broken("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return fd;
}

/* The child gets a descriptor that it did not inherit. */
static void passed(void)
{
	struct file f, g;
	int ends[2], status;
	char byte;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		broken("socketpair");
	pid = fork();
	if (pid == 0) {
		f = (struct file){.fd = receive_fd(ends[1]), .flags = O_CREAT | O_RDWR};
		f.inode = expect_inode() - 1;
		f.handle = expect_handle() - 1;
		write_it(&f, 10, 10);
		close_it(&f, false);
		_exit(write(ends[1], "", 1) != 1);
	}
	f = open_it("passed", O_CREAT | O_RDWR, 0);
	write_it(&f, 10, 0);
	send_fd(ends[0], f.fd);
	if (read(ends[0], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid || status)
		broken("child");
	g = f;
	write_it(&g, 10, 20);
	close_it(&g, true);
}

const struct part parts_processes[] = {
	{"dups", dups},       {"forks", forks},
	{"execs", execs},     {"exec-from-thread", exec_from_thread},
	{"vforks", vforks},   {"threads", threads},
	{"signals", signals}, {"killed", killed},
	{"passed", passed},   {0},
};
