/* SPDX-License-Identifier: Apache-2.0 */
/* The part of string that the contract suite, and the compiler itself, need. */
#ifndef HOSTED_STRING_H
#define HOSTED_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *one, const char *other);

#endif
