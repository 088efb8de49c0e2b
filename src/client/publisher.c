#include "client/publisher.h"

#include "eventlog/call.h"

bool leat_publisher_publish(struct leat_shm_file *f, uint32_t slot, uint64_t start, uint64_t end,
			    struct leat_msg_range *extent)
{
	if (!leat_shm_publish_range(f, start, end))
		return false;
	*extent = (struct leat_msg_range){
		.h.type = LEAT_MSG_EXTENT, .slot = slot, .offset = start, .length = end - start};
	return true;
}

uint32_t leat_publisher_check_length(struct leat_shm_file *f, uint64_t length, uint64_t size)
{
	if (leat_shm_flags(f) & LEAT_SHM_COMMITTED && length != size)
		return LEAT_VIOLATION_AFTER_COMMIT;
	if (length < size && leat_shm_was_consumed(f, length, UINT64_MAX - length))
		return LEAT_VIOLATION_REWRITE;
	return 0;
}
