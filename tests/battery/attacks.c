/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attacks, A1 to G6. calloc's (B) are made on generated heaps, which have one: see
 * tests/python/test_generate_calls.py.
 */
#include "attacks.h"

#include "contract_config.h"

#include "core/random_number.h"
#include "hfit/config.h"

#include <string.h>

static void *take(const subject *s, size_t size) {
    return s->operations->alloc(s->heap, s->plan, size);
}

static void give(const subject *s, void *block) {
    s->operations->free(s->heap, s->plan, block);
}

static verdict huge_sizes(const subject *s) {
    verdict found = VERDICT_OK;
    subject_remember(s);
    for (size_t i = 0; i < 300; i++) {
        found = worse_of(found, subject_must_refuse(s, 0, SIZE_MAX - i));
    }
    return worse_of(found, subject_must_be_unchanged(s));
}

static verdict sizes_around_the_sign_bit(const subject *s) {
    verdict found = VERDICT_OK;
    subject_remember(s);
    for (size_t i = 0; i < 600; i++) {
        found = worse_of(found, subject_must_refuse(s, 0, (size_t)PTRDIFF_MAX - 300 + i));
    }
    return worse_of(found, subject_must_be_unchanged(s));
}

static verdict sizes_around_powers_of_two(const subject *s) {
    verdict found = VERDICT_OK;
    subject_remember(s);
    for (unsigned bit = 17; bit < 8 * sizeof(size_t); bit++) {
        for (size_t i = 0; i < 80; i++) {
            found = worse_of(found, subject_must_refuse(s, 0, ((size_t)1 << bit) - 40 + i));
        }
    }
    return worse_of(found, subject_must_be_unchanged(s));
}

static verdict sizes_around_the_region(const subject *s) {
    verdict found = VERDICT_OK;
    for (size_t size = BATTERY_REGION - 8192; size <= BATTERY_REGION + 4096; size += 5) {
        void *block = take(s, size);
        if (block != NULL) {
            found = worse_of(found, subject_judge(s, block, 0, size));
            if (found == VERDICT_OK) {
                subject_fill(s, block, size, 0xff);
            }
            give(s, block);
        }
    }
    return found;
}

static verdict huge_resizes(const subject *s) {
    verdict found = VERDICT_OK;
    void *block = take(s, 100);
    if (block == NULL) {
        return VERDICT_OK;
    }
    subject_fill(s, block, 100, 0x5a);
    for (size_t i = 0; i < 20; i++) {
        const size_t size = i % 2 == 0 ? SIZE_MAX - i : (size_t)PTRDIFF_MAX + i - 10;
        if (s->operations->resize(s->heap, s->plan, block, size) != NULL) {
            return VERDICT_UNDERSIZED;
        }
        if (!subject_keeps(s, block, 100, 0x5a)) {
            found = VERDICT_CORRUPT;
        }
    }
    return found;
}

static verdict aligned_huge_sizes(const subject *s) {
    verdict found = VERDICT_OK;
    subject_remember(s);
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        for (size_t i = 0; i < 300; i++) {
            found = worse_of(found, subject_must_refuse(s, alignment, SIZE_MAX - i));
        }
    }
    return worse_of(found, subject_must_be_unchanged(s));
}

static verdict huge_alignments(const subject *s) {
    verdict found = VERDICT_OK;
    for (unsigned bit = 16; bit < 8 * sizeof(size_t); bit++) {
        const size_t alignment = (size_t)1 << bit;
        const void *block = s->operations->alloc_aligned(s->heap, s->plan, alignment, 8);
        if (block != NULL) {
            found = worse_of(found, subject_judge(s, block, alignment, 8));
        }
    }
    return found;
}

static verdict alignments_that_are_none(const subject *s) {
    static const size_t none[] = {0, 3, 5, 7, 12, 24, SIZE_MAX};
    verdict found = VERDICT_OK;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        if (s->operations->alloc_aligned(s->heap, s->plan, none[i], 8) != NULL) {
            found = VERDICT_MISALIGNED;
        }
    }
    return found;
}

