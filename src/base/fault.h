/* Points at which a test has the process die, stop, end or come late: before and after each message
 * between client and daemon, and between the steps of what must be whole or not at all. They are
 * there with -Dfaults=true only; the ordinary build contains nothing of them, not even their names.
 * See docs/explanation/reliability.md. */
#ifndef LEAT_BASE_FAULT_H
#define LEAT_BASE_FAULT_H

#ifdef LEAT_FAULTS
/* Read LEAT_FAULT, LEAT_FAULT_DELAY and LEAT_FAULT_TRACE out of `envp`; `side` is what this process
 * is called there, and stays the caller's. Once in a process, again where its side changes. */
void leat_fault_init(char **envp, const char *side);
/* The point of that name is passed, with the message `type` (0: none). Any thread,
 * async-signal-safe. */
void leat_fault_pass(const char *point, unsigned type);

#define LEAT_FAULT_SIDE(envp, side) leat_fault_init((envp), (side))
#define LEAT_FAULT_MESSAGE(point, type) leat_fault_pass((point), (type))
#define LEAT_FAULT(point) leat_fault_pass((point), 0)
#else
#define LEAT_FAULT_SIDE(envp, side) ((void)0)
#define LEAT_FAULT_MESSAGE(point, type) ((void)0)
#define LEAT_FAULT(point) ((void)0)
#endif

#endif
