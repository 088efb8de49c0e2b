/* The parts of the report's page: the files in src/report/page, made into C by the build
 * (page/embed). */
#ifndef LEAT_REPORT_PAGE_PARTS_H
#define LEAT_REPORT_PAGE_PARTS_H

extern const char leat_report_html[];
extern const char leat_report_style[];
extern const char leat_report_data_js[];
extern const char leat_report_tables_js[];
extern const char leat_report_charts_js[];
extern const char leat_report_flow_js[];
extern const char leat_report_script[];

#endif
