/* SPDX-License-Identifier: Apache-2.0 */
/* What segregated_fit takes for granted, broken. */
#include "src/tiling/segregated_fit.c"

int main(void) {
    BREAKS("a chunk below the smallest has a list",
           const hfit_segregated_fit_plan settings = {.common = {8},
                                                      .exact_lists = 4,
                                                      .header_size = WORD_SIZE};
           (void)list_for(&settings.common, CHUNK_LEAST - 8));
    return silent;
}
