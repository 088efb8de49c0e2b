/* One side of a sequence of versions, by a plan that follows from a number (campaign):
 *
 *     actor make SEED MODE FILE          make them, each in a way of its own
 *     actor use SEED MODE FILE OUT       read them, each in a way of its own: a line "LENGTH HASH"
 *                                        in OUT for each
 *     actor once SEED MODE FILE OUT      the one that the launch is for: a line more
 *     actor expect SEED MODE             the lines of all versions
 *
 * MODE is "update" or "no_update", with ":N" if N closes make a version. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SIZE = 1 << 20, CHUNKS = 16 };

static const char *file;
static bool grows; /* no_update */
static unsigned closes = 1;
static bool is_dry; /* only the contents */
static unsigned char now[2 * MAX_SIZE], seen[2 * MAX_SIZE];
static size_t length;
static bool exists;

static void fail(const char *what)
{
	fprintf(stderr, "actor: %s: %s: %s\n", file ? file : "", what, strerror(errno));
	exit(1);
}

/* ---- numbers ---- */

static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1d >> 11;
}

static size_t below(size_t n)
{
	return n ? draw() % n : 0;
}

static void seed_with(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15 + 1;
	for (int i = 0; i < 5; i++)
		draw();
}

static size_t some_size(void)
{
	static const size_t odd[] = {1,    2,    8,    511,  512,   513,  4095,
				     4096, 4097, 8191, 8192, 65536, 65537};

	switch (below(10)) {
	case 0:
	case 1:
	case 2:
		return odd[below(sizeof(odd) / sizeof(*odd))];
	case 3:
		return 1 + below(MAX_SIZE);
	case 4:
	case 5:
		return 1 + below(100000);
	default:
		return 1 + below(6000);
	}
}

static void print_hash(FILE *out, const unsigned char *bytes, size_t n)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	fprintf(out, "%zu %016llx\n", n, (unsigned long long)h);
	fflush(out);
}

/* ---- making ---- */

static int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	if (fd < 0)
		fail("open for writing");
	return fd;
}

static void close_or_fail(int fd)
{
	if (close(fd))
		fail("close");
}

static void put(int fd, size_t from, size_t to, bool positioned)
{
	while (from < to) {
		ssize_t n = positioned ? pwrite(fd, now + from, to - from, (off_t)from)
				       : write(fd, now + from, to - from);

		if (n < 1)
			fail("write");
		from += (size_t)n;
	}
}

/* In pieces, in order. */
static void put_all(int fd)
{
	size_t piece = below(3) ? length : 1 + length / (1 + below(CHUNKS));

	for (size_t at = 0; at < length; at += piece)
		put(fd, at, at + piece < length ? at + piece : length, false);
}

/* In pieces, in any order. */
static void put_shuffled(int fd)
{
	size_t n = 1 + below(CHUNKS), order[CHUNKS];

	for (size_t i = 0; i < n; i++) {
		size_t k = below(i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < n; i++)
		put(fd, length * order[i] / n, length * (order[i] + 1) / n, true);
}

static void anew(size_t size)
{
	length = size;
	for (size_t i = 0; i < size; i++)
		now[i] = (unsigned char)draw();
}

static void make_truncated(void)
{
	int fd;

	anew(some_size());
	if (is_dry)
		return;
	fd = open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC);
	put_all(fd);
	close_or_fail(fd);
}

static void make_shuffled(void)
{
	int fd;

	anew(some_size());
	if (is_dry)
		return;
	fd = open_or_fail(file, O_RDWR | O_CREAT | O_TRUNC);
	put_shuffled(fd);
	close_or_fail(fd);
}

static void make_edited(void)
{
	size_t from = below(length + 1), to = from + 1 + below(5000);
	int fd;

	for (size_t i = from; i < to; i++)
		now[i] = (unsigned char)draw();
	length = to > length ? to : length;
	if (is_dry)
		return;
	fd = open_or_fail(file, O_RDWR);
	put(fd, from, to, true);
	close_or_fail(fd);
}

static void make_appended(void)
{
	size_t from = length;
	int fd;

	length += 1 + below(5000);
	for (size_t i = from; i < length; i++)
		now[i] = (unsigned char)draw();
	if (is_dry)
		return;
	fd = open_or_fail(file, O_WRONLY | O_APPEND | (below(2) ? O_CREAT : 0));
	put(fd, from, length, false);
	close_or_fail(fd);
}

