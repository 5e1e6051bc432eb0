/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF: the index is an array of bins found by two bitmap levels. See hfit/tlsf.h.
 *
 *   16      20        24
 *   +-------+---------+---------------------+---------------------------------+
 *   | shape | map map | map: a bit a word   | bins: heads of the free lists   |
 *   +-------+---------+---------------------+---------------------------------+
 *
 * A bin is known by the number of its word, its offset / 4, and its bit in the map has that number,
 * too. The map map has a bit for each word of the map that is not 0.
 *
 * Size classes follow each other in one row: each power of two of granules is cut into 2^second
 * level of them; below 2^second level there is one class a granule. There are bins from the class
 * of the smallest chunk to that of the whole region.
 */
#include "hfit/compiler.h"
#include "hfit/tlsf.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_tlsf_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/chunk.h"
#include "src/tiling/tiling.h"

enum {
    SHAPE = TILING_INDEX, /* four bytes, from the lowest: second level, log2 of the alignment, 31
                             less both, number of the first class's bin */
    MAP_MAP = SHAPE + 4,
    MAP = MAP_MAP + 4,
    MOST_SECOND_LEVEL = 5,
    MOST_PROBES = 64,
    MOST_BINS = (31 - MOST_SECOND_LEVEL) << MOST_SECOND_LEVEL, /* below 2^32 B: see bin_of */
    FINAL_REGION = 16 * 1024, /* bytes from which on classes are cut alike if a plan does not say */
};

_Static_assert(MAP / 4 + 32 + MOST_BINS <= 32 * 32, "each word of the map has a bit of its map");
_Static_assert(MAP / 4 + 32 <= UINT8_MAX, "the first class's bin is a byte of the shape");

/* Place of the lowest set bit; `word` is not 0. */
static inline uint32_t lowest_bit(uint32_t word) {
    HFIT_ASSERT(word != 0);
    return hfit_trailing_zeros(word);
}

static inline uint32_t second_level_of(uint32_t shape) {
    return shape & 0xff;
}

static inline uint32_t alignment_log2(uint32_t shape) {
    return shape >> 8 & 0xff;
}

/* log2 of the granules between the bounds of the class that a chunk with such a payload is in. What
 * counts is the payload: then a power of two is a bound. */
static inline uint32_t width_log2(uint32_t shape, uint32_t payload) {
    const int32_t width = (int32_t)(shape >> 16 & 0xff) - (int32_t)hfit_leading_zeros(payload);
    return width < 0 ? 0 : (uint32_t)width;
}

/* The bin for chunks of `size` bytes. */
static inline uint32_t bin_of(uint32_t shape, uint32_t size) {
    HFIT_ASSERT(size >= CHUNK_LEAST);
    const uint32_t payload = size - WORD_SIZE;
    const uint32_t width = width_log2(shape, payload);
    return (shape >> 24) + (width << second_level_of(shape)) +
           (payload >> (width + alignment_log2(shape)));
}

static inline uint32_t map_of(uint32_t bin) {
    return MAP + 4 * (bin >> 5);
}

static inline uint32_t bit_of(uint32_t bin) {
    return 1u << (bin & 31);
}

/* A damaged head is not written through: what it led to is lost, as `check` tells from then on. */
static INLINE_FOR_SPEED void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                          uint32_t size) {
    const uint32_t bin = bin_of(load_word(heap, SHAPE), size);
    uint32_t first = load_link(heap, 4 * bin);
    (void)plan;
    if (HFIT_SAFETY >= 1 && !does_link_hold(heap, 4 * bin, first, load_word(heap, TILING_END))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        first = NO_OFFSET;
    }
    list_push_before(heap, 4 * bin, first, chunk);
    if (first == NO_OFFSET) {
        set_flag(heap, map_of(bin), bit_of(bin));
        set_flag(heap, MAP_MAP, 1u << (bin >> 5));
    }
}

/* The bin is empty now: its bits in both levels say so. */
static inline void mark_empty(hfit_heap *heap, uint32_t bin) {
    const uint32_t map = load_word(heap, map_of(bin)) & ~bit_of(bin);
    store_word(heap, map_of(bin), map);
    if (map == 0) {
        clear_flag(heap, MAP_MAP, 1u << (bin >> 5));
    }
}

