/* The resources XML of COMPSs: compute nodes with processors and storage, and shared disks.
 * Source: COMPSs user guide, "Resources file"; I/O-aware PyCOMPSs, Sec. 4.2.2 (<Bandwidth>). */
#include "lang/resources/internal.h"

#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/reader/scalar.h"
#include "lang/syntax/diagnostics.h"
#include "model/bandwidth.h"

enum { DEPTH_MAX = 16, TEXT_MAX = 4096 };

struct reader {
	XML_Parser parser;           /* owned */
	struct leat_diags *diags;    /* borrowed */
	struct leat_resources *res;  /* borrowed */
	const char *path[DEPTH_MAX]; /* names of the open elements that are known; borrowed */
	int depth;
	int skip; /* depth of elements within one that is not read */
	char text[TEXT_MAX];
	size_t used;
	bool gpu;                /* the open processor is none for computing tasks */
	unsigned units;          /* of the open processor */
	struct leat_device read; /* of the open <Storage>; owns type */
	struct leat_pos read_pos;
	char *disk; /* owned: name of the open shared disk, or NULL */
	int ret;
};

/* What is read; all else is for other parts of COMPSs. */
static const char *const known[] = {
	"ResourcesList/ComputeNode/Processor/ComputingUnits",
	"ResourcesList/ComputeNode/Processor/Type",
	"ResourcesList/ComputeNode/Storage/Size",
	"ResourcesList/ComputeNode/Storage/Type",
	"ResourcesList/ComputeNode/Storage/Bandwidth",
	"ResourcesList/ComputeNode/SharedDisks/AttachedDisk/MountPoint",
	"ResourcesList/SharedDisk/Storage/Size",
	"ResourcesList/SharedDisk/Storage/Type",
	"ResourcesList/SharedDisk/Storage/Bandwidth",
};

#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define current_line XML_GetCurrentLineNumber64
#define current_column XML_GetCurrentColumnNumber64
#else
#define current_line XML_GetCurrentLineNumber
#define current_column XML_GetCurrentColumnNumber
#endif

static struct leat_pos here(const struct reader *r)
{
	return (struct leat_pos){(int)current_line(r->parser), (int)current_column(r->parser) + 1,
				 0};
}

static void fail(struct reader *r, int error)
{
	if (!r->ret)
		r->ret = error;
	XML_StopParser(r->parser, XML_FALSE);
}

/* The open elements as a path like those above. */
static void join(const struct reader *r, char out[512])
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < r->depth; i++) {
		size_t length = strcspn(r->path[i], "/");

		if (used + length + 2 > 512)
			return;
		if (i)
			out[used++] = '/';
		memcpy(out + used, r->path[i], length);
		used += length;
		out[used] = '\0';
	}
}

/* The name, as the table has it, if an element of that name is read here; else NULL. */
static const char *expected(const struct reader *r, const char *name)
{
	char path[512];
	size_t length;

	join(r, path);
	length = strlen(path);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *rest = known[i] + length;
		size_t n = strlen(name);

		if (strncmp(known[i], path, length) != 0 || (length && *rest++ != '/'))
			continue;
		if (!strncmp(rest, name, n) && (rest[n] == '/' || !rest[n]))
			return rest;
	}
	return NULL;
}

static bool is(const char *element, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(element, name, n) && (element[n] == '/' || !element[n]);
}

/* --- elements begin ---------------------------------------------------- */

static const char *attribute(struct reader *r, const char *element, const XML_Char **attributes)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], "Name") && *attributes[1])
			return attributes[1];
	leat_lang_report(r->diags, L_KEY_MISSING, here(r), "<%s> has no Name", element);
	return NULL;
}

