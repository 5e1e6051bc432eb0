/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the requests of steps.h to a generated heap of several memories, by the calls of its header,
 * and counts the blocks that lie where the host's replay has them.
 */
#include "app_memories.h"

#include "board/semihost.h"
#include "steps.h"

static void *slots[SLOTS];
static const unsigned char *bases[APP_NO_MEMORY];

static void *serve(const step *one) {
    switch (one->op) {
    case 2:
        return app_aligned_alloc_for(one->alignment, one->size, one->needs, one->tag);
    case 3:
        return app_realloc_for(slots[one->slot], one->size, one->needs, one->tag);
    default:
        return app_malloc_for(one->size, one->needs, one->tag);
    }
}

static bool lies_as_replayed(const void *block, const step *one) {
    const uint32_t memory = app_memory_of(block);
    return memory == one->memory && (const unsigned char *)block == bases[memory] + one->offset;
}

int main(int count, char **words) {
    (void)count;
    (void)words;
    uint32_t requests = 0;
    uint32_t alike = 0;
    bases[APP_INTERNAL] = internal_region;
    bases[APP_PSRAM] = psram_region;
    if (!app_heap_init()) {
        return 1;
    }
    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const step *const one = &steps[i];
        if (one->op == 4) {
            app_free(slots[one->slot]);
            continue;
        }
        slots[one->slot] = serve(one);
        requests++;
        alike += lies_as_replayed(slots[one->slot], one);
    }
    semihost_print_count("requests", requests);
    semihost_print_count("alike", alike);
    return 0;
}