static inline void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    uint32_t link;
    (void)plan;
    (void)size;
    if (list_unlink(heap, chunk, &link) && link < load_word(heap, TILING_FIRST)) {
        mark_empty(heap, link / 4);
    }
}

static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                               uint32_t size, uint32_t end) {
    (void)plan;
    (void)size;
    return do_links_hold(heap, chunk, end);
}

/* Stores the first chunk of at least `size` bytes among the first `probes` in `bin`, of which one
 * is looked at in any case. False if there is none. */
static inline bool find_in_bin(const hfit_heap *heap, uint32_t bin, uint32_t size, uint32_t end,
                               uint32_t probes, uint32_t *chunk) {
    uint32_t link = load_link(heap, 4 * bin);
    for (int32_t left = (int32_t)probes; link != NO_OFFSET;) {
        HFIT_LOOP_AT_MOST(probes + (probes == 0));
        *chunk = sound_offset(link, end);
        if (*chunk == NO_OFFSET || coded_header(load_word(heap, link)) >= size) {
            return true;
        }
        if (--left <= 0) {
            return false;
        }
        link = load_link_field(heap, link, LINK_NEXT);
    }
    return false;
}

/* Makes `bin` the first one above it that has a chunk; false if none has. Where the maps are
 * damaged it becomes any number. */
static inline bool find_bin_above(const hfit_heap *heap, uint32_t *bin) {
    const uint32_t start = *bin;
    uint32_t word = start >> 5;
    uint32_t map = load_word(heap, MAP + 4 * word) & (~1u << (start & 31));
    if (map == 0) {
        const uint32_t words = load_word(heap, MAP_MAP) & (~1u << word);
        if (words == 0) {
            return false;
        }
        word = lowest_bit(words);
        map = load_word(heap, MAP + 4 * word) | 1u << 31; /* none would be set if it is damaged */
    }
    *bin = (word << 5) + lowest_bit(map);
    return true;
}

/* The lower bound of the next class, unless `size` is that of its own. */
static inline uint32_t round_to_class(const hfit_plan *plan, uint32_t shape, uint32_t size) {
    const uint32_t log2 = width_log2(shape, size - WORD_SIZE) + alignment_log2(shape);
    return size + ((plan->alignment - size) & ((1u << log2) - 1));
}

/* Every chunk of a class above that of `size` is large enough, and so are some of its own. Without
 * probes those are passed by, as published. */
static INLINE_FOR_SPEED bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                        uint32_t end, uint32_t *chunk) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t probes = ((const hfit_tlsf_plan *)plan)->probes;
    if (probes == 0) {
        size = round_to_class(plan, shape, size);
    }
    if (size > end) { /* has no bin */
        return false;
    }
    uint32_t bin = bin_of(shape, size);
    if (find_in_bin(heap, bin, size, end, probes, chunk)) {
        return true;
    }
    if (!find_bin_above(heap, &bin)) {
        return false;
    }
    *chunk = NO_OFFSET;
    if (HFIT_SAFETY < 1 || 4 * bin < end) {
        *chunk = sound_offset(load_link(heap, 4 * bin), end);
    }
    return true;
}

/* log2 of the classes in a power of two, in a region of so many bytes. Few keep the control block
 * of a small region small; many keep the rounding of a large one small. */
static FORCE_INLINE uint32_t second_level_for(const hfit_plan *plan, size_t region) {
    const uint32_t second_level = ((const hfit_tlsf_plan *)plan)->second_level;
    return second_level != 0 ? second_level : 1u + (region >= 1024) + (region >= FINAL_REGION);
}

/* The shape of a heap whose sentinel lies at `end`. */
static uint32_t shape_for(const hfit_plan *plan, uint32_t end) {
    const uint32_t second_level = second_level_for(plan, end);
    const uint32_t log2 = lowest_bit(plan->alignment);
    const uint32_t shape = (31 - second_level - log2) << 16 | log2 << 8 | second_level;
    const uint32_t least = bin_of(shape, CHUNK_LEAST);
    const uint32_t bins = bin_of(shape, end) - least + 1;
    const uint32_t bits = MAP / 4 + bins; /* and one for each word of the map */
    const uint32_t map_words = ((bits + (bits >> 5) + 1) >> 5) + 1;
    return (MAP / 4 + map_words - least) << 24 | shape;
}

/* Where the first chunk of a heap of this shape, whose sentinel lies at `end`, begins: behind the
 * bins. */
