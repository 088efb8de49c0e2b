/* What is done before and after each recorded call; calls.c has the table. */
#ifndef LEAT_PRELOAD_TRACE_CALLS_H
#define LEAT_PRELOAD_TRACE_CALLS_H

#include "preload/trace/trace.h"

/* False: the call is of no interest. */
typedef bool leat_trace_begin_of(struct leat_traced *t);
/* After it, and after what the hooks had to do: `result` is what the program will see. */
typedef void leat_trace_end_of(struct leat_traced *t, long result);

/* From now on they are recorded. */
void leat_trace_calls_start(void);

/* files.c */
leat_trace_begin_of leat_trace_open_begin, leat_trace_dup_begin, leat_trace_dup2_begin,
	leat_trace_fcntl_begin, leat_trace_close_begin, leat_trace_close_range_begin;
leat_trace_end_of leat_trace_open_end, leat_trace_dup_end, leat_trace_fcntl_end,
	leat_trace_close_end, leat_trace_close_range_end;

/* data.c */
leat_trace_begin_of leat_trace_data_begin, leat_trace_copy_begin, leat_trace_map_begin;
leat_trace_end_of leat_trace_read_end, leat_trace_write_end, leat_trace_pread_end,
	leat_trace_pwrite_end, leat_trace_lseek_end, leat_trace_ftruncate_end,
	leat_trace_sendfile_end, leat_trace_copy_end, leat_trace_map_end;

/* rights.c */
leat_trace_begin_of leat_trace_send_begin, leat_trace_message_begin, leat_trace_getfd_begin;
leat_trace_end_of leat_trace_message_end, leat_trace_getfd_end;

/* paths.c */
leat_trace_begin_of leat_trace_unlink_begin, leat_trace_rename_begin, leat_trace_truncate_begin,
	leat_trace_chdir_begin;
leat_trace_end_of leat_trace_unlink_end, leat_trace_rename_end, leat_trace_truncate_end,
	leat_trace_chdir_end;

#endif
