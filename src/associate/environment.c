/* What a tracer writes down of a program's environment. */
#include "associate/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

const char *leat_associate_variable(const struct leat_associate_environment *env, const char *name)
{
	for (size_t i = env->n; i > 0; i--)
		if (strcmp(env->v[i - 1].name, name) == 0)
			return env->v[i - 1].value;
	return NULL;
}

const char *leat_associate_either(const struct leat_associate_environment *env, const char *name,
				  const char *other)
{
	const char *value = leat_associate_variable(env, name);

	return value ? value : leat_associate_variable(env, other);
}

int leat_associate_environment_init(struct leat_associate_environment *env, const char *labels)
{
	char *rest, *word, *value;

	*env = (struct leat_associate_environment){.text = strdup(labels)};
	if (!env->text)
		return -ENOMEM;
	rest = env->text;
	while ((word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!leat_percent_decode(value) || !*value)
			continue;
		if (leat_associate_grow(&env->v, env->n, &env->space, sizeof(*env->v)))
			return -ENOMEM;
		env->v[env->n++] = (struct leat_associate_label){.name = word, .value = value};
	}
	return 0;
}

void leat_associate_environment_release(struct leat_associate_environment *env)
{
	free(env->v);
	free(env->text);
}