static FORCE_INLINE uint32_t start_of(const hfit_plan *plan, uint32_t shape, uint32_t end) {
    return first_chunk(plan, 4 * (bin_of(shape, end) + 1));
}

/* Chunks in one bin, or UINT32_MAX if one of them is not a free chunk of this class or the links do
 * not hold. At most `most` + 1 chunks are looked at, so a ring of links ends. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t bin,
                          uint32_t most) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t place = 4 * bin;
    uint32_t chunk = load_link(heap, 4 * bin);
    uint32_t count = 0;
    for (; chunk != NO_OFFSET && count <= most; count++) {
        if (!is_chunk_offset(heap, plan, chunk, end)) {
            return UINT32_MAX;
        }
        const uint32_t word = load_word(heap, chunk);
        const uint32_t size = chunk_size(coded_header(word));
        if ((word & CHUNK_FREE) == 0 || size < CHUNK_LEAST || bin_of(shape, size) != bin ||
            !is_free_chunk_sound(heap, plan, chunk, word, end) ||
            load_previous(heap, chunk) != place) {
            return UINT32_MAX;
        }
        place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return count;
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t end = load_word(heap, TILING_END);
    const uint32_t first_bin = bin_of(shape_for(plan, end), CHUNK_LEAST);
    uint32_t words = 0;
    uint32_t found = 0;
    if (shape != shape_for(plan, end) ||
        load_word(heap, TILING_FIRST) != start_of(plan, shape, end)) {
        return false;
    }
    for (uint32_t bin = 0; MAP + 4 * (bin >> 5) < 4 * first_bin; bin++) {
        const bool is_bin = bin >= first_bin && bin <= bin_of(shape, end);
        const uint32_t count = is_bin ? count_bin(heap, plan, bin, free_count) : 0;
        const bool is_marked = (load_word(heap, map_of(bin)) & bit_of(bin)) != 0;
        if (count > free_count || is_marked != (count != 0)) {
            return false;
        }
        words |= (uint32_t)is_marked << (bin >> 5);
        found += count;
    }
    return load_word(heap, MAP_MAP) == words && found == free_count;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    (void)plan;
    return true;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return WORD_SIZE;
}

static inline uint32_t free_words(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

static inline bool is_second_level_sound(const hfit_plan *plan) {
    return ((const hfit_tlsf_plan *)plan)->second_level <= MOST_SECOND_LEVEL;
}

/* The control block grows with the region, so the answer is the first size that holds its own. */
static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_alignment_allowed(plan->alignment) || !is_second_level_sound(plan)) {
        return 0;
    }
    uint32_t end = sentinel_of(plan, smallest_tiling(plan, MAP));
    while (start_of(plan, shape_for(plan, end), end) + CHUNK_LEAST > end) {
        end += plan->alignment;
    }
    return end + WORD_SIZE;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    hfit_heap *heap = region;
    if (!is_region_usable(region, region_size, plan) || !is_second_level_sound(plan) ||
        region_size < MAP + CHUNK_LEAST) {
        return NULL;
    }
    const uint32_t end = sentinel_of(plan, region_size);
    const uint32_t shape = shape_for(plan, end);
    const uint32_t first = start_of(plan, shape, end);
    if (first + CHUNK_LEAST > end) {
        return NULL;
    }
    const uint32_t bins = 4 * bin_of(shape, CHUNK_LEAST);
    for (uint32_t offset = MAP_MAP; offset < bins; offset += 4) {
        store_word(heap, offset, 0);
    }
    for (uint32_t offset = bins; offset < first; offset += 4) {
        store_link(heap, offset, NO_OFFSET);
    }
    store_word(heap, SHAPE, shape);
    tile_region(heap, plan, first, end);
    return heap;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    tiling_holes(plan, holes);
    holes->class_log2 = second_level_for(plan, live);
    return true;
}

#if HFIT_TELLS_ROOM

/* Where the free chunk before the sentinel begins; the sentinel if there is none. */
static uint32_t last_free(const hfit_heap *heap) {
    const uint32_t end = load_word(heap, TILING_END);
    const bool is_free = (load_word(heap, end) & AFTER_FREE) != 0;
    return is_free ? end - chunk_size(coded_header(load_word(heap, end - WORD_SIZE))) : end;
}

