/* SPDX-License-Identifier: Apache-2.0 */
/* Where baselines place blocks as their originals do, computed by hand; and those that say they
 * ignore where the region ends: one run in a large region tells the smallest. */
#include "baselines/block_runs.h"
#include "baselines/buddy.h"
#include "baselines/byte_pool.h"
#include "baselines/granularity.h"
#include "baselines/halffit.h"
#include "baselines/kingsley.h"
#include "baselines/lea.h"
#include "baselines/nano_malloc.h"
#include "baselines/sorted_fit.h"
#include "baselines/sys_heap.h"
#include "papers/djgpp_test1.h"
#include "papers/djgpp_test2.h"
#include "papers/djgpp_test3.h"
#include "papers/djgpp_test4.h"
#include "papers/djgpp_test5.h"
#include "papers/djgpp_test6.h"

#include "core/script.h"
#include "plans.h"

enum { REGION = 256 * 1024 };

static const hfit_plan words = {4};
static const hfit_plan pairs = {8};

/* umm_malloc, in blocks of 8 bytes: runs of 5, 2 and 2 blocks are free, each before a used block.
 */
#define RUNS "a:36 1 b:12 1 c:12 1 -a -b -c "
static const hfit_block_runs_plan umm = {{4}, 8, 0};
static const hfit_block_runs_plan umm_first = {{4}, 8, 1};

static const script block_runs[] = {
    SCRIPT(block_runs, umm, REGION, "a request and 4 bytes take whole blocks",
           "4=24 5=32 12=48 13=64 1=88"),
    SCRIPT(block_runs, umm, REGION, "the smallest run serves, among equals the last freed",
           RUNS "12=c 12=b 12=a"),
    SCRIPT(block_runs, umm_first, REGION, "first fit: the first on the list", RUNS "20=a"),
    SCRIPT(block_runs, umm, REGION, "what is left keeps its place on the list",
           RUNS "20=a 12=c 12=b 12=a+24"),
    SCRIPT(block_runs, umm, REGION, "a freed run joins both neighbours",
           "a:20 b:20 c:20 1 -a -c -b 68=a"),
    SCRIPT(block_runs, umm, REGION, "a resize takes what is behind if that is just right",
           "a:28 b:20 c:12 1 -a -c b~36=b[36]"),
    SCRIPT(block_runs, umm, REGION, "else what is before; what is left of that joins the rest",
           "a:28 b:20 c:20 1 -a -c b~36=b-32[36] 36=b+8"),
    SCRIPT(block_runs, umm, REGION, "and both if neither will do",
           "a:12 b:20 c:12 1 -a -c b~52=b-16[52]"),
    SCRIPT(block_runs, umm, SCRIPT_REGION, "no heap has more than 32768 blocks",
           "262128! 262124=24 1!"),
};

static const script buddies[] = {
    SCRIPT(buddy, pairs, REGION, "a request is rounded up to a power of two, nothing is added",
           "1[8] 8[8] 9[16] 16[16] 17[32] 100[128] 128[128] 1025[2048]"),
    SCRIPT(buddy, pairs, 9344, "1024 atoms of 8 bytes take a byte each and 128 of control",
           "1024*8 1! F=9344"),
    SCRIPT(buddy, pairs, 9344, "the lower half is taken and the upper stays free",
           "a:8 8=a+8 16=a+16 4096=a+4096 4096!"),
    SCRIPT(buddy, pairs, 9344, "a block joins its buddy and no other neighbour",
           "a:2048 b:2048 c:2048 d:2048 -b -c 4096! -d 4096=c -c -a 8192=a"),
    SCRIPT(buddy, pairs, 5336, "578 atoms are cut into blocks of falling powers",
           "a:4096 512=a+4096 16=a+4608 1!"),
    SCRIPT(buddy, pairs, 9344, "the block freed last is taken first",
           "a:64 64 b:64 64 -b -a 64=a 64=b"),
    SCRIPT(buddy, pairs, 9344, "an over-aligned block leads back to its own",
           "a:8192 -a b:8@4096 -b 8192=a"),
};

