/* swap A B [C D]...: exchange each two names again and again, by system calls of its own, until it
 * is killed. What others do with these names meanwhile meets now the one, now the other. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 3 || argc % 2 == 0) {
		fprintf(stderr, "usage: swap A B [C D]...\n");
		return 2;
	}
	for (;;)
		for (int i = 1; i + 1 < argc; i += 2)
			if (renameat2(AT_FDCWD, argv[i], AT_FDCWD, argv[i + 1], RENAME_EXCHANGE)) {
				fprintf(stderr, "swap: %s %s: %s\n", argv[i], argv[i + 1],
					strerror(errno));
				return 1;
			}
}
