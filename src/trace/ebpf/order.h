/* Records come nearly in the order of their end: CPUs overtake each other, and some are noticed
 * late. They are held back for a moment, and put in order. */
#ifndef LEAT_TRACE_EBPF_ORDER_H
#define LEAT_TRACE_EBPF_ORDER_H

#include "trace/sink.h"

#include <stddef.h>
#include <stdint.h>

struct leat_ebpf_held {
	struct leat_trace_record record; /* a call or a process */
	int64_t time_ns;
	char *strings; /* owned: those of the record lie in it; NULL none */
};

struct leat_ebpf_order {
	struct leat_trace_sink *sink; /* borrowed */
	struct leat_ebpf_held *v;     /* owned */
	size_t first, n, capacity;    /* those held are v[first..first + n) */
	int64_t passed_ns;            /* of the last that was handed on */
};

void leat_ebpf_order_init(struct leat_ebpf_order *o, struct leat_trace_sink *sink);
void leat_ebpf_order_release(struct leat_ebpf_order *o);

/* Hold a record; its strings become the order's. What should have been handed on already gets the
 * time of the last that was. Without memory it is counted as lost. */
void leat_ebpf_order_put(struct leat_ebpf_order *o, struct leat_ebpf_held *held);

/* Hand on all that ended up to then. */
void leat_ebpf_order_pass(struct leat_ebpf_order *o, int64_t until_ns);

#endif