/* ThreadX. */
static const script byte_pools[] = {
    SCRIPT(byte_pool, words, REGION, "a block has 8 bytes before it, at a multiple of 4",
           "1=32 5=44 1=60"),
    SCRIPT(byte_pool, words, REGION, "a search goes on from where the last one ended",
           "a:40 b:40 40=b+48 -b 8=b 8=b+16 -a 40=a"),
    SCRIPT(byte_pool, words, REGION, "what is left is split off from 20 bytes on",
           "a:40 1=a+48 -a 24=a[40] -a 20=a[20]"),
    SCRIPT(byte_pool, words, REGION, "free neighbours are joined only by a search that needs them",
           "a:40 b:40 1=b+48 -a -b 40=a 40=b -a -b 80=a[88]"),
    SCRIPT(byte_pool, words, 128, "a refused request joins what it came by",
           "a:40 b:40=a+48 1! -b -a 90! 30=a[32]"),
};

/* newlib's small malloc: the first chunk is at 16. */
static const script nano_mallocs[] = {
    SCRIPT(nano_malloc, pairs, REGION, "an aligned block has room for the largest gap, no more",
           "40@32=32 F=88 1=24"),
    SCRIPT(nano_malloc, pairs, REGION, "a gap that is a chunk is freed, a smaller one leads back",
           "a:40@32=32 4=24 b:1=80 40@16=96 -a -b 1=80"),
};

/* Zephyr. */
static const script sys_heaps[] = {
    SCRIPT(sys_heap, words, 208, "a refused request leaves the hand behind the three it tried",
           "a:12=44 1 b:12 1 c:12 1 d:12 1 58=140 1! -a -b -c -d 20! 12=d 12=a"),
};

/* 512 + 256 bytes are free from a on, 1024 from c on, and nothing else. */
#define FRAGMENTS "a:496 b:240 1=b+256 c:1008 1 1! -a -b -c "

static const script halffits[] = {
    SCRIPT(halffit, pairs, REGION, "a request and 16 bytes are rounded up to a power of two",
           "a:1[16] 1=a+32 a:16[16] 16=a+32 a:17[48] 17=a+64 a:48[48] 48=a+64 "
           "a:49[112] 49=a+128 a:112[112] 112=a+128 a:113[240] 113=a+256 a:1008[1008] 1008=a+1024"),
    SCRIPT(halffit, pairs, 1976, "768 bytes are passed by for 1024, which are sure to do",
           FRAGMENTS "496=a -a 497=c 497!"),
    SCRIPT(halffit, pairs, 1976, "what a fragment has beyond its power is split off",
           FRAGMENTS "496=a 240=a+512"),
    SCRIPT(halffit, pairs, REGION, "the fragment freed last is taken first",
           "a:100 100 b:100 100 -a -b 100=b"),
    SCRIPT(halffit, pairs, REGION, "a freed fragment joins both neighbours",
           "a:100 b:100 c:100 100=c+128 -a -c -b 240=a 100=c"),
    SCRIPT(halffit, pairs, REGION, "a resize stays in its power and moves to give memory back",
           "a:200 a~240=a a~113=a a~112!=a"),
};

static const script leas[] = {
    SCRIPT(lea, pairs, REGION, "a chunk has 4 bytes of tag and 16 at least",
           "a:1 b:12=a+16 13=b+16 1=b+40"),
    SCRIPT(lea, pairs, REGION, "a small request takes its own size, last in, first out",
           "a:100 8 b:100 8 c:92 8 d:108 8 -a -b -c -d 100=b 100=a"),
    SCRIPT(lea, pairs, REGION, "a small request takes the next size, too little to split",
           "a:108 8 -a 100=a[108]"),
    SCRIPT(lea, pairs, REGION, "the rest of a chunk split for a small request serves the next",
           "a:200 8 b:220 8 -a -b 40=a 20=a+48 20=a+72"),
    SCRIPT(lea, pairs, REGION, "a bin of the exact size goes before the victim",
           "a:20 8 b:200 8 -a -b 40=b 20=a"),
    SCRIPT(lea, pairs, REGION, "a victim that is too small goes to its bin",
           "a:100 8 b:200 8 -a -b 60=a 100=b 36=a+64 50=b+104"),
    SCRIPT(lea, pairs, REGION, "a small request splits the smallest large chunk",
           "a:900 8 b:300 8 c:500 8 -a -b -c 100=b 100=b+104"),
    SCRIPT(lea, pairs, REGION, "a large request leaves its rest to the bins",
           "a:200 8 b:1000 8 -a -b 900=b 40=b+904 40=b+952"),
    SCRIPT(lea, pairs, REGION, "a large request takes the victim if nothing fits better",
           "a:2000 8 b:1800 8 -a -b 100=b 1000=b+104 1000=a"),
    SCRIPT(lea, pairs, REGION, "a large request takes the best fit and of equals the oldest",
           "a:5000 8 b:3100 8 c:3000 8 d:4000 8 e:3000 8 f:2900 8 -a -b -c -d -e -f "
           "3000=c 2950=e 2950=b 2950=d 2950=a"),
    SCRIPT(lea, pairs, REGION, "the top is used last",
           "a:5000 8 -a f:F 10=a 4000=a+16 F=f 4000>a+5000 F=f+4008"),
    SCRIPT(lea, pairs, REGION, "what is freed before the top joins it", "a:100 b:100 -a -b 5000=a"),
    SCRIPT(lea, pairs, REGION, "a block grows into the top and into a free neighbour",
           "a:100 a~1000=a b:500 8 -b a~1400=a a~1600!=a"),
};

