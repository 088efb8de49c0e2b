/* Bytes that move: by all calls that move some. */
#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[1 << 20];

static void plain(void)
{
	struct file f = open_it("plain", O_CREAT | O_WRONLY | O_TRUNC, 0);
	unsigned inode = f.inode;

	for (unsigned i = 0; i < 10; i++)
		write_it(&f, 1000, i * 1000);
	close_it(&f, true);
	f = open_it("plain", O_RDONLY, inode);
	read_it(&f, 4096, 4096, 0);
	read_it(&f, 65536, 10000 - 4096, 4096);
	read_it(&f, 65536, 0, 10000);
	close_it(&f, true);
	/* a second time: the same file, another handle */
	f = open_it("plain", O_RDONLY | O_CLOEXEC, inode);
	read_it(&f, 1, 1, 0);
	close_it(&f, true);
}

static void offsets(void)
{
	struct file f = open_it("offsets", O_CREAT | O_RDWR, 0);

	write_it(&f, 10000, 0);
	if (pwrite(f.fd, buffer, 100, 5000) != 100)
		broken("pwrite");
	moved('W', &f, 100, 5000, 100);
	if (pread(f.fd, buffer, 300, 9900) != 100)
		broken("pread");
	moved('R', &f, 100, 9900, 300);
	write_it(&f, 5, 10000); /* the others left the offset as it was */
	lseek(f.fd, 42, SEEK_SET);
	read_it(&f, 8, 8, 42);
	lseek(f.fd, 50, SEEK_CUR);
	read_it(&f, 8, 8, 100);
	lseek(f.fd, -5, SEEK_END);
	read_it(&f, 100, 5, 10000);
	lseek(f.fd, INT64_C(1) << 33, SEEK_SET);
	write_it(&f, 3, UINT64_C(1) << 33);
	lseek(f.fd, -(INT64_C(1) << 32) - 3, SEEK_CUR);
	lseek(f.fd, 0, SEEK_CUR);
	write_it(&f, 3, UINT64_C(1) << 32);
	lseek(f.fd, INT64_C(1) << 32, SEEK_CUR);
	write_it(&f, 1, (UINT64_C(1) << 33) + 3);
	close_it(&f, true);
}

static void append(void)
{
	struct file f = open_it("log", O_CREAT | O_WRONLY | O_APPEND, 0), g;

	g = open_it("log", O_WRONLY | O_APPEND, f.inode);
	write_it(&f, 100, 0);
	write_it(&g, 50, 100);
	write_it(&f, 10, 150);
	lseek(g.fd, 0, SEEK_SET);
	write_it(&g, 1, 160);
	close_it(&f, true);
	close_it(&g, true);
}

static void vectors(void)
{
	struct iovec io[3] = {{buffer, 10}, {buffer + 100, 20}, {buffer + 200, 30}};
	struct file f = open_it("vectors", O_CREAT | O_RDWR, 0);

	if (writev(f.fd, io, 3) != 60)
		broken("writev");
	moved('W', &f, 60, 0, 60);
	if (pwritev(f.fd, io, 2, 1000) != 30)
		broken("pwritev");
	moved('W', &f, 30, 1000, 30);
	if (preadv(f.fd, io, 3, 1020) != 10)
		broken("preadv");
	moved('R', &f, 10, 1020, 60);
	if (readv(f.fd, io, 1) != 10)
		broken("readv");
	moved('R', &f, 10, 60, 10);
	if (preadv2(f.fd, io, 2, -1, 0) != 30)
		broken("preadv2");
	moved('R', &f, 30, 70, 30);
	if (pwritev2(f.fd, io, 1, 0, 0) != 10)
		broken("pwritev2");
	moved('W', &f, 10, 0, 10);
	close_it(&f, true);
}

static void copies(void)
{
	struct file in = open_it("from", O_CREAT | O_RDWR, 0),
		    out = open_it("to", O_CREAT | O_RDWR, 0);
	off_t from = 100, to = 2000;
	int ends[2];

	write_it(&in, 5000, 0);
	if (sendfile(out.fd, in.fd, &from, 1000) != 1000)
		broken("sendfile");
	moved('R', &in, 1000, 100, 1000);
	moved('W', &out, 1000, 0, 1000);
	lseek(in.fd, 4900, SEEK_SET);
	if (sendfile(out.fd, in.fd, NULL, 1000) != 100)
		broken("sendfile");
	moved('R', &in, 100, 4900, 1000);
	moved('W', &out, 100, 1000, 1000);
	from = 10;
	if (copy_file_range(in.fd, &from, out.fd, &to, 500, 0) != 500)
		broken("copy_file_range");
	moved('R', &in, 500, 10, 500);
	moved('W', &out, 500, 2000, 500);
	if (pipe(ends) < 0)
		broken("pipe");
	from = 0;
	if (splice(in.fd, &from, ends[1], NULL, 300, 0) != 300)
		broken("splice");
	moved('R', &in, 300, 0, 300);
	if (splice(ends[0], NULL, out.fd, NULL, 300, 0) != 300)
		broken("splice");
	moved('W', &out, 300, 1100, 300);
	close_it(&in, true);
	close_it(&out, true);
}

static void maps(void)
{
	struct file f = open_it("map", O_CREAT | O_RDWR, 0);
	char *at;

	write_it(&f, 10000, 0);
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	if (at == MAP_FAILED)
		broken("mmap");
	say('M', f.inode, f.handle, 0, 0, 8192, PROT_READ | PROT_WRITE, NULL, NULL);
	at[5000] = 1;
	/* what is written to a private mapping does not get into the file */
	at = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE, f.fd, 4096);
	if (at == MAP_FAILED)
		broken("mmap");
	say('M', f.inode, f.handle, 0, 4096, 100, PROT_READ, NULL, NULL);
	close_it(&f, true);
}

static void failures(void)
{
	struct file f;

	if (open("nowhere", O_RDONLY) >= 0)
		broken("nowhere");
	say('O', 0, 0, -ENOENT, 0, 0, O_RDONLY, in_dir("nowhere"), NULL);
	if (open("./no/where", O_CREAT | O_WRONLY, 0600) >= 0)
		broken("no/where");
	say('O', 0, 0, -ENOENT, 0, 0, O_CREAT | O_WRONLY, in_dir("no/where"), NULL);
	if (unlink("nowhere") == 0)
		broken("nowhere");
	say('U', 0, 0, -ENOENT, 0, 0, 0, in_dir("nowhere"), NULL);
	f = open_it("readonly", O_CREAT | O_RDONLY, 0);
	if (write(f.fd, "x", 1) >= 0)
		broken("write");
	moved('W', &f, -EBADF, 0, 1);
	close_it(&f, true);
	/* none that was opened: nobody's */
	if (read(999, buffer, 1) >= 0 || close(999) == 0)
		broken("read");
}

static void small(void)
{
	struct file f = open_it("small", O_CREAT | O_WRONLY, 0);

	for (unsigned i = 0; i < 1000; i++)
		write_it(&f, 1, i);
	close_it(&f, true);
}

const struct part parts_data[] = {
	{"plain", plain},       {"offsets", offsets}, {"append", append},
	{"vectors", vectors},   {"copies", copies},   {"maps", maps},
	{"failures", failures}, {"small", small},     {0},
};
