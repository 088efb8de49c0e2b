/* The parts of the timeline's page: the files in src/driver/page, made into C by the build
 * (base/embed). */
#ifndef LEAT_DRIVER_TIMELINE_PARTS_H
#define LEAT_DRIVER_TIMELINE_PARTS_H

extern const char leat_timeline_html[];
extern const char leat_timeline_style[];
extern const char leat_timeline_script[];

#endif
