/* SPDX-License-Identifier: Apache-2.0 */
/* Best fit: the smallest chunk that will do at every step, compared with the model; the source is
 * included so that its loads can be counted. */
#include <stdint.h>

static uint32_t loads;
#define HFIT_ON_LOAD(heap, offset) ((void)(heap), (void)(offset), (void)loads++)
#include "contract_config.h" /* which counts loads by another rule unless this is there */

#include "best_fit_model.h"
#include "random_steps.h"

#include "src/tiling/best_fit.c"

enum { BLOCKS = 200 };

static _Alignas(4096) unsigned char region[24 << 20];

static hfit_plan plan = {8};

static hfit_heap *start_heap(uint32_t alignment, size_t region_size) {
    plan.alignment = alignment;
    hfit_heap *heap = hfit_best_fit_init(region, region_size, &plan);
    CHECK(heap != NULL);
    return heap;
}

/* Offset of the chunk that `block` is the payload of, 0 for NULL. */
static uint32_t chunk_of(const void *block) {
    return block == NULL ? 0 : (uint32_t)((const unsigned char *)block - region) - HEADER;
}

static unsigned char *block_of(uint32_t start) {
    return region + start + HEADER;
}

/* One random step on `heap`; where its block lies now, 0 if nowhere. */
static uint32_t do_step(hfit_heap *heap, step s, uint32_t start) {
    if (start == 0) {
        return chunk_of(s.kind == 0 ? hfit_best_fit_alloc_aligned(heap, &plan, s.alignment, s.size)
                                    : hfit_best_fit_alloc(heap, &plan, s.size));
    }
    if (s.kind == 0) {
        const void *moved = hfit_best_fit_resize(heap, &plan, block_of(start), s.size);
        return moved == NULL ? start : chunk_of(moved);
    }
    hfit_best_fit_free(heap, &plan, block_of(start));
    return 0;
}

static uint32_t model_step(model *m, step s, uint32_t start) {
    if (start == 0) {
        return s.kind == 0 && s.alignment > m->alignment
                   ? model_alloc_aligned(m, s.alignment, s.size)
                   : model_alloc(m, s.size);
    }
    if (s.kind == 0) {
        const uint32_t moved = model_resize(m, start, s.size);
        return moved == 0 ? start : moved;
    }
    model_free(m, start);
    return 0;
}

static void compare_steps(uint32_t alignment, uint32_t region_size, uint32_t most, int steps) {
    static model m;
    uint32_t starts[BLOCKS] = {0};
    hfit_heap *heap = start_heap(alignment, region_size);
    model_start(&m, alignment, (uint32_t)hfit_best_fit_footprint(heap, &plan) - HEADER,
                region_size - HEADER);
    random_state = alignment;
    for (int i = 0; i < steps / STEPS_SHARE; i++) {
        uint32_t *start = &starts[random_below(BLOCKS)];
        const step s = random_step(most);
        const uint32_t expected = model_step(&m, s, *start);
        *start = do_step(heap, s, *start);
        CHECK(*start == expected);
        CHECK(hfit_best_fit_check(heap, &plan));
    }
    CHECK(misuse_count == 0);
}

TEST(every_step_takes_the_smallest_chunk_that_will_do) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        compare_steps(alignment, 48 * 1024, 3000, 100000);       /* often full */
        compare_steps(alignment, 256 * 1024, 9000, 100000);      /* never full */
        compare_steps(alignment, sizeof region, 4 << 20, 10000); /* the last trie, too */
    }
}

static uint32_t run_in(uint32_t alignment, size_t region_size, uint32_t *starts, int steps) {
    hfit_heap *heap = start_heap(alignment, region_size);
    uint32_t live[BLOCKS] = {0};
    random_state = alignment + 1;
    for (int i = 0; i < steps; i++) {
        uint32_t *start = &live[random_below(BLOCKS)];
        *start = do_step(heap, random_step(2000), *start);
        starts[i] = *start;
    }
    return (uint32_t)hfit_best_fit_footprint(heap, &plan);
}

TEST(placements_do_not_depend_on_the_regions_end) {
    enum { STEPS = 5000 };
    static uint32_t wide[STEPS];
    static uint32_t narrow[STEPS];
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        for (int steps = 50; steps <= STEPS; steps += 330) {
            const uint32_t footprint = run_in(alignment, sizeof region, wide, steps);
            CHECK(run_in(alignment, footprint, narrow, steps) == footprint);
            CHECK(memcmp(wide, narrow, (size_t)steps * sizeof *wide) == 0);
        }
    }
}

/* Blocks of `sizes`, each with a used one behind it, and then the rest of the region taken. */
static void fill(hfit_heap *heap, const uint32_t *sizes, void **blocks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        blocks[i] = hfit_best_fit_alloc(heap, &plan, sizes[i]);
        CHECK(blocks[i] != NULL && hfit_best_fit_alloc(heap, &plan, 1) != NULL);
    }
    for (size_t size = sizeof region; size > 0; size /= 2) {
        while (hfit_best_fit_alloc(heap, &plan, size) != NULL) {
        }
    }
}

