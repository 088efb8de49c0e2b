/* reach DIR N TEXT: open DIR/x1 to DIR/xN to write, several times, and read them; print in how many
 * TEXT is. Ends with 1 if nothing could be opened. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 4 };

/* 1: the text is in it, 0: it is not, -1: it cannot be opened. */
static int look(const char *path, const char *text)
{
	char data[256];
	ssize_t n;
	int fd = open(path, O_RDWR | O_APPEND);

	if (fd < 0)
		return -1;
	n = pread(fd, data, sizeof(data) - 1, 0);
	close(fd);
	data[n > 0 ? n : 0] = 0;
	return strstr(data, text) != NULL;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0, found = 0, opened = 0;
	char path[4096];

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 1; i <= n; i++) {
			int is_in;

			snprintf(path, sizeof(path), "%s/x%d", argv[1], i);
			is_in = look(path, argv[3]);
			opened += is_in >= 0;
			found += is_in > 0;
		}
	printf("%d\n", found);
	return !opened;
}