static void rename_to_file(void)
{
	char other[4096];
	int fd;

	snprintf(other, sizeof(other), "%s.new", file);
	fd = open_or_fail(other, O_WRONLY | O_CREAT | O_TRUNC);
	put_all(fd);
	close_or_fail(fd);
	if (rename(other, file))
		fail("rename");
}

static void make_renamed(void)
{
	anew(below(5) ? some_size() : 0);
	if (!is_dry)
		rename_to_file();
}

static void make_mapped(void)
{
	void *map;
	int fd;

	anew(some_size());
	if (is_dry)
		return;
	fd = open_or_fail(file, O_RDWR | O_CREAT | O_TRUNC);
	if (ftruncate(fd, (off_t)length))
		fail("ftruncate");
	map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		fail("mmap to write");
	memcpy(map, now, length);
	munmap(map, length);
	close_or_fail(fd);
}

static void make_cut(void)
{
	int fd;

	length = 1 + below(length - 1);
	if (is_dry)
		return;
	fd = open_or_fail(file, O_RDWR);
	if (ftruncate(fd, (off_t)length))
		fail("ftruncate");
	close_or_fail(fd);
}

/* A process that leaves the file empty has to end before that counts. */
static void make_empty(void)
{
	int status = 0;
	pid_t child;

	length = 0;
	if (is_dry)
		return;
	child = fork();
	if (!child) {
		close_or_fail(open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC));
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		fail("child");
}

static void make_by_stdio(void)
{
	FILE *f;

	anew(some_size());
	if (is_dry)
		return;
	f = fopen(file, "w");
	if (!f || fwrite(now, 1, length, f) != length || fclose(f))
		fail("stdio");
}

static void make_by_child(void)
{
	int fd, status = 0;
	pid_t child;

	anew(some_size());
	if (is_dry)
		return;
	fd = open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC);
	child = fork();
	if (!child) {
		put_all(fd);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		fail("child");
	close_or_fail(fd);
}

static void make_by_two(void)
{
	int a, b;

	anew(1 + some_size());
	if (is_dry)
		return;
	a = open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC);
	b = open_or_fail(file, O_RDWR);
	put(a, 0, length / 2, false);
	put(b, length / 2, length, true);
	close_or_fail(below(2) ? a : dup(a));
	close_or_fail(b);
	close(a);
}

static void make_by_copy(void)
{
	int in, out, n;

	anew(some_size());
	if (is_dry)
		return;
	in = memfd_create("copy", 0);
	out = open_or_fail(file, O_WRONLY | O_CREAT | O_TRUNC);
	put(in, 0, length, true);
	for (off_t at = 0; at < (off_t)length;) {
		n = (int)sendfile(out, in, &at, length - (size_t)at);
		if (n < 1) { /* not behind a mount */
			put(out, (size_t)at, length, true);
			break;
		}
	}
	close(in);
	close_or_fail(out);
}

static void make_removed(void)
{
	if (!is_dry && unlink(file))
		fail("unlink");
	make_truncated();
}

static const struct making {
	void (*make)(void);
	bool edits; /* what was there before */
	bool once;  /* by one close, of an open that makes the version */
} makings[] = {
	{make_truncated, false, true}, {make_shuffled, false, true}, {make_edited, true, true},
	{make_appended, true, true},   {make_renamed, false, false}, {make_mapped, false, true},
	{make_cut, true, true},        {make_empty, false, false},   {make_by_stdio, false, true},
	{make_by_child, false, true},  {make_by_two, false, false},  {make_by_copy, false, true},
	{make_removed, true, false},
};

/* An open for writing that changes nothing. */
static void make_nothing(void)
{
	static const int flags[] = {O_RDWR, O_WRONLY, O_WRONLY | O_APPEND, O_RDWR | O_CREAT,
				    O_RDWR | O_APPEND};
	unsigned choice = (unsigned)below(5);
	bool reads = below(2);
	char b[100];
	int fd;

	if (is_dry || !exists)
		return;
	fd = open_or_fail(file, flags[choice]);
	if (reads && choice != 1 && choice != 2 && read(fd, b, sizeof(b)) < 0)
		fail("read what is made");
	close_or_fail(fd);
}

static unsigned n_versions(uint64_t seed)
{
	seed_with(seed);
	return 3 + (unsigned)below(5);
}

