/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores of the plug-in's own code, if it was compiled with -fsanitize=thread: the
 * compiler then calls a function before each access that it could not keep in a register, in the
 * code as it is optimised. gcc's address sanitizer would do, but leaves out the second of two
 * accesses to one word.
 *
 *   counted        what lies in the region or among the program's variables
 *   payload        the bytes that a resize moves; nothing else of a live block should be touched
 *   not counted    the stack and what never changes
 */
#ifndef HOST_METER_H
#define HOST_METER_H

#include <stddef.h>

/* Around each call of the plug-in: the block that it is to resize, or NULL. */
void begin_call(const void *block, size_t size);

/* Where a resize moved the block to and how many bytes it kept; or NULL. */
void end_call(const void *block, size_t kept);

#endif