static const hfit_kingsley_plan pages = {{8}, 12};
static const hfit_kingsley_plan block_by_block = {{8}, 0};
static const hfit_djgpp_test2_plan test2_pages = {{8}, 12};

static const script powers_of_two[] = {
    SCRIPT(kingsley, block_by_block, REGION, "a request and its header are a power of two",
           "a:1[8] 1=a+16 a:8[8] 8=a+16 a:9[24] 9=a+32 a:24[24] 24=a+32 a:25[56] 25=a+64 "
           "a:100[120] 100=a+128 a:1016[1016] 1016=a+1024 a:1017[2040] 1017=a+2048"),
    SCRIPT(djgpp_test1, words, REGION, "test1 adds its header to a power of two",
           "a:8[8] 5=a+12 a:64[64] 33=a+68 a:1024[1024] 513=a+1028 a:16384[16384] 8193=a+16388"),
    SCRIPT(djgpp_test2, test2_pages, REGION, "test2 has a header of one word inside the power",
           "a:28[28] 28=a+32 29[60]"),
    SCRIPT(kingsley, pages, REGION, "a page is cut into blocks, the lowest is taken first",
           "a:500 500=a+512 500=a+1024 4*500 500=a+3584 b:5000=a+4096 500=b+8192"),
    SCRIPT(kingsley, pages, REGION,
           "a footprint ends with the highest block, the break with the page",
           "f:F 500 F=f+512 W=f+4096"),
    SCRIPT(kingsley, pages, 5224, "the last page of a region is what is left of it", "9*500 500!"),
    SCRIPT(kingsley, pages, 4224, "memory of one power never serves another",
           "a:500 -a 100! 1000! 500=a"),
    SCRIPT(kingsley, pages, REGION, "the block freed last is taken first",
           "a:40 b:40 -b -a 40=a 40=b"),
    SCRIPT(kingsley, pages, REGION, "a resize stays within its power and moves out of it",
           "a:40 a~56=a a~25=a a~57!=a[120] 40=a"),
    SCRIPT(kingsley, block_by_block, 256, "a shrinking resize that finds no room stays",
           "a:100 100! a~1=a[120]"),
    SCRIPT(kingsley, pages, REGION, "an over-aligned block leads back to its own",
           "a:400 b:100@256>a -b 400=a+512"),
};

static const script quarters_of_powers[] = {
    SCRIPT(djgpp_test3, words, REGION, "a request is rounded up to a quarter of its power of two",
           "64[64] 65[80] 80[80] 81[96] 97[112] 112[112] 113[128] 129[160] 528[640] 4096[4096] "
           "8193[10240]"),
    SCRIPT(djgpp_test3, words, REGION, "the header lies outside the class", "a:1024 1024=a+1028"),
    SCRIPT(djgpp_test3, words, REGION, "a block freed at the break serves any class",
           "a:1024 -a 100=a"),
    SCRIPT(djgpp_test3, words, REGION, "a block freed below another serves its own class alone",
           "a:1024 b:1024 -a 100>b 1000=a"),
    SCRIPT(djgpp_test3, words, REGION, "freeing the top lowers the break by that block alone",
           "a:1024 b:1024 -a -b 2000=b"),
};

