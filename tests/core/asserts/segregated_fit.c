/* SPDX-License-Identifier: Apache-2.0 */
/* What segregated_fit takes for granted, broken. */
#include "src/tiling/segregated_fit.c"

static void a_chunk_below_the_smallest_has_a_list(void) {
    const hfit_segregated_fit_plan settings = {
        .common = {8}, .exact_lists = 4, .header_size = WORD_SIZE};
    (void)list_for(&settings.common, CHUNK_LEAST - 8);
}

static broken_invariant *const cases[] = {a_chunk_below_the_smallest_has_a_list};

int main(void) {
    return SHOW_ALL(cases);
}
