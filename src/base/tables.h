/* uthash for tables of names, of which a run may have hundreds of thousands: the chains are kept
 * short, as each name on them costs a miss of the cache, and names that are not there are looked
 * for as often as others. Memory is to be had as the includer has said before. */
#ifndef LEAT_BASE_TABLES_H
#define LEAT_BASE_TABLES_H

#include <uthash.h>

/* Of so many in one chain the table is doubled: with fewer, chance would make tables too large for
 * the cache. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 6U

#endif
