/* The course of a run: what the files of this directory keep. */
#ifndef LEAT_DAEMON_RUN_RUN_H
#define LEAT_DAEMON_RUN_RUN_H

#include "daemon/core/state.h"
#include "daemon/run/milestones.h"

struct leat_daemon_run {
	struct leat_samples *samples; /* of each step; owned */
	uv_timer_t sampler;           /* while steps run */
	struct leat_milestones milestones;

	struct leat_roll *roll;      /* unseen.c */
	struct leat_ending *endings; /* of steps, which wait for their dying processes; owned */
	uv_timer_t ending_timer;     /* while there are some */

	bool moved; /* the workflow's directory is not where it was: reported */

	struct leat_actor *actors;      /* ranks of steps with actions; owned */
	struct leat_action_call *calls; /* of them that are under way; owned */
	uint64_t last_call;
	struct leat_rank_wait *rank_waits; /* of MPI jobs, whose end nobody will report; owned */

	struct leat_glimpse *glimpses; /* names that staged steps must not change; owned */

	/* Looking for deadlocks. */
	uint64_t quiet_since_ns; /* no progress since then */
	uint64_t quiet_progress; /* what was counted then */
	uint64_t look_ns;        /* not before */
	uint64_t n_looks;        /* so many were due */
	uint64_t reminded_ns;    /* of who waits for whom */
};

#endif
