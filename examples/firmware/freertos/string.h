/* SPDX-License-Identifier: Apache-2.0 */
/* What target/board/memory.c has of the C library, which not every compiler here comes with. */
#ifndef FIRMWARE_STRING_H
#define FIRMWARE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

#endif
