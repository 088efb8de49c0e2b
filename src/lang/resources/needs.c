/* What a step says of the machine it needs: computing units, or I/O and bandwidth. */
#include "lang/resources/needs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/scalar.h"
#include "lang/resources/internal.h"
#include "lang/syntax/diagnostics.h"

/* MB/s: a terabyte a second. */
enum { LIMIT_MAX_MBPS = 1000000 };

/* A bandwidth may be a plain number, too. */
void leat_read_bandwidth(struct leat_front *front, const struct leat_pair *entry,
			 struct leat_bandwidth *bandwidth)
{
	const struct leat_value *node = entry->value;
	char why[LEAT_BANDWIDTH_WHY];

	if (node->kind != LEAT_VALUE_SCALAR)
		leat_lang_report(front->diags, L_TYPE, node->pos,
				 "\"%s\" must be a number, auto or auto(min,max,delta), not %s",
				 entry->key->text, leat_value_describe(node));
	else if (leat_bandwidth_parse(node->text, bandwidth, why))
		leat_lang_report(front->diags, L_BANDWIDTH, node->pos, "%s", why);
}

/* What goes together, and what does not. */
static void check_needs(struct leat_front *front, const struct leat_pair *slots,
			const struct leat_needs *needs)
{
	const struct leat_pair *of_io = slots[LEAT_NEED_BANDWIDTH].key ? &slots[LEAT_NEED_BANDWIDTH]
								       : &slots[LEAT_NEED_DEVICE];

	if (needs->io && needs->computing_units)
		leat_lang_report(
			front->diags, L_NEEDS, needs->units_pos,
			"an I/O task takes no computing units: leave out \"%s\", or \"io\"",
			slots[LEAT_NEED_UNITS].key->text);
	if (!needs->io && of_io->key)
		leat_lang_report(front->diags, L_NEEDS, of_io->key->pos,
				 "\"%s\" is for I/O tasks: add \"io: true\", or leave it out",
				 of_io->key->text);
}

int leat_read_needs(struct leat_front *front, const struct leat_pair *slots, struct leat_step *step)
{
	struct leat_needs *needs = &step->needs;
	struct leat_pos *const at[LEAT_N_NEEDS] = {
		[LEAT_NEED_UNITS] = &needs->units_pos,
		[LEAT_NEED_IO] = &needs->io_pos,
		[LEAT_NEED_BANDWIDTH] = &needs->bandwidth_pos,
		[LEAT_NEED_DEVICE] = &needs->device_pos,
		[LEAT_NEED_LIMIT] = &needs->limit_pos,
	};
	const char *device;

	for (int i = 0; i < LEAT_N_NEEDS; i++)
		if (slots[i].key)
			*at[i] = slots[i].value->pos;
	if (slots[LEAT_NEED_UNITS].key)
		leat_read_number(front, &slots[LEAT_NEED_UNITS], 1, INT_MAX,
				 &needs->computing_units);
	if (slots[LEAT_NEED_IO].key && !leat_read_bool(front, &slots[LEAT_NEED_IO], &needs->io))
		needs->io = slots[LEAT_NEED_BANDWIDTH].key || slots[LEAT_NEED_DEVICE].key;
	if (slots[LEAT_NEED_BANDWIDTH].key)
		leat_read_bandwidth(front, &slots[LEAT_NEED_BANDWIDTH], &needs->bandwidth);
	if (slots[LEAT_NEED_LIMIT].key)
		leat_read_number(front, &slots[LEAT_NEED_LIMIT], 1, LIMIT_MAX_MBPS,
				 &needs->limit_mbps);
	device = slots[LEAT_NEED_DEVICE].key ? leat_read_text(front, &slots[LEAT_NEED_DEVICE])
					     : NULL;
	if (device) {
		free(needs->device);
		needs->device = strdup(device);
		if (!needs->device)
			return -ENOMEM;
	}
	check_needs(front, slots, needs);
	return 0;
}

int leat_read_workflow_resources(struct leat_front *front, const struct leat_pair *entry)
{
	if (!entry->value)
		return 0;
	front->wf->resources = leat_resources_new();
	if (!front->wf->resources)
		return -ENOMEM;
	front->wf->resources->shared_dir = true;
	return leat_read_resources(front, entry->value, front->wf->resources);
}
