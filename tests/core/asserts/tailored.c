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

static void a_chunk_begins_before_the_heap(void) {
    (void)entry_of(plan, 0);
}

static void five_granules_are_marked_at_once(void) {
    hfit_heap *heap = fresh();
    mark(heap, map_base(heap), 100, 5);
}

static void no_granule_is_marked(void) {
    hfit_heap *heap = fresh();
    mark(heap, map_base(heap), 100, 0);
}

static void five_granules_are_unmarked_at_once(void) {
    hfit_heap *heap = fresh();
    unmark(heap, map_base(heap), 100, 5);
}

static void the_next_mark_lies_before_the_last(void) {
    hfit_heap *heap = fresh();
    note_skip(heap, map_base(heap), 200, 100);
}

static void a_free_chunk_of_one_granule_is_noted(void) {
    note_free(fresh(), plan, 100, 101);
}

static void a_free_chunk_too_small_for_two_headers_is_written(void) {
    write_free(heap_init(region, sizeof region, &headed.common), &headed.common, 100, 101);
}

static void two_free_chunks_of_one_granule_touch(void) {
    hfit_heap *heap = heap_init(region, sizeof region, &paired.common);
    begin_at(heap, 100, FREE_BEGINS);
    begin_at(heap, 101, FREE_BEGINS);
}

static void the_next_beginning_lies_before_the_last(void) {
    note_passed(heap_init(region, sizeof region, &paired.common), 200, 100);
}

static void a_chunk_below_the_least_has_a_class(void) {
    (void)class_of(plan, LEAST_MAPPED - 1);
}

static void what_is_put_back_begins_before_its_chunk(void) {
    put_back(fresh(), plan, 200, 100, 300);
}

static void what_is_put_back_ends_before_it_begins(void) {
    put_back(fresh(), plan, 100, 300, 200);
}

static void more_is_used_than_there_is(void) {
    use(fresh(), plan, 100, 110, 11);
}

static void a_chunk_of_one_granule_is_used(void) {
    use(fresh(), plan, 100, 110, 1);
}

static void more_is_cut_from_the_top_than_it_has(void) {
    (void)use_high(fresh(), plan, 100, 110, 11);
}

static void free_neighbours_lie_inside_their_chunk(void) {
    const place at = {100, 110, 102, 120};
    take_out_neighbours(fresh(), plan, &at);
}

static void a_heap_of_no_granules_is_laid_out(void) {
    map_layout layout;
    (void)lay_out(plan, 0, &layout);
}

static void a_chunk_is_shrunk_to_more_than_it_has(void) {
    const place at = {100, 110, 100, 120};
    shrink(fresh(), plan, &at, 11);
}

static void a_block_slides_to_where_it_is(void) {
    slide_payload(region, 0, 1);
}

static broken_invariant *const cases[] = {
    a_chunk_begins_before_the_heap,
    five_granules_are_marked_at_once,
    no_granule_is_marked,
    five_granules_are_unmarked_at_once,
    the_next_mark_lies_before_the_last,
    a_free_chunk_of_one_granule_is_noted,
    a_free_chunk_too_small_for_two_headers_is_written,
    two_free_chunks_of_one_granule_touch,
    the_next_beginning_lies_before_the_last,
    a_chunk_below_the_least_has_a_class,
    what_is_put_back_begins_before_its_chunk,
    what_is_put_back_ends_before_it_begins,
    more_is_used_than_there_is,
    a_chunk_of_one_granule_is_used,
    more_is_cut_from_the_top_than_it_has,
    free_neighbours_lie_inside_their_chunk,
    a_heap_of_no_granules_is_laid_out,
    a_chunk_is_shrunk_to_more_than_it_has,
    a_block_slides_to_where_it_is,
};

int main(void) {
    return SHOW_ALL(cases);
}
