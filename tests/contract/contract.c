/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract suite: what every registered allocator must do, under every plan its descriptor
 * allows, compared with an obvious model after every step.
 *
 *   contract [ALLOCATOR|core|all [STEPS]]    random steps an allocator, shared by its plans and
 *                                            regions; seeds are fixed
 */
#include "aligned_memory.h"
#include "contract_config.h"
#include "model.h"
#include "plans.h"
#include "rule_oracle.h"
#include "split_mix.h"

#include "check.h"
#include "hfit/config.h"

#include <inttypes.h>
#include <string.h>

enum { TINY_REGIONS = 256, FEW_STEPS = 1000 }; /* regions of fewer bytes are all tried */

static test_plan plans[MOST_PLANS];
static size_t plan_count;
static const char *subject; /* an allocator's name, core or all */
static long steps;          /* for each plan and region */
static long steps_wanted = 200000;
static size_t stride = 1; /* of sizes that overflow: with few steps each seventh is tried */

static model m; /* one for all statements, as some machines have little memory */

/* A region that holds the plan's pools and this much more. */
static size_t region_for(const test_plan *plan, size_t more) {
    return plan->allocator->operations->smallest_region(plan_of(plan)) + more;
}

static bool is_subject(const test_plan *plan) {
    return strcmp(subject, "all") == 0 || strcmp(plan->allocator->name, subject) == 0 ||
           (strcmp(subject, "core") == 0 && is_core(plan->allocator));
}

static void for_each_plan(void (*statement)(const test_plan *plan)) {
    for (size_t i = 0; i < plan_count; i++) {
        if (is_subject(&plans[i])) {
            check_context = plans[i].name;
            statement(&plans[i]);
        }
    }
}

static void there_are_plans_for_the_subject(void) {
    size_t count = 0;
    for (size_t i = 0; i < plan_count; i++) {
        count += is_subject(&plans[i]);
    }
    CHECK(count > 0);
}

static size_t random_size(void) {
    static const size_t favourites[] = {0, 1, 40, 64, 128, 200, 512};
    switch (random_below(4)) {
    case 0:
        return favourites[random_below(7)];
    case 1:
        return random_below(1500);
    default:
        return random_below(160);
    }
}

static void random_step(model *m) {
    const size_t kind = random_below(16);
    if (m->live_count == 0 || (kind < 7 && m->live_count < MOST_LIVE)) {
        model_alloc(m, kind == 0 ? (size_t)1 << random_below(9) : 0, random_size());
    } else if (kind < 10) {
        model_resize(m, random_below(m->live_count), random_size());
    } else {
        model_free(m, random_below(m->live_count), kind == 10);
    }
}

static void walk_random_steps(const test_plan *plan, size_t more, uint64_t seed) {
    random_state = seed;
    model_start(&m, plan, region_for(plan, more));
    for (long i = 0; i < steps; i++) {
        random_step(&m);
        model_compare(&m);
    }
    while (m.live_count > 0) {
        model_free(&m, m.live_count - 1, false);
        model_compare(&m);
    }
    CHECK(misuse_count == 0);
    model_end(&m);
}

static size_t plans_of(const hfit_allocator *allocator) {
    size_t count = 0;
    for (size_t i = 0; i < plan_count; i++) {
        count += plans[i].allocator == allocator;
    }
    return count;
}

static void agrees_with_the_model(const test_plan *plan) {
    steps = steps_wanted / (3 * (long)plans_of(plan->allocator)) + 1;
    walk_random_steps(plan, SMALL_ROOM, 1);
    walk_random_steps(plan, MIDDLE_ROOM, 2);
    walk_random_steps(plan, LARGE_ROOM, 3);
}

static void a_random_run_agrees_with_the_model_after_every_step(void) {
    for_each_plan(agrees_with_the_model);
}

static rule_oracle oracle;

/* The load falls and rises, so that there are many holes, of many sizes. */
static void judged_step(long i) {
    const size_t frees = i / 100 % 2 == 0 ? 5 : 10; /* of 16 */
    oracle_look(&oracle, &m);
    if (m.live_count != 0 && (random_below(16) < frees || m.live_count == MOST_LIVE)) {
        model_free(&m, random_below(m.live_count), false);
        return;
    }
    if (model_alloc(&m, 0, random_below((size_t)JUDGED_SIZES >> i / 400 % 5))) {
        oracle_judge(&oracle, &m);
    }
}