/* The room matters, as the last chunk's class. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    (void)plan;
    const uint32_t first = load_word(heap, TILING_FIRST);
    reach->most = load_word(heap, TILING_FOOTPRINT) - WORD_SIZE - first;
    reach->room = load_word(heap, TILING_END) - first;
    reach->chunk = 0;
    reach->last = load_word(heap, TILING_END) - last_free(heap);
    return false;
}

/* Bytes of the smallest chunk of the class above that of `size`. */
static uint32_t size_above_class(uint32_t shape, uint32_t size) {
    const uint32_t log2 = width_log2(shape, size - WORD_SIZE) + alignment_log2(shape);
    return ((((size - WORD_SIZE) >> log2) + 1) << log2) + WORD_SIZE;
}

/* True if no chunk of its class or above it is free but `last`. */
static bool is_largest(const hfit_heap *heap, uint32_t shape, uint32_t last) {
    uint32_t bin = bin_of(shape, load_word(heap, TILING_END) - last);
    return load_link(heap, 4 * bin) == last &&
           load_link_field(heap, last, LINK_NEXT) == NO_OFFSET && !find_bin_above(heap, &bin);
}

/* Stores how many bytes the last chunk must have for a new chunk of `needed` bytes to be cut from
 * the one from which it is cut here: it is chosen last, as its class is above that of any other. */
static bool last_size_for(const hfit_heap *heap, const hfit_plan *plan, uint32_t needed,
                          uint32_t *size) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t last = last_free(heap);
    uint32_t chunk;
    if (!index_find(heap, plan, needed, load_word(heap, TILING_END), &chunk)) {
        return false;
    }
    *size = size_above_class(shape, chunk == last ? needed : chunk_size(load_header(heap, chunk)));
    return chunk != last || is_largest(heap, shape, last);
}

/* True if a used chunk gets `needed` bytes where it is; stores likewise, 0 if the last chunk's size
 * does not matter. */
static bool last_size_in_place(const hfit_heap *heap, const used_chunk *chunk, uint32_t needed,
                               uint32_t *size) {
    const uint32_t own = chunk_size(chunk->header);
    const uint32_t behind = chunk_size(coded_header(chunk->next_word));
    const bool is_growing = needed > own;
    *size = is_growing && chunk->offset + own == last_free(heap) ? needed - own : 0;
    return !is_growing || ((chunk->next_word & CHUNK_FREE) != 0 && own + behind >= needed);
}

/* In all these regions classes must be cut alike: FINAL_REGION. */
static bool room_for(const hfit_heap *heap, const hfit_plan *plan, const void *block, size_t size,
                     uint32_t *room) {
    const uint32_t needed = smallest_chunk_for(plan, size);
    used_chunk chunk;
    uint32_t last_size;
    if (needed == 0 || (block != NULL && !find_changeable_chunk(heap, plan, block, &chunk))) {
        return false;
    }
    const bool is_in_place = block != NULL && last_size_in_place(heap, &chunk, needed, &last_size);
    if (!is_in_place && !last_size_for(heap, plan, needed, &last_size)) {
        return false;
    }
    const uint32_t before = last_size == 0 ? 0 : last_free(heap) - load_word(heap, TILING_FIRST);
    const uint32_t least = ((const hfit_tlsf_plan *)plan)->second_level == 0 ? FINAL_REGION : 0;
    *room = before + last_size < least ? least : before + last_size;
    return before + last_size >= before;
}

/* The least size of a last chunk of the class of `size`. */
static uint32_t least_of_class(uint32_t shape, uint32_t size) {
    const uint32_t log2 = width_log2(shape, size - WORD_SIZE) + alignment_log2(shape);
    return (((size - WORD_SIZE) >> log2) << log2) + WORD_SIZE;
}

/* How many bytes the last chunk, which has `last_size`, must have at least for the chunk that is
 * found here to be found, or for none if none is. A smaller one in its class stays where it is in
 * its list; one in a lower class is passed by unless that is searched. */
