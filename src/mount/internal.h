/* What the files of the mount share: the server, its conversations with the daemon, names, open
 * files. All functions may be called by any thread unless they say otherwise; results are 0 or
 * -errno. */
#ifndef LEAT_MOUNT_INTERNAL_H
#define LEAT_MOUNT_INTERNAL_H

#include "fuse/session.h"
#include "mount/mount.h"
#include "client/reading.h"
#include "shm/extents.h"
#include "shm/word.h"
#include "wire/wire.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct leat_node;
struct leat_handle;
struct leat_recorder;

enum { LEAT_MAX_GROUPS = 64 };

/* Whose call it is. */
struct leat_caller {
	uid_t uid;
	gid_t gid;
	int n; /* groups; more than there is room for are left out */
	gid_t groups[LEAT_MAX_GROUPS];
};

/* The server: one for each process of this kind. */
struct seccomp_data;

struct leat_mount {
	const struct leat_mount_spec *spec;
	char socket[108];
	char store_path[PATH_MAX]; /* the store as /proc shows it */
	struct leat_shm *shm;
	uint64_t store_dev;
	int32_t step;
	bool acts;            /* it has actions, which are called at opens and closes */
	bool versions;        /* it makes files that are read in versions */
	int store_fd, dir_fd; /* owned; taken before the mount covers the directory */
	int peer;             /* socket to the program's process until it starts; then bypass.c's */
	bool own_users;       /* the mount knows this user only, with its subordinate ids */
	uid_t shown_uid;      /* then all there belongs to it, by the ids that the mount has */
	gid_t shown_gid;
	bool as_root; /* callers may be anybody: act with their ids */
	struct leat_caller own;
	int socket_fd; /* O_PATH, if as_root */
	pid_t program; /* the program's process; 0: it has not said so yet */
	struct leat_fuse *session;
	pthread_key_t lines;
	pthread_mutex_t following; /* of descriptors of handles that are exchanged; before lock */
	pthread_mutex_t lock;      /* of all nodes and handles */
	struct leat_node *names;   /* hash of the attached nodes */
	struct leat_node *root;
	struct leat_handle *handles; /* all that are open */
	int closing;                 /* how many the daemon is being told of, and opens wait for */
	struct leat_closer *closers; /* hash of the processes that have closed a file empty */
	bool cut_short;              /* one of them was killed */
	uint64_t generation;
	struct leat_recorder *recorder; /* owned; NULL: no trace is written */
};

/* A thread's connection to the daemon. */
struct leat_line {
	struct leat_mount *m;
	int fd; /* -1: none */
	struct leat_caller user;
	struct leat_line *other; /* owned; for another user than the server's */
	_Alignas(8) char msg[LEAT_WIRE_MAX];
};

/* An errand to the daemon: for a request of the kernel, or our own (req NULL). */
struct leat_errand {
	struct leat_mount *m;
	fuse_req_t req;
	pid_t tid;                /* of the caller */
	bool other;               /* it is another user than the mount's; see other.c */
	gid_t gid;                /* its group, as the mount has ids */
	int64_t began_ns, cpu_ns; /* record.c: when, and the thread's CPU time then */
	struct leat_line *line;
};

/* Where the daemon says a name is. After -EAGAIN: where a spilled file is that is growing, path ""
 * for others. */
struct leat_place_of {
	int dirfd;
	char path[PATH_MAX];
	uint32_t kind; /* enum leat_kind */
	uint32_t slot;
	uint32_t seq;
	uint32_t flags;
	uint64_t ofd;
	bool intact; /* the open has changed nothing */
};

/* --- line.c: talking to the daemon --- */

/* Connect for the first time and learn what the daemon says of itself. Logs an error. */
int leat_line_first(struct leat_mount *m);

/* This thread's connection. -EIO if there is no daemon. */
int leat_line_get(struct leat_mount *m, struct leat_line **line);
/* That by which the daemon acts as `user`; only for a server of root's. */
int leat_line_get_as(struct leat_mount *m, const struct leat_caller *user, struct leat_line **line);

