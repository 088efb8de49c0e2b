#include "trace/ebpf/programs.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/pidstat.h"
#include "trace/ebpf/table.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Made by bpftool, not by us. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "trace/ebpf/ebpf.skel.h"
#pragma GCC diagnostic pop

enum { BUFFER_BYTES = 64 << 20, LEAST_BUFFER_BYTES = 64 << 10, MOST_BUFFER_BYTES = 1 << 30 };

struct leat_ebpf_programs {
	struct leat_ebpf *skeleton; /* owned */
	struct ring_buffer *ring;   /* owned */
	leat_ebpf_take *take;
	void *context; /* borrowed */
	int cpus;
	struct leat_ebpf_counts *counts; /* owned, one per CPU */
	int *dirs;                       /* owned: of the request, open */
	size_t n_dirs;
};

/* ---- what there is ---- */

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	uint64_t has;

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	has = (uint64_t)data[1].effective << 32 | data[0].effective;
	return (has >> CAP_SYS_ADMIN & 1) ||
	       ((has >> CAP_BPF & 1) && (has >> CAP_PERFMON & 1) && (has >> CAP_SYS_RESOURCE & 1));
}

int leat_ebpf_programs_usable(char *why, size_t size)
{
	if (!has_capabilities()) {
		snprintf(why, size,
			 "needs the rights to load programs into the kernel: run it as root, or "
			 "with the "
			 "capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE");
		return -EPERM;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
		snprintf(why, size,
			 "the kernel does not describe its types "
			 "(no /sys/kernel/btf/vmlinux): it was built without "
			 "CONFIG_DEBUG_INFO_BTF");
		return -ENOTSUP;
	}
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL) != 1) {
		snprintf(why, size,
			 "this system does not let programs be loaded into the kernel "
			 "(bpf(2): %s)",
			 strerror(EPERM));
		return -EPERM;
	}
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_loop, NULL) != 1) {
		snprintf(why, size, "the kernel is too old: Linux 5.17 or later is needed");
		return -ENOTSUP;
	}
	return 0;
}

/* Can functions of the kernel be followed directly? Some kernels say so and refuse it. */
static bool has_fentry(const char *function)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_prog_load_opts options = {.sz = sizeof(options),
					     .expected_attach_type = BPF_TRACE_FENTRY};
	int id = libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY), program, link = -1;

	if (id <= 0)
		return false;
	options.attach_btf_id = (uint32_t)id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "leat_probe", "GPL", nothing, 2, &options);
	if (program >= 0)
		link = bpf_raw_tracepoint_open(NULL, program);
	leat_close(&program);
	if (link < 0)
		return false;
	close(link);
	return true;
}

static bool has_kprobe(const char *function)
{
	return access("/sys/bus/event_source/devices/kprobe", F_OK) == 0 &&
	       libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY) > 0;
}

/* Does the kernel have the tracepoint? */
static bool has_tracepoint(const char *name)
{
	return libbpf_find_vmlinux_btf_id(name, BPF_TRACE_RAW_TP) > 0;
}

/* ---- configuration ---- */

static uint32_t types_of(const char *letters)
{
	uint32_t types = 0;

	for (; letters && *letters; letters++)
		types |= 1u << ((*letters - 'A') & 31);
	return types ? types : ~0u;
}

/* The kernel's PROC_PID_INIT_INO: the inode of the first namespace of processes. */
#define FIRST_PIDS 0xeffffffcu

static uint32_t own_pids(void)
{
	uint64_t own = leat_pid_namespace();

	return own == FIRST_PIDS ? 0 : (uint32_t)own;
}

