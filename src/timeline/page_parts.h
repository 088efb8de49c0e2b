/* The parts of the timeline's page: the files in src/timeline/page, made into C by the build
 * (page/embed). */
#ifndef LEAT_TIMELINE_PAGE_PARTS_H
#define LEAT_TIMELINE_PAGE_PARTS_H

extern const char leat_timeline_html[];
extern const char leat_timeline_style[];
extern const char leat_timeline_script[];

#endif
