/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clang's alloc-token calls instead of malloc, on the generated heap: the plan's tag of each
 * token is handed over. tags.h is what tags.py makes of the plan. Freestanding; the program's free
 * is the heap's by -Dfree=app_free.
 */
#include <stddef.h>
#include <stdint.h>

#include "app_heap.h"
#include "tags.h"

void *__alloc_token_malloc(size_t size, size_t token);
void *__alloc_token_calloc(size_t count, size_t size, size_t token);
void *__alloc_token_realloc(void *old, size_t size, size_t token);

static const uint8_t tags[] = {TAGS_OF_TOKENS};

static unsigned tag_of(size_t token) {
    return token < sizeof(tags) ? tags[token] : 0;
}

__attribute__((constructor)) static void start(void) {
    (void)app_heap_init();
}

void *__alloc_token_malloc(size_t size, size_t token) {
    return app_malloc_at(size, tag_of(token));
}

void *__alloc_token_calloc(size_t count, size_t size, size_t token) {
    return app_calloc_at(count, size, tag_of(token));
}

void *__alloc_token_realloc(void *old, size_t size, size_t token) {
    return old == NULL ? __alloc_token_malloc(size, token) : app_realloc(old, size);
}
