/* Operations that move bytes inside the kernel, and the C library's streams. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* From a file to itself, bytes are read before or after they are written: pages have no order. */
static bool are_two_files(int in, int out)
{
	struct stat a, b;

	return is_file(in) && is_file(out) && fstat(in, &a) == 0 && fstat(out, &b) == 0 &&
	       a.st_ino != b.st_ino;
}

static void say_offsets(struct world *w, int in, int out)
{
	say(w, " at %lld %lld", (long long)lseek(in, 0, SEEK_CUR),
	    (long long)lseek(out, 0, SEEK_CUR));
}

static void do_sendfile(struct world *w)
{
	int in = pick_fd(w), out = pick_fd(w);
	off_t offset = pick_offset(w), *at = chance(w, 50) ? &offset : NULL;
	size_t length = pick_length(w);

	say(w, "sendfile(%d, %d, %lld, %zu)", out, in, at ? (long long)offset : -1, length);
	if (!are_two_files(in, out))
		return;
	result(w, sendfile(out, in, at, length));
	say(w, " %lld", at ? (long long)offset : -1);
	say_offsets(w, in, out);
}

static void do_copy_file_range(struct world *w)
{
	int in = pick_fd(w), out = pick_fd(w);
	off_t from = pick_offset(w), to = pick_offset(w);
	off_t *in_at = chance(w, 50) ? &from : NULL, *out_at = chance(w, 50) ? &to : NULL;
	size_t length = pick_length(w);

	say(w, "copy_file_range(%d, %lld, %d, %lld, %zu)", in, in_at ? (long long)from : -1, out,
	    out_at ? (long long)to : -1, length);
	if (!is_file(in) || !is_file(out))
		return;
	result(w, copy_file_range(in, in_at, out, out_at, length, 0));
	say(w, " %lld %lld", (long long)from, (long long)to);
	say_offsets(w, in, out);
}

static void do_splice(struct world *w)
{
	int in = pick_fd(w), out = pick_fd(w), pipes[2];
	off_t offset = pick_offset(w), *at = chance(w, 50) ? &offset : NULL;
	size_t length = 1 + pick(w, 30000);
	long n;

	say(w, "splice(%d, %lld, %d, %zu)", in, at ? (long long)offset : -1, out, length);
	if (!are_two_files(in, out) || pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	n = result(w, splice(in, at, pipes[1], NULL, length, 0));
	if (n > 0)
		result(w, splice(pipes[0], NULL, out, NULL, (size_t)n, 0));
	close(pipes[0]);
	close(pipes[1]);
	say(w, " %lld", (long long)offset);
	say_offsets(w, in, out);
}

static void do_clone(struct world *w)
{
	int in = pick_fd(w), out = pick_fd(w);

	say(w, "FICLONE(%d, %d)", out, in);
	if (is_file(in) && is_file(out))
		result(w, ioctl(out, FICLONE, in));
}

static void use_stream(struct world *w, FILE *stream)
{
	char line[64];

	for (unsigned n = 2 + (unsigned)pick(w, 4); n; n--) {
		switch (pick(w, 5)) {
		case 0:
			result(w, fprintf(stream, "line %u of %llu\n", w->step,
					  (unsigned long long)w->seed));
			break;
		case 1:
			fill(w, 5000);
			result(w, (long)fwrite(w->bytes, 1, 5000, stream));
			break;
		case 2:
			result(w, fseek(stream, (long)pick(w, 10000), SEEK_SET));
			break;
		case 3:
			result(w, fseek(stream, 0, SEEK_END));
			say(w, " %ld", ftell(stream));
			break;
		default:
			result(w, fflush(stream));
			result(w, (long)fread(line, 1, sizeof(line), stream));
			result(w, fseek(stream, 0, SEEK_CUR));
		}
	}
}

static void do_stream(struct world *w)
{
	const char *path = pick_path(w),
		   *mode = PICK(w, ((const char *[]){"w", "w+", "r+", "a", "a+", "r"}));
	FILE *stream = fopen(path, mode);

	say(w, "fopen %s ", mode);
	say_path(w, path);
	if (result(w, stream ? 0 : -1) < 0)
		return;
	if (is_file(fileno(stream)))
		use_stream(w, stream);
	result(w, fclose(stream));
}

static void do_scratch_file(struct world *w)
{
	char name[] = "tmpXXXXXX";
	int fd = mkstemp(name);
	const char *to = pick_path(w);

	say(w, "mkstemp");
	if (fd < 0) {
		result(w, fd);
		return;
	}
	fill(w, 3000);
	result(w, write(fd, w->bytes, 3000));
	result(w, fsync(fd));
	result(w, close(fd));
	say(w, " rename to ");
	say_path(w, to);
	if (result(w, rename(name, to)) < 0)
		result(w, unlink(name));
}

const struct operation copy_operations[] = {
	{20, do_sendfile}, {20, do_copy_file_range}, {15, do_splice}, {4, do_clone},
	{25, do_stream},   {12, do_scratch_file},    {0, NULL},
};
