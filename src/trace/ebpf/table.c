#include "trace/ebpf/table.h"

#include <stddef.h>
#include <sys/syscall.h>

struct row {
	long number;
	struct leat_ebpf_what what;
};

static const struct row rows[] = {
	{SYS_read, {LEAT_EBPF_DATA, 0}},
	{SYS_write, {LEAT_EBPF_DATA, LEAT_EBPF_WRITES}},
	{SYS_pread64, {LEAT_EBPF_DATA, LEAT_EBPF_AT_OFFSET}},
	{SYS_pwrite64, {LEAT_EBPF_DATA, LEAT_EBPF_AT_OFFSET | LEAT_EBPF_WRITES}},
	{SYS_readv, {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR}},
	{SYS_writev, {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR | LEAT_EBPF_WRITES}},
	{SYS_preadv, {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR | LEAT_EBPF_AT_OFFSET}},
	{SYS_pwritev, {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR | LEAT_EBPF_AT_OFFSET | LEAT_EBPF_WRITES}},
	{SYS_preadv2, {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR | LEAT_EBPF_AT_OFFSET_OR_NOT}},
	{SYS_pwritev2,
	 {LEAT_EBPF_DATA, LEAT_EBPF_VECTOR | LEAT_EBPF_AT_OFFSET_OR_NOT | LEAT_EBPF_WRITES}},
	{SYS_sendfile, {LEAT_EBPF_COPY, LEAT_EBPF_SENDS}},
	{SYS_copy_file_range, {LEAT_EBPF_COPY, 0}},
	{SYS_splice, {LEAT_EBPF_COPY, 0}},
	{SYS_openat, {LEAT_EBPF_OPENS, LEAT_EBPF_AT}},
	{SYS_openat2, {LEAT_EBPF_OPENS, LEAT_EBPF_AT | LEAT_EBPF_BY_STRUCT}},
	{SYS_open_by_handle_at, {LEAT_EBPF_OPENS, LEAT_EBPF_BY_HANDLE}},
	{SYS_close, {LEAT_EBPF_CLOSES, 0}},
	{SYS_dup, {LEAT_EBPF_DUPS, 0}},
	{SYS_dup3, {LEAT_EBPF_REPLACES, 0}},
	{SYS_fcntl, {LEAT_EBPF_CONTROLS, 0}},
	{SYS_close_range, {LEAT_EBPF_CLOSES_MANY, 0}},
	{SYS_execve, {LEAT_EBPF_EXECS, 0}},
	{SYS_execveat, {LEAT_EBPF_EXECS, 0}},
	{SYS_mmap, {LEAT_EBPF_MAPS, 0}},
	{SYS_unlinkat, {LEAT_EBPF_UNLINKS, LEAT_EBPF_AT}},
	{SYS_renameat2, {LEAT_EBPF_RENAMES, LEAT_EBPF_AT}},
	{SYS_truncate, {LEAT_EBPF_TRUNCATES, 0}},
	{SYS_ftruncate, {LEAT_EBPF_SETS_SIZE, 0}},
	{SYS_io_submit, {LEAT_EBPF_SUBMITS, 0}},
#ifdef SYS_renameat
	{SYS_renameat, {LEAT_EBPF_RENAMES, LEAT_EBPF_AT}},
#endif
#ifdef SYS_open /* what younger architectures have no more */
	{SYS_open, {LEAT_EBPF_OPENS, 0}},
	{SYS_creat, {LEAT_EBPF_OPENS, LEAT_EBPF_CREATS}},
	{SYS_dup2, {LEAT_EBPF_REPLACES, 0}},
	{SYS_unlink, {LEAT_EBPF_UNLINKS, 0}},
	{SYS_rename, {LEAT_EBPF_RENAMES, 0}},
#endif
};

/* Opens of 32-bit programs: open, creat, openat, openat2, open_by_handle_at. */
#if defined(__x86_64__)
static const long foreign[] = {5, 8, 295, 437, 342};
#elif defined(__aarch64__)
static const long foreign[] = {5, 8, 322, 437, 371};
#else
static const long foreign[] = {-1};
#endif

void leat_ebpf_table_fill(struct leat_ebpf_config *config)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].number < LEAT_EBPF_CALLS)
			config->calls[rows[i].number] = rows[i].what;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (foreign[i] >= 0 && foreign[i] < LEAT_EBPF_CALLS)
			config->foreign[foreign[i]].class = LEAT_EBPF_FOREIGN;
}
