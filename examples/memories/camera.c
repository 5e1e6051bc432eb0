/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A camera with a web server, as its heap sees it: packets and scan lines that DMA reads, frames,
 * records of TLS, and small nodes of JSON. It takes them from malloc, tells heapfit's recorder what
 * each needs (the bits of docs/evidence/schemas.md), and prints the recording.
 *
 *     R=../../recorder/target
 *     cc -I$R -DHFIT_RECORD_CALL_SITES=1 -o camera camera.c $R/record.c $R/adapters/one_heap.c
 *     ./camera > run1.frames
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapters/one_heap.h"

enum { NOTHING = 0, DMA = 2 };
enum { PACKET = 1, LINE, FRAME, RECORD, NODE, TEXT }; /* call sites */
enum { ROUNDS = 400, NODES = 24, PACKETS = 6, LINES = 2 };

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static bool print(void *context, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, context) == size;
}

static void *take(unsigned site, unsigned size, uint8_t needs) {
    void *const block = malloc(size);
    hfit_record_needs(&hfit_one_heap, needs);
    hfit_record_site(&hfit_one_heap, (const void *)(uintptr_t)site);
    hfit_record_alloc(&hfit_one_heap, block, size);
    (void)hfit_record_drain(&hfit_one_heap, print, stdout);
    return block;
}

static void give(void *block) {
    hfit_record_free(&hfit_one_heap, block);
    free(block);
}

/* Up to six packets at once, each in a buffer for the largest. */
static void receive(void) {
    void *packets[PACKETS];
    const uint32_t count = 1 + draw(PACKETS);
    for (uint32_t i = 0; i < count; i++) {
        packets[i] = take(PACKET, 1536, DMA);
    }
    for (uint32_t i = 0; i < count; i++) {
        give(packets[i]);
    }
}

/* A frame of 20 to 60 KiB, read line by line into two buffers in turn. */
static void take_picture(void) {
    void *lines[LINES];
    for (int i = 0; i < LINES; i++) {
        lines[i] = take(LINE, 1280, DMA);
    }
    void *const frame = take(FRAME, 20480 + 4096 * draw(11), NOTHING);
    receive();
    for (int i = 0; i < LINES; i++) {
        give(lines[i]);
    }
    give(frame);
}

/* A request in JSON, answered through TLS. */
static void answer(void) {
    void *nodes[NODES];
    const uint32_t count = 8 + draw(NODES - 8);
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = i % 4 == 3 ? take(TEXT, 12 + draw(200), NOTHING) : take(NODE, 40, NOTHING);
    }
    void *const record = take(RECORD, 4096 + draw(12288), NOTHING);
    receive();
    give(record);
    for (uint32_t i = 0; i < count; i++) {
        give(nodes[i]);
    }
}

int main(int count, char **words) {
    state = count > 1 ? strtoull(words[1], NULL, 10) : 1;
    void *session[8];
    for (int i = 0; i < 8; i++) {
        session[i] = take(TEXT, 600 + draw(400), NOTHING);
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (draw(4) == 0) {
            take_picture();
        } else {
            answer();
        }
        const uint32_t one = draw(8);
        give(session[one]);
        session[one] = take(TEXT, 600 + draw(400), NOTHING);
    }
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, print, stdout) ? 0 : 1;
}