static uint32_t last_size_alike(const hfit_heap *heap, const hfit_plan *plan, uint32_t needed,
                                uint32_t last_size) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t end = load_word(heap, TILING_END);
    const bool is_rounded = ((const hfit_tlsf_plan *)plan)->probes == 0;
    const uint32_t searched = is_rounded ? round_to_class(plan, shape, needed) : needed;
    uint32_t found;
    const bool is_found = index_find(heap, plan, needed, end, &found);
    if (last_size == 0 || searched > end || bin_of(shape, last_size) < bin_of(shape, searched)) {
        return 0;
    }
    const uint32_t in_class = least_of_class(shape, last_size);
    if (is_found && found == end - last_size) {
        const uint32_t whole = needed + smallest_chunk(plan); /* and what is left is a chunk */
        const uint32_t above = size_above_class(shape, needed);
        const uint32_t enough = above < in_class ? above : in_class;
        return enough < whole ? whole : enough;
    }
    const uint32_t size = is_found ? chunk_size(load_header(heap, found)) : end;
    return bin_of(shape, last_size) > bin_of(shape, size) ? size_above_class(shape, size)
                                                          : in_class;
}

static bool room_alike(const hfit_heap *heap, const hfit_plan *plan, const void *block, size_t size,
                       uint32_t *room) {
    const uint32_t needed = smallest_chunk_for(plan, size);
    const uint32_t last = last_free(heap);
    used_chunk chunk;
    uint32_t last_size;
    *room = 0;
    if (block != NULL && !find_changeable_chunk(heap, plan, block, &chunk)) {
        return false;
    }
    if (needed == 0) {
        return true;
    }
    if (block == NULL || !last_size_in_place(heap, &chunk, needed, &last_size)) {
        last_size = last_size_alike(heap, plan, needed, load_word(heap, TILING_END) - last);
    } else if (last_size != 0) {
        last_size += smallest_chunk(plan);
    }
    *room = last_size == 0 ? 0 : last - load_word(heap, TILING_FIRST) + last_size;
    return *room >= last_size;
}

static bool end_at(hfit_heap *heap, const hfit_plan *plan, size_t region_size) {
    const uint32_t end = sentinel_of(plan, region_size);
    const uint32_t shape = shape_for(plan, end);
    const uint32_t last = last_free(heap);
    const uint32_t before = load_word(heap, TILING_END);
    if (shape != load_word(heap, SHAPE) || end > before || last + CHUNK_LEAST > end ||
        start_of(plan, shape, end) != load_word(heap, TILING_FIRST)) {
        return false;
    }
    index_remove(heap, plan, last, before - last);
    store_word(heap, TILING_END, end);
    store_word(heap, end, AFTER_FREE);
    put_free_chunk(heap, plan, last, (end - last) | CHUNK_FREE);
    return true;
}

#endif

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"second_level",
     "log2 of the size classes in each power of two, 1 to 5; 0: 1 below 1 KiB, 2 below 16 KiB, 3 "
     "above.",
     HFIT_SCALAR, offsetof(hfit_tlsf_plan, second_level), 0, MOST_SECOND_LEVEL, 0, HFIT_SWITCH},
    {"probes",
     "Chunks looked at in the class of a request, of which not every one is large enough; 0: none, "
     "the request is rounded up to the next class, as published.",
     HFIT_SCALAR, offsetof(hfit_tlsf_plan, probes), 0, MOST_PROBES, 2, HFIT_SWITCH},
};

const hfit_allocator hfit_tlsf_allocator = {
    .name = "tlsf",
    .title = "two-level segregated fit",
    .origin = "Masmano et al. 2004, as the shared heap of Lee and Yi 2008",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_tlsf_plan),
    .ignores_region_end = false,
#if HFIT_TELLS_ROOM
    .reach = reach_of,
    .room_for = room_for,
    .room_alike = room_alike,
    .end_at = end_at,
#endif
    .account =
        {
            .worst_case =
                "constant; alloc: `probes` chunks looked at, three words of the maps, one "
                "split; free: two joins",
            .block_bytes = "4 for the header, then rounded up to the alignment; at least 16 a "
                           "chunk; up to 12 more where the rest would be no chunk",
            .fragmentation = "M + (k + 1) c for k live chunks of M bytes; c: the largest request "
                             "and a class more, (1 + 1/2^second_level) times it",
            .layout = "| first | end | footprint | tally | shape | map map | map | bins |\n"
                      "| chunk | chunk | ... | sentinel |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "by part of a power of two",
            .pool_fit.text = "least class that surely fits",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "the whole region is free at first",
        },
    .grid = {{"second_level", {0, 2, 5}, 3}, {"probes", {0, 2, 8}, 3}},
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_tlsf_operations,
    .unlocked = &hfit_tlsf_unlocked,
};