/* Start a message in line->msg. */
void *leat_line_begin(struct leat_line *line, enum leat_msg_type type);
/* Send it, one way. 0 or -EIO. */
int leat_line_send(struct leat_line *line);
/* Send it and receive the reply into line->msg. 0 or -EIO. */
int leat_line_roundtrip(struct leat_line *line, enum leat_msg_type reply);
/* Send a fact. */
int leat_line_fact(struct leat_line *line, enum leat_msg_type type,
		   const struct leat_msg_fact *fact);
/* Ask about a call on an open file: 0, -EAGAIN (*seq to sleep on), or -errno. */
int leat_line_ask(struct leat_line *line, uint32_t call, uint32_t slot, uint64_t offset,
		  uint64_t length, uint32_t *seq);
/* Report a violation. 0: only a warning; -EIO: fail the call. */
int leat_line_violation(struct leat_line *line, uint32_t code, uint32_t slot, uint64_t offset,
			uint64_t length);
/* Say that process `pid` (0: this one) ends normally with `status`, or (LEAT_WIRE_CUT_SHORT) that
 * its empty closes are not to count. Returns when it was heard. */
int leat_line_exiting(struct leat_line *line, pid_t pid, int status);
/* Say that a process behind the mount, by the number that RESOLVE had, has ended. The same. */
int leat_line_ended(struct leat_line *line, pid_t pid, bool killed);
/* `fd` may be of a place the file has left: *new is what is to take its place, -1 if it is good.
 * -EAGAIN (*seq to sleep on): not yet; -ESTALE: it is not of this file. *home: where that is. */
int leat_line_switch(struct leat_line *line, uint32_t slot, int fd, uint32_t *seq, uint32_t *home,
		     int *new);
/* False once the daemon is gone. */
bool leat_line_alive(struct leat_line *line);

/* --- other.c: callers who are other users than the mount's; 0 for all else --- */

/* May it do that (access(2)) with a file of these attributes? -EACCES. */
int leat_other_access(const struct leat_errand *call, const struct stat *st, int mask);
/* May it change the file or directory? -EACCES. */
int leat_other_change(const struct leat_errand *call, fuse_ino_t ino);
/* Owner and group that a file is to have (-1: that stays), by the ids that the mount has, become
 * those that the server has. -EPERM: others than the mount's own, whom nobody can give a file to
 * here. */
int leat_other_owner(const struct leat_errand *call, uid_t *uid, gid_t *gid);

/* --- errand.c: waiting, and acting for a caller --- */

/* Is the caller to die? */
bool leat_errand_is_stopped(const struct leat_errand *call);
/* The request's call. -EIO if there is no daemon. */
int leat_errand_init(struct leat_errand *call, fuse_req_t req);

/* Record of a slot, or NULL. */
struct leat_shm_file *leat_errand_file(const struct leat_errand *call, uint32_t slot);
/* The step's account. */
struct leat_shm_step *leat_errand_step(const struct leat_errand *call);
/* What its reads and writes are held to. */
struct leat_shm_limit *leat_errand_limit(const struct leat_errand *call);
/* CLOCK_MONOTONIC. */
uint64_t leat_errand_now_ns(void);
/* As pread; the time it takes is counted. */
ssize_t leat_errand_pread(struct leat_errand *call, int fd, void *out, size_t size, off_t offset);

struct leat_identity;
/* As fstat and leat_identify, 0 or -errno. The kernel's size of a file that somebody writes by
 * mapped windows may be ahead of its length, which is put into `st`. */
int leat_errand_fstat(const struct leat_errand *call, uint32_t slot, int fd, struct stat *st);
int leat_errand_identify(const struct leat_errand *call, uint32_t slot, int dirfd, const char *path,
			 struct stat *st, struct leat_identity *id);

/* One RESOLVE of `path` (below the workflow's directory). -EAGAIN fills slot and seq. */
int leat_errand_try(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
		    uint32_t mode, uint64_t length, struct leat_place_of *place);
/* The same, waiting until the call may go on. -EINTR if the caller is to die. */
int leat_errand_resolve(struct leat_errand *call, enum leat_op op, const char *path, uint32_t flags,
			uint32_t mode, uint64_t length, struct leat_place_of *place);
