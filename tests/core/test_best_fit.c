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
