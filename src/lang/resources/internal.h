/* The two forms of a description of resources. */
#ifndef LEAT_LANG_RESOURCES_INTERNAL_H
#define LEAT_LANG_RESOURCES_INTERNAL_H

#include "lang/reader/front.h"
#include "model/resources.h"

/* What is in such a section, into `res`, which is new. 0 or -ENOMEM. */
int leat_read_resources(struct leat_front *front, const struct leat_value *map,
			struct leat_resources *res);

/* The XML of COMPSs in `text`, into *res (caller frees). 0; -EINVAL when an error was added to
 * `diags`; -ENOMEM. Any thread. */
int leat_compss_read(const char *text, size_t size, struct leat_diags *diags,
		     struct leat_resources **res);

#endif
