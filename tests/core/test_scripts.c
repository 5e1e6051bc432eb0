/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunk serves, what is split off and joined, and what a block takes: of the heaps that tile
 * their region (Cebeci 2019, sections 2.3, 3.1 and 3.2 of first and segregated fit). */
#include "hfit/address_first_fit.h"
#include "hfit/best_fit.h"
#include "hfit/first_fit.h"
#include "hfit/good_fit.h"
#include "hfit/segregated_fit.h"
#include "hfit/tlsf.h"

#include "contract_config.h"

#include "script.h"

static const hfit_plan by_4 = {4};
static const hfit_plan by_8 = {8};

#define FOR_EACH_ALIGNMENT for (uint32_t alignment = 4; alignment <= 16; alignment *= 2)

static const script address_first_fits[] = {
    SCRIPT(address_first_fit, by_4, 8192, "the lowest chunk that is large enough serves",
           "a:100 b:92 c:84 d:76 e:68 f:60 -e -a -c 68=a 84=c 68=e"),
    SCRIPT(address_first_fit, by_8, 8192, "freeing the middle chunk merges all three",
           "a:20 b:20 c:20 20 -a -c -b 68=a"),
    SCRIPT(address_first_fit, by_4, 8192, "a block takes four bytes more and at least eight",
           "a:0 4=a+8 5=a+16 1=a+28 F=a+32"),
    SCRIPT(address_first_fit, by_4, 64, "the whole region serves one request", "41! 40=24"),
    SCRIPT(address_first_fit, by_4, 100, "of any length", "77! 76=24"),
    SCRIPT(address_first_fit, by_8, 8192, "an aligned request takes the lowest with room for a gap",
           "a:200 8 -a 60@64=64 4=a"),
    SCRIPT(address_first_fit, by_8, 8192, "a block grows into the free chunk behind it",
           "a:20 b:100 8 -b a~60=a 40=a+64"),
};

/* Tunables in the order of the plan: coalesce, list, header_size, least_split. */
static const hfit_first_fit_plan coalescing = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_first_fit_plan never_coalescing = {{8}, 0, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_first_fit_plan by_address = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
static const hfit_first_fit_plan implicit_4 = {{4}, 1, HFIT_FIRST_FIT_IMPLICIT, 4, 0};
static const hfit_first_fit_plan implicit_16 = {{16}, 1, HFIT_FIRST_FIT_IMPLICIT, 4, 0};
static const hfit_first_fit_plan long_header = {{8}, 0, HFIT_FIRST_FIT_LIFO, 24, 0};
static const hfit_first_fit_plan from_64 = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 64};

static const script first_fits[] = {
    SCRIPT(first_fit, coalescing, 4096, "freeing the middle chunk merges all three",
           "a:100 b:100 c:100 1 -a -c -b 308=a"),
    SCRIPT(first_fit, never_coalescing, 4096, "without coalescing free neighbours stay apart",
           "a:100 b:100 c:100 1 * -a -c -b 101! 100=b 100=c 100=a"),
    SCRIPT(first_fit, coalescing, 4096, "the block freed last is taken first",
           "a:40 40 c:40 40 -c -a 8=a"),
    SCRIPT(first_fit, coalescing, 4096, "a block grows into the free chunk behind and shrinks back",
           "a:100 b:100 1 -b a~180=a a~20=a[20]"),
    SCRIPT(first_fit, coalescing, 4096, "aligned blocks leave the bytes before them to others",
           "a:8 -a b:100@1024 2900 800=a"),
    SCRIPT(first_fit, coalescing, 4096, "and nothing else behind", "a:8 -a b:100@1024 -b 4000=a"),
    SCRIPT(first_fit, by_address, 4096, "by address the lowest free chunk is taken first",
           "a:40 b:40 c:40 d:40 e:40 f:40 40 -d -b -f 40=b 40=d 40=f"),
    SCRIPT(first_fit, implicit_4, 4096, "without links the smallest chunk has 8 bytes",
           "a:4 4=a+8 -a 1=a"),
    SCRIPT(first_fit, implicit_16, 4096, "or an alignment", "a:4 4=a+16 -a 1=a"),
    SCRIPT(first_fit, long_header, 4096, "a header of 24 bytes makes a smallest chunk of 32",
           "a:8[8] b:9=a+32 1=b+40"),
    SCRIPT(first_fit, from_64, 4096, "what is left over is split off from the least split on",
           "a:196 1 -a 140=a[196] -a 132=a[132]"),
};