/* Tell the daemon how the call it allowed ended: `rc` 0 or -errno. Returns when it was heard. */
void leat_errand_made(struct leat_errand *call, const struct leat_place_of *place, int rc);
/* CHANGE, waiting. `second` may be NULL. */
int leat_errand_change(struct leat_errand *call, enum leat_change what, uint32_t flags,
		       const char *first, const char *second);
/* Ask until the call may go on. */
int leat_errand_wait(struct leat_errand *call, uint32_t what, uint32_t slot, uint64_t offset,
		     uint64_t length);
/* Wait for a change of the record from `seq`. 0: look again. */
int leat_errand_sleep(struct leat_errand *call, uint32_t slot, uint32_t seq);
/* Wait until [offset, offset+length) can be read or the file is final (*final). */
int leat_errand_covered(struct leat_errand *call, uint32_t slot, uint64_t offset, uint64_t length,
			bool *final);
/* A write of `length` bytes found no room: have some made, waiting as long as it takes. False:
 * there is none. *attempt starts at 0. */
bool leat_errand_room(struct leat_errand *call, uint32_t slot, uint64_t length, uint64_t *attempt);

/* Before `length` bytes are written to file `slot`: is the budget for files used up, although the
 * store itself has room? */
bool leat_errand_is_over_budget(struct leat_errand *call, uint32_t slot, uint64_t length);
/* Tell a fact, which the daemon has when this returns: other threads speak on other connections,
 * and what they say of the file, as that it was closed, must come after it. */
void leat_errand_tell(struct leat_errand *call, enum leat_msg_type type,
		      const struct leat_msg_fact *fact);
/* Take the call off the daemon's list of those who wait. */
void leat_errand_cancel(struct leat_errand *call);

/* From here to leat_errand_self file system calls are made with the caller's ids. */
void leat_errand_become(const struct leat_errand *call);
void leat_errand_self(const struct leat_errand *call);

/* --- caller.c: what /proc says of a caller --- */

/* Must a wait of thread `tid` end: is it to die, or asked to end? */
bool leat_caller_stopped(pid_t tid);
/* Does it go by rights over files that are others'? */
bool leat_caller_overrides(pid_t tid);
/* Is it ending now? Then *status is as from waitpid. *process in any case, 0 if it is gone. */
bool leat_caller_ending(pid_t tid, pid_t *process, int *status);
/* The process of a thread, 0 if it is gone. */
pid_t leat_caller_process(pid_t tid);
/* The process that opens a file for writing, whose end will matter; 0: not known. Only other
 * threads than its first cost a look at /proc. */
pid_t leat_caller_opener(const struct leat_errand *call);
/* Is it of the program, and not somebody outside who looks at what that has open? */
bool leat_caller_is_inside(pid_t tid);

/* --- asked.c: what the kernel does not say with a lookup --- */

/* A system call that a thread is in. */
struct leat_call_of {
	int nr; /* of a 32-bit program one of theirs: its stack is below 4 GiB */
	uint64_t args[6];
	uint64_t stack; /* where it ends */
};

/* The call in which thread `tid` waits for us. False: it is in none, or we may not look. Source:
 * proc_pid_syscall(5). */
bool leat_caller_call(pid_t tid, struct leat_call_of *c);

/* How a call takes the name at the end of its path. */
enum leat_asked {
	LEAT_ASKED_ANY,  /* it follows a symlink; or nobody knows */
	LEAT_ASKED_FILE, /* itself, which must not be a symlink */
	LEAT_ASKED_DIR,  /* the same, and must be a directory */
	LEAT_ASKED_LINK, /* readlink(2) */
};

/* How does the call in which thread `tid` waits for us take `name`? ANY, too, if that is not the
 * last name of its path, or if we may not look. Source: proc_pid_syscall(5). */
enum leat_asked leat_caller_asked(pid_t tid, const char *name);

/* --- asker.c: who asks for the size of an open file --- */

/* May thread `tid`, which waits for what a stat of any kind shows, be shown a size that is not the
 * last, and how often? As in the interception library, by the code that makes the call. */
unsigned leat_caller_looks(pid_t tid);

