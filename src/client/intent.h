/* What a program does with what fstat has shown it, by the instructions behind the call. Pure. */
#ifndef LEAT_CLIENT_INTENT_H
#define LEAT_CLIENT_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much of the code behind a call is enough. */
enum { LEAT_INTENT_CODE = 96 };

/* `code` is what runs when fstat has returned: `size` bytes of it. On other machines than x86-64
 * nothing is known. */

/* Does it ask first of all whether the file is a directory? Functions of run times that open files
 * do; those that hand out a size do not. */
bool leat_intent_is_kind(const uint8_t *code, size_t size);

/* Is it that of glibc's stdio, which makes a buffer as large as a block (_IO_file_doallocate)? */
bool leat_intent_is_buffer(const uint8_t *code, size_t size);

#endif
