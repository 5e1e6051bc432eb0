/* SPDX-License-Identifier: Apache-2.0 */
/* See attack.h. */
#include "attack.h"

#include "check.h"

#include <string.h>

const char *const payload_names[PAYLOADS] = {"00", "A5", "FF", "left", "mixed"};

static const uint8_t bytes_written[] = {0, 0xa5, 0xff};

static _Alignas(REGION_ALIGNMENT) unsigned char region[LARGEST_REGION];
static _Alignas(REGION_ALIGNMENT) unsigned char copy[LARGEST_REGION];

static const hfit_operations *operations_of(const attacked_heap *heap) {
    return heap->plan->allocator->operations;
}

static hfit_heap *heap_in(unsigned char *bytes) {
    return (hfit_heap *)(void *)bytes;
}

void attack_start(attacked_heap *heap, const test_plan *plan, uint32_t room, payload written) {
    const hfit_operations *operations = plan->allocator->operations;
    *heap = (attacked_heap){.plan = plan, .written = written};
    heap->size = (uint32_t)operations->smallest_region(plan_of(plan)) + room;
    CHECK(heap->size <= LARGEST_REGION);
    memset(region, written < LEFT_AS_HANDED_OUT ? bytes_written[written] : 0, heap->size);
    CHECK(operations->init(region, heap->size, plan_of(plan)) != NULL);
}

/* Writes the first `size` bytes of a block, piece by piece where it has several. */
static void fill(const attacked_heap *heap, unsigned char *block, size_t size, int value) {
    unsigned char *piece = NULL;
    size_t bytes;
    while (size > 0 &&
           (piece = piece_after(heap->plan, heap_in(region), block, piece, size, &bytes)) != NULL) {
        bytes = bytes < size ? bytes : size;
        memset(piece, value, bytes);
        size -= bytes;
    }
}

static void write_payload(const attacked_heap *heap, void *block, size_t size) {
    const payload chosen = heap->written == MIXED ? (payload)random_below(MIXED) : heap->written;
    if (chosen != LEFT_AS_HANDED_OUT) {
        fill(heap, block, size, bytes_written[chosen]);
    }
}

static void note_live(attacked_heap *heap, unsigned char *block, uint32_t size) {
    const uint32_t offset = (uint32_t)(block - region);
    CHECK(!attack_is_live(heap, offset));
    heap->live[heap->live_count++] = (live_block){offset, size};
    if (!heap->was_live[offset / 4]) {
        heap->seen[heap->seen_count++] = offset;
    }
    heap->is_live[offset / 4] = true;
    heap->was_live[offset / 4] = true;
    write_payload(heap, block, size);
}

static void note_dead(attacked_heap *heap, uint32_t number) {
    heap->is_live[heap->live[number].offset / 4] = false;
    heap->live[number] = heap->live[--heap->live_count];
}

bool attack_alloc(attacked_heap *heap, size_t alignment, uint32_t size) {
    const hfit_operations *operations = operations_of(heap);
    if (heap->live_count == ATTACK_LIVE) {
        return false;
    }
    unsigned char *block =
        alignment == 0
            ? operations->alloc(heap_in(region), plan_of(heap->plan), size)
            : operations->alloc_aligned(heap_in(region), plan_of(heap->plan), alignment, size);
    if (block != NULL) {
        note_live(heap, block, size);
    }
    return block != NULL;
}

void attack_give(attacked_heap *heap, uint32_t number) {
    const uint32_t misuses = misuse_count;
    const live_block *given = &heap->live[number];
    free_block(heap->plan, heap_in(region), region + given->offset, given->size);
    CHECK(misuse_count == misuses);
    note_dead(heap, number);
}

static void resize(attacked_heap *heap, uint32_t number, uint32_t size) {
    const live_block *old = &heap->live[number];
    unsigned char *block =
        resize_block(heap->plan, heap_in(region), region + old->offset, old->size, size);
    if (block != NULL) {
        note_dead(heap, number);
        note_live(heap, block, size);
    }
}

/* Small ones, equal ones, middle ones, and any that the region could hold. */
static uint32_t random_request(const attacked_heap *heap) {
    switch (random_below(4)) {
    case 0:
        return random_below(25);
    case 1:
        return 12 + 28 * random_below(10);
    case 2:
        return random_below(300);
    default:
        return random_below(1 + heap->size / 2);
    }
}

void attack_step(attacked_heap *heap) {
    const uint32_t kind = random_below(16);
    if (heap->live_count == 0 || kind < 7) {
        (void)attack_alloc(heap, 0, random_request(heap));
    } else if (kind == 7) {
        (void)attack_alloc(heap, 8u << random_below(4), random_request(heap));
    } else if (kind == 8) {
        resize(heap, random_below(heap->live_count), random_request(heap));
    } else {
        attack_give(heap, random_below(heap->live_count));
    }
}

const unsigned char *attack_region(void) {
    return region;
}

void attack_begin(const attacked_heap *heap) {
    memcpy(copy, region, heap->size);
}

bool attack_free_is_refused(const attacked_heap *heap, uint32_t offset) {
    const uint32_t misuses = misuse_count;
    operations_of(heap)->free(heap_in(copy), plan_of(heap->plan), copy + offset);
    if (misuse_count != misuses && memcmp(copy, region, heap->size) == 0) {
        return true;
    }
    attack_begin(heap);
    return false;
}
