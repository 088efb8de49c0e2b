/* What the parts of windows.c share. */
#ifndef LEAT_TESTS_WINDOWS_H
#define LEAT_TESTS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SMALL = 3000, LARGE = 300000, MAX = 24 << 20, MANY = 200 };

extern unsigned char buffer[LARGE + SMALL];
extern unsigned long step; /* of the sequence, for messages */

/* The next number of the sequence; below n. */
uint64_t next(void);
size_t below(size_t n);
/* End with a message that names seed and step, unless ok. */
void check(bool ok, const char *what);
/* The child must have ended well. */
void wait_for(pid_t pid);
void write_all(int fd, const unsigned char *buf, size_t n);
/* The file's size, by descriptor and, if it is not NULL, by name. */
void check_size(int fd, const char *path, uint64_t size);

/* Change the file at random, then write what it should be into `copy`. */
int edit(const char *path, const char *copy);

#endif
