/* SPDX-License-Identifier: Apache-2.0 */
/* See heap_program.h. */
#include "attack/heap_program.h"

#include "aligned_memory.h"
#include "attack/random_plans.h"
#include "check.h"
#include "contract_config.h"
#include "hfit/config.h"
#include "model.h"

#include <string.h>

/* Memory is aligned to more than a region is long, so that what is asked for at such an alignment
 * must be refused. */
enum {
    MEMORY_ALIGNMENT_LOG2 = 17,
    BASES = 4096, /* the first byte of a region is any below this that its plan allows */
    DEAD_KEPT = 64,
    SERVED_KEPT = 8,
    MOST_TIMES = 8, /* a region may have so many times the bytes of the smallest */
    MOST_ROOM = 16 * 1024,
    GUARD = 0x5a,
};

typedef struct placed_heap {
    unsigned char *memory;
    size_t base; /* of the region in it */
    model m;
} placed_heap;

typedef struct program {
    byte_source source;
    random_plan plan;
    placed_heap heaps[2]; /* of the second one NULL is resized instead of plain requests */
    size_t region_size;
    uint32_t most_alignment_log2;
    uint32_t dead[DEAD_KEPT]; /* offsets of blocks that were freed or moved */
    uint32_t dead_count;
    size_t served[SERVED_KEPT]; /* sizes of requests, which may be served again */
    uint32_t served_count;
} program;

static program p;

static model *first_model(void) {
    return &p.heaps[0].m;
}

static size_t draw_size(void) {
    byte_source *source = &p.source;
    switch (draw_below(source, 24)) {
    case 0:
        return draw_below(source, 2);
    case 1:
        return draw_below(source, (uint32_t)p.region_size + 1);
    case 2:
        return p.region_size + 64 - draw_below(source, 128);
    case 3:
        return SIZE_MAX - draw_below(source, 300);
    case 4:
        return PTRDIFF_MAX - (size_t)150 + draw_below(source, 300);
    case 5:
        return ((size_t)1 << (16 + draw_below(source, sizeof(size_t) * 8 - 16))) - 40 +
               draw_below(source, 80);
    case 6:
    case 7:
    case 8:
        return 8 * draw_below(source, 16);
    case 9:
    case 10:
        return draw_below(source, 500);
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        return p.served[draw_below(source, SERVED_KEPT)] + draw_below(source, 8) / 7;
    default:
        return draw_below(source, 70);
    }
}

/* ---- Sound use ---- */

static void note_dead(const unsigned char *address) {
    p.dead[p.dead_count++ % DEAD_KEPT] = (uint32_t)(address - first_model()->region);
}

static void request(size_t alignment, size_t size) {
    const bool is_served = model_alloc(first_model(), alignment, size);
    CHECK(model_alloc(&p.heaps[1].m, alignment, size) == is_served);
    CHECK(!is_served || size <= p.region_size);
    CHECK(!is_served || alignment < (size_t)1 << MEMORY_ALIGNMENT_LOG2);
    if (is_served) {
        p.served[p.served_count++ % SERVED_KEPT] = size;
    }
}

static void request_aligned(void) {
    static const size_t not_powers[] = {0, 3, 5, 12, 24, SIZE_MAX, SIZE_MAX - 7};
    const size_t size = draw_size();
    const uint32_t choice = draw_below(&p.source, 16);
    const size_t odd = not_powers[draw_below(&p.source, sizeof not_powers / sizeof *not_powers)];
    const uint32_t log2 = draw_below(&p.source, p.most_alignment_log2 + 1);
    const uint32_t above = draw_below(&p.source, sizeof(size_t) * 8 - MEMORY_ALIGNMENT_LOG2);
    if (choice == 0) {
        model_misaligns(first_model(), odd, size);
        model_misaligns(&p.heaps[1].m, odd, size);
    } else if (choice == 1) {
        request((size_t)1 << (MEMORY_ALIGNMENT_LOG2 + above), size);
    } else {
        request((size_t)1 << log2, size);
    }
}

static void resize_one(size_t index) {
    const size_t size = draw_size();
    const unsigned char *before = first_model()->live[index].address;
    const bool is_served = model_resize(first_model(), index, size);
    CHECK(model_resize(&p.heaps[1].m, index, size) == is_served);
    CHECK(!is_served || size <= p.region_size);
    if (first_model()->live[index].address != before) {
        note_dead(before);
    }
}

/* By free, or by free_sized, told the right size, or any where the heap knows it. */
static void free_one(size_t index) {
    const uint32_t how = draw_below(&p.source, 4);
    const bool is_told_any = how == 0 && !p.plan.own.allocator->needs_size;
    const size_t told = is_told_any ? draw_size() : 0;
    note_dead(first_model()->live[index].address);
    for (size_t i = 0; i < 2; i++) {
        if (is_told_any) {
            model_free_sized(&p.heaps[i].m, index, told);
        } else {
            model_free(&p.heaps[i].m, index, how == 1);
        }
    }
}

