/* Names and what they stand for. */
#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void make(const char *name, unsigned *inode)
{
	struct file f = open_it(name, O_CREAT | O_WRONLY | O_EXCL, 0);

	write_it(&f, 10, 0);
	close_it(&f, true);
	*inode = f.inode;
}

static void renamed(const char *from, const char *to, unsigned inode)
{
	say('N', inode, 0, 0, 0, 0, 0, in_dir(from), in_dir(to));
}

static void renames(void)
{
	unsigned a, b;
	struct file f;

	make("a", &a);
	if (rename("a", "b") < 0)
		broken("rename");
	renamed("a", "b", a);
	f = open_it("b", O_RDONLY, a);
	close_it(&f, true);
	make("a", &b);
	f = open_it("b", O_RDONLY, a);
	/* over another, which is still open */
	if (renameat2(AT_FDCWD, "a", AT_FDCWD, "b", 0) < 0)
		broken("renameat2");
	renamed("a", "b", b);
	read_it(&f, 100, 10, 0);
	close_it(&f, true);
	f = open_it("b", O_RDONLY, b);
	close_it(&f, true);
	if (rename("nothing", "b") == 0)
		broken("rename");
	say('N', 0, 0, -ENOENT, 0, 0, 0, in_dir("nothing"), in_dir("b"));
}

/* The kernel takes the number of a file again at once: it is another file all the same. */
static void reuse(void)
{
	for (unsigned i = 0; i < 50; i++) {
		unsigned inode;

		make("temporary", &inode);
		unlink_it("temporary", inode);
	}
}

static void open_unlinked(void)
{
	unsigned inode;
	struct file f = open_it("gone", O_CREAT | O_RDWR, 0), g;

	unlink_it("gone", f.inode);
	write_it(&f, 100, 0);
	g = open_it("gone", O_CREAT | O_RDWR, 0);
	write_it(&g, 10, 0);
	close_it(&f, true);
	inode = g.inode;
	close_it(&g, true);
	unlink_it("gone", inode);
}

static void links(void)
{
	unsigned inode;
	struct file f;

	make("one", &inode);
	if (link("one", "two") < 0 || symlink("one", "three") < 0)
		broken("link");
	unlink_it("one", inode);
	f = open_it("two", O_RDONLY, inode);
	close_it(&f, true);
	if (rename("two", "one") < 0)
		broken("rename");
	renamed("two", "one", inode);
	/* by a link: the name is that of the file */
	f.fd = open("three", O_RDONLY);
	if (f.fd < 0)
		broken("three");
	f.flags = O_RDONLY;
	f.handle = expect_handle();
	say('O', inode, f.handle, 0, 0, 0, O_RDONLY, in_dir("one"), NULL);
	close_it(&f, true);
}

static void truncates(void)
{
	struct file f = open_it("cut", O_CREAT | O_RDWR, 0);
	unsigned inode = f.inode;

	write_it(&f, 10000, 0);
	if (ftruncate(f.fd, 5000) < 0)
		broken("ftruncate");
	say('T', f.inode, f.handle, 0, 0, 5000, f.flags, NULL, NULL);
	close_it(&f, true);
	if (truncate("cut", 123) < 0)
		broken("truncate");
	say('T', inode, 0, 0, 0, 123, 0, NULL, NULL);
	f = open_it("cut", O_WRONLY | O_TRUNC, inode);
	close_it(&f, true);
}

/* Relative to a directory, and with characters that files of comma-separated values need care for.
 */
static void strange(void)
{
	static const char *const names[] = {"a, b", "\"quoted\"", "line\nbreak", "\xff\xfe",
					    "100%"};

	if (mkdir("d", 0755) < 0)
		broken("mkdir");
	for (unsigned i = 0; i < 5; i++) {
		char path[64];
		int dir = open(".", O_PATH | O_DIRECTORY);
		struct file f = {.flags = O_CREAT | O_WRONLY};

		if (dir < 0)
			broken("open");
		snprintf(path, sizeof(path), "d/%s", names[i]);
		f.fd = openat(dir, path, f.flags, 0600);
		if (f.fd < 0)
			broken(path);
		f.inode = expect_inode();
		f.handle = expect_handle();
		say('C', f.inode, f.handle, 0, 0, 0, f.flags, in_dir(path), NULL);
		close_it(&f, true);
		if (unlinkat(dir, path, 0) < 0)
			broken(path);
		say('U', f.inode, 0, 0, 0, 0, 0, in_dir(path), NULL);
		close(dir);
	}
}

/* A path that is nearly as long as paths can be. */
static void lengthy(void)
{
	char name[201];
	struct file f;

	memset(name, 'n', 200);
	name[200] = 0;
	for (unsigned i = 0; i < 18; i++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			broken("mkdir");
	f = open_it("end", O_CREAT | O_WRONLY, 0);
	close_it(&f, true);
	unlink_it("end", f.inode);
}

const struct part parts_names[] = {
	{"renames", renames},
	{"reuse", reuse},
	{"open-unlinked", open_unlinked},
	{"links", links},
	{"truncates", truncates},
	{"strange", strange},
	{"lengthy", lengthy},
	{0},
};
