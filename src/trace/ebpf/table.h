/* Which system calls matter. */
#ifndef LEAT_TRACE_EBPF_TABLE_H
#define LEAT_TRACE_EBPF_TABLE_H

#include "trace/ebpf/record.h"

/* Fill in what each system call of this architecture is, and of the other that it runs. */
void leat_ebpf_table_fill(struct leat_ebpf_config *config);

#endif