/* 0 or -errno, after a message. */
static int configure(struct leat_ebpf_config *config, const struct leat_trace_request *request)
{
	const struct leat_trace_filter *f = &request->filter;

	leat_ebpf_table_fill(config);
	config->self = (uint32_t)getpid();
	config->pids = own_pids();
	config->cpus = (uint32_t)libbpf_num_possible_cpus();
	config->all = !request->argv && f->n_pids == 0;
	config->by_uid = f->by_uid;
	config->uid = f->uid;
	config->by_gid = f->by_gid;
	config->gid = f->gid;
	config->by_dir = f->n_dirs > 0;
	config->types = types_of(f->types);
	if (f->n_filesystems > LEAT_EBPF_FILESYSTEMS) {
		leat_error("at most %d types of file systems can be named", LEAT_EBPF_FILESYSTEMS);
		return -E2BIG;
	}
	config->n_filesystems = (uint32_t)f->n_filesystems;
	for (size_t i = 0; i < f->n_filesystems; i++)
		snprintf(config->filesystems[i], LEAT_EBPF_FS_BYTES, "%s", f->filesystems[i]);
	return 0;
}

/* A power of two, of whole pages, as the kernel wants it. */
static uint32_t ring_bytes(size_t wanted)
{
	size_t bytes = LEAST_BUFFER_BYTES;

	if (wanted == 0)
		wanted = BUFFER_BYTES;
	while (bytes < wanted && bytes < MOST_BUFFER_BYTES)
		bytes <<= 1;
	return (uint32_t)bytes;
}

static void choose(struct leat_ebpf *s)
{
	bool fentry = has_fentry("__fput");

	bpf_program__set_autoload(s->progs.leat_released, fentry);
	bpf_program__set_autoload(s->progs.leat_released_probe, !fentry && has_kprobe("__fput"));
	bpf_program__set_autoload(s->progs.leat_uring_submit,
				  has_tracepoint("io_uring_submit_req"));
	bpf_program__set_autoload(s->progs.leat_uring_submit_sqe,
				  has_tracepoint("io_uring_submit_sqe"));
	bpf_program__set_autoload(s->progs.leat_uring_complete,
				  has_tracepoint("io_uring_complete"));
}

static char last_message[512];

static int on_message(enum libbpf_print_level level, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Of the library's messages the last is told if it all fails. */
static int on_message(enum libbpf_print_level level, const char *format, va_list ap)
{
	if (level == LIBBPF_WARN) {
		vsnprintf(last_message, sizeof(last_message), format, ap);
		last_message[strcspn(last_message, "\n")] = 0;
	}
	return 0;
}

/* ---- life ---- */

/* Run a program with one argument, now. 0 or -errno. */
static int ask(const struct bpf_program *program, uint64_t argument)
{
	struct bpf_test_run_opts run = {
		.sz = sizeof(run), .ctx_in = &argument, .ctx_size_in = sizeof(argument)};
	int rc = bpf_prog_test_run_opts(bpf_program__fd(program), &run);

	return rc ? rc : run.retval ? -ENOSPC : 0;
}

static int name_dir(struct leat_ebpf_programs *p, const char *dir)
{
	/* It stays open: so long it keeps its address. */
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
		leat_error("%s cannot be traced: %s", dir, strerror(-rc));
		return rc;
	}
	p->dirs[p->n_dirs++] = fd;
	rc = ask(p->skeleton->progs.leat_add_dir, (uint64_t)fd);
	if (rc)
		leat_error("%s cannot be named to the kernel: %s", dir, strerror(-rc));
	return rc;
}

/* Where paths begin, and which directories matter. */
static int name_dirs(struct leat_ebpf_programs *p, const struct leat_trace_filter *f)
{
	int rc = ask(p->skeleton->progs.leat_set_root, 0);

	p->dirs = calloc(f->n_dirs + 1, sizeof(*p->dirs));
	for (size_t i = 0; p->dirs && i < f->n_dirs && !rc; i++)
		rc = name_dir(p, f->dirs[i]);
	return p->dirs ? rc : -ENOMEM;
}