/* Each version from numbers of its own, so that how it is made does not matter for the next. */
static void make_version(uint64_t seed, unsigned i)
{
	const struct making *m;

	seed_with(seed * 1000 + i);
	do
		m = &makings[below(sizeof(makings) / sizeof(*makings))];
	while ((closes > 1 && !m->once) ||
	       (m->edits && (!exists || (m->make == make_cut && length < 2) ||
			     (m->make == make_appended && length > MAX_SIZE))));
	m->make();
	exists = true;
	for (unsigned k = 1; k < closes; k++) {
		seed_with(seed * 1000 + 300 + i * 8 + k);
		make_appended();
	}
}

static int make(uint64_t seed)
{
	unsigned n = n_versions(seed);

	for (unsigned i = 0; i < n; i++) {
		seed_with(seed * 1000 + 500 + i);
		for (size_t k = closes > 1 ? 0 : below(3); k; k--)
			make_nothing();
		make_version(seed, i);
	}
	seed_with(seed * 1000 + 999);
	if (closes < 2 && below(2))
		make_nothing();
	return 0;
}

static int expect(uint64_t seed)
{
	unsigned n = n_versions(seed);

	is_dry = true;
	for (unsigned i = 0; i < n; i++) {
		make_version(seed, i);
		print_hash(stdout, now, length);
	}
	return 0;
}

/* ---- reading ---- */

static size_t n_seen;

static void took(ssize_t n)
{
	if (n < 0)
		fail("read");
	n_seen += (size_t)n;
}

/* The true size, without reading. */
static size_t size_by(int fd)
{
	struct stat st;
	off_t end;

	if (!grows)
		return fstat(fd, &st) ? 0 : (size_t)st.st_size;
	end = lseek(fd, 0, SEEK_END);
	if (end < 0 || lseek(fd, 0, SEEK_SET))
		fail("lseek");
	return (size_t)end;
}

static void read_big(int fd)
{
	ssize_t n;

	while ((n = read(fd, seen + n_seen, sizeof(seen) - n_seen)) > 0)
		took(n);
	took(n);
}

static void read_exact(int fd)
{
	size_t size = size_by(fd);

	/* A read of no bytes does not reach a mount. */
	if (IS_STATIC && !size)
		read_big(fd);
	do {
		ssize_t n = read(fd, seen + n_seen, size - n_seen);

		took(n);
		if (!n)
			break;
	} while (n_seen < size);
}

static void read_pieces(int fd)
{
	size_t piece = 1 + below(9000);
	ssize_t n;

	while ((n = read(fd, seen + n_seen, piece)) > 0)
		took(n);
	took(n);
}

static void read_bytes(int fd)
{
	size_t size = size_by(fd);

	if (size > 3000)
		read_pieces(fd);
	else if (!size)
		read_big(fd);
	for (; n_seen < size; took(pread(fd, seen + n_seen, 1, (off_t)n_seen)))
		;
}

static void read_stdio(int fd)
{
	FILE *f = fdopen(dup(fd), "r");

	n_seen = f ? fread(seen, 1, sizeof(seen), f) : 0;
	if (!f || ferror(f) || fclose(f))
		fail("stdio");
}

static void read_mapped(int fd)
{
	size_t size = size_by(fd);
	void *map = size ? mmap(NULL, size, PROT_READ, below(2) ? MAP_SHARED : MAP_PRIVATE, fd, 0)
			 : NULL;

	if (map == MAP_FAILED)
		fail("mmap");
	if (!map) {
		read_big(fd);
		return;
	}
	memcpy(seen, map, size);
	n_seen = size;
	munmap(map, size);
}

static void read_backwards(int fd)
{
	size_t size = size_by(fd), piece = 1 + size / (1 + below(CHUNKS));

	if (!size)
		read_big(fd);
	for (size_t end = size; end;) {
		size_t from = end > piece ? end - piece : 0;

		took(pread(fd, seen + from, end - from, (off_t)from));
		end = from;
	}
}

static void read_vector(int fd)
{
	for (;;) {
		struct iovec v[2] = {{seen + n_seen, 700}, {seen + n_seen + 700, 5000}};
		ssize_t n = readv(fd, v, 2);

		took(n);
		if (!n)
			return;
	}
}