static verdict empty_requests(const subject *s) {
    const void *first = take(s, 0);
    const void *second = take(s, 0);
    return first != NULL && first == second ? VERDICT_OVERLAP : VERDICT_OK;
}

static verdict free_of_null(const subject *s) {
    give(s, NULL);
    return VERDICT_OK;
}

/* Frees what must not be freed: refused if that is told and not a byte of the region changed. */
static verdict bad_free(const subject *s, void *block) {
    static unsigned char before[BATTERY_REGION];
    memcpy(before, s->region, BATTERY_REGION);
    const uint32_t misuses = misuse_count;
    give(s, block);
    if (misuse_count == misuses) {
        return VERDICT_OK; /* so far: what comes of it is seen afterwards */
    }
    return memcmp(before, s->region, BATTERY_REGION) == 0 ? VERDICT_REFUSED : VERDICT_CHANGED;
}

enum { ROUNDS = 40, MOST_NEIGHBOURS = 24, MOST_SIZE = 300 };

/* Blocks of random sizes, of which some have been freed, so that the ones under attack have
 * neighbours of all kinds. */
typedef struct neighbourhood {
    unsigned char *blocks[MOST_NEIGHBOURS];
    size_t sizes[MOST_NEIGHBOURS];
} neighbourhood;

static void take_at_random(const subject *s, neighbourhood *n, size_t i) {
    static const uint8_t values[] = {0, 0xa5, 0xff};
    n->sizes[i] = 1 + random_below(MOST_SIZE);
    n->blocks[i] = take(s, n->sizes[i]);
    const uint32_t value = random_below(4);
    if (n->blocks[i] != NULL && value < sizeof values) { /* else left as it was handed out */
        subject_fill(s, n->blocks[i], n->sizes[i], values[value]);
    }
}

static void give_one(const subject *s, neighbourhood *n, size_t i) {
    give(s, n->blocks[i]);
    n->blocks[i] = NULL;
}

static void settle(const subject *s, neighbourhood *n) {
    for (size_t i = 0; i < MOST_NEIGHBOURS; i++) {
        take_at_random(s, n, i);
    }
    for (size_t i = 0; i < MOST_NEIGHBOURS; i += 1 + random_below(3)) {
        give_one(s, n, i);
        if (random_below(3) == 0) {
            take_at_random(s, n, i);
        }
    }
}

static void leave(const subject *s, neighbourhood *n) {
    for (size_t i = 0; i < MOST_NEIGHBOURS; i++) {
        give_one(s, n, i);
    }
}

/* A bad free among neighbours, after others were refused: one that is taken changed the heap. */
static verdict bad_free_again(const subject *s, void *block) {
    const verdict found = block == NULL ? VERDICT_REFUSED : bad_free(s, block);
    return found == VERDICT_OK ? VERDICT_CHANGED : found;
}

/* In so many random neighbourhoods: frees a block, then up to `between` of its neighbours on either
 * side, and then the block once more. Made where the plain attack is refused. */
static verdict free_twice(const subject *s, size_t between) {
    verdict found = VERDICT_REFUSED;
    random_state = (uint32_t)between;
    for (size_t round = 0; round < ROUNDS && found == VERDICT_REFUSED; round++) {
        neighbourhood n;
        settle(s, &n);
        const size_t victim = random_below(MOST_NEIGHBOURS);
        unsigned char *block = n.blocks[victim];
        give_one(s, &n, victim);
        for (size_t i = 1; i <= between; i++) {
            give_one(s, &n, (victim + i) % MOST_NEIGHBOURS);
            give_one(s, &n, (victim + MOST_NEIGHBOURS - i) % MOST_NEIGHBOURS);
        }
        found = bad_free_again(s, block);
        leave(s, &n);
    }
    return found;
}

static verdict double_free_at_once(const subject *s) {
    void *block = take(s, 40);
    (void)take(s, 40);
    give(s, block);
    const verdict found = block == NULL ? VERDICT_OK : bad_free(s, block);
    return found == VERDICT_REFUSED ? free_twice(s, 0) : found;
}