static void places_by_its_rule(const test_plan *plan) {
    oracle_start(&oracle, plan);
    if (oracle.rule == RULE_NONE || HFIT_SAFETY >= 3) { /* there freed blocks wait */
        return;
    }
    steps = steps_wanted / (5 * (long)plans_of(plan->allocator)) + 1;
    random_state = 4;
    model_start(&m, plan, LARGEST_REGION);
    for (long i = 0; i < steps; i++) {
        judged_step(i);
    }
    model_end(&m);
}

static void each_request_gets_the_chunk_that_the_rule_names(void) {
    for_each_plan(places_by_its_rule);
}

static void starts_in_its_smallest_region(const test_plan *plan) {
    const size_t smallest = region_for(plan, 0);
    model_start(&m, plan, smallest);
    model_compare(&m);
    model_end(&m);
    void *const memory = take_aligned(REGION_ALIGNMENT, smallest);
    CHECK(m.operations->init(memory, smallest - 1, plan_of(plan)) == NULL);
    for (size_t size = 0; size < smallest && size < TINY_REGIONS; size++) {
        CHECK(m.operations->init(memory, size, plan_of(plan)) == NULL);
    }
    return_aligned(memory);
}

static void a_heap_starts_in_its_smallest_region_and_in_none_below(void) {
    for_each_plan(starts_in_its_smallest_region);
}

static void refuses_bad_regions(const test_plan *plan) {
    const hfit_operations *operations = plan->allocator->operations;
    unsigned char *const aligned = take_aligned(REGION_ALIGNMENT, LARGEST_REGION);
    CHECK(operations->init(NULL, LARGEST_REGION, plan_of(plan)) == NULL);
    CHECK(operations->init(aligned + 2, LARGEST_REGION, plan_of(plan)) == NULL);
    CHECK(operations->init(aligned + plan_of(plan)->alignment / 2, LARGEST_REGION, plan_of(plan)) ==
          NULL);
#if SIZE_MAX > 0xffffffff
    CHECK(operations->init(aligned, (size_t)1 << 32, plan_of(plan)) == NULL);
#endif
    return_aligned(aligned);
}

static void a_null_misaligned_or_oversized_region_is_refused(void) {
    for_each_plan(refuses_bad_regions);
}

static void refuses_oversized(const test_plan *plan) {
    model_start(&m, plan, region_for(plan, MIDDLE_ROOM));
    model_alloc(&m, 0, 100);
    const size_t had = m.live_count;
    for (size_t i = 0; i < ODD_SIZES; i += stride) {
        CHECK(!model_alloc(&m, 0, SIZE_MAX - i));
        CHECK(!model_alloc(&m, 0, PTRDIFF_MAX - (size_t)150 + i));
        CHECK(!model_alloc(&m, 64, SIZE_MAX - i));
        CHECK(had == 0 || !model_resize(&m, 0, SIZE_MAX - i));
    }
    for (unsigned bit = 17; bit < sizeof(size_t) * 8; bit++) {
        for (size_t i = 0; i < ODDER_SIZES; i += stride) {
            CHECK(!model_alloc(&m, 0, ((size_t)1 << bit) - 40 + i));
        }
        CHECK(!model_alloc(&m, (size_t)1 << bit, SIZE_MAX / 2));
    }
    CHECK(m.live_count == had);
    model_compare(&m);
    model_end(&m);
}

static void sizes_that_overflow_or_exceed_the_region_are_refused(void) {
    for_each_plan(refuses_oversized);
}

static void refuses_bad_alignments(const test_plan *plan) {
    static const size_t bad[] = {0, 3, 5, 6, 7, 12, 24, 100, SIZE_MAX};
    model_start(&m, plan, region_for(plan, MIDDLE_ROOM));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(m.operations->alloc_aligned(m.heap, plan_of(plan), bad[i], 8) == NULL);
    }
    model_compare(&m);
    model_end(&m);
}

static void alignments_that_are_no_power_of_two_are_refused(void) {
    for_each_plan(refuses_bad_alignments);
}