static const script good_fits[] = {
    SCRIPT(good_fit, by_8, 65536, "a hole serves before the top", "a:2000 1 -a 100=a 100=a+104"),
    SCRIPT(good_fit, by_4, 65536, "the second of its class, from 256 to 316 B, serves and no third",
           "a:276 1 b:272 1 c:256 1 -a -b -c 276>c 272=b 276=a"),
    SCRIPT(good_fit, by_8, 65536, "the next class that has any serves",
           "f:9000 1 n:700 1 -n -f 500=n 500=f"),
    SCRIPT(good_fit, by_4, 1024, "what is freed before the top joins it",
           "a:40=156 b:40 -a -b 869! 868=a"),
    SCRIPT(good_fit, by_8, 4096, "the footprint is the highest top",
           "f:F a:1000 -a F=f+1008 8 F=f+1008"),
    SCRIPT(good_fit, by_8, 8192, "no more of the top is in use than was asked for",
           "a:100 b:a~1000 F=b+1004 c:100@256 F=c+100"),
    SCRIPT(good_fit, by_8, 1024, "a block slides down where nothing else is free",
           "a:200 b:100 *8 -a b~300=a"),
    SCRIPT(good_fit, by_4, 128, "one block needs a region of 128 bytes", "1"),
    SCRIPT(good_fit, by_4, 65536, "control words grow with the region only", "1=252"),
};

/* exact_lists, upward, general_order, header_size, least_split. With 4 lists, alignment 8 and a
 * header of 4 bytes, blocks of 12, 20, 28 and 36 bytes have an exact list. */
static const hfit_segregated_fit_plan four_lists = {{8}, 4, 0, 0, 4, 0};
static const hfit_segregated_fit_plan whole_chunks = {{8}, 4, 0, 0, 4, 190};
static const hfit_segregated_fit_plan upward = {{8}, 4, 1, 0, 4, 190};
static const hfit_segregated_fit_plan general_by_address = {{8}, 4, 0, 1, 4, 0};

static const script segregated_fits[] = {
    SCRIPT(segregated_fit, four_lists, 8192, "a request takes from the list of its size",
           "a:36 12 b:20 12 c:200 12 d:28 12 * -a -b -c -d 20=b 28=d 36=a"),
    SCRIPT(segregated_fit, whole_chunks, 8192, "an empty list sends to the general one, then up",
           "a:36 12 b:200 12 c:28 12 * -a -b -c 20=b 20=c 20=a 20!"),
    SCRIPT(segregated_fit, upward, 8192, "upward: to larger sizes first",
           "a:36 12 b:200 12 c:28 12 * -a -b -c 20=c 20=a 20=b 20!"),
    SCRIPT(segregated_fit, four_lists, 8192,
           "larger ones take the first that fits, last freed first",
           "a:100 12 b:300 12 c:200 12 d:36 12 * -a -b -c -d 290=b 44=c"),
    SCRIPT(segregated_fit, general_by_address, 8192, "the general list may be by address",
           "a:100 12 b:300 12 c:200 12 d:36 12 * -d -c -b -a 290=b 44=a"),
    SCRIPT(segregated_fit, four_lists, 8192, "neighbours coalesce across lists",
           "a:20 b:20 c:20 1 -a -c -b 68=a"),
};

static const script best_fits[] = {
    SCRIPT(best_fit, by_8, 65536, "of equal chunks a bin gives the last freed",
           "a:100 1 b:100 1 c:100 1 * -a -b -c 100=c 100=b 100=a"),
    SCRIPT(best_fit, by_8, 65536, "and a trie the first",
           "a:200 1 b:200 1 c:200 1 * -a -b -c 200=a 200=b 200=c"),
    SCRIPT(best_fit, by_8, 20000, "the top, which would fit tighter, is used last",
           "a:15000 1 f:F -a 100=a F=f"),
    SCRIPT(best_fit, by_8, 4096, "a block grows into the top to the region's last byte",
           "a:8=144 a~3949! a~3948=a[3948] F=4096"),
    SCRIPT(best_fit, by_8, 4096, "an aligned block may take the region's last byte",
           "3837@256! 3836@256=256 F=4096"),
};

TEST(blocks_lie_where_the_rule_of_the_allocator_says) {
    RUN_SCRIPTS(address_first_fits);
    RUN_SCRIPTS(first_fits);
    RUN_SCRIPTS(good_fits);
    RUN_SCRIPTS(segregated_fits);
    RUN_SCRIPTS(best_fits);
}

/* ---- Scripts of many sizes ---- */

/* Runs the words that are made of a format. */
#define RUN_WORDS(allocator, plan, bytes, ...)                                                     \
    do {                                                                                           \
        char words[200];                                                                           \
        snprintf(words, sizeof words, __VA_ARGS__);                                                \
        run_script(&(script)SCRIPT(allocator, plan, bytes, __func__, words));                      \
    } while (0)

TEST(one_block_of_8_bytes_needs_few_bytes) {
    FOR_EACH_ALIGNMENT {
        const hfit_tlsf_plan tlsf = {{alignment}, 0, 2};
        const hfit_plan plain = {alignment};
        RUN_WORDS(tlsf, tlsf, 264, "8");
        RUN_WORDS(best_fit, plain, 160, "12");
        for (uint32_t order = HFIT_FIRST_FIT_LIFO; order <= HFIT_FIRST_FIT_IMPLICIT; order++) {
            const hfit_first_fit_plan first_fit = {{alignment}, 1, order, 4, 0};
            RUN_WORDS(first_fit, first_fit, 100, "8");
        }
    }
}

