/* A workload prints, call for call, the trace that it expects of itself; tests/trace/compare has it
 * compared with one that was recorded. */
#ifndef TESTS_TRACE_EXPECT_H
#define TESTS_TRACE_EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An open file description and its file. */
struct file {
	int fd;
	unsigned handle, inode;
	int flags;
};

/* All numbers are shared by the processes of the workload. */
void expect_begin(void);
unsigned expect_inode(void);
unsigned expect_handle(void);

/* "dir/name" of the directory that is worked in; good for some calls. */
const char *in_dir(const char *name);

/* Ends the workload: what the test itself needs does not work. */
_Noreturn void broken(const char *what);

/* Print a record. */
void say(char type, unsigned inode, unsigned handle, long result, uint64_t offset, uint64_t size,
	 int flags, const char *path, const char *to);

/* Open, and expect that. `inode`: of a file that exists, or 0: the call makes it. */
struct file open_it(const char *name, int flags, unsigned inode);
/* Close; `last`: that closes the description. */
void close_it(struct file *f, bool last);
/* Read or write with the descriptor's offset, which is `offset`. */
void read_it(const struct file *f, size_t size, long result, uint64_t offset);
void write_it(const struct file *f, size_t size, uint64_t offset);
/* What was expected to be read or written by another call. */
void moved(char type, const struct file *f, long result, uint64_t offset, uint64_t size);
void unlink_it(const char *name, unsigned inode);

/* Run in a child, and wait for it. */
void in_child(void (*run)(void *), void *arg);

/* A part of the workload, by name. */
struct part {
	const char *name;
	void (*run)(void);
};
extern const struct part parts_data[], parts_names[], parts_processes[];
/* The part that an executed program goes on with. */
void go_on(char **argv);
extern const char *program;

#endif
