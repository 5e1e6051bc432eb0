/* SPDX-License-Identifier: Apache-2.0 */
/* The part of stdlib that the contract suite needs. Memory is freed in the reverse order. */
#ifndef HOSTED_STDLIB_H
#define HOSTED_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);
void free(void *memory);

long strtol(const char *text, char **end, int base); /* decimal digits only */

_Noreturn void exit(int code);
_Noreturn void abort(void);

#endif
