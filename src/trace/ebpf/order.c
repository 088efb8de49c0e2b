#include "trace/ebpf/order.h"

#include <stdlib.h>
#include <string.h>

void leat_ebpf_order_init(struct leat_ebpf_order *o, struct leat_trace_sink *sink)
{
	*o = (struct leat_ebpf_order){.sink = sink};
}

void leat_ebpf_order_release(struct leat_ebpf_order *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->v[o->first + i].strings);
	free(o->v);
	o->v = NULL;
	o->n = o->capacity = 0;
}

/* Space for one more at the end. */
static bool reserve(struct leat_ebpf_order *o)
{
	struct leat_ebpf_held *v;
	size_t capacity = o->capacity ? 2 * o->capacity : 1024;

	if (o->first + o->n < o->capacity)
		return true;
	if (o->first > o->capacity / 2) {
		memmove(o->v, o->v + o->first, o->n * sizeof(*o->v));
		o->first = 0;
		return true;
	}
	v = reallocarray(o->v, capacity, sizeof(*v));
	if (!v)
		return false;
	o->v = v;
	o->capacity = capacity;
	return true;
}

static void set_time(struct leat_ebpf_held *h, int64_t time_ns)
{
	h->time_ns = time_ns;
	if (h->record.kind == LEAT_TRACE_CALL) {
		h->record.call.end_ns = time_ns;
		if (h->record.call.type == LEAT_TRACE_CLOSE)
			h->record.call.start_ns = time_ns;
	} else {
		h->record.process.time_ns = time_ns;
	}
}

void leat_ebpf_order_put(struct leat_ebpf_order *o, struct leat_ebpf_held *held)
{
	struct leat_ebpf_held *end;

	if (!reserve(o)) {
		free(held->strings);
		leat_trace_sink_lost(o->sink, LEAT_TRACE_LOST_MEMORY, 1);
		return;
	}
	if (held->time_ns < o->passed_ns)
		set_time(held, o->passed_ns);
	end = o->v + o->first + o->n;
	while (end > o->v + o->first && end[-1].time_ns > held->time_ns) {
		*end = end[-1];
		end--;
	}
	*end = *held;
	o->n++;
}

void leat_ebpf_order_pass(struct leat_ebpf_order *o, int64_t until_ns)
{
	while (o->n && o->v[o->first].time_ns <= until_ns) {
		struct leat_ebpf_held *h = &o->v[o->first];

		if (h->record.kind == LEAT_TRACE_CALL)
			leat_trace_sink_call(o->sink, &h->record.call);
		else
			leat_trace_sink_process(o->sink, &h->record.process);
		o->passed_ns = h->time_ns;
		free(h->strings);
		o->first++;
		o->n--;
	}
	if (!o->n)
		o->first = 0;
}
