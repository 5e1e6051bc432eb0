/* SPDX-License-Identifier: Apache-2.0 */
/* tailored: the smallest chunk that will do at every step, compared with a list of all chunks;
 * nothing but a live block's address is ever taken for one; no call does more than derived. The
 * source is included so that its loads can be counted. */
#include <stdint.h>

static uint32_t loads;
#define HFIT_ON_LOAD(heap, offset) ((void)(heap), (void)(offset), (void)loads++)
#include "contract_config.h" /* which counts loads by another rule unless this is there */

#include "chunk_list.h"
#include "random_steps.h"

#include "src/tailored/tailored.c"

enum { BLOCKS = 200, LIST_LIMIT = 8, MIXED_LIMIT = 16, LOOKED_AT = 2 };

static _Alignas(4096) unsigned char region[24 << 20];

static hfit_tailored_plan settings = {.common = {8}, .ends = 1};
static const hfit_plan *const plan = &settings.common;

/* ---- The obvious model: all chunks in order of address, in bytes. ---- */

typedef struct model {
    chunk_list list;
    uint32_t top; /* the free chunk that is the top, or where the last one was: then equal */
    uint32_t top_end;
} model;

static void model_start(model *m, uint32_t first, uint32_t end) {
    list_start(&m->list, first, end);
    m->top = first;
    m->top_end = end;
}

static uint32_t smallest_chunk(void) {
    if (settings.layout == HFIT_TAILORED_HEADERS) {
        return 16;
    }
    return settings.layout == HFIT_TAILORED_PAIRS ? plan->alignment : 2 * plan->alignment;
}

static uint32_t chunk_for(uint32_t size) {
    const uint32_t alignment = plan->alignment;
    const uint32_t header = settings.layout == HFIT_TAILORED_HEADERS ? 4 : 0;
    const uint32_t needed = (size + header + alignment - 1) & ~(alignment - 1);
    return needed < smallest_chunk() ? smallest_chunk() : needed;
}

static bool is_free_at(const model *m, size_t i) {
    return i < m->list.count && !m->list.chunks[i].is_used;
}

/* True if the top lies in a chunk, or its place at one of the chunk's ends. */
static bool has_top(const model *m, size_t i) {
    return m->list.chunks[i].start <= m->top &&
           m->top_end <= m->list.chunks[i].start + m->list.chunks[i].size;
}

static void use_chunk(model *m, size_t i, uint32_t needed) {
    const bool had_top = has_top(m, i);
    const uint32_t end = m->list.chunks[i].start + m->list.chunks[i].size;
    m->list.chunks[i].is_used = true;
    if (m->list.chunks[i].size - needed >= smallest_chunk()) {
        cut(&m->list, i, needed);
    }
    if (had_top) {
        m->top = m->list.chunks[i].start + m->list.chunks[i].size;
        m->top_end = end;
    }
}

/* Uses the last bytes of the top, which is chunk `i`. */
static size_t use_last(model *m, size_t i, uint32_t needed) {
    const uint32_t left = m->list.chunks[i].size - needed;
    if (left < smallest_chunk()) {
        use_chunk(m, i, needed);
        return i;
    }
    cut(&m->list, i, left);
    m->list.chunks[i + 1].is_used = true;
    m->top_end -= needed;
    return i + 1;
}

static void release_chunk(model *m, size_t i) {
    if (is_free_at(m, i + 1)) {
        join_with_next(&m->list, i);
    }
    if (i > 0 && is_free_at(m, i - 1)) {
        join_with_next(&m->list, --i);
    }
    m->list.chunks[i].is_used = false;
    m->list.chunks[i].freed = ++m->list.now;
    if (has_top(m, i)) {
        m->top = m->list.chunks[i].start;
        m->top_end = m->top + m->list.chunks[i].size;
    }
}

/* Small chunks of one size go out the last freed first, others the first freed first. */
static bool is_better(const chunk *a, const chunk *b) {
    if (a->size != b->size) {
        return a->size < b->size;
    }
    return a->size < LIST_LIMIT * plan->alignment ? a->freed > b->freed : a->freed < b->freed;
}