static void use_null(void) {
    for (size_t i = 0; i < 2; i++) {
        const model *m = &p.heaps[i].m;
        m->operations->free(m->heap, plan_of(m->plan), NULL);
        m->operations->free_sized(m->heap, plan_of(m->plan), NULL, p.region_size);
        CHECK(m->operations->usable_size(m->heap, plan_of(m->plan), NULL) == 0);
    }
}

/* ---- Misuse ---- */

/* An address in the region, or near it, seen from its start; the same in both heaps. */
static uintptr_t draw_distance(uint32_t kind) {
    byte_source *source = &p.source;
    const uint32_t size = (uint32_t)p.region_size;
    const model *m = first_model();
    switch (kind) {
    case 0:
    case 1:
        return p.dead[draw_below(source, DEAD_KEPT)];
    case 2:
        return draw_below(source, size);
    case 3:
        return 4 * draw_below(source, size / 4 + 1);
    case 4:
        return size - (uintptr_t)64 + draw_below(source, 128);
    case 5:
        return (uintptr_t)0 - draw_below(source, 128);
    case 6:
        return (uintptr_t)1 << draw_below(source, sizeof(uintptr_t) * 8);
    default:
        if (m->live_count == 0) {
            return 0;
        }
        const live_block *block = &m->live[draw_below(source, (uint32_t)m->live_count)];
        const uintptr_t at = (uintptr_t)(block->address - m->region);
        const uintptr_t far = (uintptr_t)1 << (sizeof(uintptr_t) * 4); /* 2^32 with 64 bits */
        return kind == 7 ? at + draw_below(source, (uint32_t)block->size + 2) : at + far;
    }
}

/* An address that has nothing to do with the heap. */
static void *draw_foreign(size_t heap) {
    static uint64_t foreign[8];
    const uint32_t drawn = draw_below(&p.source, 64);
    const model *other = &p.heaps[1 - heap].m;
    switch (drawn % 4) {
    case 0:
        return (unsigned char *)foreign + drawn;
    case 1:
        return (void *)(uintptr_t)(drawn + 1); /* not NULL */
    case 2:
        return (void *)(UINTPTR_MAX - drawn);
    default:
        return other->live_count == 0 ? other->region : other->live[0].address;
    }
}

/* The first heap draws, the second does the same after it. */
static void misuse(program_count *count) {
    const byte_source begin = p.source;
    for (size_t i = 0; i < 2; i++) {
        p.source = begin;
        const model *m = &p.heaps[i].m;
        const model_misuse how = (model_misuse)draw_below(&p.source, MODEL_MISUSES);
        const size_t size = draw_size();
        const uint32_t kind = draw_below(&p.source, 12);
        void *address =
            kind < 10 ? (void *)((uintptr_t)m->region + draw_distance(kind)) : draw_foreign(i);
        if (address != NULL && !model_is_live(m, address) && knows_sizes(m->plan->allocator)) {
            model_misuses(m, how, address, size);
            count->misuses += i == 0;
        }
    }
}

/* ---- A program ---- */

/* Three quarters of a program's bytes let the heap fill up. */
static bool is_growing(void) {
    return p.source.left / 256 % 4 != 0;
}

static void take_step(program_count *count) {
    const size_t live = first_model()->live_count;
    const uint32_t requests = is_growing() ? 16 : 5; /* of 23, 3 are resizes and the rest frees */
    const uint32_t kind = draw_below(&p.source, 32);
    const size_t index = live == 0 ? 0 : draw_below(&p.source, (uint32_t)live);
    if (kind >= 24) {
        misuse(count);
    } else if (kind == 23) {
        use_null();
    } else if (live == 0 || (kind < requests && live < MOST_LIVE)) {
        if (kind % 5 == 0) {
            request_aligned();
        } else {
            request(0, draw_size());
        }
    } else if (kind < requests + 3) {
        resize_one(index);
    } else {
        free_one(index);
    }
    count->steps++;
    count->live += first_model()->live_count;
}

/* The heap is as the model says, and the second one as the first, to the byte. */
static void compare_heaps(void) {
    CHECK(memcmp(first_model()->region, p.heaps[1].m.region, p.region_size) == 0);
    model_compare(first_model());
}

static void run_steps(program_count *count) {
    while (p.source.left != 0) {
        take_step(count);
        compare_heaps();
    }
    while (first_model()->live_count > 0) {
        model_free(first_model(), 0, false);
        model_free(&p.heaps[1].m, 0, false);
        compare_heaps();
    }
    model_compare(&p.heaps[1].m);
}

static void make_memory(placed_heap *heap, size_t base) {
    heap->memory = take_aligned((size_t)1 << MEMORY_ALIGNMENT_LOG2, base + p.region_size + 1);
    heap->base = base;
    memset(heap->memory, GUARD, base + p.region_size + 1);
}

