/* The timeline as a page: docs/adr/0026-timeline-page-with-d3.md. */
#include "timeline/result.h"
#include "timeline/page_parts.h"

#include "page/page.h"
#include "sched/page_parts.h"

struct page {
	const struct leat_result *r;
	const struct leat_workflow *wf;
	const char *dir;
};

static int write_data(void *ctx, FILE *out)
{
	const struct page *p = ctx;

	return leat_timeline_write_data(p->r, p->wf, p->dir, out);
}

int leat_timeline_write_page(const struct leat_result *r, const struct leat_workflow *wf,
			     const char *dir, FILE *out)
{
	struct page page = {r, wf, dir};
	const struct leat_page_part parts[] = {
		{.name = "storage-style", .text = leat_sched_page_style},
		{.name = "style", .text = leat_timeline_style},
		{.name = "storage", .text = leat_sched_page_storage},
		{.name = "script", .text = leat_timeline_script},
		{.name = "data", .write = write_data, .ctx = &page},
	};

	return leat_page_write(leat_timeline_html, parts, sizeof(parts) / sizeof(*parts), out);
}
