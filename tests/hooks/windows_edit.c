/* Changes at random, with the expected bytes beside them. */
#include "windows.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct model {
	size_t size, at;
	unsigned char bytes[MAX];
};
static struct model *m; /* shared with children */

static void expect(int fd, const char *path)
{
	size_t from = m->size ? below(m->size) : 0, n = below(LARGE);
	ssize_t got;
	int other;

	check_size(fd, below(5) ? NULL : path, m->size);
	if (below(10))
		return;
	other = open(path, O_RDONLY | O_CLOEXEC);
	check(other >= 0, "open to look");
	got = pread(other, buffer, n, (off_t)from);
	check(got == (ssize_t)(n < m->size - from ? n : m->size - from), "length of a look");
	check(memcmp(buffer, m->bytes + from, (size_t)got) == 0, "bytes of a look");
	close(other);
}

static void put(size_t at, size_t n)
{
	if (at + n > m->size) {
		if (at > m->size)
			memset(m->bytes + m->size, 0, at - m->size);
		m->size = at + n;
	}
	memcpy(m->bytes + at, buffer, n);
}

static size_t fill(size_t at, size_t max)
{
	size_t n = 1 + below(max);

	if (at + n > MAX)
		n = MAX - at;
	for (size_t i = 0; i < n; i += 8)
		*(uint64_t *)(void *)(buffer + i) = next();
	return n;
}

static void edit_write(int fd, size_t max)
{
	size_t n = fill(m->at, max);

	write_all(fd, buffer, n);
	put(m->at, n);
	m->at += n;
}

static void edit_many(int fd)
{
	for (size_t i = below(MANY); i > 0 && m->at + SMALL < MAX; i--)
		edit_write(fd, SMALL);
}

static void edit_seek(int fd)
{
	int whence = (int)below(3);
	off_t to = (off_t)below(m->size + 5000), base = 0;

	if (below(3)) { /* where small writes go on */
		whence = SEEK_END;
		to = (off_t)m->size;
	}
	if (whence == SEEK_CUR)
		base = (off_t)m->at;
	else if (whence == SEEK_END)
		base = (off_t)m->size;
	check(lseek(fd, to - base, whence) == to, "lseek");
	m->at = (size_t)to;
}

static void edit_truncate(int fd, const char *path)
{
	size_t to = below(m->size + 100000);

	if (to > MAX)
		to = MAX;
	if (to > m->size)
		memset(m->bytes + m->size, 0, to - m->size);
	m->size = to;
	if (below(2))
		check(ftruncate(fd, (off_t)to) == 0, "ftruncate");
	else
		check(truncate(path, (off_t)to) == 0, "truncate");
}

static void edit_child(int fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		edit_many(fd);
		_exit(0);
	}
	wait_for(pid);
}

static void edit_append(const char *path)
{
	int other = open(path, O_WRONLY | O_APPEND);
	size_t n = fill(m->size, SMALL);

	check(other >= 0, "open to append");
	if (n) {
		write_all(other, buffer, n);
		put(m->size, n);
	}
	close(other);
}

static void edit_read(int fd)
{
	size_t n = 1 + below(SMALL), there = m->at < m->size ? m->size - m->at : 0;
	ssize_t got = read(fd, buffer, n);

	check(got == (ssize_t)(n < there ? n : there), "length of a read");
	check(memcmp(buffer, m->bytes + m->at, (size_t)got) == 0, "bytes of a read");
	m->at += (size_t)got;
}

static void edit_pwrite(int fd)
{
	size_t at = below(m->size + 1), n = fill(at, SMALL);

	check(pwrite(fd, buffer, n, (off_t)at) == (ssize_t)n, "pwrite");
	put(at, n);
}

static void edit_map(int fd)
{
	unsigned char *at;

	if (!m->size)
		return;
	at = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, 0);
	check(at != MAP_FAILED, "mmap");
	check(memcmp(at, m->bytes, m->size) == 0, "bytes of a mapping");
	munmap(at, m->size);
}

static void edit_step(int fd, const char *path)
{
	switch (below(40)) {
	case 0:
		edit_truncate(fd, path);
		break;
	case 1:
		edit_child(fd);
		break;
	case 2:
		edit_append(path);
		break;
	case 3:
		edit_map(fd);
		break;
	case 4:
	case 5:
	case 6:
		edit_read(fd);
		break;
	case 7:
	case 8:
		edit_pwrite(fd);
		break;
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		edit_seek(fd);
		break;
	case 14:
	case 15:
		edit_write(fd, LARGE);
		break;
	default:
		edit_many(fd);
		break;
	}
	if (m->at + LARGE + SMALL >= MAX || m->size + LARGE + SMALL >= MAX) {
		check(ftruncate(fd, 400000) == 0, "ftruncate");
		if (m->size < 400000)
			memset(m->bytes + m->size, 0, 400000 - m->size);
		m->size = 400000;
		m->at = (size_t)lseek(fd, 0, SEEK_END);
	}
	expect(fd, path);
}

int edit(const char *path, const char *copy)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666), out;

	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(fd >= 0 && m != MAP_FAILED, path);
	for (step = 0; step < 400; step++)
		edit_step(fd, path);
	check(close(fd) == 0, "close");
	out = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	check(out >= 0, copy);
	write_all(out, m->bytes, m->size);
	check(close(out) == 0, "close");
	return 0;
}