static void begin_node(struct reader *r, const XML_Char **attributes)
{
	const char *name = attribute(r, "ComputeNode", attributes);
	struct leat_host *host;

	for (size_t h = 0; name && h < r->res->n_hosts; h++)
		if (!strcmp(r->res->hosts[h].name, name))
			leat_lang_report(r->diags, L_RESOURCE_TWICE, here(r),
					 "a node \"%s\" is already described (line %d)", name,
					 r->res->hosts[h].pos.line);
	host = leat_resources_add_host(r->res, name ? name : "?");
	if (!host) {
		fail(r, -ENOMEM);
		return;
	}
	host->pos = here(r);
	host->io_executors = LEAT_IO_EXECUTORS;
}

static void begin_disk(struct reader *r, const char *element, const XML_Char **attributes)
{
	const char *name = attribute(r, element, attributes);

	free(r->disk);
	r->disk = strdup(name ? name : "?");
	if (!r->disk)
		fail(r, -ENOMEM);
}

static void XMLCALL begin_element(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = ctx;
	const char *element = r->skip || r->depth == DEPTH_MAX ? NULL : expected(r, name);

	r->used = 0;
	if (!element) {
		if (!r->skip && !r->depth) {
			leat_lang_report(
				r->diags, L_XML, here(r),
				"<%s> is not a resources file of COMPSs, which begins with "
				"<ResourcesList>",
				name);
			fail(r, -EINVAL);
		}
		if (!r->skip && r->depth == 1 && !strcmp(name, "CloudProvider"))
			leat_lang_report(
				r->diags, L_XML_LEFT_OUT, here(r),
				"<CloudProvider> is ignored: leat uses existing machines only");
		r->skip++;
		return;
	}
	r->path[r->depth++] = element;
	if (is(element, "ComputeNode"))
		begin_node(r, attributes);
	else if (is(element, "SharedDisk") || is(element, "AttachedDisk"))
		begin_disk(r, is(element, "SharedDisk") ? "SharedDisk" : "AttachedDisk",
			   attributes);
	else if (is(element, "Processor"))
		r->units = 0, r->gpu = false;
	else if (is(element, "Storage"))
		r->read_pos = here(r);
}

/* --- elements end ------------------------------------------------------ */

/* The text of the element that ends, without blanks around it. */
static char *trimmed(struct reader *r)
{
	char *at = r->text;

	r->text[r->used] = '\0';
	at += strspn(at, " \t\r\n");
	for (size_t n = strlen(at); n && strchr(" \t\r\n", at[n - 1]); n--)
		at[n - 1] = '\0';
	return at;
}

/* A whole number, or one that ends with ".0" as COMPSs writes it; 0 when reported. */
static unsigned number(struct reader *r, const char *element, unsigned max)
{
	char *text = trimmed(r), *end = text + strspn(text, "0123456789");
	char *point = *end == '.' && strspn(end + 1, "0") == strlen(end + 1) ? end : NULL;
	unsigned value = 0;

	if (point)
		*point = '\0';
	if (leat_parse_count(text, 1, &value) && value <= max)
		return value;
	leat_lang_report(r->diags, L_NUMBER, here(r),
			 "<%.*s> must be a whole number from 1 to %u, not %s",
			 (int)strcspn(element, "/"), element, max, *text ? text : "nothing");
	return 0;
}

static void end_storage(struct reader *r)
{
	struct leat_host *host = r->res->n_hosts ? &r->res->hosts[r->res->n_hosts - 1] : NULL;
	bool own = is(r->path[1], "ComputeNode");
	struct leat_device *device = NULL;

	if (r->read.bandwidth_mbps) {
		device = own ? leat_host_add_device(host, "storage")
			     : leat_resources_add_shared(r->res, r->disk);
		if (device) {
			device->type = r->read.type;
			device->bandwidth_mbps = r->read.bandwidth_mbps;
			device->size_bytes = r->read.size_bytes;
			device->pos = r->read_pos;
			r->read.type = NULL;
		} else {
			fail(r, -ENOMEM);
		}
		if (device && own && leat_device_add_path(device, "/"))
			fail(r, -ENOMEM);
	} else {
		leat_lang_report(r->diags, L_XML_LEFT_OUT, r->read_pos,
				 "<Storage> is ignored: it has no <Bandwidth>, by which tasks are "
				 "scheduled");
	}
	free(r->read.type);
	r->read = (struct leat_device){0};
}