TEST(there_are_as_many_exact_lists_as_the_plan_says) {
    FOR_EACH_ALIGNMENT {
        const uint32_t smallest = alignment == 4 ? 4 : 8; /* what the smallest chunk holds */
        for (uint32_t lists = 1; lists <= 33; lists += 16 - lists % 16) { /* 1, 16, 32 */
            const hfit_segregated_fit_plan plan = {{alignment}, lists, 0, 0, 24, 0};
            for (uint32_t step = 0; step < lists + 2; step++) {
                const uint32_t size = smallest + step * alignment;
                RUN_WORDS(segregated_fit, plan, 8192, "a:%u 12 b:%u 12 * -a -b %u=%c", size,
                          size + alignment, size, step < lists ? 'a' : 'b');
            }
        }
    }
}

TEST(best_fit_finds_a_size_beside_a_tries_bound) {
    FOR_EACH_ALIGNMENT {
        const hfit_plan plan = {alignment};
        for (uint32_t bound = 32; bound <= 1u << 17; bound *= 2) {
            const uint32_t a = bound + alignment - 4, b = bound - 4, c = bound - alignment - 4;
            RUN_WORDS(best_fit, plan, SCRIPT_REGION,
                      "a:%u 1 b:%u 1 c:%u 1 * -a -b -c %u=a %u=b %u=c", a, b, c, a, b, c);
        }
    }
}

TEST(tlsf_finds_a_freed_chunk_again_by_the_same_request) {
    FOR_EACH_ALIGNMENT {
        for (uint32_t second_level = 1; second_level <= 5; second_level++) {
            const hfit_tlsf_plan plan = {{alignment}, second_level, 2};
            for (uint32_t size = 1; size < 9000; size += 1 + size / 10) {
                RUN_WORDS(tlsf, plan, 65536, "a:%u 1 * -a %u=a", size, size);
            }
        }
    }
}

TEST(tlsf_rounds_a_request_and_its_header_up_to_the_alignment) {
    FOR_EACH_ALIGNMENT {
        const hfit_tlsf_plan plan = {{alignment}, 2, 2};
        for (uint32_t size = 12; size < 9000; size += 1 + size / 10) {
            RUN_WORDS(tlsf, plan, 65536, "a:%u %u=a+%u", size, size,
                      (size + 4 + alignment - 1) / alignment * alignment);
        }
    }
}

/* Of the class of 1024 to 1151 bytes, in this order in their bin, and one far larger. */
#define THREE_OF_A_CLASS(a, b, c) "a:" a " 1 b:" b " 1 c:" c " 1 l:8000 1 * -l -c -b -a "

TEST(tlsf_looks_at_as_many_chunks_of_a_class_as_the_plan_says) {
    const hfit_tlsf_plan two = {{8}, 3, 2};
    RUN_WORDS(tlsf, two, 65536, "a:1040 1 b:1120 1 * -b -a 1120=b 1120! 1040=a");
    for (uint32_t probes = 1; probes <= 3; probes++) {
        const hfit_tlsf_plan plan = {{8}, 3, probes};
        RUN_WORDS(tlsf, plan, 65536, THREE_OF_A_CLASS("1040", "1080", "1120") "1120=%c",
                  probes == 3 ? 'c' : 'l');
    }
}

TEST(tlsf_without_probes_takes_the_first_of_a_class_above) {
    FOR_EACH_ALIGNMENT {
        const hfit_tlsf_plan plan = {{alignment}, 3, 0};
        RUN_WORDS(tlsf, plan, 65536, THREE_OF_A_CLASS("1120", "1120", "1120") "1040=l 1024=a");
        for (uint32_t size = 1; size < 9000; size += 1 + size / 20) {
            RUN_WORDS(tlsf, plan, 65536, "a:%u 1 * -a %u=a", 2 * size, size);
        }
    }
}

TEST(control_words_of_tlsf_scale_with_the_region) {
    const hfit_tlsf_plan plan = {{4}, 0, 2};
    size_t previous = 0;
    for (size_t size = 512; size <= SCRIPT_REGION / 2; size *= 2) {
        hfit_heap *heap = hfit_tlsf_init(script_region, size, &plan.common);
        const size_t control = hfit_tlsf_footprint(heap, &plan.common);
        CHECK(control >= previous && control <= size / 2);
        previous = control;
    }
}

/* Of a size whose chunk would be as long as the region, or a little longer, there is a class, too.
 */
TEST(good_fit_refuses_a_request_of_about_the_regions_size) {
    FOR_EACH_ALIGNMENT {
        const hfit_plan plan = {alignment};
        const size_t least = hfit_good_fit_smallest_region(&plan);
        for (size_t size = least; size < least + 600; size++) {
            hfit_heap *heap = hfit_good_fit_init(script_region, size, &plan);
            for (size_t asked = size - 40; asked < size + 40; asked++) {
                CHECK(hfit_good_fit_alloc(heap, &plan, asked) == NULL);
                CHECK(hfit_good_fit_alloc_aligned(heap, &plan, 32, asked) == NULL);
            }
            CHECK(hfit_good_fit_check(heap, &plan));
        }
    }
}

RUN_TESTS()