static void read_copied(int fd)
{
	int out = memfd_create("copy", 0);
	bool ranged = below(2);
	ssize_t n;

	do {
		n = ranged ? copy_file_range(fd, NULL, out, NULL, 1 << 20, 0)
			   : sendfile(out, fd, NULL, 1 << 20);
	} while (n > 0);
	if (n < 0 && lseek(fd, 0, SEEK_CUR))
		fail("copy");
	if (n < 0)
		read_big(fd);
	else
		took(pread(out, seen, sizeof(seen), 0));
	close(out);
}

static void read_twice(int fd)
{
	size_t first;
	int other = open(file, O_RDONLY);

	if (other < 0)
		fail("open again");
	read_big(fd);
	first = n_seen;
	memcpy(now, seen, first);
	n_seen = 0;
	read_pieces(other);
	if (n_seen != first || memcmp(now, seen, first))
		fail("opened twice, and not the same");
	close(other);
}

static void read_by_child(int fd)
{
	int ends[2], status;
	ssize_t n;
	pid_t child;

	if (pipe(ends))
		fail("pipe");
	child = fork();
	if (!child) {
		read_pieces(fd);
		for (size_t at = 0; at < n_seen; at += (size_t)n)
			if ((n = write(ends[1], seen + at, n_seen - at)) < 1)
				exit(1);
		exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], seen + n_seen, sizeof(seen) - n_seen)) > 0)
		took(n);
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		fail("child");
}

static void (*const readings[])(int fd) = {
	read_big,       read_exact,  read_pieces, read_bytes, read_stdio,    read_mapped,
	read_backwards, read_vector, read_copied, read_twice, read_by_child,
};

/* A look that takes nothing; false: there is no file. */
static bool look(void)
{
	int fd = open(file, O_RDONLY);
	struct stat st;
	char b[65536];
	size_t size, part;

	if (fd < 0)
		return false;
	/* How large it is only who waits knows. */
	size = below(4) ? size_by(fd) : 0;
	part = size > 1 ? 1 + below(size - 1 < 4096 ? size - 1 : 4096) : 0;
	if (size > 4096 && below(3)) {
		static const size_t buffers[] = {4096, 8192, 65536};

		part = buffers[below(3)];
		part = part < size ? part : 4096;
	}
	if (part && read(fd, b, part) < 0)
		fail("look");
	close(fd);
	return below(3) || stat(file, &st) == 0;
}

/* Looks, and reads it, perhaps several times: it is the same one. */
static int once(uint64_t seed, const char *to)
{
	FILE *out = fopen(to, "a+");
	uint64_t lines = 0;
	int fd, c;

	if (!out)
		fail("output");
	while ((c = getc(out)) != EOF)
		lines += c == '\n';
	seed_with(seed * 7 + 5 + lines * 1000003);
	for (size_t looks = below(3); looks && look(); looks--)
		;
	for (size_t times = 1 + !below(3); times; times--) {
		fd = open(file, O_RDONLY);
		if (fd < 0)
			fail("open");
		n_seen = 0;
		readings[below(sizeof(readings) / sizeof(*readings))](fd);
		close_or_fail(fd);
	}
	fseek(out, 0, SEEK_END);
	print_hash(out, seen, n_seen);
	return fclose(out) != 0;
}

static int use(uint64_t seed, const char *to)
{
	FILE *out = fopen(to, "w");

	if (!out)
		fail("output");
	seed_with(seed * 7 + 3);
	for (;;) {
		int fd = -1;
		size_t looks = below(3);

		while (looks && look())
			looks--;
		if (!looks)
			fd = open(file, O_RDONLY);
		if (fd < 0 && errno == ENOENT)
			return fclose(out) != 0;
		if (fd < 0)
			fail("open");
		n_seen = 0;
		readings[below(sizeof(readings) / sizeof(*readings))](fd);
		close_or_fail(fd);
		print_hash(out, seen, n_seen);
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	const char *count = argc > 3 ? strchr(argv[3], ':') : NULL;

	if (count)
		closes = (unsigned)atoi(count + 1);
	grows = argc > 3 && !strncmp(argv[3], "no_update", 9);
	file = argc > 4 ? argv[4] : NULL;
	if (argc == 4 && !strcmp(argv[1], "expect"))
		return expect(seed);
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(seed);
	if (argc == 6 && !strcmp(argv[1], "use"))
		return use(seed, argv[5]);
	if (argc == 6 && !strcmp(argv[1], "once"))
		return once(seed, argv[5]);
	fprintf(stderr, "usage: actor make|use|once|expect SEED MODE [FILE [OUT]]\n");
	return 2;
}
