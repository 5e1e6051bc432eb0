/* SPDX-License-Identifier: Apache-2.0 */
/* TLSF: no rounding beyond the alignment, as many chunks of a request's own class tried as the plan
 * says, a control block that scales. */
#include "hfit/tlsf.h"

#include "check.h"

static _Alignas(4096) unsigned char region[256 * 1024];

static hfit_tlsf_plan plan_with(uint32_t alignment, uint32_t second_level) {
    return (hfit_tlsf_plan){{alignment}, second_level, 2};
}

/* Takes all that is left of the heap, so that only what is freed later can serve a request. */
static void exhaust(hfit_heap *heap, const hfit_plan *plan) {
    for (size_t size = sizeof region; size > 0; size /= 2) {
        while (hfit_tlsf_alloc(heap, plan, size) != NULL) {
        }
    }
}

static void check_found_again(uint32_t alignment, uint32_t second_level, size_t size) {
    const hfit_tlsf_plan plan = plan_with(alignment, second_level);
    hfit_heap *heap = hfit_tlsf_init(region, 64 * 1024, &plan.common);
    CHECK(heap != NULL);
    void *block = hfit_tlsf_alloc(heap, &plan.common, size);
    CHECK(block != NULL);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1) != NULL);
    exhaust(heap, &plan.common);
    hfit_tlsf_free(heap, &plan.common, block);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, size) == block);
}

TEST(a_freed_chunk_is_found_again_by_the_same_request) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        for (uint32_t second_level = 1; second_level <= 5; second_level++) {
            for (size_t size = 1; size < 9000; size += 1 + size / 40) {
                check_found_again(alignment, second_level, size);
            }
        }
    }
}

TEST(a_request_takes_its_size_and_the_header_rounded_up_to_the_alignment) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        const hfit_tlsf_plan plan = plan_with(alignment, 2);
        for (size_t size = 12; size < 9000; size += 1 + size / 10) {
            hfit_heap *heap = hfit_tlsf_init(region, sizeof region, &plan.common);
            const unsigned char *first = hfit_tlsf_alloc(heap, &plan.common, size);
            const unsigned char *second = hfit_tlsf_alloc(heap, &plan.common, size);
            const size_t chunk = (size + 4 + alignment - 1) / alignment * alignment;
            CHECK(first != NULL && second == first + chunk);
        }
    }
}

/* Frees two blocks of one class, `first` in front of `second` in their bin. */
static void free_two(hfit_heap *heap, const hfit_plan *plan, void *first, void *second) {
    hfit_tlsf_free(heap, plan, second);
    hfit_tlsf_free(heap, plan, first);
}

TEST(the_second_chunk_of_a_class_is_taken_if_the_first_is_too_small) {
    const hfit_tlsf_plan plan = plan_with(8, 3);
    hfit_heap *heap = hfit_tlsf_init(region, 64 * 1024, &plan.common);
    void *small = hfit_tlsf_alloc(heap, &plan.common, 1040); /* one class: 1024 to 1151 bytes */
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1) != NULL);
    void *large = hfit_tlsf_alloc(heap, &plan.common, 1120);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1) != NULL);
    exhaust(heap, &plan.common);
    free_two(heap, &plan.common, small, large);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1120) == large);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1120) == NULL);
    CHECK(hfit_tlsf_alloc(heap, &plan.common, 1040) == small);
}

/* A heap that has nothing free but three chunks of the class of 1024 to 1151 bytes, in this order
 * in their bin, and one far larger. */
static void *three_of_a_class(const hfit_plan *plan, const size_t sizes[3], void *blocks[3]) {
    hfit_heap *heap = hfit_tlsf_init(region, 64 * 1024, plan);
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = hfit_tlsf_alloc(heap, plan, sizes[i]);
        CHECK(hfit_tlsf_alloc(heap, plan, 1) != NULL);
    }
    void *larger = hfit_tlsf_alloc(heap, plan, 8000);
    CHECK(hfit_tlsf_alloc(heap, plan, 1) != NULL);
    exhaust(heap, plan);
    hfit_tlsf_free(heap, plan, larger);
    for (size_t i = 3; i > 0; i--) {
        hfit_tlsf_free(heap, plan, blocks[i - 1]);
    }
    return larger;
}

TEST(as_many_chunks_of_a_class_are_looked_at_as_the_plan_says) {
    for (uint32_t probes = 1; probes <= 3; probes++) {
        void *blocks[3];
        hfit_tlsf_plan plan = plan_with(8, 3);
        plan.probes = probes;
        void *larger = three_of_a_class(&plan.common, (size_t[]){1040, 1080, 1120}, blocks);
        void *block = hfit_tlsf_alloc((hfit_heap *)region, &plan.common, 1120);
        CHECK(block == (probes == 3 ? blocks[2] : larger));
    }
}

TEST(without_probes_a_request_is_rounded_up_to_the_next_class) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        void *blocks[3];
        hfit_tlsf_plan plan = plan_with(alignment, 3);
        plan.probes = 0;
        void *larger = three_of_a_class(&plan.common, (size_t[]){1120, 1120, 1120}, blocks);
        hfit_heap *heap = (hfit_heap *)region;
        CHECK(hfit_tlsf_alloc(heap, &plan.common, 1040) == larger);
        CHECK(hfit_tlsf_alloc(heap, &plan.common, 1024) == blocks[0]); /* the bound of the class */
    }
}

TEST(without_probes_every_chunk_above_is_large_enough_and_the_first_one_taken) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        hfit_tlsf_plan plan = plan_with(alignment, 2);
        plan.probes = 0;
        for (size_t size = 1; size < 9000; size += 1 + size / 60) {
            hfit_heap *heap = hfit_tlsf_init(region, 64 * 1024, &plan.common);
            void *first = hfit_tlsf_alloc(heap, &plan.common, 2 * size);
            CHECK(hfit_tlsf_alloc(heap, &plan.common, 1) != NULL);
            exhaust(heap, &plan.common);
            hfit_tlsf_free(heap, &plan.common, first);
            CHECK(hfit_tlsf_alloc(heap, &plan.common, size) == first);
        }
    }
}

TEST(the_control_block_scales_with_the_region) {
    const hfit_tlsf_plan plan = plan_with(4, 0);
    size_t previous = 0;
    for (size_t size = 512; size <= sizeof region; size *= 2) {
        hfit_heap *heap = hfit_tlsf_init(region, size, &plan.common);
        const size_t control = hfit_tlsf_footprint(heap, &plan.common);
        CHECK(control >= previous);
        CHECK(control <= size / 2);
        previous = control;
    }
}

TEST(one_block_of_8_bytes_needs_a_region_of_at_most_264) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        const hfit_tlsf_plan plan = plan_with(alignment, 0);
        const size_t smallest = hfit_tlsf_smallest_region(&plan.common);
        CHECK(smallest <= 264);
        hfit_heap *heap = hfit_tlsf_init(region, smallest, &plan.common);
        CHECK(hfit_tlsf_alloc(heap, &plan.common, 8) != NULL);
    }
}

TEST(a_second_level_above_5_is_refused) {
    const hfit_tlsf_plan plan = plan_with(8, 6);
    CHECK(hfit_tlsf_init(region, sizeof region, &plan.common) == NULL);
    CHECK(hfit_tlsf_smallest_region(&plan.common) == 0);
}

RUN_TESTS()
