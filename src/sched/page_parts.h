/* Parts of pages (page/page.h): charts of what was achieved on storage devices, and learned of it.
 * The files in src/sched/page, made into C by the build (page/embed).
 *
 * A page has an element "#scheduling", whose `data-how` says where the bytes are from, and its data
 * as "#data", in which `length_us` is the time and `scheduling` what there is of `devices` and
 * `tasks` (sched/write.h). */
#ifndef LEAT_SCHED_PAGE_PARTS_H
#define LEAT_SCHED_PAGE_PARTS_H

extern const char leat_sched_page_style[];
extern const char leat_sched_page_storage[];

#endif