/* --- alive.c: how the program's processes end ---
 *
 * The daemon may know the first one from before it became this program, and would take its end
 * for an abnormal one. It holds a file of the mount open, and its children with it, which the
 * kernel closes, as all files, before anybody learns of the end. */

#define LEAT_ALIVE_NAME ".leat-alive"
#define LEAT_ALIVE_INO 2 /* no node: those are addresses */

/* In the program's process, behind the mount: hold the file. */
void leat_alive_hold(const char *dir);
/* Is it looked for? Once it is held there is no such name. */
bool leat_alive_is(struct leat_mount *m, fuse_ino_t parent, const char *name);
void leat_alive_entry(struct fuse_entry_param *e);
/* open, flush of LEAT_ALIVE_INO */
void leat_alive_opened(struct leat_errand *call);
void leat_alive_flushed(struct leat_errand *call);
/* Those who have closed a file empty, and whose end nobody told: tell it. */
void leat_alive_look(struct leat_errand *call);
/* flush of a file that is open for writing: thread `tid` closes it. */
void leat_alive_closing(struct leat_handle *h, pid_t tid);
/* The mount is gone: forget the processes. True: one that was killed had closed a file empty. */
bool leat_alive_end(struct leat_mount *m);

/* --- node.c: names the kernel knows --- */

/* What tells one file from another at the same name. All 0: not known yet. */
struct leat_identity {
	uint64_t dev, ino, born_ns;
	uint32_t slot; /* 0: nobody knows whether the file may have moved */
};

enum { LEAT_LOOKS = 4 };

struct leat_node *leat_node_root(struct leat_mount *m);
struct leat_node *leat_node_of(struct leat_mount *m, fuse_ino_t ino);
fuse_ino_t leat_node_ino(const struct leat_mount *m, const struct leat_node *node);
uint64_t leat_node_generation(const struct leat_node *node);

/* Path below the workflow's directory of `name` in `ino`, or of `ino` itself (name NULL) into
 * `out` (PATH_MAX bytes). -ESTALE: it has no name any more. */
int leat_node_path(struct leat_mount *m, fuse_ino_t ino, const char *name, char *out);

/* The node of that name, made if there is none or it stands for another file; its count of
 * lookups is one more. NULL: no memory. */
struct leat_node *leat_node_look(struct leat_mount *m, fuse_ino_t parent, const char *name,
				 const struct stat *st, const struct leat_identity *id, pid_t tid);
/* Forget `n` lookups; the node may be gone after it. */
void leat_node_forget(struct leat_mount *m, fuse_ino_t ino, uint64_t n);

/* Has `tid` come to the node by its path, and done nothing with it since? Clears it. */
bool leat_node_by_path(struct leat_mount *m, fuse_ino_t ino, pid_t tid);

/* Does the node stand for no file yet? */
bool leat_node_is_awaited(struct leat_mount *m, fuse_ino_t ino);

/* Does the node stand for this file? A node that stood for none does from now on, as one whose file
 * has moved while it was open. */
bool leat_node_is(struct leat_mount *m, fuse_ino_t ino, const struct stat *st,
		  const struct leat_identity *id);

/* May the pages the kernel has of this file be kept: same length and times as at the last open? */
bool leat_node_keep_cache(struct leat_mount *m, fuse_ino_t ino, const struct stat *st);

/* The kernel is about to be told that the file has so many bytes. */
void leat_node_told(struct leat_mount *m, fuse_ino_t ino, uint64_t size);
/* May it believe that there are fewer? Of two answers on their way it drops either, so the least it
 * was told counts. From now on it knows. */
bool leat_node_told_less(struct leat_mount *m, fuse_ino_t ino, uint64_t size);

/* There was nothing to open, though the name was there: true if the caller is to look for the name
 * again. Of a file in versions there is nothing the second time, either. */
bool leat_node_missed(struct leat_mount *m, fuse_ino_t ino, pid_t tid);

/* Is the node an empty version that was closed again and again, and nothing read of it? FUSE is not
 * asked for reads of 0 bytes: nobody knows whether it was taken. */
