/* SPDX-License-Identifier: Apache-2.0 */
/* `tailored` of every layout in regions of 256 MiB to 4 GiB, of memory that is only there where it
 * is touched. */
#include "../contract/contract_config.h"
#include "hfit/tailored.h"

#include "check.h"

#include <sys/mman.h>

static const uint32_t sizes[] = {1u << 28, (1u << 31) - 16, 1u << 31, (1u << 31) + 16, 0u - 16};

static void run(const hfit_plan *plan, void *region, size_t size) {
    void *blocks[6];
    const size_t asked[] = {64, 16, 1, 1000, size / 4, 24};
    const size_t order[] = {0, 2, 4, 1, 3, 5};
    const uint32_t misuses = misuse_count;
    hfit_heap *heap = hfit_tailored_init(region, size, plan);
    CHECK(heap != NULL);
    for (size_t i = 0; i < 6; i++) {
        blocks[i] = hfit_tailored_alloc(heap, plan, asked[i]);
        CHECK(blocks[i] != NULL);
    }
    for (size_t i = 0; i < 6; i++) {
        hfit_tailored_free(heap, plan, blocks[order[i]]);
        CHECK(i % 2 != 0 || hfit_tailored_check(heap, plan));
    }
    CHECK(misuse_count == misuses);
}

static void run_in_pages(const hfit_plan *plan, size_t size) {
    void *region = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region != MAP_FAILED) { /* of 32 bits not all fit */
        run(plan, region, size);
        CHECK(munmap(region, size) == 0);
    }
}

static void every_layout_is_sound_in_a_huge_region(void) {
    for (uint32_t i = 0; i < 36; i++) {
        const hfit_tailored_plan plan = {.common = {4u << (i % 3)},
                                         .ends = 1 + i / 9 % 2,
                                         .high_1 = ~0u,
                                         .layout = i / 3 % 3,
                                         .index = i / 18};
        if (hfit_tailored_smallest_region(&plan.common) == 0) {
            continue; /* pairs of 4 B */
        }
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            run_in_pages(&plan.common, sizes[s]);
        }
    }
}

int main(void) {
    RUN(every_layout_is_sound_in_a_huge_region);
    return report_passed();
}
