/* The tracers that this leat was built with. */
#include "trace/tracer.h"

#include <stdio.h>
#include <string.h>

#define LEFT_OUT "its sources are not part of this leat"

#ifndef LEAT_TRACER_EBPF_MISSING
#define LEAT_TRACER_EBPF_MISSING LEFT_OUT
#endif
#ifndef LEAT_TRACER_PRELOAD_MISSING
#define LEAT_TRACER_PRELOAD_MISSING LEFT_OUT
#endif
#ifndef LEAT_TRACER_PTRACE_MISSING
#define LEAT_TRACER_PTRACE_MISSING LEFT_OUT
#endif
#ifndef LEAT_TRACER_FUSE_MISSING
#define LEAT_TRACER_FUSE_MISSING LEFT_OUT
#endif

const struct leat_tracer_row leat_tracers[] = {
#ifdef LEAT_TRACER_EBPF
	{"ebpf", &leat_tracer_ebpf, NULL},
#else
	{"ebpf", NULL, LEAT_TRACER_EBPF_MISSING},
#endif
#ifdef LEAT_TRACER_PRELOAD
	{"preload", &leat_tracer_preload, NULL},
#else
	{"preload", NULL, LEAT_TRACER_PRELOAD_MISSING},
#endif
#ifdef LEAT_TRACER_PTRACE
	{"ptrace", &leat_tracer_ptrace, NULL},
#else
	{"ptrace", NULL, LEAT_TRACER_PTRACE_MISSING},
#endif
#ifdef LEAT_TRACER_FUSE
	{"fuse", &leat_tracer_fuse, NULL},
#else
	{"fuse", NULL, LEAT_TRACER_FUSE_MISSING},
#endif
	{0},
};

const struct leat_tracer_row *leat_tracer_find(const char *name)
{
	for (const struct leat_tracer_row *row = leat_tracers; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct leat_tracer *leat_tracer_choose(const struct leat_trace_request *request, char *why,
					     size_t size)
{
	size_t used = 0;

	if (size)
		*why = 0;
	for (const struct leat_tracer_row *row = leat_tracers; row->name; row++) {
		char reason[512] = "";
		int n;

		if (row->tracer && row->tracer->usable(request, reason, sizeof(reason)) == 0)
			return row->tracer;
		n = snprintf(why + used, size - used, "%s%s: %s", used ? "; " : "", row->name,
			     row->tracer ? reason : row->missing);
		used = n < 0 || (size_t)n >= size - used ? used : used + (size_t)n;
	}
	return NULL;
}
