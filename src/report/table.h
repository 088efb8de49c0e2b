/* From a key of any bytes to a number. One thread at a time. */
#ifndef LEAT_REPORT_TABLE_H
#define LEAT_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define LEAT_TABLE_NONE UINT32_MAX

struct leat_table_entry;

/* Empty when all 0. */
struct leat_table {
	struct leat_table_entry *entries; /* owned */
	uint32_t n;
};

/* The number of the key; LEAT_TABLE_NONE: it has none. */
uint32_t leat_table_find(const struct leat_table *t, const void *key, size_t size);

/* Give the key, which is copied, that number in place of what it had. 0 or -ENOMEM. */
int leat_table_put(struct leat_table *t, const void *key, size_t size, uint32_t number);

/* Forget the key. */
void leat_table_remove(struct leat_table *t, const void *key, size_t size);

/* Forget the key that was put first, and return its number; LEAT_TABLE_NONE: the table is empty. */
uint32_t leat_table_remove_oldest(struct leat_table *t);

void leat_table_release(struct leat_table *t);

#endif
