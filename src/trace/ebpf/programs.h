/* The programs in the kernel: loaded, attached, asked. */
#ifndef LEAT_TRACE_EBPF_PROGRAMS_H
#define LEAT_TRACE_EBPF_PROGRAMS_H

#include "trace/ebpf/record.h"
#include "trace/tracer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct leat_ebpf_programs;

/* Can they be loaded here? 0 or -errno; `why`, of `size` bytes, then says what is missing. */
int leat_ebpf_programs_usable(char *why, size_t size);

/* A record of the ring, valid during the call. Another result than 0 ends the drain. */
typedef int leat_ebpf_take(void *context, void *data, size_t size);

/* Load and attach what the request needs; records go to `take`. NULL after a message. One thread,
 * as for all of this. */
struct leat_ebpf_programs *leat_ebpf_programs_new(const struct leat_trace_request *request,
						  leat_ebpf_take *take, void *context);
void leat_ebpf_programs_free(struct leat_ebpf_programs *p);

/* The process and those it makes from now on are traced. 0 or -errno. */
int leat_ebpf_programs_follow(struct leat_ebpf_programs *p, pid_t pid);

/* Hand over what has been recorded. 0, or what `take` returned. */
int leat_ebpf_programs_drain(struct leat_ebpf_programs *p);

/* Look for handles whose last close was not seen: they are recorded now. */
void leat_ebpf_programs_sweep(struct leat_ebpf_programs *p);

/* The sums over all CPUs so far. */
void leat_ebpf_programs_count(const struct leat_ebpf_programs *p, struct leat_ebpf_counts *sum);

#endif
