/* SPDX-License-Identifier: Apache-2.0 */
/* What good_fit takes for granted, broken. */
#include "src/tiling/good_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_good_fit_plan settings = {{8}};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

static void a_size_that_has_no_limit_is_rounded(void) {
    uint32_t rounded;
    (void)round_below(1, UINT32_MAX, 4, 8, &rounded);
}

static void a_chunk_below_the_least_has_no_bin(void) {
    (void)bin_of(plan, CHUNK_LEAST - 8);
}

static void a_free_chunk_is_too_small_for_its_words(void) {
    put_free(fresh(), plan, 508, free_word(8));
}

static void more_is_used_than_a_chunk_has(void) {
    use(fresh(), plan, 508, free_word(64), 72);
}

static void a_chunk_is_shrunk_to_more_than_it_has(void) {
    hfit_heap *heap = fresh();
    store_word(heap, 508, 64);
    shrink(heap, plan, 508, 72);
}

static broken_invariant *const cases[] = {
    a_size_that_has_no_limit_is_rounded,     a_chunk_below_the_least_has_no_bin,
    a_free_chunk_is_too_small_for_its_words, more_is_used_than_a_chunk_has,
    a_chunk_is_shrunk_to_more_than_it_has,
};

int main(void) {
    return SHOW_ALL(cases);
}
