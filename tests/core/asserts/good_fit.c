/* SPDX-License-Identifier: Apache-2.0 */
/* What good_fit takes for granted, broken. */
#include "src/tiling/good_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_good_fit_plan settings = {{8}};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

int main(void) {
    BREAKS("a size that has no limit is rounded", uint32_t rounded;
           (void)round_below(1, UINT32_MAX, 4, 8, &rounded));
    BREAKS("a chunk below the least has no bin", (void)bin_of(plan, CHUNK_LEAST - 8));
    BREAKS("a free chunk is too small for its words", put_free(fresh(), plan, 508, free_word(8)));
    BREAKS("more is used than a chunk has", use(fresh(), plan, 508, free_word(64), 72));
    BREAKS("a chunk is shrunk to more than it has", hfit_heap *heap = fresh();
           store_word(heap, 508, 64); shrink(heap, plan, 508, 72));
    return silent;
}