/* Tags at both ends, lists by powers of two, a slop. */
static const hfit_djgpp_test4_plan pieces4 = {{8}, 14};
static const hfit_djgpp_test5_plan pieces5 = {{8}, 14};

static const script both_tags[] = {
    SCRIPT(djgpp_test4, pieces4, REGION, "a chunk has 8 bytes of tags", "a:40 40=a+48"),
    SCRIPT(djgpp_test4, pieces4, REGION, "storage is asked for by a fixed size, or a multiple",
           "a:W 40 W=a+16384 40 W=a+16384 20000 W=a+49152"),
    SCRIPT(djgpp_test4, pieces4, REGION, "new storage joins the free memory before it",
           "a:40 20000=a+48"),
    SCRIPT(djgpp_test4, pieces4, 20000, "the last piece of a region is what is left of it",
           "a:8000 8000=a+8008 3000 3000!"),
    SCRIPT(djgpp_test4, pieces4, REGION, "the block split last is tried before the lists",
           "a:100 b:1000 8 -a 100>b"),
    SCRIPT(djgpp_test4, pieces4, 20000, "a list is first fit, last in, first out",
           "a:600 8 b:700 8 *2000 *8 -b -a 650=b 600=a"),
    SCRIPT(djgpp_test4, pieces4, REGION, "a freed chunk joins both neighbours",
           "a:100 b:100 c:100 *100 -a -c -b 316=a"),
    SCRIPT(djgpp_test6, pairs, REGION, "test6 asks for the block and 16 bytes",
           "a:W 40 W=a+56 200 W=a+272"),
    SCRIPT(djgpp_test6, pairs, REGION, "test6 takes a close fit before the slop",
           "a:2000 8 b:600 8 -a 1000=a[1000] -b 600=b -b 480=a+1008"),
    SCRIPT(djgpp_test6, pairs, REGION, "test6 splits off 64 bytes or more",
           "a:1000 8 -a 952=a[1008] -a 944=a[944]"),
    SCRIPT(djgpp_test4, pieces4, REGION, "a resize stays while half the chunk is filled",
           "a:1000 a~500=a[1000] a~400!=a"),
};

/* NuttX's mm, FreeRTOS's heap_2 and lwIP's mem.c. */
#define HOLES "a:200 1 b:100 1 c:60 1 d:100 1 -b -a -d -c 90=d 90=b 90=a 50=c"
static const hfit_sorted_fit_plan nuttx = {{8}, 1, 1, 4, 16, 0};
static const hfit_sorted_fit_plan heap_2 = {{8}, 0, 0, 8, 17, 0};
static const hfit_sorted_fit_plan lwip = {{8}, 1, 0, 8, 24, 1};