/* The next order of the numbers below `count`; false after the last. */
static bool next_order(size_t *order, size_t count) {
    size_t i = count - 1;
    while (i > 0 && order[i - 1] >= order[i]) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    size_t j = count - 1;
    while (order[j] <= order[i - 1]) {
        j--;
    }
    const size_t pivot = order[i - 1];
    order[i - 1] = order[j];
    order[j] = pivot;
    for (j = count - 1; i < j; i++, j--) {
        const size_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    return true;
}

enum { ORDERED = 6 };

/* Frees in the order told, then asks for one byte more than the chunk below each size has: each
 * answer must be the block of that size, whatever was taken before. */
static void check_order(const uint32_t *sizes, const size_t *order) {
    void *blocks[ORDERED];
    hfit_heap *heap = start_heap(8, 64 * 1024);
    fill(heap, sizes, blocks, ORDERED);
    for (size_t i = 0; i < ORDERED; i++) {
        hfit_best_fit_free(heap, &plan, blocks[order[i]]);
        CHECK(hfit_best_fit_check(heap, &plan));
    }
    for (size_t i = ORDERED; i-- > 0;) { /* the order in which they go is another one */
        const size_t at = order[(i + 3) % ORDERED];
        CHECK(hfit_best_fit_alloc(heap, &plan, sizes[at] - 7) == blocks[at]);
        CHECK(hfit_best_fit_check(heap, &plan));
    }
    CHECK(hfit_best_fit_alloc(heap, &plan, sizes[0]) == NULL);
}

TEST(any_order_of_freeing_gives_the_best_fits) {
    /* Chunks of 256 to 504 B: one trie. Neighbours, halves, the ends. */
    static const uint32_t sizes[][ORDERED] = {
        {252, 260, 268, 276, 284, 292},
        {252, 316, 380, 388, 444, 500},
        {252, 372, 380, 388, 396, 500},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t order[ORDERED] = {0, 1, 2, 3, 4, 5};
        do {
            check_order(sizes[i], order);
        } while (next_order(order, ORDERED));
    }
}

TEST(a_size_beside_a_tries_bound_finds_its_own_chunk) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        for (uint32_t bound = 32; bound <= 4u << 20; bound *= 2) {
            const uint32_t sizes[] = {bound + alignment - HEADER, bound - HEADER,
                                      bound - alignment - HEADER};
            void *blocks[3];
            hfit_heap *heap = start_heap(alignment, sizeof region);
            fill(heap, sizes, blocks, 3);
            for (size_t i = 0; i < 3; i++) {
                hfit_best_fit_free(heap, &plan, blocks[i]);
            }
            for (size_t i = 0; i < 3; i++) {
                CHECK(hfit_best_fit_alloc(heap, &plan, sizes[i]) == blocks[i]);
                CHECK(hfit_best_fit_check(heap, &plan));
            }
        }
    }
}

