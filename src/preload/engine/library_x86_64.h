/* Programs and libraries other than libc that make system calls themselves. Nearly all that do wait
 * on futexes or ask for the time; a call that the hooks want to see is patched like those of libc,
 * and one that cannot be read or patched is never passed over. */
#ifndef LEAT_PRELOAD_ENGINE_LIBRARY_X86_64_H
#define LEAT_PRELOAD_ENGINE_LIBRARY_X86_64_H

#include <link.h>

/* Once of each object that the program is made of so far, before leat_library_patch_all: libc is
 * asked for them only once at a start. Before main. */
void leat_library_note(const struct dl_phdr_info *info);

/* Patch what the program is made of so far, all but libc and the loader. That nothing needs to be
 * done is kept in the directory `kept_in`. The file that makes a call which would not be seen, or
 * NULL. Before main. */
const char *leat_library_patch_all(const char *kept_in);

#endif