bool leat_node_is_stuck(struct leat_mount *m, fuse_ino_t ino);
/* When the program has ended: the path of one that was closed so more than once. False: there is
 * none. */
bool leat_nodes_unread(struct leat_mount *m, char path[PATH_MAX]);

/* The name was removed, or renamed (exchange: both stay). */
void leat_node_removed(struct leat_mount *m, fuse_ino_t parent, const char *name);
void leat_node_renamed(struct leat_mount *m, fuse_ino_t parent, const char *name,
		       fuse_ino_t to_parent, const char *to_name, bool exchange);
void leat_nodes_free(struct leat_mount *m);

/* lstat of dirfd/path ("": of dirfd itself), with what tells it from other files. */
int leat_identify(int dirfd, const char *path, struct stat *st, struct leat_identity *id);

/* --- handle.c: open files --- */

struct leat_handle {
	struct leat_handle *prev, *next;         /* of its node */
	struct leat_handle *all_prev, *all_next; /* of the mount */
	struct leat_node *node;
	struct leat_mount *m;
	int fd;                /* owned */
	struct leat_word home; /* where its file is, shm/state.h */
	int flags;             /* of the open */
	uint32_t kind;         /* enum leat_kind */
	uint32_t slot;
	uint64_t ofd;
	bool intact;     /* open for writing: before it changes something that is to be told */
	bool read_told;  /* of a version: that it was read is told */
	bool look_told;  /* that something of it was looked at is */
	bool unread;     /* a program has closed it, an empty version, and read nothing of it */
	bool flushed;    /* a program has closed it, perhaps for good, and opens wait for that */
	int32_t backing; /* passthrough: the kernel's id of fd, 0: none */
	bool told;       /* a violation was reported */
	bool abnormal;   /* the last to close it was killed */
	pid_t closer;    /* the last process to close it, 0: none, or it is gone */
	bool sized,
		trusted; /* a consumer was shown a size; asked for what only that can have told */
	uint64_t size_seen, read_end;
	struct leat_glance glance; /* of a version */
	const char *map;           /* owned; the file's bytes, once it is final */
	size_t map_size;
	struct leat_listing_of *listing; /* owned; of a directory */
	bool unlisted;                   /* nobody has asked for its names yet */
	uint64_t record_id;              /* in the trace; 0: it is not in it */
	pid_t record_pid;                /* who opened it, or closed a descriptor of it last */
};

/* Open what RESOLVE allowed, and tell the daemon. */
int leat_handle_open(struct leat_errand *call, fuse_ino_t ino, struct leat_place_of *place,
		     int flags, mode_t mode, struct leat_handle **handle);
/* Attach to a node: it was created with the open. */
void leat_handle_attach(struct leat_handle *h, fuse_ino_t ino);
/* Undo it. */
void leat_handle_detach(struct leat_handle *h);
/* Let the kernel read the file itself, where it can and the file is `final`, or is so
 * read already. True if it does. */
bool leat_handle_back(struct leat_handle *h, bool final);
/* The last close. */
void leat_handle_close(struct leat_errand *call, struct leat_handle *h);
/* A descriptor of some open file of the node, duplicated, of where that is now, and the file's
 * slot; -1: there is none. */
int leat_handle_any(struct leat_errand *call, fuse_ino_t ino, uint32_t *slot);
/* Somebody was shown the current size of a file that may be growing. */
void leat_handle_sized(struct leat_errand *call, fuse_ino_t ino, uint64_t size);
/* Somebody asks for the names of a directory. True: it is open, and nobody has asked yet. */
bool leat_handles_list(struct leat_mount *m, fuse_ino_t ino);
/* An empty version is closed of which nothing was read, or it is read after all. True: it was not
 * known of this handle. */
bool leat_handle_note_unread(struct leat_handle *h, bool unread);
/* Does a consumer have the node open while the file still grows? *sized: was a size shown to all
 * who have? */