static verdict double_free_with_one_between(const subject *s) {
    void *block = take(s, 40);
    void *other = take(s, 40);
    (void)take(s, 40);
    give(s, block);
    give(s, other);
    const verdict found = block == NULL ? VERDICT_OK : bad_free(s, block);
    return found == VERDICT_REFUSED ? free_twice(s, 1) : found;
}

static verdict double_free_after_coalescing(const subject *s) {
    void *blocks[3];
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = take(s, 40);
    }
    (void)take(s, 40);
    give(s, blocks[0]);
    give(s, blocks[2]);
    give(s, blocks[1]);
    verdict found = VERDICT_OK;
    for (size_t i = 0; i < 3 && blocks[i] != NULL; i++) {
        found = worse_of(found, bad_free(s, blocks[i]));
    }
    return found == VERDICT_REFUSED ? free_twice(s, 3) : found;
}

/* A block in pieces may have another one between them. */
static bool is_of_a_block(const neighbourhood *n, const unsigned char *address) {
    for (size_t i = 0; i < MOST_NEIGHBOURS; i++) {
        if (n->blocks[i] == address) {
            return true;
        }
    }
    return false;
}

/* As free_twice: frees a word's address inside a block of zeros. */
static verdict free_inside(const subject *s) {
    verdict found = VERDICT_REFUSED;
    random_state = 4;
    for (size_t round = 0; round < ROUNDS && found == VERDICT_REFUSED; round++) {
        neighbourhood n;
        settle(s, &n);
        const size_t victim = random_below(MOST_NEIGHBOURS);
        unsigned char *block = n.blocks[victim];
        const size_t inside = 4 + 4 * (size_t)random_below(MOST_SIZE / 4);
        if (block != NULL && inside < n.sizes[victim] && !is_of_a_block(&n, block + inside)) {
            subject_fill(s, block, n.sizes[victim], 0);
            found = bad_free_again(s, block + inside);
        }
        leave(s, &n);
    }
    return found;
}

static verdict free_in_the_middle(const subject *s) {
    unsigned char *block = take(s, 200);
    if (block == NULL) {
        return VERDICT_OK;
    }
    subject_fill(s, block, 200, 0);
    const verdict found = bad_free(s, block + 64);
    return found == VERDICT_REFUSED ? free_inside(s) : found;
}

/* Every word of the block is made to look like the header of a used chunk of 32 bytes. */
static verdict free_of_a_forged_header(const subject *s) {
    unsigned char *block = take(s, 512);
    if (block == NULL) {
        return VERDICT_OK;
    }
    const uint32_t header = 32;
    for (size_t i = 0; i + sizeof header <= 200; i += sizeof header) {
        memcpy(block + i, &header, sizeof header);
    }
    return bad_free(s, block + 64);
}

static verdict free_of_a_byte_further(const subject *s) {
    unsigned char *block = take(s, 40);
    return block == NULL ? VERDICT_OK : bad_free(s, block + 1);
}

static verdict free_of_a_static_object(const subject *s) {
    static uint64_t object[64];
    return bad_free(s, &object[32]);
}

static verdict free_of_the_regions_end(const subject *s) {
    return bad_free(s, s->region + BATTERY_REGION);
}

/* What was damaged must be told before it is handed out again. That it is not is no harm but at
 * safety level 3, which promises it. */
static verdict untold(void) {
    return HFIT_SAFETY >= 3 ? VERDICT_CHANGED : VERDICT_OK;
}

/* The byte behind those that the caller may use, in the block's last piece. */
static unsigned char *end_of_block(const subject *s, unsigned char *block) {
    const size_t usable = s->operations->usable_size(s->heap, s->plan, block);
    unsigned char *end = block;
    size_t bytes;
    for (unsigned char *piece = NULL;
         (piece = piece_after(s->from, s->heap, block, piece, usable, &bytes)) != NULL;) {
        end = piece + bytes;
    }
    return end;
}

/* Writes `bytes` bytes beyond a block and then frees it and its neighbours. From safety level 2 on
 * the damage, if it is any, must be told before a byte more is handed out. */
