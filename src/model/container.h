/* The container that a task runs in: its image, and the engine that starts it. */
#ifndef LEAT_MODEL_CONTAINER_H
#define LEAT_MODEL_CONTAINER_H

#include <stdbool.h>

/* In the order in which they are looked for: the cheapest to start first. */
enum leat_engine {
	LEAT_ENGINE_AUTO, /* the first that is installed and takes the image */
	LEAT_ENGINE_BUBBLEWRAP,
	LEAT_ENGINE_CHARLIECLOUD,
	LEAT_ENGINE_PODMAN,
	LEAT_ENGINE_APPTAINER,
	LEAT_N_ENGINES
};

enum leat_image_kind {
	LEAT_IMAGE_DIRECTORY, /* a root file system */
	LEAT_IMAGE_SIF,       /* a file of Apptainer's */
	LEAT_IMAGE_OCI,       /* a directory in the layout of the OCI Image Specification */
	LEAT_IMAGE_REFERENCE, /* a name, "debian:12", in the engine's own storage */
	LEAT_N_IMAGE_KINDS
};

struct leat_image {
	enum leat_image_kind kind;
	char *name; /* owned; a path, or the reference */
	char *tag;  /* owned; of LEAT_IMAGE_OCI; NULL: none is named */
};

/* What `text` of a workflow file names: "oci:DIR[:TAG]" a layout, "NAME.sif" a SIF file, what
 * begins with "/", "./" or "../" or is a directory, as it is or below `folder`, a directory, and
 * "docker://REFERENCE" or anything else a reference. Paths are joined to `folder` (NULL: as they
 * are). 0; -EINVAL with *why, a constant, if it can be no image; -ENOMEM. Any thread. */
int leat_image_init(struct leat_image *image, const char *folder, const char *text,
		    const char **why);
void leat_image_release(struct leat_image *image);

/* "an image directory": for messages. A constant. */
const char *leat_image_kind_text(enum leat_image_kind kind);

/* "podman": as workflow files have it. A constant. */
const char *leat_engine_name(enum leat_engine engine);
/* Its program: "ch-run". A constant; NULL of LEAT_ENGINE_AUTO. */
const char *leat_engine_program(enum leat_engine engine);
/* The engine of that name into *engine. False: there is none. */
bool leat_engine_find(const char *name, enum leat_engine *engine);
/* Does it take images of that kind? LEAT_ENGINE_AUTO takes all. */
bool leat_engine_takes(enum leat_engine engine, enum leat_image_kind kind);

#endif
