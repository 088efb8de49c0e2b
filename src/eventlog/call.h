/* Words that the rules, the daemon and its clients use for the same things. */
#ifndef LEAT_EVENTLOG_CALL_H
#define LEAT_EVENTLOG_CALL_H

/* What a call wants to know of a file or directory. */
enum leat_call {
	LEAT_CALL_OPEN,     /* open for reading */
	LEAT_CALL_LOOK,     /* stat, access, readlink... by path: needs the final answer */
	LEAT_CALL_READ,     /* bytes [offset, offset+length) */
	LEAT_CALL_WHOLE,    /* needs the committed file: seek to end, mmap, sendfile, lock... */
	LEAT_CALL_WRITE,    /* open for writing (producers: always GO) */
	LEAT_CALL_LIST,     /* next names of a directory; offset = names already seen */
	LEAT_CALL_REMOVE,   /* unlink, rename away */
	LEAT_CALL_LAUNCH,   /* a staged step wants to start: all its inputs final */
	LEAT_CALL_RELAUNCH, /* a step wants to be launched for a further version */
};

enum leat_violation {
	LEAT_VIOLATION_REWRITE = 1,  /* changed bytes a consumer has read, under no_update */
	LEAT_VIOLATION_AFTER_COMMIT, /* wrote, truncated or re-opened for writing after the commit
				      */
	LEAT_VIOLATION_CLOSES,       /* one close too many */
	LEAT_VIOLATION_UNDECLARED,   /* a step that is no producer wrote a declared file */
	LEAT_VIOLATION_EARLY_SIZE,   /* a consumer relied on a size seen before the commit */
	LEAT_VIOLATION_READ_AGAIN,   /* a consumer read what is not retained once more */
	LEAT_VIOLATION_LINKED,       /* changed what has other names from before the run */
	LEAT_VIOLATION_LISTED,       /* removed or renamed what a listing had shown */
	LEAT_VIOLATION_AMENDED,      /* changed what a step that makes it, too, was let at */
	LEAT_VIOLATION_KINDS
};

/* How a step used a name. */
enum leat_use {
	LEAT_USE_READ = 1, /* found and opened, looked at, run */
	LEAT_USE_SEEK,     /* looked for, and not found */
	LEAT_USE_NEED, /* of a directory: entered, or something made in it, without a look at it */
	LEAT_USE_MKDIR,
	LEAT_USE_OWN, /* made for itself alone: it is private */
	/* all of these change what others find there */
	LEAT_USE_APPEND, /* opened with O_APPEND, made or not */
	LEAT_USE_WRITE,  /* opened for writing, neither made nor truncated */
	LEAT_USE_CREATE,
	LEAT_USE_TRUNCATE,
	LEAT_USE_REMOVE,
	LEAT_USE_MOVE,    /* to another name */
	LEAT_USE_REPLACE, /* another file was given this name */
	LEAT_USE_LINK,
	LEAT_USE_RIGHTS, /* given other permissions, times or attributes */
	LEAT_USE_KINDS
};

/* How a version was read. */
enum leat_read {
	LEAT_READ_ALL,  /* so that it is taken */
	LEAT_READ_LOOK, /* a few bytes of it, to find out what it is */
	LEAT_READ_PART, /* more than that, and not yet so that it is taken */
	LEAT_READ_KINDS
};

#endif