static const script sorted_fits[] = {
    SCRIPT(sorted_fit, nuttx, REGION, "nuttx: a chunk has its header and 16 bytes at least",
           "a:1 12=a+16 13=a+32 1=a+56"),
    SCRIPT(sorted_fit, heap_2, REGION, "heap_2: likewise", "a:8 9=a+16 1=a+40"),
    SCRIPT(sorted_fit, nuttx, REGION, "nuttx: the smallest serves, of equals the last freed",
           HOLES),
    SCRIPT(sorted_fit, heap_2, REGION, "heap_2: likewise", HOLES),
    SCRIPT(sorted_fit, nuttx, REGION, "nuttx: what is left is split off from 16 bytes on",
           "a:100 1 -a 92=a[100] -a 84=a[84]"),
    SCRIPT(sorted_fit, heap_2, REGION, "heap_2: from 24 on", "a:100 1 -a 88=a[104] -a 80=a[80]"),
    SCRIPT(sorted_fit, heap_2, REGION, "heap_2 never joins neighbours",
           "a:100 b:100 1 -a -b 150>b 100=b"),
    SCRIPT(sorted_fit, nuttx, REGION, "nuttx joins neighbours at once",
           "a:100 b:100 1 -a -b 150=a"),
    SCRIPT(sorted_fit, nuttx, REGION, "a block grows first into the smaller neighbour",
           "a:44 b:60=a+48 c:76=b+64 1 -a -c b~84=b-24[84] 20=a"),
    SCRIPT(sorted_fit, nuttx, REGION, "and into both, of the larger one as much as it takes",
           "a:44 b:60 c:76 1 -a -c b~140=a[140] 40=b+96"),
    SCRIPT(sorted_fit, nuttx, REGION, "into the one behind where that is not larger",
           "a:44 b:60 c:36 1 -a -c b~76=b[76]"),
    SCRIPT(sorted_fit, nuttx, REGION, "what is left before it is a chunk",
           "a:44 b:60 c:36 1 -a -c b~130=b-32[132]"),
    SCRIPT(sorted_fit, nuttx, REGION, "what a smaller block leaves joins the free chunk behind",
           "a:44 b:60 c:36 1 -a -c b~52=b[52]"),
    SCRIPT(sorted_fit, nuttx, REGION, "an aligned request gives back what lies before and behind",
           "1 a:40@32 20=a-24 1=a+48"),
    SCRIPT(sorted_fit, nuttx, 256, "but it is refused where twice its alignment is not there",
           "40@32! 40"),
    SCRIPT(sorted_fit, nuttx, 264, "a chunk of 40 and 64 bytes is", "a:40@32[44] 40!"),
    SCRIPT(sorted_fit, nuttx, REGION, "what lies behind joins a free chunk, however little it is",
           "1 a:40@32 b:8@16 -b 1 20 b:8@16>a"),
    SCRIPT(sorted_fit, nuttx, REGION, "8 bytes are no chunk", "a:60 1=a+64 a~52=a[60] a~44=a[44]"),
    SCRIPT(sorted_fit, lwip, REGION, "lwip: the lowest that will do serves",
           "a:200 1 b:100 1 c:60 1 d:100 1 -b -a -d -c 90=a 90=a+104 90=b 50=c"),
    SCRIPT(sorted_fit, lwip, REGION, "lwip: what is left is split off from 24 bytes on",
           "a:104 1 -a 88=a[104] -a 80=a[80]"),
    SCRIPT(sorted_fit, lwip, REGION, "lwip: a free chunk behind begins where a smaller block ends",
           "a:40 b:40 1 -b a~24=a[24] 56=a+32"),
    SCRIPT(sorted_fit, lwip, REGION, "lwip: before a used one 16 bytes are no chunk, 24 are one",
           "a:40 1 a~24=a[40] a~16=a[16] 16=a+24"),
};

TEST(blocks_lie_where_the_originals_place_them) {
    RUN_SCRIPTS(block_runs);
    RUN_SCRIPTS(buddies);
    RUN_SCRIPTS(byte_pools);
    RUN_SCRIPTS(nano_mallocs);
    RUN_SCRIPTS(sys_heaps);
    RUN_SCRIPTS(halffits);
    RUN_SCRIPTS(leas);
    RUN_SCRIPTS(powers_of_two);
    RUN_SCRIPTS(quarters_of_powers);
    RUN_SCRIPTS(both_tags);
    RUN_SCRIPTS(sorted_fits);
}

static uint32_t random_state;

/* Numerical Recipes' LCG. */
static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

/* A seeded run's placements, each from the heap's end when it was empty. */
static void place(const hfit_operations *operations, const hfit_plan *plan, size_t bytes,
                  size_t *offsets, size_t count) {
    void *blocks[64] = {NULL};
    hfit_heap *heap = operations->init(script_region, bytes, plan);
    const size_t empty = operations->footprint(heap, plan);
    random_state = 7;
    for (size_t i = 0; i < count; i++) {
        void **slot = &blocks[random_below(64)];
        const size_t size = random_below(3000);
        if (*slot == NULL) {
            *slot = operations->alloc(heap, plan, size);
        } else {
            operations->free(heap, plan, *slot);
            *slot = NULL;
        }
        offsets[i] = *slot == NULL ? 0 : place_of(*slot) - empty;
    }
}

TEST(test5_places_every_block_as_test4_does) {
    enum { STEPS = 5000 };
    static size_t by_test4[STEPS];
    static size_t by_test5[STEPS];
    place(&hfit_djgpp_test4_operations, &pieces4.common, REGION - 8, by_test4, STEPS);
    place(&hfit_djgpp_test5_operations, &pieces5.common, REGION, by_test5, STEPS);
    CHECK(memcmp(by_test4, by_test5, sizeof by_test4) == 0);
}

