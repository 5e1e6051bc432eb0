/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tiling refuses at safety level 1, seen through tlsf: each kind of misuse told as such,
 * and not a byte of the region changed.
 */
#include "contract_config.h"

#undef HFIT_ON_MISUSE
#define HFIT_ON_MISUSE(heap, kind, pointer) ((void)(heap), (void)(pointer), note_misuse(kind))

static void note_misuse(int kind);

#include "src/tiling/tlsf.c"

#include "check.h"

#include <string.h>

enum { REGION = 8192, NONE = -1, SIZE = 40, CHUNK = 48 };

static const hfit_tlsf_plan plan = {{8}, 3, 2};
static _Alignas(4096) unsigned char region[REGION];
static unsigned char before[REGION];
static hfit_heap *heap;
static int told; /* the kind of misuse that was told last */

static void note_misuse(int kind) {
    told = kind;
}

static void start(void) {
    heap = hfit_tlsf_init(region, REGION, &plan.common);
    told = NONE;
}

static unsigned char *get(size_t size) {
    unsigned char *block = hfit_tlsf_alloc(heap, &plan.common, size);
    CHECK(block != NULL);
    memset(block, 0x5a, size);
    return block;
}

static void give(void *block) {
    hfit_tlsf_free(heap, &plan.common, block);
    CHECK(told == NONE);
}

static uint32_t chunk_of(const unsigned char *block) {
    return (uint32_t)(block - region) - WORD_SIZE;
}

static uint32_t end_of(const unsigned char *block) {
    return chunk_of(block) + chunk_size(load_header(heap, chunk_of(block)));
}

static void damage(uint32_t word, uint32_t value) {
    store_word(heap, word, value);
    memcpy(before, region, REGION);
    told = NONE;
}

/* True if `kind`, and nothing else, came of the call before. */
static bool is_refused_as(int kind) {
    const bool is_told = told == kind;
    told = NONE;
    return is_told && memcmp(before, region, REGION) == 0;
}

/* True if `block` can be neither freed nor resized, which is told as `kind`. */
static bool is_kept_as(void *block, int kind) {
    hfit_tlsf_free(heap, &plan.common, block);
    const bool is_kept = is_refused_as(kind);
    return hfit_tlsf_resize(heap, &plan.common, block, 4 * SIZE) == NULL && is_refused_as(kind) &&
           is_kept;
}

/* True if `block` is refused whichever bit of a word is damaged. */
static bool is_kept_for_every_bit(void *block, uint32_t word) {
    const uint32_t value = load_word(heap, word);
    bool is_kept = true;
    for (uint32_t bit = 0; bit < 32; bit++) {
        damage(word, value ^ 1u << bit);
        is_kept &= is_kept_as(block, HFIT_MISUSE_DAMAGED);
    }
    damage(word, value);
    return is_kept;
}

TEST(addresses_of_no_block_are_foreign) {
    static uint64_t elsewhere[8];
    start();
    unsigned char *block = get(SIZE);
    memset(block, 0, SIZE);
    memcpy(before, region, REGION);
    CHECK(is_kept_as(elsewhere, HFIT_MISUSE_FOREIGN));
    CHECK(is_kept_as(region + REGION, HFIT_MISUSE_FOREIGN));
    CHECK(is_kept_as(block + 1, HFIT_MISUSE_FOREIGN));
    for (uint32_t offset = 0; offset < load_word(heap, TILING_FIRST); offset += 8) {
        CHECK(is_kept_as(region + offset, HFIT_MISUSE_FOREIGN));
    }
    for (size_t offset = 8; offset < SIZE; offset += 8) {
        CHECK(is_kept_as(block + offset, HFIT_MISUSE_FOREIGN));
    }
}

TEST(an_address_inside_a_block_is_refused_whatever_lies_there) {
    uint32_t random = 1;
    start();
    unsigned char *block = get(4096);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 4096; i++) {
            random = random * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
            block[i] = (unsigned char)(random >> 24);
        }
        memcpy(before, region, REGION);
        for (size_t offset = 8; offset < 4096; offset += 8) {
            hfit_tlsf_free(heap, &plan.common, block + offset);
            CHECK(told != NONE);
            told = NONE;
        }
        CHECK(memcmp(before, region, REGION) == 0);
    }
}

TEST(a_block_freed_twice_is_not_live_however_it_coalesced) {
    for (int neighbours = 0; neighbours < 4; neighbours++) {
        start();
        unsigned char *previous = get(SIZE);
        unsigned char *block = get(SIZE);
        unsigned char *next = get(SIZE);
        get(SIZE);
        if ((neighbours & 1) != 0) {
            give(previous);
        }
        if ((neighbours & 2) != 0) {
            give(next);
        }
        give(block);
        memcpy(before, region, REGION);
        CHECK(is_kept_as(block, HFIT_MISUSE_NOT_LIVE));
    }
}

TEST(a_neighbour_joined_later_leaves_a_freed_block_not_live) {
    start();
    unsigned char *previous = get(SIZE);
    unsigned char *block = get(SIZE);
    unsigned char *next = get(SIZE);
    get(SIZE);
    give(block);
    give(previous);
    give(next);
    memcpy(before, region, REGION);
    CHECK(is_kept_as(block, HFIT_MISUSE_NOT_LIVE));
    CHECK(is_kept_as(next, HFIT_MISUSE_NOT_LIVE));
}