static verdict overrun(const subject *s, size_t bytes, int value) {
    unsigned char *blocks[3];
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = take(s, 40);
        if (blocks[i] == NULL) {
            return VERDICT_OK;
        }
    }
    unsigned char *end = end_of_block(s, blocks[0]);
    if (end + bytes > s->region + BATTERY_REGION) {
        return VERDICT_OK;
    }
    memset(end, value, bytes);
    const bool is_sound = s->operations->check(s->heap, s->plan);
    const uint32_t misuses = misuse_count;
    for (size_t i = 0; i < 3; i++) {
        give(s, blocks[2 - i]);
    }
    return !is_sound && misuse_count > misuses ? VERDICT_REFUSED : untold();
}

#define OVERRUN(name, bytes, value)                                                                \
    static verdict name(const subject *s) {                                                        \
        return overrun(s, bytes, value);                                                           \
    }

OVERRUN(overrun_by_1, 1, 0x41)
OVERRUN(overrun_by_8, 8, 0x41)
OVERRUN(overrun_by_16, 16, 0x41)
OVERRUN(overrun_by_32, 32, 0x41)
OVERRUN(overrun_by_16_zeros, 16, 0)

/* Takes and gives until a misuse is told. False if `victim` is handed out before. */
static bool is_told_before(const subject *s, const void *victim) {
    const uint32_t misuses = misuse_count;
    for (size_t i = 0; i < ROUNDS && misuse_count == misuses; i++) {
        void *block = take(s, 40);
        if (block == victim) {
            return false;
        }
        give(s, block);
    }
    return misuse_count > misuses;
}

static verdict write_after_free(const subject *s) {
    void *block = take(s, 40);
    void *other = take(s, 40);
    if (block == NULL || other == NULL) {
        return VERDICT_OK;
    }
    give(s, block);
    memset(block, 0x41, 16);
    const bool is_sound = s->operations->check(s->heap, s->plan);
    const uint32_t misuses = misuse_count;
    give(s, other);
    return !is_sound && (misuse_count > misuses || is_told_before(s, block)) ? VERDICT_REFUSED
                                                                             : untold();
}

const attack attacks[] = {
    {"A1", "alloc of SIZE_MAX - 0 to 299", huge_sizes, 0},
    {"A2", "alloc of PTRDIFF_MAX +- 300", sizes_around_the_sign_bit, 0},
    {"A3", "alloc of 2^b +- 40, every b from 17", sizes_around_powers_of_two, 0},
    {"A4", "alloc of each fifth size from the region's - 8192 to + 4096", sizes_around_the_region,
     0},
    {"C1", "20 huge resizes; the old block stays intact", huge_resizes, 0},
    {"D1", "aligned alloc, 8 to 4096, of SIZE_MAX - 0 to 299", aligned_huge_sizes, 0},
    {"D2", "alignments from 2^16 up", huge_alignments, 0},
    {"D3", "alignments 0, 3, 5, 7, 12, 24, SIZE_MAX", alignments_that_are_none, 0},
    {"E0", "alloc of 0 bytes, twice", empty_requests, 0},
    {"E1", "free of NULL", free_of_null, 0},
    {"F1", "double free, at once", double_free_at_once, 1},
    {"F2", "double free, another one between", double_free_with_one_between, 1},
    {"F3", "double free after coalescing both ways", double_free_after_coalescing, 1},
    {"F4", "free in the middle of a block, zeros there", free_in_the_middle, 1},
    {"F5", "free in the middle, a forged header there", free_of_a_forged_header, 2},
    {"F6", "free of a block's address + 1", free_of_a_byte_further, 1},
    {"F7", "free of a static object", free_of_a_static_object, 1},
    {"F8", "free of the region's end", free_of_the_regions_end, 1},
    {"G1", "overrun by 1 byte", overrun_by_1, 2},
    {"G2", "overrun by 8 bytes", overrun_by_8, 2},
    {"G3", "overrun by 16 bytes", overrun_by_16, 2},
    {"G4", "overrun by 32 bytes", overrun_by_32, 2},
    {"G5", "overrun by 16 zeros", overrun_by_16_zeros, 2},
    {"G6", "write after free", write_after_free, 2},
};

const size_t attack_count = sizeof attacks / sizeof attacks[0];
