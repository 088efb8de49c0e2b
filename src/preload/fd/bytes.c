/* Waiting for bytes of a file that still grows. */
#include "preload/fd/bytes.h"

#include "client/consumer.h"
#include "eventlog/call.h"
#include "preload/connection/client.h"
#include "preload/fd/migrate.h"
#include "preload/fd/table.h"
#include "shm/extents.h"
#include "shm/state.h"
#include "wire/wire.h"

/* A reader of a descriptor. */
struct reader {
	struct leat_awaiter wait;
	int fd;
};

/* Whoever waits for long would keep the memory of what the file was before it was moved. */
static int follow_meanwhile(struct leat_awaiter *a)
{
	const int fd = ((const struct reader *)a)->fd;
	const struct leat_fd *r = leat_fd_get(fd);

	if (!r || !r->slot || !leat_has_left(r, r->generation))
		return 0;
	a->asked = false; /* the daemon takes what comes next for the end of the wait */
	return leat_migrate(fd, false);
}

int leat_wait_covered(int fd, uint32_t slot, uint64_t offset, uint64_t length, bool *final)
{
	struct leat_shm_file *f = leat_client_file(slot);
	struct reader reader = {.fd = fd};
	const struct leat_msg_ask_read question = {
		.h.type = LEAT_MSG_ASK_READ, .slot = slot, .offset = offset, .length = length};
	int rc;

	*final = !f;
	if (!f)
		return 0;
	leat_wait_init(&reader.wait);
	reader.wait.woken = follow_meanwhile;
	rc = leat_consumer_await(&reader.wait, f, slot, offset, length);
	if (reader.wait.asked && rc > 0) /* takes this wait off the daemon's list */
		leat_client_ask(&question.h, NULL);
	*final = rc == LEAT_SHM_FINAL;
	return rc < 0 ? rc : 0;
}

bool leat_still_there(const struct leat_fd *r, uint64_t offset)
{
	struct leat_shm_file *f = leat_client_file(r->slot);

	if (!f || offset >= leat_shm_dropped(f))
		return true;
	leat_client_violation(LEAT_VIOLATION_READ_AGAIN, r->slot, offset, 0);
	return false;
}

int leat_wait_whole(int fd)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_awaiter a;
	int rc;

	if (!r || r->kind != LEAT_KIND_CONSUMER)
		return 0;
	rc = leat_consumer_is_whole(leat_client_file(r->slot));
	if (rc)
		return rc < 0 ? rc : 0;
	leat_wait_init(&a);
	rc = leat_await_whole(&a, r->slot);
	return rc ? rc : leat_migrate_first(fd);
}

/* How much can be read at `offset`, where something can. */
static int64_t there_at(struct leat_shm_file *f, int64_t offset)
{
	struct leat_range found;

	if (leat_shm_extent(leat_server_known()->shm, f, (uint64_t)offset, &found) != 1)
		return 1;
	return (int64_t)(found.end - (uint64_t)offset);
}

int64_t leat_readable(int fd, int64_t offset, int64_t length, bool *grows)
{
	const struct leat_fd *r = leat_fd_get(fd);
	struct leat_shm_file *f;
	int64_t there;
	bool final;
	int rc;

	*grows = false;
	if (!r || r->kind != LEAT_KIND_CONSUMER || length <= 0)
		return length;
	f = leat_client_file(r->slot);
	rc = leat_wait_covered(fd, r->slot, (uint64_t)offset, 1, &final);
	if (rc)
		return rc;
	if (!leat_still_there(r, (uint64_t)offset))
		return -EIO;
	if (final || !f)
		return length;
	*grows = true;
	there = there_at(f, offset);
	length = there < length ? there : length;
	leat_shm_about_to_read(f, (uint64_t)offset, (uint64_t)length);
	return length;
}
