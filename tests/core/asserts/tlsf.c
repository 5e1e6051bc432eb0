/* SPDX-License-Identifier: Apache-2.0 */
/* What tlsf and the tiling below it take for granted, broken. */
#include "src/tiling/tlsf.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_tlsf_plan settings = {.common = {8}, .probes = 2};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

static void a_sum_is_rounded_to_three(void) {
    uint32_t rounded;
    (void)round_sum(1, 4, 3, &rounded);
}

static void what_is_added_to_a_size_could_wrap(void) {
    uint32_t rounded;
    (void)round_sum(1, UINT32_MAX - 8, 8, &rounded);
}

static void a_field_between_two_words_is_loaded(void) {
    (void)load_field(fresh(), 16, 2);
}

static void a_field_beyond_the_most_is_stored(void) {
    store_field(fresh(), 16, 4 * MOST_FIELDS, 0);
}

static void an_alignment_is_no_power_of_two(void) {
    (void)alignment_gap(fresh(), 16, 24);
}

static void no_chunk_is_put_on_a_list(void) {
    list_push_before(fresh(), 64, NO_OFFSET, NO_OFFSET);
}

static void the_first_of_an_empty_list_is_taken(void) {
    uint32_t chunk;
    hfit_heap *heap = fresh();
    store_link(heap, 64, NO_OFFSET);
    (void)list_pop(heap, 64, &chunk);
}

static void a_free_chunk_is_too_small_for_its_words(void) {
    put_free_chunk(fresh(), plan, 512, 8 | CHUNK_FREE);
}

static void a_used_chunk_is_put_into_the_index(void) {
    put_free_chunk(fresh(), plan, 512, 64);
}

static void a_free_chunk_is_released(void) {
    release_chunk(fresh(), plan, (used_chunk){512, 64 | CHUNK_FREE, 64});
}

static void the_chunk_behind_a_used_one_says_that_it_is_free(void) {
    release_chunk(fresh(), plan, (used_chunk){512, 64, 64 | AFTER_FREE});
}

static void more_is_used_than_a_chunk_has(void) {
    const tiling_chunk chunk = {512, 64 | CHUNK_FREE};
    use_chunk(fresh(), plan, &chunk, 72);
}

static void a_chunk_is_cut_to_less_than_the_smallest(void) {
    const tiling_chunk chunk = {512, 64 | CHUNK_FREE};
    use_chunk(fresh(), plan, &chunk, 8);
}

static void chunks_begin_where_no_payload_would_be_aligned(void) {
    tile_region(fresh(), plan, 512, 1020);
}

static void chunks_end_before_they_begin(void) {
    tile_region(fresh(), plan, 508, 500);
}

static void a_chunk_is_shrunk_to_more_than_it_has(void) {
    shrink_chunk(fresh(), plan, (used_chunk){508, 64, 64}, 128);
}

static void all_of_a_chunk_is_cut_off_its_front(void) {
    tiling_chunk chunk = {508, 64 | CHUNK_FREE};
    cut_front(fresh(), plan, &chunk, 64);
}

static void the_lowest_bit_of_nothing_is_asked(void) {
    (void)lowest_bit(0);
}

static void a_chunk_below_the_least_has_no_bin(void) {
    (void)bin_of(load_word(fresh(), SHAPE), WORD_SIZE);
}

static broken_invariant *const cases[] = {
    a_sum_is_rounded_to_three,
    what_is_added_to_a_size_could_wrap,
    a_field_between_two_words_is_loaded,
    a_field_beyond_the_most_is_stored,
    an_alignment_is_no_power_of_two,
    no_chunk_is_put_on_a_list,
    the_first_of_an_empty_list_is_taken,
    a_free_chunk_is_too_small_for_its_words,
    a_used_chunk_is_put_into_the_index,
    a_free_chunk_is_released,
    the_chunk_behind_a_used_one_says_that_it_is_free,
    more_is_used_than_a_chunk_has,
    a_chunk_is_cut_to_less_than_the_smallest,
    chunks_begin_where_no_payload_would_be_aligned,
    chunks_end_before_they_begin,
    a_chunk_is_shrunk_to_more_than_it_has,
    all_of_a_chunk_is_cut_off_its_front,
    the_lowest_bit_of_nothing_is_asked,
    a_chunk_below_the_least_has_no_bin,
};

int main(void) {
    return SHOW_ALL(cases);
}