enum { MANY = 60 };

/* Sizes all over lea's trees, several of them equal: each request takes the best fit of what is
 * left, all of it, so that no rest serves a later one. */
TEST(leas_trees_give_the_best_fit_of_any_set) {
    unsigned char *blocks[MANY];
    size_t usable[MANY];
    hfit_heap *heap = hfit_lea_init(script_region, REGION, &pairs);
    random_state = 1;
    for (size_t i = 0; i < MANY; i++) {
        blocks[i] = hfit_lea_alloc(heap, &pairs, 260 + random_below(4000) / 24 * 24);
        usable[i] = hfit_lea_usable_size(heap, &pairs, blocks[i]);
        CHECK(hfit_lea_alloc(heap, &pairs, 8) != NULL);
    }
    const unsigned char *last = blocks[MANY - 1];
    for (size_t i = 0; i < MANY; i++) {
        hfit_lea_free(heap, &pairs, blocks[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        const size_t wanted = 260 + random_below(4000);
        size_t best = SIZE_MAX;
        size_t taken = MANY;
        unsigned char *got = hfit_lea_alloc(heap, &pairs, wanted);
        for (size_t k = 0; k < MANY; k++) {
            best = usable[k] >= wanted && usable[k] < best ? usable[k] : best;
            taken = blocks[k] == got ? k : taken;
        }
        if (best == SIZE_MAX) {
            CHECK(got > last); /* the top */
            continue;
        }
        CHECK(taken < MANY && usable[taken] == best);
        (void)hfit_lea_resize(heap, &pairs, got, best);
        usable[taken] = 0;
        CHECK(hfit_lea_check(heap, &pairs));
    }
}

enum { BLOCKS = 100, RUN_STEPS = 4000 };

static test_plan plans[MOST_PLANS];

/* A seeded run in a region of `size` bytes: its footprint, 0 if a request is refused. Stores a
 * hash of all placements. */
static size_t run(const test_plan *plan, size_t size, uint64_t *hash) {
    const hfit_operations *operations = plan->allocator->operations;
    void *blocks[BLOCKS] = {NULL};
    random_state = 3;
    hfit_heap *heap = operations->init(script_region, size, plan_of(plan));
    CHECK(heap != NULL);
    *hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < RUN_STEPS; i++) {
        void **slot = &blocks[random_below(BLOCKS)];
        const size_t wanted = random_below(900);
        if (*slot == NULL) {
            *slot = operations->alloc(heap, plan_of(plan), wanted);
            if (*slot == NULL) {
                return 0;
            }
            *hash = (*hash ^ place_of(*slot)) * UINT64_C(1099511628211);
        } else {
            operations->free(heap, plan_of(plan), *slot);
            *slot = NULL;
        }
    }
    return operations->footprint(heap, plan_of(plan));
}

TEST(a_run_fits_in_its_footprint_and_in_nothing_less) {
    const size_t count = make_test_plans(plans);
    size_t tried = 0;
    for (size_t i = 0; i < count; i++) {
        if (!plans[i].allocator->ignores_region_end) {
            continue;
        }
        uint64_t in_large;
        uint64_t in_small;
        check_context = plans[i].name;
        const size_t needed = run(&plans[i], REGION, &in_large);
        if (needed == 0) { /* a step larger than the region leaves it to one size */
            continue;
        }
        CHECK(run(&plans[i], needed, &in_small) == needed);
        CHECK(in_small == in_large);
        CHECK(run(&plans[i], needed - 1, &in_small) == 0);
        tried++;
    }
    CHECK(tried > 10);
}

TEST(granularity_is_a_rounding_up_to_whole_steps) {
    CHECK(hfit_granular(0, 14) == 0);
    CHECK(hfit_granular(1, 14) == 16384);
    CHECK(hfit_granular(16384, 14) == 16384);
    CHECK(hfit_granular(16385, 14) == 32768);
    CHECK(hfit_granular(12345, 0) == 12345);
    CHECK(hfit_granular(UINT64_C(1) << 32, 31) == UINT64_C(1) << 32);
}

RUN_TESTS()
