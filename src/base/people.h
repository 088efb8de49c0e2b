/* Who is behind the calls that a FUSE server answers: the kernel tells the number of a thread. Its
 * process is met when it first does something, and so are those between it and the command. One
 * thread at a time, but for the functions that say otherwise. */
#ifndef LEAT_BASE_PEOPLE_H
#define LEAT_BASE_PEOPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct leat_person {
	UT_hash_handle hh;
	pid_t pid;
	pid_t ppid;
	int fd;            /* owned; of the process; -1 unknown when it ends */
	bool has_ended;    /* which is recorded; its parent has not asked yet */
	uint64_t cgroup;   /* the user's of this module */
	char program[256]; /* to see that it runs another */
};

/* Zeroed but for the functions, which are called with `context`. */
struct leat_people {
	struct leat_person *all; /* owned: a hash of those that were met, but those that are gone */
	/* Is it above the command, and nobody to be met? */
	bool (*is_above)(void *context, pid_t pid);
	/* Somebody is new; runs a program that was not known of it, by its path. */
	void (*met)(void *context, struct leat_person *p);
	void (*runs)(void *context, struct leat_person *p);
	void *context; /* borrowed */
};

/* The process of a thread; 0: it is gone. Waits for nobody; any thread. */
pid_t leat_process_of(pid_t tid);

/* CPU time that a thread has used, in the program and in the kernel together: how much of it was
 * its own the kernel does not say exactly. 0: it is gone. Any thread. */
int64_t leat_thread_cpu_ns(pid_t tid);

/* The person of that number, NULL: nobody was met. One that has ended is known until its number may
 * be another's: the kernel tells of the files that it closed afterwards, and it is not to be met
 * once more. */
struct leat_person *leat_people_find(struct leat_people *people, pid_t pid);

/* Meets process `pid`, and those above it that were not met. NULL: no memory. */
struct leat_person *leat_people_meet(struct leat_people *people, pid_t pid, pid_t ppid);

/* The process of thread `tid`, met if it was not; `opens`: it may run another program since. The
 * thread's own number if it is gone. */
pid_t leat_people_process(struct leat_people *people, pid_t tid, bool opens);

/* Is its number no longer its own? Only of one that has ended. */
bool leat_person_has_gone(const struct leat_person *p);

/* Forgets and frees it; all. */
void leat_people_forget(struct leat_people *people, struct leat_person *p);
void leat_people_release(struct leat_people *people);

#endif
