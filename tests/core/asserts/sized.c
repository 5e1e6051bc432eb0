/* SPDX-License-Identifier: Apache-2.0 */
/* What sized takes for granted, broken. */
#include "src/sized/sized.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_sized_plan settings = {.common = {4}, .ends = 1};
static const hfit_plan *const plan = &settings.common;

int main(void) {
    BREAKS("a free chunk of one granule is added",
           insert_chunk(heap_init(region, sizeof region, plan), plan, 100, 101));
    return silent;
}