static void end_mount(struct reader *r)
{
	const char *path = trimmed(r);

	for (size_t i = 0; i < r->res->n_shared; i++)
		if (!strcmp(r->res->shared[i].name, r->disk) && path[0] == '/' &&
		    leat_device_add_path(&r->res->shared[i], path))
			fail(r, -ENOMEM);
}

static void end_leaf(struct reader *r, const char *element)
{
	if (is(element, "ComputingUnits")) {
		r->units = number(r, element, INT_MAX / 2);
	} else if (is(element, "Bandwidth")) {
		r->read.bandwidth_mbps = number(r, element, LEAT_BANDWIDTH_MAX);
	} else if (is(element, "Size")) {
		r->read.size_bytes = (uint64_t)number(r, element, INT_MAX) * 1000000000;
	} else if (is(element, "MountPoint")) {
		end_mount(r);
	} else if (is(element, "Type") && is(r->path[r->depth - 2], "Storage")) {
		free(r->read.type);
		r->read.type = strdup(trimmed(r));
		if (!r->read.type)
			fail(r, -ENOMEM);
	} else if (is(element, "Type")) {
		r->gpu = strcmp(trimmed(r), "CPU") != 0;
	}
}

static void XMLCALL end_element(void *ctx, const XML_Char *name)
{
	struct reader *r = ctx;
	struct leat_host *host = r->res->n_hosts ? &r->res->hosts[r->res->n_hosts - 1] : NULL;
	const char *element;

	(void)name;
	if (r->skip) {
		r->skip--;
		return;
	}
	element = r->path[r->depth - 1];
	if (is(element, "Processor"))
		host->computing_units += r->gpu ? 0 : r->units;
	else if (is(element, "Storage"))
		end_storage(r);
	else if (is(element, "ComputeNode") && !host->computing_units)
		leat_lang_report(r->diags, L_KEY_MISSING, host->pos,
				 "node \"%s\" has no <Processor> with <ComputingUnits>",
				 host->name);
	else
		end_leaf(r, element);
	r->used = 0;
	r->depth--;
}

static void XMLCALL take_text(void *ctx, const XML_Char *text, int length)
{
	struct reader *r = ctx;
	size_t capacity = TEXT_MAX - 1 - r->used;
	size_t n = (size_t)length < capacity ? (size_t)length : capacity;

	memcpy(r->text + r->used, text, n);
	r->used += n;
}

/* --- the file ---------------------------------------------------------- */

static void report_syntax(struct reader *r)
{
	leat_lang_report(r->diags, L_XML, here(r), "this is not well-formed XML: %s",
			 XML_ErrorString(XML_GetErrorCode(r->parser)));
}

int leat_compss_read(const char *text, size_t size, struct leat_diags *diags,
		     struct leat_resources **res)
{
	struct reader r = {.diags = diags, .parser = XML_ParserCreate(NULL)};

	r.res = leat_resources_new();
	if (!r.parser || !r.res) {
		r.ret = -ENOMEM;
		goto out;
	}
	r.res->shared_dir = true;
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, begin_element, end_element);
	XML_SetCharacterDataHandler(r.parser, take_text);
	if (XML_Parse(r.parser, text, (int)size, XML_TRUE) != XML_STATUS_OK && !r.ret) {
		report_syntax(&r);
		r.ret = -EINVAL;
	}
	if (!r.ret && !r.res->n_hosts)
		leat_lang_report(
			diags, L_RESOURCE_NONE, (struct leat_pos){1, 1, 0},
			"the file describes no <ComputeNode>: tasks need at least one to run on");
out:
	if (r.parser)
		XML_ParserFree(r.parser);
	free(r.read.type);
	free(r.disk);
	if (r.ret)
		leat_resources_free(r.res);
	else
		*res = r.res;
	return r.ret;
}
