/* The report as a page. */
#include "report/report.h"

#include "page/page.h"
#include "report/page_parts.h"

struct page {
	const struct leat_report *report;
};

static int write_data(void *ctx, FILE *out)
{
	const struct page *p = ctx;

	return leat_report_write_json(p->report, &leat_report_page, out);
}

int leat_report_write_page(const struct leat_report *r, FILE *out)
{
	struct page page = {r};
	const struct leat_page_part parts[] = {
		{.name = "style", .text = leat_report_style},
		{.name = "data", .write = write_data, .ctx = &page},
		{.name = "report", .text = leat_report_data_js},
		{.name = "tables", .text = leat_report_tables_js},
		{.name = "charts", .text = leat_report_charts_js},
		{.name = "flow", .text = leat_report_flow_js},
		{.name = "script", .text = leat_report_script},
	};

	return leat_page_write(leat_report_html, parts, sizeof(parts) / sizeof(*parts), out);
}
