#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct numbers {
	unsigned inodes, handles;
} * numbers;

static char bytes[1 << 20];
const char *program;

void broken(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

void expect_begin(void)
{
	/* An executed program goes on where the one before it was. */
	const char *fd = getenv("EXPECT_NUMBERS");
	char text[16];
	int memory = fd ? atoi(fd) : memfd_create("numbers", 0);

	if (memory < 0 || (!fd && ftruncate(memory, sizeof(*numbers)) < 0))
		broken("memfd_create");
	numbers = mmap(NULL, sizeof(*numbers), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (numbers == MAP_FAILED)
		broken("mmap");
	snprintf(text, sizeof(text), "%d", memory);
	setenv("EXPECT_NUMBERS", text, 1);
}

unsigned expect_inode(void)
{
	return ++numbers->inodes;
}

unsigned expect_handle(void)
{
	return ++numbers->handles;
}

const char *in_dir(const char *name)
{
	static char paths[8][8192];
	static unsigned next;
	char *path = paths[next++ % 8];

	if (!getcwd(path, 4096))
		broken("getcwd");
	strcat(path, "/");
	return strcat(path, name);
}

/* As the comparison writes them: anything but these characters as %XX. */
static void encode(char *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "/._-";

	for (; *text; text++)
		if (strchr(plain, *text))
			*out++ = *text;
		else
			out += sprintf(out, "%%%02X", (unsigned char)*text);
	*out = 0;
}

void say(char type, unsigned inode, unsigned handle, long result, uint64_t offset, uint64_t size,
	 int flags, const char *path, const char *to)
{
	char from_text[3 * 8192] = "-", to_text[3 * 8192] = "-";
	static char line[7 * 8192];
	int n;

	if (path)
		encode(from_text, path);
	if (to)
		encode(to_text, to);
	n = sprintf(line, "%c p%d i%u h%u %ld %llu %llu 0x%x %s %s\n", type, (int)getpid(), inode,
		    handle, result, (unsigned long long)offset, (unsigned long long)size,
		    (unsigned)flags, from_text, to_text);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		broken("standard output");
}

struct file open_it(const char *name, int flags, unsigned inode)
{
	struct file f = {.fd = open(name, flags, 0644), .flags = flags};

	if (f.fd < 0)
		broken(name);
	f.inode = inode ? inode : expect_inode();
	f.handle = expect_handle();
	say(inode ? 'O' : 'C', f.inode, f.handle, 0, 0, 0, flags,
	    *name == '/' ? name : in_dir(name), NULL);
	return f;
}

void close_it(struct file *f, bool last)
{
	if (close(f->fd) < 0)
		broken("close");
	if (last)
		say('X', f->inode, f->handle, 0, 0, 0, f->flags, NULL, NULL);
	f->fd = -1;
}

void moved(char type, const struct file *f, long result, uint64_t offset, uint64_t size)
{
	say(type, f->inode, f->handle, result, offset, size, f->flags, NULL, NULL);
}

void read_it(const struct file *f, size_t size, long result, uint64_t offset)
{
	long n = read(f->fd, bytes, size);

	if (n < 0)
		n = -errno;
	if (n != result)
		broken("read");
	moved('R', f, n, offset, size);
}

void write_it(const struct file *f, size_t size, uint64_t offset)
{
	if (write(f->fd, bytes, size) != (ssize_t)size)
		broken("write");
	moved('W', f, (long)size, offset, size);
}

void unlink_it(const char *name, unsigned inode)
{
	if (unlink(name) < 0)
		broken(name);
	say('U', inode, 0, 0, 0, 0, 0, in_dir(name), NULL);
}

void in_child(void (*run)(void *), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		broken("fork");
	if (pid == 0) {
		run(arg);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		broken("child");
}
