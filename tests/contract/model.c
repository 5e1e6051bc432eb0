/* SPDX-License-Identifier: Apache-2.0 */
/* The obvious model. See model.h. */
#include "model.h"

#include "check.h"

#include <string.h>

static unsigned char pattern_byte(uint32_t pattern, size_t i) {
    return (unsigned char)((pattern * 2654435761u + i * 40503u) >> 8);
}

static void write_pattern(const live_block *block) {
    for (size_t i = 0; i < block->size; i++) {
        block->address[i] = pattern_byte(block->pattern, i);
    }
}

static bool keeps_pattern(const live_block *block, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (block->address[i] != pattern_byte(block->pattern, i)) {
            return false;
        }
    }
    return true;
}

/* FNV-1a over words; the tail of an odd region is hashed by bytes. */
static uint64_t region_hash(const model *m) {
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t i = 0;
    for (; i + 8 <= m->region_size; i += 8) {
        uint64_t word;
        memcpy(&word, m->region + i, 8);
        hash = (hash ^ word) * UINT64_C(1099511628211);
    }
    for (; i < m->region_size; i++) {
        hash = (hash ^ m->region[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

void model_start(model *m, const test_plan *plan, size_t region_size) {
    memset(m, 0, sizeof *m);
    m->plan = plan;
    m->operations = plan->allocator->operations;
    m->region_size = region_size;
    CHECK(region_size <= LARGEST_REGION);
    /* Just as long as the region, so that the sanitizer sees a step beyond it. */
    void *memory = NULL;
    CHECK(posix_memalign(&memory, 4096, region_size) == 0);
    m->region = memory;
    memset(m->region, 0xa5, region_size);
    m->heap = m->operations->init(m->region, region_size, plan_of(plan));
    CHECK(m->heap != NULL);
    CHECK((void *)m->heap == (void *)m->region);
}

void model_end(model *m) {
    free(m->region);
    m->region = NULL;
}

typedef struct comparison {
    const model *m;
    const unsigned char *previous_end;
    size_t used;
} comparison;

static const live_block *live_at(const model *m, const void *address) {
    for (size_t i = 0; i < m->live_count; i++) {
        if (m->live[i].address == address) {
            return &m->live[i];
        }
    }
    return NULL;
}

static void compare_block(void *context, const void *block, size_t usable_size, bool is_used) {
    comparison *c = context;
    const unsigned char *start = block;
    CHECK(start >= c->previous_end);
    CHECK(usable_size <= c->m->region_size);
    CHECK(start + usable_size <= c->m->region + c->m->region_size);
    c->previous_end = start + usable_size;
    if (is_used) {
        const live_block *live = live_at(c->m, block);
        CHECK(live != NULL);
        CHECK(usable_size >= live->size);
        const hfit_operations *unlocked = c->m->plan->allocator->unlocked; /* walk holds the lock */
        CHECK(unlocked->usable_size(c->m->heap, plan_of(c->m->plan), block) == usable_size);
        c->used++;
    }
}

void model_compare(model *m) {
    comparison c = {m, m->region, 0};
    m->operations->walk(m->heap, plan_of(m->plan), compare_block, &c);
    CHECK(c.used == m->live_count);
    CHECK(m->operations->check(m->heap, plan_of(m->plan)));
    const size_t footprint = m->operations->footprint(m->heap, plan_of(m->plan));
    CHECK(footprint >= m->highest_end);
    CHECK(footprint <= m->region_size);
}

static void note_end(model *m, const live_block *block) {
    const size_t end = (size_t)(block->address - m->region) + block->size;
    m->highest_end = end > m->highest_end ? end : m->highest_end;
}

static bool is_aligned(const void *address, size_t alignment) {
    return ((uintptr_t)address & (alignment - 1)) == 0;
}

bool model_alloc(model *m, size_t alignment, size_t size) {
    const hfit_plan *plan = plan_of(m->plan);
    CHECK(m->live_count < MOST_LIVE);
    const uint64_t before = region_hash(m);
    void *block = alignment == 0 ? m->operations->alloc(m->heap, plan, size)
                                 : m->operations->alloc_aligned(m->heap, plan, alignment, size);
    if (block == NULL) {
        CHECK(region_hash(m) == before);
        return false;
    }
    CHECK(is_aligned(block, plan->alignment));
    CHECK(alignment == 0 || is_aligned(block, alignment));
    live_block *live = &m->live[m->live_count++];
    *live = (live_block){block, size, m->next_pattern++};
    write_pattern(live);
    note_end(m, live);
    return true;
}

bool model_resize(model *m, size_t index, size_t size) {
    live_block *live = &m->live[index];
    const uint64_t before = region_hash(m);
    void *block = m->operations->resize(m->heap, plan_of(m->plan), live->address, size);
    if (block == NULL) {
        CHECK(region_hash(m) == before);
        return false;
    }
    live->address = block;
    CHECK(is_aligned(block, plan_of(m->plan)->alignment));
    CHECK(keeps_pattern(live, size < live->size ? size : live->size));
    live->size = size;
    write_pattern(live);
    note_end(m, live);
    return true;
}

void model_free(model *m, size_t index, bool sized) {
    const hfit_plan *plan = plan_of(m->plan);
    const live_block block = m->live[index];
    CHECK(keeps_pattern(&block, block.size));
    m->live[index] = m->live[--m->live_count];
    if (sized) {
        m->operations->free_sized(m->heap, plan, block.address, block.size);
    } else {
        m->operations->free(m->heap, plan, block.address);
    }
}
