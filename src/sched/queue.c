/* Queues: the ready tasks that need the same, and a heap of the queues that may have capacity. */
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
	struct leat_sched_queue *queue = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = queue;
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

static void heap_remove(struct leat_sched *s, const struct leat_sched_queue *queue)
{
	size_t at = queue->heap_at;

	s->n_heap--;
	if (at == s->n_heap)
		return;
	swap(s, at, s->n_heap);
	sift_up(s, at);
	sift_down(s, at);
}

static int heap_reserve(struct leat_sched *s)
{
	size_t capacity = s->max_heap ? 2 * s->max_heap : 16;
	struct leat_sched_queue **heap;

	if (HASH_COUNT(s->queues) < s->max_heap)
		return 0;
	heap = reallocarray(s->heap, capacity, sizeof(*heap));
	if (!heap)
		return -1;
	s->heap = heap;
	s->max_heap = capacity;
	return 0;
}

/* --- states --------------------------------------------------------------------------------- */

static enum pool_name pool_of(const struct leat_sched_queue *queue)
{
	return (enum pool_name)queue->key.pool;
}

/* The list in which the queue waits for capacity: tasks of a shared device may be woken from any
 * host.
 */
static struct leat_sched_queue **list_of(struct leat_sched *s, const struct leat_sched_queue *queue)
{
	if (queue->key.home == LEAT_SCHED_ANYWHERE || (queue->family && queue->family->shared))
		return &s->pools[pool_of(queue)].blocked;
	return &s->hosts[queue->key.home].blocked[pool_of(queue)];
}

/* Take the queue from where its state has it. */
static void leave(struct leat_sched *s, struct leat_sched_queue *queue)
{
	struct leat_sched_queue **list = list_of(s, queue);

	if (queue->state == QUEUE_OFFERED)
		heap_remove(s, queue);
	else if (queue->state == QUEUE_BLOCKED)
		DL_DELETE(*list, queue);
	queue->state = QUEUE_EMPTY;
}

void leat_sched_queue_block(struct leat_sched *s, struct leat_sched_queue *queue)
{
	struct leat_sched_queue **list = list_of(s, queue);

	leave(s, queue);
	DL_APPEND(*list, queue);
	queue->state = QUEUE_BLOCKED;
	if (queue->blocked_turn == queue->head->turn)
		return;
	queue->blocked_turn = queue->head->turn;
	queue->blocked_starts = s->pools[pool_of(queue)].starts;
}

void leat_sched_queue_hold(struct leat_sched *s, struct leat_sched_queue *queue)
{
	leave(s, queue);
	queue->state = QUEUE_HELD;
}

void leat_sched_queue_offer(struct leat_sched *s, struct leat_sched_queue *queue)
{
	if (!queue->head || queue->state == QUEUE_OFFERED)
		return;
	leave(s, queue);
	queue->heap_at = s->n_heap;
	s->heap[s->n_heap++] = queue;
	queue->state = QUEUE_OFFERED;
	sift_up(s, queue->heap_at);
}

void leat_sched_offer_type(struct leat_sched *s, const struct task_type *type)
{
	for (struct leat_sched_queue *queue = type->queues; queue; queue = queue->of_type)
		leat_sched_queue_offer(s, queue);
}

/* --- tasks ----------------------------------------------------------------------------------- */

void leat_sched_queue_append(struct leat_sched *s, struct leat_sched_queue *queue,
			     struct leat_sched_task *task)
{
	task->queue = queue;
	task->next = NULL;
	task->prev = queue->tail;
	if (queue->tail)
		queue->tail->next = task;
	else
		queue->head = task;
	queue->tail = task;
	if (queue->state == QUEUE_EMPTY)
		leat_sched_queue_offer(s, queue);
}

void leat_sched_queue_remove(struct leat_sched *s, struct leat_sched_task *task)
{
	struct leat_sched_queue *queue = task->queue;
	bool first = queue->head == task;

	if (task->prev)
		task->prev->next = task->next;
	else
		queue->head = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		queue->tail = task->prev;
	task->next = task->prev = NULL;
	task->queue = NULL;
	if (!queue->head) {
		/* The heap is ordered by heads: a queue leaves it before it is asked for one. */
		queue->head = task;
		leave(s, queue);
		queue->head = NULL;
	} else if (first && queue->state == QUEUE_OFFERED) {
		sift_down(s, queue->heap_at);
	}
}

/* --- finding one ------------------------------------------------------------------------------ */

static struct queue_key key_of(const struct leat_sched *s, const struct task_type *type, int home)
{
	struct queue_key key;

	memset(&key, 0, sizeof(key));
	key.pool = type->io ? POOL_IO : POOL_COMPUTE;
	key.home = home;
	if (type->family)
		key.family = (unsigned)(type->family - s->families) + 1;
	if (leat_bandwidth_learns(&type->bandwidth))
		key.type = type->index + 1;
	else
		key.demand = type->io ? type->bandwidth.min : type->units;
	return key;
}

static struct leat_sched_queue *queue_new(struct leat_sched *s, struct task_type *type,
					  const struct queue_key *key)
{
	struct leat_sched_queue *queue = heap_reserve(s) ? NULL : calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->key = *key;
	queue->family = type->family;
	queue->blocked_turn = UINT64_MAX;
	queue->stranded_at = UINT64_MAX;
	HASH_ADD(hh, s->queues, key, sizeof(queue->key), queue);
	if (!queue->hh.tbl) {
		free(queue);
		return NULL;
	}
	if (key->type) {
		queue->type = type;
		queue->of_type = type->queues;
		type->queues = queue;
	}
	return queue;
}

struct leat_sched_queue *leat_sched_queue_of(struct leat_sched *s, struct task_type *type, int home)
{
	struct leat_sched_queue *queue;
	struct queue_key key;

	if (home == LEAT_SCHED_ANYWHERE && type->anywhere)
		return type->anywhere;
	key = key_of(s, type, home);
	HASH_FIND(hh, s->queues, &key, sizeof(key), queue);
	if (!queue)
		queue = queue_new(s, type, &key);
	if (home == LEAT_SCHED_ANYWHERE)
		type->anywhere = queue;
	return queue;
}

void leat_sched_queues_free(struct leat_sched *s)
{
	struct leat_sched_queue *queue, *next;

	HASH_ITER(hh, s->queues, queue, next)
	{
		HASH_DEL(s->queues, queue);
		free(queue);
	}
	free(s->heap);
}