/* The number of a chunk's class, found by counting up one by one. */
static uint32_t class_in_model(uint32_t size) {
    const uint32_t granules = size / plan->alignment;
    uint32_t class = 0;
    for (uint32_t least = 1; least <= granules; class ++) {
        uint32_t step = 1;
        while (step * 8 <= least) {
            step *= 2;
        }
        least += least < 16 ? 1 : step;
    }
    return class;
}

/* True if a chunk is in the index and beside the top as told. */
static bool is_beside_top(const model *m, size_t i, bool above) {
    const chunk *c = &m->list.chunks[i];
    return !c->is_used && c->start != m->top && (c->start > m->top) == above;
}

/* The chunk of a class below `limit` that was freed last, or m->list.count. */
static size_t freed_last(const model *m, uint32_t class, bool above, uint64_t limit) {
    size_t last = m->list.count;
    for (size_t i = 0; i < m->list.count; i++) {
        const chunk *c = &m->list.chunks[i];
        if (is_beside_top(m, i, above) && class_in_model(c->size) == class && c->freed < limit &&
            (last == m->list.count || c->freed > m->list.chunks[last].freed)) {
            last = i;
        }
    }
    return last;
}

/* Good fit: of its own class the first that will do of the last few freed, else of the next class
 * that has a chunk the last one freed. */
static size_t good_beside_top(const model *m, uint32_t needed, bool above) {
    const uint32_t class = class_in_model(needed);
    uint64_t limit = UINT64_MAX;
    uint32_t next = UINT32_MAX;
    for (int i = 0; i < LOOKED_AT; i++) {
        const size_t own = freed_last(m, class, above, limit);
        if (own == m->list.count || m->list.chunks[own].size >= needed) {
            if (own != m->list.count) {
                return own;
            }
            break;
        }
        limit = m->list.chunks[own].freed;
    }
    for (size_t i = 0; i < m->list.count; i++) {
        const uint32_t larger = class_in_model(m->list.chunks[i].size);
        next = is_beside_top(m, i, above) && larger > class && larger < next ? larger : next;
    }
    return freed_last(m, next, above, UINT64_MAX);
}

/* Best fit: the best chunk below the top or above it, m->list.count if there is none. */
static size_t best_beside_top(const model *m, uint32_t needed, bool above) {
    size_t best = m->list.count;
    if (settings.index == HFIT_TAILORED_GOOD_FIT) {
        return good_beside_top(m, needed, above);
    }
    for (size_t i = 0; i < m->list.count; i++) {
        const chunk *c = &m->list.chunks[i];
        if (is_beside_top(m, i, above) && c->size >= needed &&
            (best == m->list.count || is_better(c, &m->list.chunks[best]))) {
            best = i;
        }
    }
    return best;
}

/* True if the plan leaves the chunk alone while the top serves. */
static bool is_left_alone(const chunk *c, uint32_t needed) {
    return settings.hole_limit != 0 && c->size > (uint64_t)needed * settings.hole_limit;
}

/* The chunk that a request must get: of its side, else the top, else one of its side that is left
 * alone otherwise, else of the other side; m->list.count if there is none. */
static size_t best_for(const model *m, uint32_t needed, bool high) {
    const size_t best = best_beside_top(m, needed, high);
    const bool is_passed = best == m->list.count || is_left_alone(&m->list.chunks[best], needed);
    if (is_passed && m->top_end - m->top >= needed) {
        return index_of(&m->list, m->top);
    }
    return best == m->list.count ? best_beside_top(m, needed, !high) : best;
}

/* True if the plan says that chunks of this size, asked for with this tag, are cut from the top's
 * end. */
