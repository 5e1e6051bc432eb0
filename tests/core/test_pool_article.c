/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Elsayed and Galal say of variable-size pools (part 2): their overhead (figure 9), by the
 * pools' own smallest regions, and one point of figure 5, by a small simulation.
 *
 * The article does not tell its bookkeeping. "Almost equal" total sizes of 272 buffers of 2048 B
 * and 1024 partitions of 512 B let about 32 to 36 B a partition be inferred; 36 is used here.
 */
#include "hfit/chained_pool.h"
#include "hfit/class_pools.h"
#include "hfit/partition_pool.h"

#include "check.h"
#include "split_mix.h"

#include <math.h>
#include <string.h>

enum { INFERRED_BOOKKEEPING = 36, MOST_LIVE = 1024 };

/* Bytes beyond the usable ones, in percent of them. */
static double percent(size_t region, uint32_t usable) {
    return 100.0 * (double)(region - usable) / usable;
}

static double partitions_overhead(uint32_t usable, uint32_t size, uint32_t overhead,
                                  uint32_t metadata) {
    const hfit_partition_pool_plan plan = {{8}, size, usable / size, overhead, 0, metadata};
    return percent(hfit_partition_pool_smallest_region(&plan.common), usable);
}

static double chains_overhead(uint32_t usable, uint32_t size) {
    const hfit_chained_pool_plan plan = {{8}, size, usable / size, 0};
    return percent(hfit_chained_pool_smallest_region(&plan.common), usable);
}

/* Of a pool of equal buffers, one used bit each. */
static double buffers_overhead(uint32_t usable, uint32_t size) {
    hfit_pool pool = {.size = size, .count = usable / size};
    const uint32_t end = hfit_pools_lay_out(&pool, 1, 8);
    CHECK(end != 0);
    hfit_pools_plan plan = {.common = {8}, .pools = {&pool, 1, end}};
    CHECK(hfit_class_pools_complete(&plan, NULL, 0));
    return percent(hfit_class_pools_smallest_region(&plan.common), usable);
}

TEST(figure_9_overhead_falls_with_the_partitions_size_and_is_above_that_of_buffers) {
    static const uint32_t usable[] = {64 * 1024, 512 * 1024};
    printf("usable  size  article's (inferred)    list    bits  chains  buffers, %% of usable\n");
    for (size_t i = 0; i < 2; i++) {
        double before[4] = {1e9, 1e9, 1e9, 1e9};
        for (uint32_t size = 16; size <= 1024; size *= 2) {
            const double now[4] = {
                partitions_overhead(usable[i], size, INFERRED_BOOKKEEPING, 0),
                partitions_overhead(usable[i], size, 0, 0),
                partitions_overhead(usable[i], size, 0, 1),
                chains_overhead(usable[i], size),
            };
            const double buffers = buffers_overhead(usable[i], size);
            printf("%6u  %4u  %20.3f  %6.3f  %6.3f  %6.3f  %7.3f\n", usable[i], size, now[0],
                   now[1], now[2], now[3], buffers);
            for (size_t k = 0; k < 4; k++) {
                CHECK(now[k] <= before[k] && now[k] > buffers); /* = where rounding hides it */
                before[k] = now[k];
            }
        }
    }
}

static bool is_near(double value, double expected, double tolerance) {
    return fabs(value - expected) <= tolerance;
}

/* Besides the bytes a partition there are 20 of control, and up to 63 before the first partition.
 */
TEST(the_overhead_is_the_bookkeeping_a_partition_over_its_size) {
    const uint32_t usable = 512 * 1024;
    for (uint32_t size = 16; size <= 1024; size *= 2) {
        CHECK(is_near(partitions_overhead(usable, size, INFERRED_BOOKKEEPING, 0),
                      100.0 * INFERRED_BOOKKEEPING / size, 0.02));
        CHECK(is_near(partitions_overhead(usable, size, 0, 0), 400.0 / size, 0.02));
        CHECK(is_near(partitions_overhead(usable, size, 0, 1), 25.0 / size, 0.02));
    }
}

/* Between 0 and 1. */
static double random_unit(void) {
    return ((double)(random_next() >> 11) + 0.5) * 0x1p-53;
}

static double random_exponential(double mean) {
    return -log(random_unit()) * mean;
}

/* A block and when it will be given back. */
typedef struct stay {
    double end;
    void *block;
} stay;

static stay stays[MOST_LIVE];
static size_t stay_count;

static void free_ended(const hfit_operations *operations, hfit_heap *heap, const hfit_plan *plan,
                       double now) {
    for (size_t i = stay_count; i-- > 0;) {
        if (stays[i].end <= now) {
            operations->free(heap, plan, stays[i].block);
            stays[i] = stays[--stay_count];
        }
    }
}

/* The share of bytes admitted of 100,000 requests of 80 to 2000 B that come 500 in a unit of time
 * (Poisson) and stay for 1 on average (exponential: the article does not say). */
static double admission(const hfit_operations *operations, const hfit_plan *plan) {
    static _Alignas(64) unsigned char region[544 * 1024];
    hfit_heap *heap = operations->init(region, sizeof region, plan);
    double offered = 0;
    double admitted = 0;
    double now = 0;
    CHECK(heap != NULL);
    random_state = 1;
    stay_count = 0;
    for (int i = 0; i < 100000; i++) {
        now += random_exponential(0.002);
        free_ended(operations, heap, plan, now);
        const size_t size = 80 + (size_t)(random_unit() * 1921);
        const stay next = {now + random_exponential(1), operations->alloc(heap, plan, size)};
        offered += (double)size;
        if (next.block != NULL) {
            stays[stay_count++] = next;
            admitted += (double)size;
        }
    }
    CHECK(operations->check(heap, plan));
    return admitted / offered;
}

static double partitions_admission(uint32_t fit, uint32_t metadata) {
    const hfit_partition_pool_plan plan = {{8}, 512, 1024, 0, fit, metadata};
    return admission(&hfit_partition_pool_operations, &plan.common);
}

/* Simulators that place nothing in memory gave 0.752, 0.769 and 0.797 over 10^6 requests, the last
 * also by Kaufman and Roberts' recursion; 100,000 leave about 0.005 of chance. */
TEST(figure_5_best_fit_admits_more_than_first_fit_and_scattered_groups_most) {
    const hfit_chained_pool_plan scattered = {{8}, 512, 1024, 0};
    const double first = partitions_admission(0, 0);
    const double best = partitions_admission(1, 0);
    const double chained = admission(&hfit_chained_pool_operations, &scattered.common);
    printf("admitted, by bytes: first fit %.3f, best fit %.3f, chained %.3f\n", first, best,
           chained);
    CHECK(is_near(first, 0.752, 0.015) && is_near(best, 0.769, 0.015));
    CHECK(is_near(chained, 0.797, 0.015) && first < best && best < chained);
    CHECK(is_near(partitions_admission(0, 1), first, 1e-9));
    CHECK(is_near(partitions_admission(1, 1), best, 1e-9));
}

RUN_TESTS()