static int report_refusal(int rc, const char *what)
{
	leat_error("the programs of the tracer cannot be %s: %s%s%s", what, strerror(-rc),
		   *last_message ? "; " : "", last_message);
	return rc;
}

static int load(struct leat_ebpf_programs *p, const struct leat_trace_request *request)
{
	struct leat_ebpf_config *config;
	int rc;

	p->skeleton = leat_ebpf__open();
	if (!p->skeleton)
		return report_refusal(-errno, "read");
	config = (struct leat_ebpf_config *)&p->skeleton->rodata->config;
	rc = configure(config, request);
	if (rc)
		return rc;
	bpf_map__set_max_entries(p->skeleton->maps.ring, ring_bytes(request->buffer_bytes));
	choose(p->skeleton);
	rc = leat_ebpf__load(p->skeleton);
	if (rc)
		return report_refusal(rc, "loaded into the kernel");
	p->ring = ring_buffer__new(bpf_map__fd(p->skeleton->maps.ring), p->take, p->context, NULL);
	if (!p->ring)
		return report_refusal(-errno, "read from");
	rc = name_dirs(p, &request->filter);
	if (rc)
		return rc;
	rc = leat_ebpf__attach(p->skeleton);
	return rc ? report_refusal(rc, "attached to the kernel") : 0;
}

struct leat_ebpf_programs *leat_ebpf_programs_new(const struct leat_trace_request *request,
						  leat_ebpf_take *take, void *context)
{
	struct leat_ebpf_programs *p = calloc(1, sizeof(*p));

	libbpf_set_print(on_message);
	if (p) {
		p->take = take;
		p->context = context;
		p->cpus = libbpf_num_possible_cpus();
		p->counts = p->cpus > 0 ? calloc((size_t)p->cpus, sizeof(*p->counts)) : NULL;
	}
	if (!p || !p->counts) {
		leat_error("no memory to trace with");
	} else {
		if (load(p, request) == 0)
			return p;
	}
	leat_ebpf_programs_free(p);
	return NULL;
}

void leat_ebpf_programs_free(struct leat_ebpf_programs *p)
{
	if (!p)
		return;
	ring_buffer__free(p->ring);
	leat_ebpf__destroy(p->skeleton);
	for (size_t i = 0; i < p->n_dirs; i++)
		close(p->dirs[i]);
	free(p->dirs);
	free(p->counts);
	free(p);
}

/* ---- asked ---- */

int leat_ebpf_programs_follow(struct leat_ebpf_programs *p, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	uint8_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.roots), &key, &one, BPF_ANY);
}

int leat_ebpf_programs_drain(struct leat_ebpf_programs *p)
{
	int n = ring_buffer__consume(p->ring);

	return n < 0 ? n : 0;
}

void leat_ebpf_programs_sweep(struct leat_ebpf_programs *p)
{
	int rc = ask(p->skeleton->progs.leat_sweep, 0);

	if (rc)
		leat_warn("closes of files are reported late: %s", strerror(-rc));
}

void leat_ebpf_programs_count(const struct leat_ebpf_programs *p, struct leat_ebpf_counts *sum)
{
	int map = bpf_map__fd(p->skeleton->maps.counts);
	uint32_t key = 0;

	memset(sum, 0, sizeof(*sum));
	/* The CPUs are read one after the other. Exits first: so they are never too many for the
	 * forks, and nobody is taken for gone who is not. */
	if (bpf_map_lookup_elem(map, &key, p->counts))
		return;
	for (int i = 0; i < p->cpus; i++)
		sum->exits += p->counts[i].exits;
	if (bpf_map_lookup_elem(map, &key, p->counts))
		return;
	for (int i = 0; i < p->cpus; i++) {
		for (int k = 0; k < LEAT_EBPF_LOSSES; k++)
			sum->lost[k] += p->counts[i].lost[k];
		sum->forks += p->counts[i].forks;
		sum->hints += p->counts[i].hints;
	}
}