static bool is_high_in_model(uint32_t needed, uint32_t tag) {
    const uint64_t by_class = (uint64_t)settings.high_1 << 32 | settings.high_0;
    const uint32_t class = class_in_model(needed);
    const bool is_known = tag >= 1 && tag <= settings.tags;
    const uint64_t high =
        is_known ? settings.tag_high >> tag : by_class >> (class < 64 ? class : 63);
    return settings.ends == 2 && (high & 1) != 0;
}

static uint32_t model_alloc(model *m, uint32_t size, uint32_t tag) {
    const uint32_t needed = chunk_for(size);
    const bool high = is_high_in_model(needed, tag);
    size_t i = best_for(m, needed, high);
    if (i == m->list.count) {
        return 0;
    }
    if (high && m->list.chunks[i].start == m->top) {
        i = use_last(m, i, needed);
    } else {
        use_chunk(m, i, needed);
    }
    return m->list.chunks[i].start;
}

/* Bytes to the first aligned address: none, or enough for a chunk. */
static uint32_t gap_at(uint32_t start, uint32_t alignment) {
    uint32_t gap = (0u - start) & (alignment - 1);
    while (gap != 0 && gap < smallest_chunk()) {
        gap += alignment;
    }
    return gap;
}

/* The best chunk with room for any gap; failing that the top, if it has room for its own. */
static uint32_t model_alloc_aligned(model *m, uint32_t alignment, uint32_t size) {
    const uint32_t needed = chunk_for(size);
    size_t i = best_for(m, needed + alignment + smallest_chunk() - plan->alignment,
                        is_high_in_model(needed, 0));
    if (i == m->list.count) {
        if (gap_at(m->top, alignment) + needed > m->top_end - m->top) {
            return 0;
        }
        i = index_of(&m->list, m->top);
    }
    const uint32_t gap = gap_at(m->list.chunks[i].start, alignment);
    if (gap != 0) {
        m->list.chunks[i].freed = ++m->list.now;
        m->top += m->list.chunks[i].start == m->top ? gap : 0;
        cut(&m->list, i++, gap);
    }
    use_chunk(m, i, needed);
    return m->list.chunks[i].start;
}

static void model_free(model *m, uint32_t start) {
    release_chunk(m, index_of(&m->list, start));
}

/* Joins chunk `i` with its free neighbours, of those before it only if told so; returns the bytes
 * that this gives or would give. */
static uint32_t room_around(const model *m, size_t i, bool before) {
    return m->list.chunks[i].size + (is_free_at(m, i + 1) ? m->list.chunks[i + 1].size : 0) +
           (before && i > 0 && is_free_at(m, i - 1) ? m->list.chunks[i - 1].size : 0);
}

static void shrink_chunk(model *m, size_t i, uint32_t needed) {
    const uint32_t left = m->list.chunks[i].size - needed;
    if (left >= smallest_chunk() || (left != 0 && is_free_at(m, i + 1))) {
        cut(&m->list, i, needed);
        release_chunk(m, i + 1);
    }
}

static uint32_t model_resize(model *m, uint32_t start, uint32_t size) {
    const uint32_t needed = chunk_for(size);
    size_t i = index_of(&m->list, start);
    if (needed <= m->list.chunks[i].size) {
        shrink_chunk(m, i, needed);
        return start;
    }
    const bool grows = needed <= room_around(m, i, false);
    const uint32_t moved = grows ? 0 : model_alloc(m, size, 0);
    if (moved != 0) {
        model_free(m, start);
        return moved;
    }
    i = index_of(&m->list, start);
    if (needed > room_around(m, i, true)) {
        return 0;
    }
    if (is_free_at(m, i + 1)) {
        join_with_next(&m->list, i);
    }
    if (!grows && is_free_at(m, i - 1)) {
        join_with_next(&m->list, --i);
    }
    use_chunk(m, i, needed);
    return m->list.chunks[i].start;
}

/* ---- The heap under test. ---- */

static hfit_heap *start_with(hfit_tailored_plan own, size_t region_size) {
    settings = own;
    hfit_heap *heap = hfit_tailored_init(region, region_size, plan);
    CHECK(heap != NULL);
    return heap;
}

