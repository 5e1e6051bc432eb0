/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clang's alloc-token calls instead of malloc, recorded: a request's site is its token, and 1
 * more, as site 0 is none. On a device another sink takes the frames (recorder/target/sinks). Not
 * compiled with alloc-token itself; the program's free is this file's by -Dfree=recorded_free.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"

void *__alloc_token_malloc(size_t size, size_t token);
void *__alloc_token_calloc(size_t count, size_t size, size_t token);
void *__alloc_token_realloc(void *old, size_t size, size_t token);
void recorded_free(void *block);

static uint8_t ring[4096];
static const hfit_record_about about = {.ring = ring, .ring_size = sizeof(ring)};
static hfit_recorder recorder = HFIT_RECORDER(about, ring, NULL);
static int file = -1;

static bool to_file(void *context, const void *bytes, size_t size) {
    (void)context;
    return write(file, bytes, size) == (ssize_t)size;
}

static void drain(void) {
    if (file < 0) {
        file = open("broker.frames", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    }
    if (file < 0 || !hfit_record_drain(&recorder, to_file, NULL)) {
        abort();
    }
}

__attribute__((destructor)) static void end(void) {
    hfit_record_close_frame(&recorder);
    drain();
}

static void *noted(void *block, size_t size, size_t token) {
    hfit_record_site(&recorder, (const void *)(token + 1));
    hfit_record_alloc(&recorder, block, size);
    drain();
    return block;
}

void *__alloc_token_malloc(size_t size, size_t token) {
    return noted(malloc(size), size, token);
}

void *__alloc_token_calloc(size_t count, size_t size, size_t token) {
    return noted(calloc(count, size), count * size, token);
}

/* A block that is resized carries no tag from then on. */
void *__alloc_token_realloc(void *old, size_t size, size_t token) {
    if (old == NULL) {
        return __alloc_token_malloc(size, token);
    }
    void *block = realloc(old, size);
    hfit_record_resize(&recorder, old, block, size);
    drain();
    return block;
}

void recorded_free(void *block) {
    hfit_record_free(&recorder, block);
    drain();
    free(block);
}
