/* Turns what the kernel says into records of a trace. */
#ifndef LEAT_TRACE_EBPF_DECODE_H
#define LEAT_TRACE_EBPF_DECODE_H

#include "trace/ebpf/cgroup.h"
#include "trace/ebpf/ids.h"
#include "trace/ebpf/order.h"
#include "trace/ebpf/dirs.h"
#include "trace/sink.h"
#include "trace/who.h"

#include <stdint.h>

struct leat_ebpf_decoder {
	struct leat_trace_sink *sink; /* borrowed */
	struct leat_trace_who *who;   /* owned, as all below */
	struct leat_ebpf_ids *ids;
	struct leat_ebpf_cgroups *cgroups;
	struct leat_ebpf_dirs *dirs;
	struct leat_ebpf_order order;
	int64_t clock_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t own_mounts; /* the tracer's mount namespace */
};

/* 0 or -ENOMEM. `sink` is borrowed. One thread at a time, as for all of this. */
int leat_ebpf_decoder_init(struct leat_ebpf_decoder *d, struct leat_trace_sink *sink);
void leat_ebpf_decoder_release(struct leat_ebpf_decoder *d);

/* CLOCK_REALTIME is looked at anew: it may have been set. Returns it. */
int64_t leat_ebpf_decoder_clock(struct leat_ebpf_decoder *d);

/* A record of the ring: a leat_ebpf_take with the decoder as its context. Always 0. */
int leat_ebpf_decode(void *decoder, void *data, size_t size);

#endif
