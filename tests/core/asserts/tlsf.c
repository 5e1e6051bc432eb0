/* SPDX-License-Identifier: Apache-2.0 */
/* What tlsf and the tiling below it take for granted, broken. */
#include "src/tiling/tlsf.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_tlsf_plan settings = {.common = {8}, .probes = 2};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

int main(void) {
    BREAKS("a sum is rounded to three", uint32_t rounded; (void)round_sum(1, 4, 3, &rounded));
    BREAKS("what is added to a size could wrap", uint32_t rounded;
           (void)round_sum(1, UINT32_MAX - 8, 8, &rounded));
    BREAKS("a field between two words is loaded", (void)load_field(fresh(), 16, 2));
    BREAKS("a field beyond the most is stored", store_field(fresh(), 16, 4 * MOST_FIELDS, 0));
    BREAKS("an alignment is no power of two", (void)alignment_gap(fresh(), 16, 24));
    BREAKS("no chunk is put on a list", list_push_before(fresh(), 64, NO_OFFSET, NO_OFFSET));
    BREAKS("the first of an empty list is taken", uint32_t chunk; hfit_heap *heap = fresh();
           store_link(heap, 64, NO_OFFSET); (void)list_pop(heap, 64, &chunk));
    BREAKS("a free chunk is too small for its words",
           put_free_chunk(fresh(), plan, 512, 8 | CHUNK_FREE));
    BREAKS("a used chunk is put into the index", put_free_chunk(fresh(), plan, 512, 64));
    BREAKS("a free chunk is released",
           release_chunk(fresh(), plan, (used_chunk){512, 64 | CHUNK_FREE, 64}));
    BREAKS("the chunk behind a used one says that it is free",
           release_chunk(fresh(), plan, (used_chunk){512, 64, 64 | AFTER_FREE}));
    BREAKS("more is used than a chunk has", const tiling_chunk chunk = {512, 64 | CHUNK_FREE};
           use_chunk(fresh(), plan, &chunk, 72));
    BREAKS("a chunk is cut to less than the smallest",
           const tiling_chunk chunk = {512, 64 | CHUNK_FREE};
           use_chunk(fresh(), plan, &chunk, 8));
    BREAKS("chunks begin where no payload would be aligned", tile_region(fresh(), plan, 512, 1020));
    BREAKS("chunks end before they begin", tile_region(fresh(), plan, 508, 500));
    BREAKS("a chunk is shrunk to more than it has",
           shrink_chunk(fresh(), plan, (used_chunk){508, 64, 64}, 128));
    BREAKS("all of a chunk is cut off its front", tiling_chunk chunk = {508, 64 | CHUNK_FREE};
           cut_front(fresh(), plan, &chunk, 64));
    BREAKS("the lowest bit of nothing is asked", (void)lowest_bit(0));
    BREAKS("a chunk below the least has no bin",
           (void)bin_of(load_word(fresh(), SHAPE), WORD_SIZE));
    return silent;
}
