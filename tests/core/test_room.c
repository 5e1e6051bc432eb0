/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each allocator under every test plan, what its descriptor tells of room (hfit/descriptor.h),
 * and what an aligned request asks for that is aligned no further than all blocks are.
 */
#include "every_plan.h"
#include "random_number.h"

enum { ROOM = 8192, SMALL = 2048, STEPS = 80, BLOCKS = 8, LARGEST = 100, HEADER = 16, GRAIN = 8 };

static size_t tried;

/* As alloc has it, in a heap like it. */
static void try_small_alignments(const test_plan *plan) {
    for (size_t alignment = 1; alignment <= plan_of(plan)->alignment; alignment *= 2) {
        const subject s = start(plan, ROOM);
        const void *block = s.operations->alloc(s.heap, s.plan, 24);
        const subject other = start(plan, ROOM);
        CHECK(other.operations->alloc_aligned(other.heap, other.plan, alignment, 24) == block);
        tried += block != NULL;
    }
}

TEST(an_alignment_that_all_blocks_have_changes_nothing) {
    tried = 0;
    CHECK(for_each_plan(try_small_alignments, false) < tried);
}

/* How far a block lies from the one before it, which asked for as much. */
static size_t distance_of(const test_plan *plan, size_t size) {
    const subject s = start(plan, ROOM);
    const unsigned char *first = s.operations->alloc(s.heap, s.plan, size);
    const unsigned char *second = s.operations->alloc(s.heap, s.plan, size);
    CHECK(first != NULL && second != NULL);
    return (size_t)(second > first ? second - first : first - second);
}

static void try_holes(const test_plan *plan) {
    hfit_holes holes = {0};
    if (plan->allocator->limit != HFIT_LIMIT_HOLES ||
        !plan->allocator->holes(plan_of(plan), ROOM / 2, &holes)) {
        return;
    }
    const size_t alignment = plan_of(plan)->alignment;
    size_t least = SIZE_MAX;
    for (size_t size = 1; size <= LARGEST; size++) {
        const size_t whole = (size + holes.header + alignment - 1) / alignment * alignment;
        const size_t chunk = whole < holes.smallest_chunk ? holes.smallest_chunk : whole;
        const size_t far = distance_of(plan, size);
        CHECK(chunk <= far && far <= chunk + holes.spare);
        least = far < least ? far : least;
        tried++;
    }
    CHECK(least == holes.smallest_chunk);
}

TEST(chunks_are_as_large_as_the_holes_of_a_descriptor_say) {
    tried = 0;
    CHECK(for_each_plan(try_holes, false) < tried);
}

/* Allocations and frees in an order of their own: where each block lies, or NULL. */
static void play(const subject *s, unsigned char **places) {
    void *live[BLOCKS] = {NULL};
    size_t sizes[BLOCKS] = {0};
    random_state = 7;
    for (size_t i = 0; i < STEPS; i++) {
        const uint32_t at = random_below(BLOCKS);
        if (live[at] != NULL) {
            free_block(s->from, s->heap, live[at], sizes[at]);
        }
        sizes[at] = 1 + random_below(LARGEST);
        live[at] = s->operations->alloc(s->heap, s->plan, sizes[at]);
        places[i] = live[at];
    }
}

/* How many blocks lie neither where they lay, counted from the first block, nor from the end. */
static size_t count_moved(unsigned char *const *before, unsigned char *const *now, ptrdiff_t less) {
    size_t moved = 0;
    for (size_t i = 0; i < STEPS; i++) {
        const ptrdiff_t from_first = (now[i] - now[0]) - (before[i] - before[0]);
        moved += now[i] == NULL || (from_first != 0 && before[i] - now[i] != less &&
                                    from_first + less != 0 && from_first - less != 0);
    }
    return moved;
}

static unsigned char *roomy[STEPS], *close[STEPS];

/* In a region with as much room as is told to be enough each block is served, where it lay. */
static void try_reach(const test_plan *plan) {
    hfit_reach reach = {0}, own = {0};
    const subject s = start(plan, SMALL);
    if (plan->allocator->reach == NULL) {
        return;
    }
    play(&s, roomy);
    if (!plan->allocator->reach(s.heap, s.plan, &reach) || reach.most == reach.room) {
        return;
    }
    CHECK(reach.most <= reach.room && reach.room <= s.bytes && count_moved(roomy, roomy, 0) == 0);
    size_t enough = 0;
    for (size_t less = GRAIN; less < SMALL && reach.most + reach.chunk + less <= reach.room + GRAIN;
         less += GRAIN) {
        const subject smaller = start(plan, SMALL - less);
        CHECK(plan->allocator->reach(smaller.heap, smaller.plan, &own) && own.most <= HEADER);
        if (own.room == reach.most || own.room >= reach.most + reach.chunk) {
            play(&smaller, close);
            CHECK(count_moved(roomy, close, (ptrdiff_t)(reach.room - own.room)) == 0);
            enough++;
        }
    }
    CHECK(enough > 0);
    tried++;
}

TEST(a_region_with_the_room_that_was_reached_serves_the_same) {
    tried = 0;
    (void)for_each_plan(try_reach, false);
    CHECK(tried > 0);
}

RUN_TESTS()
