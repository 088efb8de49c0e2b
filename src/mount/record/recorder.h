/* What the files of the recorder share. */
#ifndef LEAT_MOUNT_RECORD_RECORDER_H
#define LEAT_MOUNT_RECORD_RECORDER_H

#include "base/people.h"
#include "mount/internal.h"
#include "shm/tracebuf.h"

struct leat_recorder {
	struct leat_mount *m;           /* borrowed */
	struct leat_tracebuf *tracebuf; /* owned */
	uint32_t process;               /* this one's place in the trace buffer */
	bool is_known; /* the program's process has a place there, by the library */
	bool inherited;
	enum leat_tracebuf_by by; /* how much of it all is recorded */
	char self[PATH_MAX];      /* the program that the program's process runs before */
	char program[PATH_MAX];   /* what that becomes, which was said before it did */
	pthread_mutex_t lock;     /* of all below */
	struct leat_people people;
	unsigned purge_at; /* so many people are looked through for those that are gone */
};

#endif
