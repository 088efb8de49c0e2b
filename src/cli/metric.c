/* The text format of Prometheus. */
#include "cli/listen.h"

void leat_metric(FILE *out, const char *name, const char *kind, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

void leat_metric_sample(FILE *out, const char *name, const char *label, const char *value,
			double number)
{
	fputs(name, out);
	if (label) {
		fprintf(out, "{%s=\"", label);
		for (; *value; value++)
			if (*value == '\n')
				fputs("\\n", out);
			else
				fprintf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "",
					*value);
		fputs("\"}", out);
	}
	fprintf(out, " %.15g\n", number);
}