/* Frees the memory; what lies around the region must be as it was. */
static void end_memory(const placed_heap *heap) {
    for (size_t i = 0; i < heap->base; i++) {
        CHECK(heap->memory[i] == GUARD);
    }
    CHECK(heap->memory[heap->base + p.region_size] == GUARD);
    return_aligned(heap->memory);
}

/* Both regions: any base that the plan allows, and another one that is the same modulo the largest
 * alignment that will be asked for. */
static void place_regions(void) {
    const uint32_t alignment = plan_of(&p.plan.own)->alignment;
    const uint32_t step = alignment == 4 || alignment == 8 ? alignment : 16;
    p.most_alignment_log2 = 4 + draw_below(&p.source, 9);
    const uint32_t base = step * draw_below(&p.source, BASES / step);
    const uint32_t most = 1u << p.most_alignment_log2;
    make_memory(&p.heaps[0], base);
    make_memory(&p.heaps[1], (base + most * draw_below(&p.source, BASES / most)) % BASES);
}

/* ---- What a plan and its region must be ---- */

/* Any byte of what a plan of pools is sealed over: its numbers, its pools, its index. */
static uint8_t *draw_sealed_byte(hfit_pools_plan *plan) {
    const uint32_t index_at = offsetof(hfit_pools_plan, index.entries);
    const uint32_t seal_end = offsetof(hfit_pools_plan, seal) + (uint32_t)sizeof plan->seal;
    const uint32_t pool_bytes = plan->pools.count * (uint32_t)sizeof(hfit_pool);
    switch (draw_below(&p.source, 5)) {
    case 0:
        return (uint8_t *)&plan->common.alignment + draw_below(&p.source, 4);
    case 1:
        return (uint8_t *)&plan->pools.count + draw_below(&p.source, 8); /* and `end` behind it */
    case 2:
        return (uint8_t *)plan + index_at + draw_below(&p.source, seal_end - index_at);
    case 3:
        if (plan->index.entries != 0) {
            return &p.plan.own.index[draw_below(&p.source, plan->index.entries)];
        }
        return (uint8_t *)&plan->seal;
    default:
        if (pool_bytes != 0) {
            return (uint8_t *)p.plan.own.pools + draw_below(&p.source, pool_bytes);
        }
        return (uint8_t *)&plan->seal;
    }
}

/* A sealed plan is refused if any byte of it is another. */
static void check_changed_plan(void) {
    const placed_heap *heap = &p.heaps[0];
    uint8_t *changed = draw_sealed_byte((hfit_pools_plan *)(void *)p.plan.own.bytes);
    const uint8_t change = (uint8_t)(1 + draw_below(&p.source, 255));
    *changed ^= change;
    CHECK(heap->m.operations->init(heap->m.region, p.region_size, plan_of(&p.plan.own)) == NULL);
    *changed ^= change;
}

/* From 0 bytes on; most often large enough for some blocks. */
static size_t draw_region_size(size_t smallest) {
    static const uint32_t rooms[] = {64, 600, 2000, 6000};
    const uint32_t kind = draw_below(&p.source, 8);
    if (smallest == 0 || smallest > LARGEST_SMALLEST_REGION) {
        return draw_below(&p.source, 8192);
    }
    if (kind == 0) {
        return draw_below(&p.source, (uint32_t)smallest);
    }
    const uint32_t most = kind < 4 ? 0 : MOST_TIMES * (uint32_t)smallest;
    const uint32_t room = draw_below(&p.source, rooms[kind % 4] + (most < MOST_ROOM ? most : 0));
    return kind == 1 ? smallest : smallest + room;
}

/* The plan, of pools or not, is believed as it is, and the smallest region serves. */
static void check_start(void) {
    const hfit_allocator *allocator = p.plan.own.allocator;
    if (allocator->complete != NULL) {
        check_changed_plan();
        return;
    }
    request(0, 1);
    CHECK(HFIT_SAFETY >= 3 || first_model()->live_count == 1); /* the guard takes room there */
}

void run_heap_program(const hfit_allocator *allocator, const uint8_t *bytes, size_t size,
                      program_count *count) {
    memset(&p, 0, sizeof p);
    p.source = (byte_source){bytes, size};
    draw_plan(&p.plan, allocator, &p.source);
    check_context = p.plan.own.name;
    const hfit_operations *operations = p.plan.own.allocator->operations;
    const size_t smallest = operations->smallest_region(plan_of(&p.plan.own));
    p.region_size = draw_region_size(smallest);
    place_regions();
    const bool is_sound = smallest != 0 && p.region_size >= smallest;
    for (size_t i = 0; i < 2; i++) {
        placed_heap *heap = &p.heaps[i];
        CHECK(model_start_in(&heap->m, &p.plan.own, heap->memory + heap->base, p.region_size) ==
              is_sound);
        heap->m.allocs_by_resize = i == 1;
    }
    if (is_sound) {
        count->heaps++;
        check_start();
        run_steps(count);
    } else {
        count->refused_regions++;
    }
    end_memory(&p.heaps[0]);
    end_memory(&p.heaps[1]);
}
