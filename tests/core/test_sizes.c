/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of sizes, over all sizes: nothing rounded is less than asked, and nothing wraps.
 *
 *   test_sizes          those within 4096 of a power of two or a limit, and every 4093rd
 *   test_sizes all      all 2^32, and on 64 bits those beyond around each power of two
 */
#include "hfit/budgeted.h"

#include "contract_config.h"

#include "src/pools/layout.h"
#include "src/pools/size_class.h"
#include "src/region.h"
#include "src/size.h"

#include "check.h"

#include <string.h>

enum { AROUND = 4096, STRIDE = 4093 };

static uint64_t step = STRIDE;

/* What may be added to a size, in core: headers, and the most there is. */
static const uint32_t extras[] = {0, 4, 8, 12, 16, 4096, (1u << 31) - 16};
static const uint32_t alignments[] = {4, 8, 16};

/* By the definition, in numbers that cannot wrap for sizes below 2^62. */
static void is_rounded_right(uint64_t size, uint32_t extra, uint32_t alignment) {
    uint32_t rounded = 0;
    const uint64_t least = (size + extra + alignment - 1) / alignment * alignment;
    const bool is_served = round_sum((size_t)size, extra, alignment, &rounded);
    const bool may_be_served = size <= HFIT_LARGEST_BLOCK && least <= HFIT_LARGEST_BLOCK;
    CHECK(is_served == may_be_served && (!is_served || rounded == least));
    const uint64_t counted = size == 0 ? 1 : size;
    const bool is_size_served = round_size((size_t)size, extra, alignment, &rounded);
    const uint64_t least_size = (counted + extra + alignment - 1) / alignment * alignment;
    CHECK(is_size_served == (counted <= HFIT_LARGEST_BLOCK && least_size <= HFIT_LARGEST_BLOCK));
    CHECK(!is_size_served || rounded == least_size);
    if (extra + alignment <= 64) {
        CHECK(round_below((size_t)size, LARGEST_LIMIT, extra, alignment, &rounded) ==
              (size < LARGEST_LIMIT));
        CHECK(size >= LARGEST_LIMIT || rounded == least);
    }
    CHECK(least > HFIT_LARGEST_BLOCK || rounded_up((uint32_t)(size + extra), alignment) == least);
}

/* A budget's class holds the size, or is 0, which no budget has. */
static void is_class_right(uint64_t size, uint32_t alignment) {
    const hfit_pools_plan plan = {.common = {alignment}};
    const size_t class = block_for(&plan, (size_t)size);
    const bool wraps = (size_t)size > SIZE_MAX - (alignment - 1);
    CHECK(wraps ? class == 0 : class >= size && class - size < alignment && class % alignment == 0);
}

static void try_size(uint64_t size) {
    for (size_t a = 0; a < sizeof alignments / sizeof *alignments; a++) {
        is_class_right(size, alignments[a]);
        for (size_t e = 0; e < sizeof extras / sizeof *extras; e++) {
            is_rounded_right(size, extras[e], alignments[a]);
        }
    }
}

static void sizes_of_32_bits_are_rounded_up_or_refused(void) {
    for (uint64_t size = 0; size <= UINT32_MAX; size += step) {
        try_size(size);
    }
}

/* Each step of the search for it doubles the bits that are right, from 5 to more than 32. */
static void an_odd_number_times_its_inverse_is_1(void) {
    for (uint64_t odd = 1; odd <= UINT32_MAX; odd += 2 * step) {
        CHECK((uint32_t)odd * inverse_of((uint32_t)odd) == 1);
    }
    for (uint32_t odd = 1; odd < AROUND; odd += 2) {
        CHECK(odd * inverse_of(odd) == 1);
    }
}

/* Up to the largest that a size_t holds. */
static void sizes_around_each_power_of_two_are_rounded_up_or_refused(void) {
    for (uint32_t bit = 0; bit < 8 * sizeof(size_t); bit++) {
        const size_t power = (size_t)1 << bit;
        for (size_t i = 0; i <= 2 * AROUND; i++) {
            const size_t size = power - AROUND + i; /* around 0, that wraps to the largest */
            const uint64_t wide = size;
            if (wide < (uint64_t)1 << 62) {
                try_size(wide);
            } else {
                uint32_t rounded;
                CHECK(!round_sum(size, 0, 16, &rounded) && !round_size(size, 0, 16, &rounded));
                is_class_right(size, 16);
            }
        }
    }
}

/* Where pointers have 32 bits and a region more than 1 GiB, other offsets may be taken for words.
 */
static void what_is_below_the_end_and_a_multiple_of_4_is_a_word(void) {
    static const uint32_t ends[] = {4, 4096, 1u << 30, (1u << 30) + 4, 3u << 30, 0u - 4};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        const uint32_t places[] = {0, 1u << 30, ends[e] / 2, ends[e]};
        const bool is_exact = UINTPTR_MAX > UINT32_MAX || ends[e] <= 1u << 30;
        for (uint32_t i = 0; i < 64; i++) {
            const uint32_t offset = places[i / 16] - 8 + i % 16;
            const bool is_word = offset % 4 == 0 && offset < ends[e];
            CHECK(is_word_below(offset, ends[e]) == is_word || (!is_exact && offset % 4 != 0));
        }
    }
}

int main(int argc, char **argv) {
    step = argc > 1 && strcmp(argv[1], "all") == 0 ? 1 : STRIDE;
    RUN(sizes_of_32_bits_are_rounded_up_or_refused);
    RUN(an_odd_number_times_its_inverse_is_1);
    RUN(sizes_around_each_power_of_two_are_rounded_up_or_refused);
    RUN(what_is_below_the_end_and_a_multiple_of_4_is_a_word);
    return report_passed();
}