static hfit_tailored_plan plan_of(uint32_t alignment, uint32_t layout, uint32_t index,
                                  uint32_t ends, uint32_t high) {
    return (hfit_tailored_plan){
        .common = {alignment},
        .ends = ends,
        .high_0 = high,
        .high_1 = high,
        .layout = layout,
        .index = index,
    };
}

static hfit_heap *start_heap(uint32_t alignment, size_t region_size) {
    return start_with((hfit_tailored_plan){.common = {alignment}, .ends = 1}, region_size);
}

static uint32_t offset_at(const void *block) {
    return block == NULL ? 0 : (uint32_t)((const unsigned char *)block - region);
}

/* The tag that a step's request comes with: none, known to the plan or not. */
static uint32_t tag_of(step s) {
    return s.kind < 2 ? 0 : s.size % 41;
}

static void *alloc_for(hfit_heap *heap, step s) {
    const uint32_t tag = tag_of(s);
    return tag == 0 ? hfit_tailored_alloc(heap, plan, s.size)
                    : hfit_tailored_alloc_at(heap, plan, s.size, tag);
}

/* One step on the heap; where its block lies now, 0 if nowhere. */
static uint32_t do_step(hfit_heap *heap, step s, uint32_t start) {
    if (start == 0) {
        return offset_at(s.kind == 0 ? hfit_tailored_alloc_aligned(heap, plan, s.alignment, s.size)
                                     : alloc_for(heap, s));
    }
    if (s.kind < 2) {
        const void *moved = hfit_tailored_resize(heap, plan, region + start, s.size);
        return moved == NULL ? start : offset_at(moved);
    }
    hfit_tailored_free(heap, plan, region + start);
    return 0;
}

static uint32_t model_step(model *m, step s, uint32_t start) {
    if (start == 0) {
        return s.kind == 0 && s.alignment > plan->alignment
                   ? model_alloc_aligned(m, s.alignment, s.size)
                   : model_alloc(m, s.size, tag_of(s));
    }
    if (s.kind < 2) {
        const uint32_t moved = model_resize(m, start, s.size);
        return moved == 0 ? start : moved;
    }
    model_free(m, start);
    return 0;
}

static void compare_steps(hfit_tailored_plan own, uint32_t region_size, uint32_t most, int steps) {
    hfit_heap *heap = start_with(own, region_size);
    static model m;
    uint32_t starts[BLOCKS] = {0};
    model_start(&m, load_word(heap, CHUNKS_FIRST) * plan->alignment, region_size);
    random_state = plan->alignment;
    for (int i = 0; i < steps / STEPS_SHARE; i++) {
        uint32_t *start = &starts[random_below(BLOCKS)];
        const step s = random_step(most);
        const uint32_t expected = model_step(&m, s, *start);
        *start = do_step(heap, s, *start);
        CHECK(*start == expected);
        CHECK(i % 16 != 0 || hfit_tailored_check(heap, plan));
    }
    CHECK(misuse_count == 0);
}

/* The least alignment of a layout. */
static uint32_t least_of(uint32_t layout) {
    return layout == HFIT_TAILORED_PAIRS ? 8 : 4;
}

/* One or two ends; with two, some classes of lists and of tries are cut from the top's end. */
static void compare_heaps(uint32_t layout, uint32_t index, uint32_t ends, uint32_t hole_limit) {
    for (uint32_t alignment = least_of(layout); alignment <= 16; alignment *= 2) {
        const hfit_tailored_plan own = {{alignment}, ends, 0x0f3a5a5c, 0x5a5a0f0f, layout,
                                        index,       20,   0x3c5a96e1, hole_limit};
        compare_steps(own, 48 * 1024, 3000, 40000);       /* full */
        compare_steps(own, 256 * 1024, 9000, 10000);      /* not */
        compare_steps(own, sizeof region, 4 << 20, 1000); /* long */
    }
}

TEST(every_step_takes_the_smallest_chunk_that_will_do) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 1, 0);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 1, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_EXACT, 1, 0);
}

