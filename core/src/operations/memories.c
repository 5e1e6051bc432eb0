/* SPDX-License-Identifier: Apache-2.0 */
/* Several memories behind one malloc; see hfit/memories.h. */
#include "hfit/memories.h"

#include "hfit/payload.h"

#include "src/operations/route.h"

static void *alloc_in(const hfit_memory *memory, hfit_heap *heap, const hfit_request *request) {
    return request->alignment == 0 ? memory->operations->alloc(heap, memory->plan, request->size)
                                   : memory->operations->alloc_aligned(
                                         heap, memory->plan, request->alignment, request->size);
}

bool hfit_memories_init(const hfit_memories_plan *plan, void *const regions[], hfit_heap *heaps[]) {
    for (uint32_t i = 0; i < plan->memory_count; i++) {
        const hfit_memory *const memory = &plan->memories[i];
        heaps[i] = memory->operations->init(regions[i], memory->size, memory->plan);
        if (heaps[i] == NULL) {
            return false;
        }
    }
    return true;
}

void *hfit_memories_alloc(const hfit_memories_plan *plan, hfit_heap *const heaps[],
                          const hfit_request *request) {
    hfit_route route = route_of(plan, request);
    void *block = NULL;
    while (block == NULL) {
        const uint32_t number = take_next(plan, &route, request->needs);
        if (number == plan->memory_count) {
            break;
        }
        block = alloc_in(&plan->memories[number], heaps[number], request);
    }
    return block;
}

/* The block in another memory, where it is new. */
static void *move_to(const hfit_memories_plan *plan, hfit_heap *const heaps[], uint32_t number,
                     void *block, size_t size) {
    const uint32_t from = hfit_memories_find(plan, heaps, block);
    const hfit_memory *const old = &plan->memories[from];
    const size_t usable = old->operations->usable_size(heaps[from], old->plan, block);
    const hfit_memory *const memory = &plan->memories[number];
    void *const moved =
        usable == 0 ? NULL : memory->operations->alloc(heaps[number], memory->plan, size);
    if (moved != NULL) {
        HFIT_COPY(moved, block, usable < size ? usable : size);
        HFIT_ON_PAYLOAD(usable < size ? usable : size);
        old->operations->free(heaps[from], old->plan, block);
    }
    return moved;
}

void *hfit_memories_resize(const hfit_memories_plan *plan, hfit_heap *const heaps[], void *block,
                           const hfit_request *request) {
    if (block == NULL) {
        return hfit_memories_alloc(plan, heaps, request);
    }
    const uint32_t own = hfit_memories_find(plan, heaps, block);
    hfit_route route = own == plan->memory_count ? 0 : route_of(plan, request);
    void *resized = NULL;
    while (resized == NULL) {
        const uint32_t number = take_next(plan, &route, request->needs);
        if (number == plan->memory_count) {
            break;
        }
        const hfit_memory *const memory = &plan->memories[number];
        resized = number == own
                      ? memory->operations->resize(heaps[own], memory->plan, block, request->size)
                      : move_to(plan, heaps, number, block, request->size);
    }
    return resized;
}

void hfit_memories_free(const hfit_memories_plan *plan, hfit_heap *const heaps[], void *block) {
    const uint32_t own = hfit_memories_find(plan, heaps, block);
    if (own != plan->memory_count) {
        const hfit_memory *const memory = &plan->memories[own];
        memory->operations->free(heaps[own], memory->plan, block);
    }
}

uint32_t hfit_memories_find(const hfit_memories_plan *plan, hfit_heap *const heaps[],
                            const void *block) {
    uint32_t i = 0;
    while (i < plan->memory_count &&
           (uintptr_t)block - (uintptr_t)heaps[i] >= plan->memories[i].size) {
        i++;
    }
    return i;
}