static void serves_empty_requests(const test_plan *plan) {
    model_start(&m, plan, region_for(plan, MIDDLE_ROOM));
    if (model_alloc(&m, 0, 0) && model_alloc(&m, 0, 0)) {
        CHECK(m.live[0].address != m.live[1].address);
    }
    model_compare(&m);
    m.operations->free(m.heap, plan_of(plan), NULL);
    m.operations->free_sized(m.heap, plan_of(plan), NULL, 40);
    CHECK(m.operations->usable_size(m.heap, plan_of(plan), NULL) == 0);
    model_compare(&m);
    m.allocs_by_resize = true;
    if (model_alloc(&m, 0, 40)) {
        model_compare(&m);
        model_free(&m, m.live_count - 1, false);
    }
    model_compare(&m);
    model_end(&m);
}

static void empty_requests_get_blocks_of_their_own_and_null_may_be_freed_and_resized(void) {
    for_each_plan(serves_empty_requests);
}

/* Frees `pointer`, which must not be live, and sees that it is told as misuse and changes nothing.
 * Returns what it is told as. */
static hfit_misuse check_refused_free(model *m, void *pointer) {
    unsigned char *before = malloc(m->region_size);
    CHECK(before != NULL);
    memcpy(before, m->region, m->region_size);
    const uint32_t misuses = misuse_count;
    m->operations->free(m->heap, plan_of(m->plan), pointer);
    const hfit_misuse told = (hfit_misuse)misuse_kind;
    CHECK(misuse_count == misuses + 1);
    CHECK(memcmp(before, m->region, m->region_size) == 0);
    CHECK(m->operations->resize(m->heap, plan_of(m->plan), pointer, 8) == NULL);
    CHECK(m->operations->usable_size(m->heap, plan_of(m->plan), pointer) == 0);
    CHECK(memcmp(before, m->region, m->region_size) == 0);
    free(before);
    return told;
}

/* Frees all blocks but the last in order, so that chunks may coalesce both ways, and tries each
 * again at once. Where nothing was coalesced a block begins, which is not live. */
static void check_double_frees(model *m) {
    bool may_be_inside = false;
    while (m->live_count > 1) {
        unsigned char *freed = m->live[0].address;
        model_free(m, 0, false);
        const hfit_misuse told = check_refused_free(m, freed);
        CHECK(told == HFIT_MISUSE_NOT_LIVE || (may_be_inside && told == HFIT_MISUSE_FOREIGN));
        may_be_inside = true;
    }
    model_compare(m);
}

static void refuses_bad_frees(const test_plan *plan) {
    static uint64_t foreign[64];
    if (!is_core(plan->allocator) || !knows_sizes(plan->allocator)) {
        return; /* of baselines nothing is promised; of the others see tests/core/test_sized.c */
    }
    model_start(&m, plan, region_for(plan, MIDDLE_ROOM));
    while (m.live_count < 12 && model_alloc(&m, 0, 40)) {
    }
    if (m.live_count == 12) { /* a plan of no pools and no shared heap has no blocks */
        CHECK(check_refused_free(&m, m.live[0].address + 1) == HFIT_MISUSE_FOREIGN);
        check_double_frees(&m);
    }
    CHECK(check_refused_free(&m, m.region) == HFIT_MISUSE_FOREIGN);
    (void)check_refused_free(&m, m.region + m.region_size);
    CHECK(check_refused_free(&m, &foreign[32]) == HFIT_MISUSE_FOREIGN);
    model_compare(&m);
    misuse_count = 0;
    model_end(&m);
}

static void a_bad_free_is_told_and_changes_nothing(void) {
    for_each_plan(refuses_bad_frees);
}

/* The largest request a heap serves now, found by trying; each try is undone. */
static size_t largest_request(const model *m) {
    size_t low = 0;
    size_t high = m->region_size;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        void *block = m->operations->alloc(m->heap, plan_of(m->plan), middle);
        if (block == NULL) {
            high = middle;
        } else {
            low = middle;
            free_block(m->plan, m->heap, block, middle);
        }
    }
    return low;
}

/* The largest request a fresh heap serves after 300 blocks came and went. */
static size_t largest_after_churn(const test_plan *plan, bool aligned) {
    random_state = 4;
    model_start(&m, plan, region_for(plan, LARGE_ROOM));
    for (int i = 0; i < 300; i++) {
        model_alloc(&m, aligned ? (size_t)8 << random_below(6) : 0, random_size());
        if (m.live_count > CHURN_LIVE || (m.live_count > 0 && random_below(3) == 0)) {
            model_free(&m, random_below(m.live_count), false);
        }
    }
    while (m.live_count > 0) {
        model_free(&m, m.live_count - 1, false);
    }
    const size_t largest = largest_request(&m);
    model_end(&m);
    return largest;
}

