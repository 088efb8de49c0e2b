/* The parts of the report's page: the files in src/task/page, made into C by the build
 * (page/embed). */
#ifndef LEAT_TASK_PAGE_PARTS_H
#define LEAT_TASK_PAGE_PARTS_H

extern const char leat_tasks_html[];
extern const char leat_tasks_script[];

#endif