TEST(with_two_ends_every_step_takes_the_smallest_of_its_side_then_the_top) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 2, 0);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 2, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_EXACT, 2, 0);
}

TEST(a_good_fit_takes_the_last_freed_of_its_class_or_of_the_next) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_GOOD_FIT, 1, 0);
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_GOOD_FIT, 2, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_GOOD_FIT, 2, 0);
}

/* Sees that an address is refused and nothing changes. */
static void check_refused(hfit_heap *heap, unsigned char *address) {
    const uint32_t misuses = misuse_count;
    hfit_tailored_free(heap, plan, address);
    CHECK(misuse_count == misuses + 1);
    CHECK(hfit_tailored_usable_size(heap, plan, address) == 0);
    CHECK(hfit_tailored_resize(heap, plan, address, 1) == NULL);
    CHECK(misuse_count == misuses + 3);
}

/* Tries every address of the region but those of live blocks. */
static void check_all_refused(hfit_heap *heap, const uint32_t *starts, size_t region_size) {
    static bool is_live[4096];
    static unsigned char before[4096];
    memset(is_live, false, sizeof is_live);
    for (size_t i = 0; i < BLOCKS; i++) {
        is_live[starts[i]] = true;
    }
    memcpy(before, region, region_size);
    for (uint32_t i = 1; i < region_size; i++) {
        if (!is_live[i]) {
            check_refused(heap, region + i);
        }
    }
    CHECK(memcmp(before, region, region_size) == 0);
    misuse_count = 0;
}

TEST(a_chunk_beyond_the_limit_is_left_while_the_top_serves) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 1, 1);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 2, 3);
}

/* Used blocks hold what free chunks and control words hold: no byte of a block is believed. */
static void check_blocks_are_not_believed(uint32_t layout) {
    for (uint32_t alignment = least_of(layout); alignment <= 16; alignment *= 2) {
        uint32_t starts[BLOCKS] = {0};
        hfit_heap *heap = start_with(plan_of(alignment, layout, 0, 1, 0), 4096);
        random_state = alignment;
        for (int i = 0; i < 4000; i++) {
            uint32_t *start = &starts[random_below(BLOCKS)];
            *start = do_step(heap, random_step(i < 2000 ? 200 : 1500), *start);
            if (*start != 0) {
                const size_t usable = hfit_tailored_usable_size(heap, plan, region + *start);
                const uint32_t from = random_below((uint32_t)(4096 - usable));
                memmove(region + *start, region + from, usable);
            }
            if (i % 200 == 0) {
                check_all_refused(heap, starts, 4096);
            }
        }
        CHECK(hfit_tailored_check(heap, plan));
    }
}

TEST(only_live_addresses_are_taken_whatever_blocks_hold) {
    check_blocks_are_not_believed(HFIT_TAILORED_MAP);
    check_blocks_are_not_believed(HFIT_TAILORED_PAIRS);
}

static int told_of(hfit_heap *heap, unsigned char *address) {
    misuse_kind = -1;
    hfit_tailored_free(heap, plan, address);
    misuse_count = 0;
    return misuse_kind;
}

TEST(what_is_inside_a_block_is_foreign_and_what_was_one_not_live) {
    hfit_heap *heap = start_heap(8, 4096);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 160);
    CHECK(hfit_tailored_alloc(heap, plan, 8) != NULL);
    CHECK(told_of(heap, block + 8) == HFIT_MISUSE_FOREIGN);
    CHECK(told_of(heap, block + 80) == HFIT_MISUSE_FOREIGN);
    hfit_tailored_free(heap, plan, block);
    CHECK(told_of(heap, block) == HFIT_MISUSE_NOT_LIVE);
}