bool leat_handle_grows(struct leat_errand *call, fuse_ino_t ino, bool *sized);
/* Wait until the file is final, if it is growing. */
int leat_handle_whole(struct leat_errand *call, const struct leat_handle *h);
/* Is it a version that was opened to be read? */
bool leat_handle_is_version(const struct leat_handle *h);
/* The program is not given the version that it opens. */
void leat_handle_note_refused(struct leat_errand *call, const struct leat_handle *h);
/* `n` bytes of `asked` were read at `offset` through it: a version is taken by that. */
void leat_handle_note_read(struct leat_errand *call, struct leat_handle *h, ssize_t n, size_t asked,
			   uint64_t offset);
/* A program closes a descriptor of a version: what there is to tell of it before the close is. */
void leat_handle_note_closed(struct leat_errand *call, struct leat_handle *h);
/* A program closes a descriptor of it, perhaps the last. */
void leat_handle_flushed(struct leat_handle *h);
/* The kernel tells of a last close without having the program wait for us, and the next open or
 * change of a name may depend on it (versions; a step's actions): wait for what programs have
 * closed. -EINTR if the caller is to die. */
int leat_handles_settle(struct leat_errand *call);
/* Is nothing to be waited for? */
bool leat_handle_is_final(const struct leat_errand *call, const struct leat_handle *h);
static inline struct leat_handle *leat_handle_of(const struct fuse_file_info *fi)
{
	return (struct leat_handle *)(uintptr_t)fi->fh;
}

/* --- ops_*.c: the operations --- */

/* Attributes of a name into `e`, with a lookup counted. */
int leat_ops_entry(struct leat_errand *call, fuse_ino_t parent, const char *name,
		   const struct leat_place_of *place, struct fuse_entry_param *e);
/* Attributes as the kernel is to have them. */
void leat_ops_show(struct leat_mount *m, fuse_ino_t ino, const char *name, struct stat *st);
/* Is the file final, so that its attributes may be kept? Seconds. */
double leat_ops_keep_s(const struct leat_errand *call, const struct leat_place_of *place);

void leat_ops_add_names(struct fuse_lowlevel_ops *ops);
void leat_ops_add_attributes(struct fuse_lowlevel_ops *ops);
void leat_ops_add_directories(struct fuse_lowlevel_ops *ops);
void leat_ops_add_files(struct fuse_lowlevel_ops *ops);
void leat_ops_add_data(struct fuse_lowlevel_ops *ops);

/* --- server.c --- */

/* The server's process: `peer` is a socket to the program's. Returns its exit status. */
int leat_server_run(const struct leat_mount_spec *spec, int peer);

/* --- inherit.c: descriptors from before the mount. One thread only. --- */

/* Wait until the inherited descriptors on growing files are final, have those of files that have
 * moved exchanged in the program's process, too, by `peer`, and close them all but `peer` and
 * standard error. */
int leat_inherit_settle(struct leat_errand *call, int peer);
/* Where the working directory is below the workflow's: false if it is elsewhere. */
bool leat_inherit_cwd(const struct leat_mount *m, char *out);

/* --- filter.c --- */

/* Refuse sendfile, splice, copy_file_range, io_uring and AIO in this process and all it starts, and
 * have the server asked about mounts and namespaces, by *listener. 0 or -errno. *listener is -1
 * then, and where somebody else is asked about this process's calls: those fail then. */
int leat_filter_install(int *listener);
/* The call that is asked about: its native number; open_tree for what is like it. */
int leat_filter_call(const struct seccomp_data *data);

/* --- cover.c: mounts over the workflow's directory --- */

/* Is `root`, the root of a mount as `pid` sees it, that of one of leat's which covers the
 * workflow's directory? 0 or 1; -ENOENT: it sees no such mount. */
int leat_cover_is(const struct leat_mount *m, pid_t pid, int root);

/* --- bypass.c: calls that would lead past the mount --- */

/* A call of `pid` fails, and with it the step: `why` comes behind the program's name. */
void leat_bypass_fail(struct leat_mount *m, pid_t pid, const char *why);
/* The same because nobody knows whether an empty version of `name` was taken. */
void leat_bypass_fail_unread(struct leat_mount *m, pid_t pid, const char *name);

/* Answer what comes by the listener, which the program's process sends to m->peer (taken over). */
int leat_bypass_watch(struct leat_mount *m);

#endif
