/* SPDX-License-Identifier: Apache-2.0 */
/* What tailored takes for granted, broken. */
#include "src/tailored/tailored.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_tailored_plan mapped = {.common = {8}, .ends = 1};
static const hfit_tailored_plan headed = {
    .common = {8}, .ends = 1, .layout = HFIT_TAILORED_HEADERS};
static const hfit_tailored_plan paired = {.common = {8}, .ends = 1, .layout = HFIT_TAILORED_PAIRS};
static const hfit_plan *const plan = &mapped.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

int main(void) {
    BREAKS("a chunk begins before the heap", (void)entry_of(plan, 0));
    BREAKS("five granules are marked at once", hfit_heap *heap = fresh();
           mark(heap, map_base(heap), 100, 5));
    BREAKS("no granule is marked", hfit_heap *heap = fresh(); mark(heap, map_base(heap), 100, 0));
    BREAKS("five granules are unmarked at once", hfit_heap *heap = fresh();
           unmark(heap, map_base(heap), 100, 5));
    BREAKS("the next mark lies before the last", hfit_heap *heap = fresh();
           note_skip(heap, map_base(heap), 200, 100));
    BREAKS("a free chunk of one granule is noted", note_free(fresh(), plan, 100, 101));
    BREAKS("a free chunk too small for two headers is written",
           write_free(heap_init(region, sizeof region, &headed.common), &headed.common, 100, 101));
    BREAKS("two free chunks of one granule touch",
           hfit_heap *heap = heap_init(region, sizeof region, &paired.common);
           begin_at(heap, 100, FREE_BEGINS); begin_at(heap, 101, FREE_BEGINS));
    BREAKS("the next beginning lies before the last",
           note_passed(heap_init(region, sizeof region, &paired.common), 200, 100));
    BREAKS("a chunk below the least has a class", (void)class_of(plan, LEAST_MAPPED - 1));
    BREAKS("what is put back begins before its chunk", put_back(fresh(), plan, 200, 100, 300));
    BREAKS("what is put back ends before it begins", put_back(fresh(), plan, 100, 300, 200));
    BREAKS("more is used than there is", use(fresh(), plan, 100, 110, 11));
    BREAKS("a chunk of one granule is used", use(fresh(), plan, 100, 110, 1));
    BREAKS("more is cut from the top than it has", (void)use_high(fresh(), plan, 100, 110, 11));
    BREAKS("free neighbours lie inside their chunk", const place at = {100, 110, 102, 120};
           take_out_neighbours(fresh(), plan, &at));
    BREAKS("a heap of no granules is laid out", map_layout layout; (void)lay_out(plan, 0, &layout));
    BREAKS("a chunk is shrunk to more than it has", const place at = {100, 110, 100, 120};
           shrink(fresh(), plan, &at, 11));
    BREAKS("a block slides to where it is", slide_payload(region, 0, 1));
    return silent;
}