/* The list's next chunk would be looked for at whatever the bad head leads to. */
TEST(a_list_that_leads_astray_is_told_and_followed_no_further) {
    static unsigned char before[4096];
    hfit_tailored_plan own = {.common = {8}, .ends = 1, .index = HFIT_TAILORED_GOOD_FIT};
    hfit_heap *heap = start_with(own, sizeof before);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 160);
    CHECK(block != NULL && hfit_tailored_alloc(heap, plan, 8) != NULL);
    hfit_tailored_free(heap, plan, block);
    const uint32_t head = word_of(plan, class_of(plan, 160 / 8), false);
    const uint32_t first = load_link(heap, head);
    CHECK(first == entry_of(plan, (uint32_t)(block - region) / 8));
    for (uint32_t off = 1; off < 8; off++) {
        store_link(heap, head, first + off);
        memcpy(before, region, sizeof before);
        CHECK(hfit_tailored_alloc(heap, plan, 160) == NULL);
        CHECK(misuse_count == 1 && misuse_kind == HFIT_MISUSE_DAMAGED);
        CHECK(memcmp(before, region, sizeof before) == 0);
        misuse_count = 0;
    }
    store_link(heap, head, first);
    CHECK(hfit_tailored_alloc(heap, plan, 160) == block);
}

/* A block at each end of the region's blocks but few granules in between: the rest is 0. */
TEST(a_block_grows_to_either_side_where_nothing_else_will_do) {
    hfit_heap *heap = start_heap(8, 4096);
    unsigned char *before = hfit_tailored_alloc(heap, plan, 1000);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 1000);
    unsigned char *behind = hfit_tailored_alloc(heap, plan, 800);
    unsigned char *last = hfit_tailored_alloc(heap, plan, 900);
    CHECK(before != NULL && last != NULL);
    for (size_t i = 0; i < 1000; i++) {
        block[i] = (unsigned char)(i * 7);
    }
    hfit_tailored_free(heap, plan, before);
    CHECK(hfit_tailored_resize(heap, plan, block, 2001) == NULL);
    hfit_tailored_free(heap, plan, behind);
    CHECK(hfit_tailored_resize(heap, plan, block, 1800) == block);
    CHECK(hfit_tailored_resize(heap, plan, block, 2800) == before);
    for (size_t i = 0; i < 1000; i++) {
        CHECK(before[i] == (unsigned char)(i * 7));
    }
    CHECK(hfit_tailored_check(heap, plan));
    CHECK(hfit_tailored_usable_size(heap, plan, before) == 2800);
}

TEST(an_aligned_block_may_take_the_regions_last_byte) {
    hfit_heap *heap = start_heap(8, 4096);
    const size_t first = hfit_tailored_footprint(heap, plan);
    CHECK(first < 256 && 256 - first >= 16);
    CHECK(hfit_tailored_alloc_aligned(heap, plan, 256, 4096 - 256 + 1) == NULL);
    CHECK(hfit_tailored_alloc_aligned(heap, plan, 256, 4096 - 256) == region + 256);
    CHECK(hfit_tailored_footprint(heap, plan) == 4096);
}

/* ---- The bound of docs/decisions/0012-a-heap-without-headers.md. ---- */

typedef struct bound {
    uint32_t alloc;
    uint32_t free;
    uint32_t resize;
} bound;

/* Loads that a call may take where chunks have at most `largest` granules. */
static bound bound_for(uint32_t largest) {
    const bool is_exact = settings.index == HFIT_TAILORED_EXACT;
    static const uint32_t searches[] = {11, 6, 14}; /* by layout */
    static const uint32_t markings[] = {3, 2, 5};
    const uint32_t walk = is_exact ? 6 * (32u - (uint32_t)__builtin_clz(largest)) : 0;
    const uint32_t search = searches[settings.layout];
    const uint32_t marking = markings[settings.layout];
    bound b;
    b.alloc = (2 * settings.ends + 2) * walk + search + 2 * marking + (is_exact ? 50 : 70);
    b.free = 3 * walk + 3 * search + 4 * marking + 60;
    b.resize = b.alloc + b.free + 3 * search + 30;
    return b;
}

static uint32_t worst_loads;

