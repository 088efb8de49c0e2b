/* Lanes: the ready tasks that need the same, and a heap of the lanes that may have room. */
#include "sched/internal.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* --- the heap ------------------------------------------------------------------------------ */

static uint64_t turn_at(const struct leat_sched *s, size_t at)
{
	return s->heap[at]->head->turn;
}

static void swap(struct leat_sched *s, size_t a, size_t b)
{
	struct leat_sched_lane *lane = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = lane;
	s->heap[a]->heap_at = a;
	s->heap[b]->heap_at = b;
}

static void sift_up(struct leat_sched *s, size_t at)
{
	while (at && turn_at(s, at) < turn_at(s, (at - 1) / 2)) {
		swap(s, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void sift_down(struct leat_sched *s, size_t at)
{
	for (;;) {
		size_t least = 2 * at + 1;

		if (least >= s->n_heap)
			return;
		if (least + 1 < s->n_heap && turn_at(s, least + 1) < turn_at(s, least))
			least++;
		if (turn_at(s, at) <= turn_at(s, least))
			return;
		swap(s, at, least);
		at = least;
	}
}

static void heap_remove(struct leat_sched *s, const struct leat_sched_lane *lane)
{
	size_t at = lane->heap_at;

	s->n_heap--;
	if (at == s->n_heap)
		return;
	swap(s, at, s->n_heap);
	sift_up(s, at);
	sift_down(s, at);
}

static int heap_reserve(struct leat_sched *s)
{
	size_t room = s->max_heap ? 2 * s->max_heap : 16;
	struct leat_sched_lane **heap;

	if (HASH_COUNT(s->lanes) < s->max_heap)
		return 0;
	heap = reallocarray(s->heap, room, sizeof(*heap));
	if (!heap)
		return -1;
	s->heap = heap;
	s->max_heap = room;
	return 0;
}

/* --- states --------------------------------------------------------------------------------- */

static enum pool_name pool_of(const struct leat_sched_lane *lane)
{
	return (enum pool_name)lane->key.pool;
}

/* The list in which the lane waits for room: tasks of a shared device may be woken from any host.
 */
static struct leat_sched_lane **list_of(struct leat_sched *s, const struct leat_sched_lane *lane)
{
	if (lane->key.home == LEAT_SCHED_ANYWHERE || (lane->family && lane->family->shared))
		return &s->pools[pool_of(lane)].blocked;
	return &s->hosts[lane->key.home].blocked[pool_of(lane)];
}

/* Take the lane from where its state has it. */
static void leave(struct leat_sched *s, struct leat_sched_lane *lane)
{
	struct leat_sched_lane **list = list_of(s, lane);

	if (lane->state == LANE_OFFERED)
		heap_remove(s, lane);
	else if (lane->state == LANE_BLOCKED)
		DL_DELETE(*list, lane);
	lane->state = LANE_EMPTY;
}

void leat_sched_lane_block(struct leat_sched *s, struct leat_sched_lane *lane)
{
	struct leat_sched_lane **list = list_of(s, lane);

	leave(s, lane);
	DL_APPEND(*list, lane);
	lane->state = LANE_BLOCKED;
	if (lane->blocked_turn == lane->head->turn)
		return;
	lane->blocked_turn = lane->head->turn;
	lane->blocked_starts = s->pools[pool_of(lane)].starts;
}

void leat_sched_lane_hold(struct leat_sched *s, struct leat_sched_lane *lane)
{
	leave(s, lane);
	lane->state = LANE_HELD;
}

void leat_sched_lane_offer(struct leat_sched *s, struct leat_sched_lane *lane)
{
	if (!lane->head || lane->state == LANE_OFFERED)
		return;
	leave(s, lane);
	lane->heap_at = s->n_heap;
	s->heap[s->n_heap++] = lane;
	lane->state = LANE_OFFERED;
	sift_up(s, lane->heap_at);
}

void leat_sched_offer_kind(struct leat_sched *s, const struct kind *kind)
{
	for (struct leat_sched_lane *lane = kind->lanes; lane; lane = lane->of_kind)
		leat_sched_lane_offer(s, lane);
}

/* --- tasks ----------------------------------------------------------------------------------- */

void leat_sched_lane_append(struct leat_sched *s, struct leat_sched_lane *lane,
			    struct leat_sched_task *task)
{
	task->lane = lane;
	task->next = NULL;
	task->prev = lane->tail;
	if (lane->tail)
		lane->tail->next = task;
	else
		lane->head = task;
	lane->tail = task;
	if (lane->state == LANE_EMPTY)
		leat_sched_lane_offer(s, lane);
}

void leat_sched_lane_remove(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_lane *lane = task->lane;
	bool first = lane->head == task;

	if (task->prev)
		task->prev->next = task->next;
	else
		lane->head = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		lane->tail = task->prev;
	task->next = task->prev = NULL;
	task->lane = NULL;
	if (!lane->head) {
		/* The heap is ordered by heads: a lane leaves it before it is asked for one. */
		lane->head = task;
		leave(s, lane);
		lane->head = NULL;
	} else if (first && lane->state == LANE_OFFERED) {
		sift_down(s, lane->heap_at);
	}
}

/* --- finding one ------------------------------------------------------------------------------ */

static struct lane_key key_of(const struct leat_sched *s, const struct kind *kind, int home)
{
	struct lane_key key;

	memset(&key, 0, sizeof(key));
	key.pool = kind->io ? POOL_IO : POOL_COMPUTE;
	key.home = home;
	if (kind->family)
		key.family = (unsigned)(kind->family - s->families) + 1;
	if (leat_bandwidth_learns(&kind->bandwidth))
		key.kind = kind->index + 1;
	else
		key.demand = kind->io ? kind->bandwidth.min : kind->units;
	return key;
}

static struct leat_sched_lane *lane_new(struct leat_sched *s, struct kind *kind,
					const struct lane_key *key)
{
	struct leat_sched_lane *lane = heap_reserve(s) ? NULL : calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->key = *key;
	lane->family = kind->family;
	lane->blocked_turn = UINT64_MAX;
	lane->stranded_at = UINT64_MAX;
	HASH_ADD(hh, s->lanes, key, sizeof(lane->key), lane);
	if (!lane->hh.tbl) {
		free(lane);
		return NULL;
	}
	if (key->kind) {
		lane->kind = kind;
		lane->of_kind = kind->lanes;
		kind->lanes = lane;
	}
	return lane;
}

struct leat_sched_lane *leat_sched_lane_of(struct leat_sched *s, struct kind *kind, int home)
{
	struct leat_sched_lane *lane;
	struct lane_key key;

	if (home == LEAT_SCHED_ANYWHERE && kind->anywhere)
		return kind->anywhere;
	key = key_of(s, kind, home);
	HASH_FIND(hh, s->lanes, &key, sizeof(key), lane);
	if (!lane)
		lane = lane_new(s, kind, &key);
	if (home == LEAT_SCHED_ANYWHERE)
		kind->anywhere = lane;
	return lane;
}

void leat_sched_lanes_free(struct leat_sched *s)
{
	struct leat_sched_lane *lane, *next;

	HASH_ITER(hh, s->lanes, lane, next)
	{
		HASH_DEL(s->lanes, lane);
		free(lane);
	}
	free(s->heap);
}
