/* What of an environment goes into the trace buffer; the tracer takes what tells whose a process
 * is. */
#include "shm/tracebuf.h"

#include <string.h>

enum { MOST_LABELS = 200, LABELS_BYTES = 32768 };

static bool is_label(const char *variable)
{
	static const char *const begins[] = {
		"LEAT_",        "CAPIO_",  "SLURM",     "NXF_",
		"AIRFLOW_CTX_", "PMI",     "OMPI_COMM", "KUBERNETES_POD_NAME",
		"POD_NAME",     "HOSTNAME"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(variable, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

size_t leat_tracebuf_labels_size(char *const *envp)
{
	size_t size = 0;

	for (; envp && *envp; envp++)
		size += is_label(*envp) ? strlen(*envp) + 1 : 0;
	return size > LABELS_BYTES ? 0 : size;
}

char *leat_tracebuf_put_labels(struct leat_tracebuf_record *record, char *at, char *const *envp)
{
	if (!leat_tracebuf_labels_size(envp))
		return at;
	for (; *envp; envp++) {
		if (!is_label(*envp) || record->texts >= MOST_LABELS)
			continue;
		memcpy(at, *envp, strlen(*envp) + 1);
		at += strlen(*envp) + 1;
		record->texts++;
	}
	return at;
}