static void check_loads(uint32_t most) {
    CHECK(loads <= most);
    worst_loads = loads > worst_loads ? loads : worst_loads;
    loads = 0;
}

/* Thousands of holes of all sizes, then calls that search, fill, move and join them. */
static void check_all_loads(hfit_tailored_plan own) {
    enum { COUNT = 5000, LARGEST = 4096 };
    static unsigned char *blocks[2 * COUNT];
    hfit_heap *heap = start_with(own, sizeof region);
    const bound shorter = bound_for(LARGEST / 8);
    const bound longest = bound_for(sizeof region / 8);
    random_state = 1;
    for (size_t i = 0; i < 2 * COUNT; i++) {
        blocks[i] = hfit_tailored_alloc(heap, plan, i % 2 == 0 ? random_below(LARGEST) : 1);
        CHECK(blocks[i] != NULL);
    }
    loads = 0;
    worst_loads = 0;
    for (size_t i = 0; i < 2 * COUNT; i += 2) {
        hfit_tailored_free(heap, plan, blocks[i]);
        check_loads(shorter.free);
    }
    for (size_t i = 0; i < COUNT / 2; i++) {
        blocks[2 * i] = hfit_tailored_alloc(heap, plan, random_below(LARGEST));
        CHECK(blocks[2 * i] != NULL);
        check_loads(shorter.alloc);
    }
    CHECK(worst_loads > shorter.alloc / 5); /* the bound is no idle one */
    for (size_t i = 0; i < COUNT / 2; i++) {
        blocks[2 * i] = hfit_tailored_resize(heap, plan, blocks[2 * i], random_below(LARGEST));
        CHECK(blocks[2 * i] != NULL);
        check_loads(shorter.resize);
    }
    for (size_t i = 1; i < 2 * COUNT; i += 2) {
        hfit_tailored_free(heap, plan, blocks[i]);
        check_loads(longest.free);
    }
}

TEST(no_call_takes_more_loads_than_derived) {
    for (uint32_t ends = 1; ends <= 2; ends++) {
        for (uint32_t layout = 0; layout <= HFIT_TAILORED_PAIRS; layout++) {
            const uint32_t high = 0xf0f0f0f0; /* classes of either end in turn */
            check_all_loads(plan_of(8, layout, HFIT_TAILORED_EXACT, ends, high));
            if (layout != HFIT_TAILORED_HEADERS) {
                check_all_loads(plan_of(8, layout, HFIT_TAILORED_GOOD_FIT, ends, high));
            }
        }
    }
}

TEST(control_words_scale_with_the_region) {
    static const size_t regions[][2] = {{512, 88}, {4096, 152}, {16384, 352}, {1 << 20, 16256}};
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const hfit_heap *heap = start_heap(8, regions[i][0]);
        CHECK(hfit_tailored_footprint(heap, plan) == regions[i][1]);
    }
}

/* Of alignment 4, two ends, a map and good fit that is 248 bytes; at 256 a power of two more needs
 * more words of the index than the region gives. */
TEST(every_region_from_the_smallest_on_is_taken) {
    for (uint32_t number = 0; number < 3 * 3 * 2 * 2; number++) {
        settings = plan_of(4u << number % 3, number / 3 % 3, number / 9 % 2, 1 + number / 18, 0);
        if (plan->alignment < least_of(settings.layout) ||
            (settings.layout == HFIT_TAILORED_HEADERS && settings.index != HFIT_TAILORED_EXACT)) {
            CHECK(hfit_tailored_smallest_region(plan) == 0);
            continue;
        }
        const size_t smallest = hfit_tailored_smallest_region(plan);
        CHECK(hfit_tailored_init(region, smallest - 1, plan) == NULL);
        for (size_t size = smallest; size < smallest + 2048; size++) {
            hfit_heap *heap = hfit_tailored_init(region, size, plan);
            CHECK(heap != NULL && hfit_tailored_check(heap, plan));
            CHECK(hfit_tailored_alloc(heap, plan, 1) != NULL);
        }
    }
}

RUN_TESTS()
