/* SPDX-License-Identifier: Apache-2.0 */
/* The part of stdio that the contract suite needs. Formats: %s %d %u %ld %zu. */
#ifndef HOSTED_STDIO_H
#define HOSTED_STDIO_H

#include <stddef.h>

typedef struct FILE FILE;
#define stderr ((FILE *)0)

int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int snprintf(char *text, size_t room, const char *format, ...);

#endif
