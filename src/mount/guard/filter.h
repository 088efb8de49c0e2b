/* System calls that are refused, or asked about. */
#ifndef LEAT_MOUNT_GUARD_FILTER_H
#define LEAT_MOUNT_GUARD_FILTER_H

struct seccomp_data;

/* Refuse sendfile, splice, copy_file_range, io_uring and AIO in this process and all it starts, and
 * have the server asked about mounts and namespaces, by *listener. 0 or -errno. *listener is -1
 * then, and where somebody else is asked about this process's calls: those fail then. */
int leat_filter_install(int *listener);

/* The call that is asked about: its native number; open_tree for what is like it. */
int leat_filter_call(const struct seccomp_data *data);

#endif
