/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is written twice: once to count its bytes, once into a block of so many. */
#ifndef FIRMWARE_TEXT_H
#define FIRMWARE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *bytes; /* NULL: only counted */
    size_t length;
} text;

void put_byte(text *to, char byte);
void put_text(text *to, const char *bytes);

/* Behind quotation marks and a colon, if it is not NULL. */
void put_name(text *to, const char *name);

/* As a decimal fraction: 21437 as 21.437, 21000 as 21. */
void put_thousandths(text *to, int32_t thousandths);

bool text_is_same(const char *one, const char *other);

#endif
