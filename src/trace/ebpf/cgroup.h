/* Cgroups (v2) by their ids. */
#ifndef LEAT_TRACE_EBPF_CGROUP_H
#define LEAT_TRACE_EBPF_CGROUP_H

#include "trace/sink.h"

struct leat_ebpf_cgroups;

/* `sink` is borrowed. NULL: out of memory. One thread at a time, as for all of this. */
struct leat_ebpf_cgroups *leat_ebpf_cgroups_new(struct leat_trace_sink *sink);
void leat_ebpf_cgroups_free(struct leat_ebpf_cgroups *c);

/* Write its path to the trace, unless that was done. One that is gone already has none. */
void leat_ebpf_cgroups_write(struct leat_ebpf_cgroups *c, uint64_t id);

/* It was written by somebody else. False: it was before, too. */
bool leat_ebpf_cgroups_note_written(struct leat_ebpf_cgroups *c, uint64_t id);

#endif
