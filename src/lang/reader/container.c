/* What tasks run in: `container` and `engine`. */
#include "lang/reader/container.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/reader/placeholder.h"
#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"

/* "podman, apptainer": those that `takes` images of that kind. */
static void list_engines(char *buffer, size_t size, bool all, enum leat_image_kind kind)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (int i = all ? LEAT_ENGINE_AUTO : LEAT_ENGINE_AUTO + 1; i < LEAT_N_ENGINES; i++)
		if ((all || leat_engine_takes((enum leat_engine)i, kind)) && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
						 used ? ", " : "",
						 leat_engine_name((enum leat_engine)i));
}

static void report_unknown(struct leat_front *front, const char *name, struct leat_pos pos)
{
	const char *meant = NULL;
	unsigned best = 4;
	char list[128];

	for (int i = 0; i < LEAT_N_ENGINES; i++) {
		const char *known = leat_engine_name((enum leat_engine)i);
		unsigned distance = leat_str_distance(known, name);

		if (distance < best) {
			best = distance;
			meant = known;
		}
	}
	list_engines(list, sizeof(list), true, LEAT_IMAGE_DIRECTORY);
	if (meant)
		leat_lang_report(front->diags, L_ENGINE, pos,
				 "no engine is called \"%s\"; did you mean \"%s\"?", name, meant);
	else
		leat_lang_report(front->diags, L_ENGINE, pos,
				 "no engine is called \"%s\"; there are %s", name, list);
}

static void read_engine(struct leat_front *front, const struct leat_pair *entry,
			struct leat_container_keys *container)
{
	const char *text = leat_read_text(front, entry);

	if (text && !leat_engine_find(text, &container->engine))
		report_unknown(front, text, entry->value->pos);
	container->engine_pos = entry->value->pos;
}

static void read_image(struct leat_front *front, const struct leat_pair *entry,
		       struct leat_container_keys *container)
{
	const char *text = leat_read_text(front, entry);

	container->image = text && strcmp(text, "none") != 0 ? text : NULL;
	container->image_pos = entry->value->pos;
	if (text)
		leat_refuse_placeholders(front, text, entry->value->pos);
}

/* Can there be such an image, and does the engine take it? What was given here is to blame. */
static int check_image(struct leat_front *front, bool image_is_new,
		       struct leat_container_keys *container)
{
	const struct leat_step like = {.container = (char *)(uintptr_t)container->image};
	struct leat_image image;
	const char *why;
	char list[128];
	int ret = leat_step_image(front->wf, &like, &image, &why);

	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		leat_lang_report(front->diags, L_CONTAINER, container->image_pos,
				 "\"%s\" cannot be an image: %s", container->image, why);
		container->image = NULL;
		return 0;
	}
	if (!leat_engine_takes(container->engine, image.kind)) {
		list_engines(list, sizeof(list), false, image.kind);
		leat_lang_report(front->diags, L_CONTAINER_ENGINE,
				 image_is_new ? container->image_pos : container->engine_pos,
				 "%s cannot run \"%s\", %s: use %s",
				 leat_engine_name(container->engine), container->image,
				 leat_image_kind_text(image.kind), list);
	}
	leat_image_release(&image);
	return 0;
}

int leat_read_container(struct leat_front *front, const struct leat_pair *image,
			const struct leat_pair *engine, struct leat_container_keys *container)
{
	if (image->key)
		read_image(front, image, container);
	if (engine->key)
		read_engine(front, engine, container);
	if (!container->image || (!image->key && !engine->key))
		return 0;
	return check_image(front, image->key != NULL, container);
}

int leat_set_container(struct leat_front *front, const struct leat_pair *engine,
		       const struct leat_container_keys *container, struct leat_step *step)
{
	if (!container->image && engine->key && !leat_diags_count(front->diags, LEAT_ERROR))
		leat_lang_report(front->diags, L_CONTAINER_UNUSED, engine->value->pos,
				 "\"%s\" has no effect: there is no \"container\"",
				 engine->key->text);
	if (!container->image)
		return 0;
	step->container = strdup(container->image);
	step->engine = container->engine;
	step->container_pos = container->image_pos;
	step->engine_pos = container->engine_pos;
	return step->container ? 0 : -ENOMEM;
}