/* Frees three chunks of one size, first to last, and stores in which order they go out again. */
static void order_of_equals(uint32_t size, size_t *order) {
    const uint32_t sizes[] = {size, size, size};
    void *blocks[3];
    hfit_heap *heap = start_heap(8, 64 * 1024);
    fill(heap, sizes, blocks, 3);
    for (size_t i = 0; i < 3; i++) {
        hfit_best_fit_free(heap, &plan, blocks[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        const void *block = hfit_best_fit_alloc(heap, &plan, size);
        order[i] = block == blocks[0] ? 0 : block == blocks[1] ? 1 : 2;
        CHECK(block == blocks[order[i]]);
    }
}

TEST(of_equal_chunks_a_bin_gives_the_last_freed_and_a_trie_the_first) {
    size_t order[3];
    order_of_equals(100, order);
    CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
    order_of_equals(200, order);
    CHECK(order[0] == 0 && order[1] == 1 && order[2] == 2);
}

TEST(the_top_is_used_only_if_nothing_else_will_do) {
    hfit_heap *heap = start_heap(8, 20000);
    void *large = hfit_best_fit_alloc(heap, &plan, 15000);
    CHECK(hfit_best_fit_alloc(heap, &plan, 1) != NULL);
    const size_t footprint = hfit_best_fit_footprint(heap, &plan);
    hfit_best_fit_free(heap, &plan, large);
    CHECK(hfit_best_fit_alloc(heap, &plan, 100) == large); /* the top would fit tighter */
    CHECK(hfit_best_fit_footprint(heap, &plan) == footprint);
}

TEST(a_block_grows_into_the_top_to_the_regions_last_byte) {
    hfit_heap *heap = start_heap(8, 4096);
    void *block = hfit_best_fit_alloc(heap, &plan, 8);
    const size_t all = 4096 - HEADER - (chunk_of(block) + HEADER);
    CHECK(hfit_best_fit_resize(heap, &plan, block, all + 1) == NULL);
    CHECK(hfit_best_fit_resize(heap, &plan, block, all) == block);
    CHECK(hfit_best_fit_usable_size(heap, &plan, block) == all);
    CHECK(hfit_best_fit_footprint(heap, &plan) == 4096);
}

TEST(an_aligned_block_may_take_the_regions_last_byte) {
    hfit_heap *heap = start_heap(8, 4096);
    const size_t all = 4096 - HEADER - 256;
    CHECK(hfit_best_fit_alloc_aligned(heap, &plan, 256, all + 1) == NULL);
    CHECK(hfit_best_fit_alloc_aligned(heap, &plan, 256, all) == region + 256);
    CHECK(hfit_best_fit_footprint(heap, &plan) == 4096);
}

/* Loads that one call may take: four walks of at most so many chunks, and what is constant. A step
 * of a walk loads up to 6 words, 3 of them to check. */
static uint32_t loads_for(uint32_t largest_chunk) {
    const uint32_t longest_walk = 31u - (uint32_t)__builtin_clz(largest_chunk) - 3 + 1;
    return 60 + 4 * 6 * longest_walk;
}

static void check_loads(uint32_t most) {
    CHECK(loads <= most);
    loads = 0;
}

TEST(no_call_walks_farther_than_sizes_have_bits) {
    enum { COUNT = 5000, LARGEST = 4096 };
    static void *blocks[2 * COUNT];
    hfit_heap *heap = start_heap(8, sizeof region);
    random_state = 1;
    for (size_t i = 0; i < 2 * COUNT; i++) {
        blocks[i] = hfit_best_fit_alloc(heap, &plan, i % 2 == 0 ? random_below(LARGEST) : 1);
        CHECK(blocks[i] != NULL);
    }
    loads = 0;
    for (size_t i = 0; i < 2 * COUNT; i += 2) {
        hfit_best_fit_free(heap, &plan, blocks[i]);
        check_loads(loads_for(LARGEST));
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(hfit_best_fit_alloc(heap, &plan, random_below(LARGEST)) != NULL);
        check_loads(loads_for(LARGEST));
    }
    for (size_t i = 1; i < 2 * COUNT; i += 2) {
        hfit_best_fit_free(heap, &plan, blocks[i]);
        check_loads(loads_for(sizeof region));
    }
}

TEST(one_block_needs_a_region_of_160_bytes) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        const hfit_plan some = {alignment};
        CHECK(hfit_best_fit_smallest_region(&some) == 160);
        hfit_heap *heap = start_heap(alignment, 160);
        CHECK(hfit_best_fit_alloc(heap, &plan, 12) != NULL);
    }
}

/* A link of a free chunk, counted in words from its header. */
enum { NEXT = 1, PREVIOUS = 2, SLOT = 5 };

/* Frees a chunk of `size` bytes, makes one of its links lead elsewhere, and sees that neither a
 * free next to it nor a request that it would serve changes anything. */
static void check_damage_is_refused(uint32_t size, size_t word, uint32_t link) {
    const uint32_t value = ~link; /* as links stand from safety level 1 on */
    static unsigned char before[4096];
    hfit_heap *heap = start_heap(8, sizeof before);
    void *block = hfit_best_fit_alloc(heap, &plan, size);
    void *next = hfit_best_fit_alloc(heap, &plan, 40);
    CHECK(block != NULL && next != NULL && hfit_best_fit_alloc(heap, &plan, 40) != NULL);
    hfit_best_fit_free(heap, &plan, block);
    memcpy((unsigned char *)block - HEADER + 4 * word, &value, sizeof value);
    memcpy(before, region, sizeof before);
    misuse_count = 0;
    hfit_best_fit_free(heap, &plan, next);
    CHECK(misuse_count == 1);
    CHECK(hfit_best_fit_resize(heap, &plan, next, size) == NULL);
    CHECK(misuse_count == 2);
    CHECK(hfit_best_fit_alloc(heap, &plan, size) == NULL || misuse_count == 2);
    CHECK(misuse_count == 3 || word == SLOT);
    CHECK(!hfit_best_fit_check(heap, &plan));
    CHECK(word == SLOT || memcmp(before, region, sizeof before) == 0);
    misuse_count = 0;
}

TEST(a_free_chunk_that_was_written_to_is_told_before_it_is_used) {
    static const uint32_t values[] = {0xffffffff, 0xfffffffc, 0x41414141, 4092, 4088, 16, 3, 1024};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (uint32_t size = 40; size <= 400; size += 360) {
            check_damage_is_refused(size, NEXT, values[i]);
            check_damage_is_refused(size, PREVIOUS, values[i]);
        }
        check_damage_is_refused(400, SLOT, values[i]);
    }
}

TEST(an_empty_bin_that_was_written_to_is_found_though_its_map_says_so_too) {
    hfit_heap *heap = start_heap(8, 4096);
    const uint32_t class = bin_class(&plan, 64);
    CHECK(hfit_best_fit_check(heap, &plan) && load_link(heap, word_of(class)) == NO_OFFSET);
    store_link(heap, word_of(class), 1024);
    store_word(heap, CLASS_MAP, load_word(heap, CLASS_MAP) | 1u << class);
    CHECK(!hfit_best_fit_check(heap, &plan));
}

RUN_TESTS()
