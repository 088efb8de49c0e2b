#include "model/container.h"

#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	DIRECTORY = 1u << LEAT_IMAGE_DIRECTORY,
	SIF = 1u << LEAT_IMAGE_SIF,
	OCI = 1u << LEAT_IMAGE_OCI,
	REFERENCE = 1u << LEAT_IMAGE_REFERENCE,
};

static const struct {
	const char *name, *program;
	unsigned takes;
} engines[LEAT_N_ENGINES] = {
	[LEAT_ENGINE_AUTO] = {"auto", NULL, DIRECTORY | SIF | OCI | REFERENCE},
	[LEAT_ENGINE_BUBBLEWRAP] = {"bubblewrap", "bwrap", DIRECTORY},
	[LEAT_ENGINE_CHARLIECLOUD] = {"charliecloud", "ch-run", DIRECTORY},
	[LEAT_ENGINE_PODMAN] = {"podman", "podman", DIRECTORY | OCI | REFERENCE},
	[LEAT_ENGINE_APPTAINER] = {"apptainer", "apptainer", DIRECTORY | SIF | OCI | REFERENCE},
};

static const char *const kinds[LEAT_N_IMAGE_KINDS] = {
	[LEAT_IMAGE_DIRECTORY] = "an image directory",
	[LEAT_IMAGE_SIF] = "a SIF file",
	[LEAT_IMAGE_OCI] = "an OCI layout",
	[LEAT_IMAGE_REFERENCE] = "an image reference",
};

const char *leat_image_kind_text(enum leat_image_kind kind)
{
	return kinds[kind];
}

const char *leat_engine_name(enum leat_engine engine)
{
	return engines[engine].name;
}

const char *leat_engine_program(enum leat_engine engine)
{
	return engines[engine].program;
}

bool leat_engine_find(const char *name, enum leat_engine *engine)
{
	for (int i = 0; i < LEAT_N_ENGINES; i++)
		if (!strcmp(engines[i].name, name)) {
			*engine = (enum leat_engine)i;
			return true;
		}
	return false;
}

bool leat_engine_takes(enum leat_engine engine, enum leat_image_kind kind)
{
	return engines[engine].takes >> kind & 1;
}

/* ---- what an image's text means ---- */

static bool is_path(const char *text)
{
	return *text == '/' || leat_is_dots(text) || leat_str_begins(text, "./") ||
	       leat_str_begins(text, "../");
}

static int is_directory(const char *folder, const char *text, bool *is)
{
	char *path = leat_path_join(folder, text);
	struct stat st;

	if (!path)
		return -ENOMEM;
	*is = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	free(path);
	return 0;
}

/* NULL, or why an engine cannot be given this reference, which may not look like an option. */
static const char *fault_of(const char *reference)
{
	if (strstr(reference, "://"))
		return "only \"docker://\" is known of names with \"://\"";
	if (!isalnum((unsigned char)*reference))
		return "the name of an image begins with a letter or digit; a directory of another "
		       "name is \"./NAME\"";
	if (reference[strcspn(reference, " \t\n")])
		return "the name of an image has no blanks; a directory of such a name is "
		       "\"./NAME\"";
	return NULL;
}

/* "DIR[:TAG]"; a colon with a slash behind it is the directory's. */
static int init_layout(struct leat_image *image, const char *folder, const char *text)
{
	const char *colon = strrchr(text, ':');
	char *dir;

	if (colon && (strchr(colon, '/') || !colon[1]))
		colon = NULL;
	dir = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	image->kind = LEAT_IMAGE_OCI;
	image->name = dir ? leat_path_join(folder, dir) : NULL;
	image->tag = colon ? strdup(colon + 1) : NULL;
	free(dir);
	return image->name && (!colon || image->tag) ? 0 : -ENOMEM;
}

static int init_file(struct leat_image *image, const char *folder, const char *text,
		     enum leat_image_kind kind)
{
	image->kind = kind;
	image->name = leat_path_join(folder, text);
	return image->name ? 0 : -ENOMEM;
}

int leat_image_init(struct leat_image *image, const char *folder, const char *text,
		    const char **why)
{
	static const char docker[] = "docker://", oci[] = "oci:";
	bool directory = false;
	int rc = 0;

	*image = (struct leat_image){.kind = LEAT_IMAGE_REFERENCE};
	*why = NULL;
	if (leat_str_begins(text, oci) && text[sizeof(oci) - 1]) {
		rc = init_layout(image, folder, text + sizeof(oci) - 1);
	} else if (!leat_str_begins(text, docker) && leat_str_ends(text, ".sif")) {
		rc = init_file(image, folder, text, LEAT_IMAGE_SIF);
	} else {
		directory = is_path(text);
		if (!directory)
			rc = is_directory(folder, text, &directory);
		if (!rc && directory)
			rc = init_file(image, folder, text, LEAT_IMAGE_DIRECTORY);
	}
	if (!rc && !image->name) {
		text += leat_str_begins(text, docker) ? sizeof(docker) - 1 : 0;
		*why = fault_of(text);
		image->name = *why ? NULL : strdup(text);
		rc = *why ? -EINVAL : image->name ? 0 : -ENOMEM;
	}
	if (rc)
		leat_image_release(image);
	return rc;
}

void leat_image_release(struct leat_image *image)
{
	free(image->name);
	free(image->tag);
	*image = (struct leat_image){.kind = LEAT_IMAGE_REFERENCE};
}
