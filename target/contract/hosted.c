/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of a C library as the contract suite needs on a board without one.
 *
 *   malloc:  | start of the one before | block | start of the one before | block |      free      |
 *                                        ^ blocks end ------------------->          ^ top
 */
#include "board/semihost.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) unsigned char memory[HOSTED_MEMORY];
static size_t top;             /* where the next block may begin */
static size_t last = SIZE_MAX; /* what lies before the last block: see below */

/* Kept before each block. */
typedef struct block_note {
    size_t top_before;
    size_t last_before;
} block_note;

int posix_memalign(void **block, size_t alignment, size_t size) {
    const uintptr_t base = (uintptr_t)memory;
    const size_t step = alignment < 16 ? 16 : alignment;
    const uintptr_t start = (base + top + sizeof(block_note) + step - 1) & ~(uintptr_t)(step - 1);
    if (size > sizeof memory || start - base > sizeof memory - size) {
        return 1;
    }
    block_note *note = (block_note *)(void *)start - 1;
    *note = (block_note){top, last};
    last = start - base;
    top = last + size;
    *block = (void *)start;
    return 0;
}

void *malloc(size_t size) {
    void *block;
    return posix_memalign(&block, 16, size) == 0 ? block : NULL;
}

void free(void *block) {
    if (block == NULL) {
        return;
    }
    if ((unsigned char *)block != memory + last) {
        semihost_print("free: not the block allocated last\n");
        abort();
    }
    const block_note *note = (const block_note *)block - 1;
    top = note->top_before;
    last = note->last_before;
}

int strcmp(const char *one, const char *other) {
    while (*one != 0 && *one == *other) {
        one++;
        other++;
    }
    return (unsigned char)*one - (unsigned char)*other;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != 0) {
        length++;
    }
    return length;
}

long strtol(const char *text, char **end, int base) {
    long value = 0;
    (void)base;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (*text - '0');
    }
    if (end != NULL) {
        *end = (char *)(uintptr_t)text;
    }
    return value;
}

void exit(int code) {
    semihost_exit(code);
}

void abort(void) {
    semihost_exit(134);
}

typedef struct writer {
    char *text;
    size_t room;
    size_t length; /* what there was to write, which may be more than the room */
} writer;

static void put(writer *w, char character) {
    if (w->length + 1 < w->room) {
        w->text[w->length] = character;
        w->text[w->length + 1] = 0;
    }
    w->length++;
}

static void put_text(writer *w, const char *text) {
    while (*text != 0) {
        put(w, *text++);
    }
}

static void put_number(writer *w, unsigned long value) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put_text(w, digits + at);
}

/* The types behind %u, %zu and %ld are all of one word here. */
_Static_assert(sizeof(int) == sizeof(long) && sizeof(size_t) == sizeof(long), "one word");

static void put_argument(writer *w, char kind, va_list *arguments) {
    if (kind == 's') {
        put_text(w, va_arg(*arguments, const char *));
        return;
    }
    const unsigned long value = va_arg(*arguments, unsigned long);
    if (kind == 'd' && (long)value < 0) {
        put(w, '-');
        put_number(w, 0 - value);
    } else {
        put_number(w, value);
    }
}

static int format_all(writer *w, const char *format, va_list *arguments) {
    for (; *format != 0; format++) {
        if (*format != '%') {
            put(w, *format);
            continue;
        }
        format++;
        while (*format == 'l' || *format == 'z') {
            format++;
        }
        put_argument(w, *format, arguments);
    }
    return (int)w->length;
}

int snprintf(char *text, size_t room, const char *format, ...) {
    writer w = {text, room, 0};
    va_list arguments;
    va_start(arguments, format);
    const int length = format_all(&w, format, &arguments);
    va_end(arguments);
    return length;
}

static int print(const char *format, va_list *arguments) {
    static char line[HOSTED_LINE];
    writer w = {line, sizeof line, 0};
    const int length = format_all(&w, format, arguments);
    semihost_print(line);
    return length;
}

int printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = print(format, &arguments);
    va_end(arguments);
    return length;
}

int fprintf(FILE *file, const char *format, ...) {
    (void)file;
    va_list arguments;
    va_start(arguments, format);
    const int length = print(format, &arguments);
    va_end(arguments);
    return length;
}