TEST(an_overwritten_header_behind_a_block_is_damage) {
    static const uint32_t values[] = {0, 4, 8, 12, 0x7ffffff0, 0xfffffff0,
                                      /* free ones: */
                                      -(uint32_t)1, -(uint32_t)17, -0xfffffff1};
    start();
    unsigned char *block = get(SIZE);
    get(SIZE);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        damage(end_of(block), values[i]);
        CHECK(is_kept_as(block, HFIT_MISUSE_DAMAGED));
    }
}

/* Its size says so; what lies there, after a free chunk, does not. */
TEST(a_block_that_would_end_behind_a_free_chunk_is_none) {
    start();
    unsigned char *block = get(SIZE);
    unsigned char *next = get(SIZE);
    get(SIZE);
    give(next);
    const uint32_t size = load_word(heap, chunk_of(block));
    damage(chunk_of(block), end_of(next) - chunk_of(block));
    CHECK(is_kept_as(block, HFIT_MISUSE_FOREIGN));
    damage(chunk_of(block), size);
    give(block);
}

/* Free chunks of one bin on both sides of a block, and one more, so that their links lead to each
 * other. */
typedef struct neighbours {
    unsigned char *previous;
    unsigned char *block;
    unsigned char *next;
} neighbours;

static neighbours make_free_neighbours(void) {
    start();
    neighbours n;
    n.previous = get(SIZE);
    n.block = get(SIZE);
    n.next = get(SIZE);
    get(SIZE);
    unsigned char *third = get(SIZE);
    get(SIZE);
    give(n.previous);
    give(third);
    give(n.next);
    memcpy(before, region, REGION);
    return n;
}

TEST(a_flipped_bit_in_a_free_neighbour_is_damage) {
    const neighbours n = make_free_neighbours();
    const uint32_t next = end_of(n.block);
    const uint32_t previous = chunk_of(n.previous);
    CHECK(is_kept_for_every_bit(n.block, next + LINK_NEXT));
    CHECK(is_kept_for_every_bit(n.block, next + LINK_PREVIOUS));
    CHECK(is_kept_for_every_bit(n.block, end_of(n.next) - WORD_SIZE));
    CHECK(is_kept_for_every_bit(n.block, previous));
    CHECK(is_kept_for_every_bit(n.block, previous + LINK_NEXT));
    CHECK(is_kept_for_every_bit(n.block, previous + LINK_PREVIOUS));
    CHECK(is_kept_for_every_bit(n.block, chunk_of(n.block) - WORD_SIZE));
    give(n.block);
    CHECK(hfit_tlsf_check(heap, &plan.common));
}

TEST(a_chunk_with_a_flipped_bit_is_not_taken) {
    static unsigned char sound[REGION];
    const neighbours n = make_free_neighbours();
    const uint32_t words[] = {0, LINK_NEXT, LINK_PREVIOUS, CHUNK - WORD_SIZE};
    memcpy(sound, region, REGION);
    for (uint32_t flip = 0; flip < 4 * 32; flip++) {
        const uint32_t word = chunk_of(n.next) + words[flip / 32]; /* of the first in its bin */
        damage(word, load_word(heap, word) ^ 1u << flip % 32);
        const unsigned char *block = hfit_tlsf_alloc(heap, &plan.common, SIZE);
        CHECK(block == NULL ? is_refused_as(HFIT_MISUSE_DAMAGED) : block != n.next);
        CHECK(!hfit_tlsf_check(heap, &plan.common));
        memcpy(region, sound, REGION);
    }
    CHECK(get(SIZE) == n.next);
}

static bool is_apart_from(const unsigned char *block, const unsigned char *other) {
    return block + SIZE <= other || other + SIZE <= block;
}

TEST(no_flipped_bit_of_maps_and_heads_hands_out_a_live_block) {
    const neighbours n = make_free_neighbours();
    memcpy(before, region, REGION);
    for (uint32_t number = 8 * MAP_MAP; number < 8 * load_word(heap, TILING_FIRST); number++) {
        region[number / 8] ^= (unsigned char)(1u << number % 8);
        for (size_t size = 8; size <= SIZE; size += 8) {
            const unsigned char *block = hfit_tlsf_alloc(heap, &plan.common, size);
            CHECK(block == NULL || (is_apart_from(block, n.block) && block > region &&
                                    block + SIZE <= region + REGION));
        }
        hfit_tlsf_free(heap, &plan.common, n.block);
        memcpy(region, before, REGION);
    }
}

TEST(a_block_grows_into_the_free_chunk_behind_it) {
    start();
    unsigned char *block = get(SIZE);
    unsigned char *next = get(SIZE);
    get(SIZE);
    give(next);
    CHECK(hfit_tlsf_resize(heap, &plan.common, block, 2 * SIZE) == block);
    CHECK(hfit_tlsf_check(heap, &plan.common));
}

/* A bit for each word of the control block's front, of the map itself and of the bins. */
TEST(the_map_has_the_words_that_its_bits_need) {
    for (uint32_t second_level = 0; second_level <= MOST_SECOND_LEVEL; second_level++) {
        const hfit_tlsf_plan any = {{8}, second_level, 0};
        for (uint32_t end = 64; end < 1u << 20; end += end / 16 / 8 * 8 + 8) {
            const uint32_t shape = shape_for(&any.common, end);
            const uint32_t first = bin_of(shape, CHUNK_LEAST);
            const uint32_t bins = bin_of(shape, end) - first + 1;
            CHECK(first - MAP / 4 == (MAP / 4 + bins) / 31 + 1);
        }
    }
}

RUN_TESTS()