/* A heap that is as new after plain requests, since it coalesces, is so after aligned ones too. */
static void leaks_no_alignment_bytes(const test_plan *plan) {
    model_start(&m, plan, region_for(plan, LARGE_ROOM));
    const size_t largest = largest_request(&m);
    model_end(&m);
    if (largest_after_churn(plan, false) == largest) {
        CHECK(largest_after_churn(plan, true) == largest);
    }
}

static void aligned_blocks_leave_nothing_behind(void) {
    for_each_plan(leaks_no_alignment_bytes);
}

/* One call of an operation takes the lock once, whatever it comes to. */
#define CHECK_LOCKS_ONCE(call)                                                                     \
    do {                                                                                           \
        const uint32_t before = lock_count;                                                        \
        (void)(call);                                                                              \
        CHECK(lock_count == before + 1);                                                           \
    } while (0)

static void visit_nothing(void *context, const void *block, size_t usable_size, bool is_used) {
    (void)context, (void)block, (void)usable_size, (void)is_used;
}

static void locks_once(const test_plan *plan) {
    const hfit_plan *own = plan_of(plan);
    model_start(&m, plan, region_for(plan, MIDDLE_ROOM));
    const hfit_operations *operations = m.operations;
    void *block = NULL;
    CHECK_LOCKS_ONCE(block = operations->alloc(m.heap, own, 40));
    CHECK_LOCKS_ONCE(operations->alloc(m.heap, own, SIZE_MAX));
    CHECK_LOCKS_ONCE(operations->alloc_aligned(m.heap, own, 64, 300));
    CHECK_LOCKS_ONCE(operations->alloc_aligned(m.heap, own, 3, 40));
    CHECK_LOCKS_ONCE(operations->usable_size(m.heap, own, block));
    CHECK_LOCKS_ONCE(operations->resize(m.heap, own, block, SIZE_MAX));
    CHECK_LOCKS_ONCE(operations->resize_sized(m.heap, own, block, 40, SIZE_MAX));
    void *grown = NULL;
    CHECK_LOCKS_ONCE(grown = resize_block(plan, m.heap, block, 40, 900));
    block = grown == NULL ? block : grown;
    CHECK_LOCKS_ONCE((operations->free_sized(m.heap, own, block, grown == NULL ? 40 : 900), 0));
    CHECK_LOCKS_ONCE((operations->free(m.heap, own, NULL), 0));
    CHECK_LOCKS_ONCE((operations->walk(m.heap, own, visit_nothing, NULL), 0));
    CHECK_LOCKS_ONCE(operations->check(m.heap, own));
    CHECK_LOCKS_ONCE(operations->footprint(m.heap, own));
    misuse_count = knows_sizes(plan->allocator) ? misuse_count : 0; /* a resize without a size */
    model_end(&m);
}

static void every_operation_takes_the_lock_just_once(void) {
    for_each_plan(locks_once);
}

int main(int argc, char **argv) {
    if (argc > 2) {
        steps_wanted = strtol(argv[2], NULL, 10);
        stride = steps_wanted < FEW_STEPS ? 7 : 1;
    }
    subject = argc > 1 ? argv[1] : "all";
    plan_count = make_test_plans(plans);
    printf("contract: %s, %ld random steps an allocator, safety level %d, seeds 1 to 3\n", subject,
           steps_wanted, HFIT_SAFETY);
    RUN(there_are_plans_for_the_subject);
    RUN(a_heap_starts_in_its_smallest_region_and_in_none_below);
    RUN(a_null_misaligned_or_oversized_region_is_refused);
    RUN(sizes_that_overflow_or_exceed_the_region_are_refused);
    RUN(alignments_that_are_no_power_of_two_are_refused);
    RUN(empty_requests_get_blocks_of_their_own_and_null_may_be_freed_and_resized);
    if (HFIT_SAFETY >= 1) {
        RUN(a_bad_free_is_told_and_changes_nothing);
    }
    RUN(every_operation_takes_the_lock_just_once);
    RUN(aligned_blocks_leave_nothing_behind);
    RUN(each_request_gets_the_chunk_that_the_rule_names);
    RUN(a_random_run_agrees_with_the_model_after_every_step);
    return report_passed();
}
