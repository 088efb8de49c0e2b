/* Are the images there that tasks run in? What an engine keeps itself is its own affair. */
#include "lang/check/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* NULL: it is there. */
static const char *find_fault(const char *path, bool directory)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return strerror(errno);
	if (directory && !S_ISDIR(st.st_mode))
		return "it is no directory";
	if (!directory && !S_ISREG(st.st_mode))
		return "it is no file";
	return access(path, directory ? X_OK : R_OK) < 0 ? strerror(errno) : NULL;
}

/* 0 or -ENOMEM; *why as above. */
static int find_layout_fault(const char *path, const char **why)
{
	char *marker = leat_path_join(path, "oci-layout");

	if (!marker)
		return -ENOMEM;
	*why = find_fault(path, true);
	if (!*why && access(marker, R_OK) < 0)
		*why = "there is no file \"oci-layout\" in it";
	free(marker);
	return 0;
}

static int check_step(const struct leat_check_context *ctx, const struct leat_step *step)
{
	struct leat_image image;
	const char *why;
	int rc = leat_step_image(ctx->wf, step, &image, &why);

	if (rc)
		return rc == -ENOMEM ? rc : 0; /* reported when it was read */
	if (image.kind == LEAT_IMAGE_OCI)
		rc = find_layout_fault(image.name, &why);
	else if (image.kind != LEAT_IMAGE_REFERENCE)
		why = find_fault(image.name, image.kind == LEAT_IMAGE_DIRECTORY);
	if (!rc && why)
		leat_lang_report(ctx->diags, L_CHECK_CONTAINER, step->container_pos,
				 "cannot use \"%s\", %s (%s): %s", step->container,
				 leat_image_kind_text(image.kind), image.name, why);
	leat_image_release(&image);
	return rc;
}

/* Steps that have their container from the top are told of it once. */
static bool was_before(const struct leat_workflow *wf, size_t step)
{
	const struct leat_pos *at = &wf->steps[step].container_pos;

	for (size_t i = 0; i < step; i++)
		if (wf->steps[i].container && wf->steps[i].container_pos.line == at->line &&
		    wf->steps[i].container_pos.column == at->column)
			return true;
	return false;
}

int leat_check_container(const struct leat_check_context *ctx)
{
	int rc = 0;

	for (size_t s = 0; ctx->ready && ctx->wf->path && !rc && s < ctx->wf->n_steps; s++)
		if (ctx->wf->steps[s].container && !was_before(ctx->wf, s))
			rc = check_step(ctx, &ctx->wf->steps[s]);
	return rc;
}
