#include "sched/write.h"

static double seconds(uint64_t at_ns, uint64_t start_ns)
{
	return at_ns > start_ns ? (double)(at_ns - start_ns) / 1e9 : 0;
}

static void put_epoch(struct leat_json *j, const struct leat_sched_epoch *e, uint64_t start_ns)
{
	leat_json_object(j, NULL, true);
	leat_json_number(j, "constraint_mbps", e->constraint_mbps);
	leat_json_number(j, "slots", e->slots);
	leat_json_number(j, "tasks", e->ended);
	leat_json_number(j, "failed", e->failed);
	leat_json_real(j, "mean_s", e->mean_s);
	if (e->begin_ns)
		leat_json_real(j, "begin_s", seconds(e->begin_ns, start_ns));
	if (e->end_ns)
		leat_json_real(j, "end_s", seconds(e->end_ns, start_ns));
	leat_json_string(j, "end", leat_sched_epoch_word(e->end));
	leat_json_close(j);
}

void leat_sched_write_learning(struct leat_json *j, const struct leat_sched_type_state *state,
			       uint64_t start_ns)
{
	leat_json_list(j, "epochs", false);
	for (size_t i = 0; i < state->n_epochs; i++)
		put_epoch(j, &state->epochs[i], start_ns);
	leat_json_close(j);
	leat_json_list(j, "registry", false);
	for (size_t i = 0; i < state->n_registry; i++) {
		const struct leat_sched_entry *e = &state->registry[i];

		leat_json_object(j, NULL, true);
		leat_json_number(j, "constraint_mbps", e->constraint_mbps);
		leat_json_number(j, "slots", e->slots);
		leat_json_real(j, "mean_s", e->mean_s);
		leat_json_close(j);
	}
	leat_json_close(j);
	if (state->phase == LEAT_SCHED_LEARNED)
		leat_json_number(j, "chosen_mbps", state->constraint_mbps);
}

static void put_total(struct leat_json *j, const struct leat_achieved_total *total)
{
	leat_json_number(j, "read_bytes", total->bytes.read);
	leat_json_number(j, "written_bytes", total->bytes.written);
	leat_json_real(j, "busy_s", total->busy_s);
	leat_json_real(j, "mean_mbps", total->mean_mbps);
	leat_json_real(j, "peak_mbps", total->peak_mbps);
}

static void put_rates(struct leat_json *j, const struct leat_achieved *a, unsigned type)
{
	size_t n;
	const struct leat_achieved_rate *rates = leat_achieved_rates(a, type, &n);

	leat_json_list(j, "by_constraint", false);
	for (size_t i = 0; i < n; i++) {
		const struct leat_achieved_rate *r = &rates[i];
		double task_s = (double)r->task_ns / 1e9, busy_s = (double)r->busy_ns / 1e9;

		leat_json_object(j, NULL, true);
		leat_json_number(j, "constraint_mbps", r->constraint_mbps);
		leat_json_number(j, "tasks", r->tasks);
		leat_json_number(j, "bytes", r->bytes);
		leat_json_real(j, "mean_s", r->tasks ? task_s / (double)r->tasks : 0);
		leat_json_real(j, "mbps", busy_s > 0 ? (double)r->bytes / 1e6 / busy_s : 0);
		leat_json_real(j, "task_mbps", task_s > 0 ? (double)r->bytes / 1e6 / task_s : 0);
		leat_json_close(j);
	}
	leat_json_close(j);
}

static void put_choices(struct leat_json *j, const struct leat_achieved *a, unsigned type)
{
	size_t n;
	uint64_t left_out;
	const struct leat_achieved_choice *choices = leat_achieved_choices(a, type, &n, &left_out);

	if (!n)
		return;
	leat_json_list(j, "choices", false);
	for (size_t i = 0; i < n; i++) {
		leat_json_object(j, NULL, true);
		leat_json_real(j, "t", seconds(choices[i].at_ns, leat_achieved_start_ns(a)));
		leat_json_number(j, "constraint_mbps", choices[i].constraint_mbps);
		leat_json_close(j);
	}
	leat_json_close(j);
	if (left_out)
		leat_json_number(j, "choices_left_out", left_out);
}

void leat_achieved_write_type(struct leat_json *j, const struct leat_achieved *a, unsigned type)
{
	struct leat_achieved_total total;

	if (!leat_achieved_has_device(a, type))
		return;
	leat_achieved_type_total(a, type, &total);
	leat_json_object(j, "achieved", false);
	put_total(j, &total);
	put_rates(j, a, type);
	put_choices(j, a, type);
	leat_json_list(j, "mbps", true);
	for (unsigned i = 0; i < leat_achieved_n(a); i++)
		leat_json_real(j, NULL, leat_achieved_type_mbps(a, type, i));
	leat_json_close(j);
	leat_json_close(j);
}

void leat_sched_write_device(struct leat_json *j, const struct leat_sched_device_state *state,
			     const struct leat_achieved *a, unsigned device)
{
	struct leat_achieved_total total;
	struct leat_achieved_sample s;
	double interval_s = leat_achieved_interval_s(a);

	leat_json_object(j, NULL, false);
	leat_json_string(j, "device", state->name);
	leat_json_number(j, "bandwidth_mbps", state->bandwidth_mbps);
	leat_json_number(j, "peak_allocated_mbps", state->peak_mbps);
	leat_json_number(j, "peak_tasks", state->peak_running);
	leat_achieved_device_total(a, device, &total);
	put_total(j, &total);
	leat_json_number(j, "copied_bytes", total.copied);
	leat_json_real(j, "interval_s", interval_s);
	leat_json_list(j, "samples", false);
	for (unsigned i = 0; i < leat_achieved_n(a); i++) {
		leat_achieved_sample(a, device, i, &s);
		leat_json_object(j, NULL, true);
		leat_json_real(j, "t", i * interval_s);
		leat_json_real(j, "allocated_mbps", s.allocated_mbps);
		leat_json_real(j, "tasks", s.tasks);
		leat_json_real(j, "read_mbps", s.read_mbps);
		leat_json_real(j, "written_mbps", s.written_mbps);
		leat_json_real(j, "copied_mbps", s.copied_mbps);
		leat_json_close(j);
	}
	leat_json_close(j);
	leat_json_close(j);
}
