/* Whether all sites of libc were found is shown by doing: its functions are called, with arguments
 * that do no harm, and must arrive. */
#ifndef LEAT_PRELOAD_ENGINE_PROOF_X86_64_H
#define LEAT_PRELOAD_ENGINE_PROOF_X86_64_H

#include "preload/engine/stub_x86_64.h"

/* Make stubs lead to the proof: nothing that arrives there gets to the kernel. */
void leat_proof_fill(struct leat_stub_table *table);

/* The name of a function that does not arrive, or NULL. Stubs of the sites lead to the proof; one
 * thread, before main. */
const char *leat_proof_run(const struct leat_patch_sites *sites);

/* libc's own function of that name, not one that a sanitizer or another library puts in its place;
 * NULL: it has none. */
void *leat_libc_function(const char *name);

#endif
