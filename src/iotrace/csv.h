/* What the writer and the reader of CSV traces agree on; docs/reference/trace-format.md. */
#ifndef LEAT_IOTRACE_CSV_H
#define LEAT_IOTRACE_CSV_H

#include "iotrace/trace.h"

#define LEAT_TRACE_CSV_CALLS "# leat trace 2"
#define LEAT_TRACE_CSV_CALLS_1 "# leat trace 1" /* without the names outside */
#define LEAT_TRACE_CSV_PROCESSES "# leat processes 1"
#define LEAT_TRACE_CSV_CALL_COLUMNS_1                                                              \
	"time_start,time_end,pid,utime_start,utime_end,stime_start,stime_end,inode,type,result,"   \
	"handle,offset,size,flags,path,to"
#define LEAT_TRACE_CSV_CALL_COLUMNS LEAT_TRACE_CSV_CALL_COLUMNS_1 ",outside,to_outside"
#define LEAT_TRACE_CSV_PROCESS_COLUMNS                                                             \
	"time,ppid,pid,cgroupid,event,status,mounts,program,dir,labels"
/* Comments with a meaning: what other programs skip is no row for them. */
#define LEAT_TRACE_CSV_CGROUP "# cgroup,"
#define LEAT_TRACE_CSV_MOUNT "# mount,"
#define LEAT_TRACE_CSV_UNSEEN "# unseen,"
#define LEAT_TRACE_CSV_END "# end: "

enum { LEAT_TRACE_CHANGES = LEAT_TRACE_EXIT + 1 };
extern const char *const leat_trace_changes[LEAT_TRACE_CHANGES];

/* The name of the processes beside the calls of `path`: NAME.pids.csv. The caller frees it. NULL
 * when out of memory. */
char *leat_trace_csv_beside(const char *path);

/* Is this one of them? */
bool leat_trace_csv_is_beside(const char *path);

#endif
