/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See baselines/newlib_malloc.h.
 *
 *   0     4       8     12          16     20     36     first           top      break    end
 *   +-----+-------+-----+-----------+------+------+------+-------+-- --+-----------+---------+
 *   | top | break | end | footprint | last | maps | bins | chunk | ... | the rest  | not yet |
 *   +-----+-------+-----+-----------+------+------+------+-------+-- --+-----------+---------+
 *
 *   used   | size, P | the caller's bytes ...              |    P: the chunk before is used
 *   free   | size, P | next | previous | ...        | size |
 *
 * A bin is a ring of its chunks and a head, which is drawn as a chunk whose links are the bin's two
 * words: the largest and newest chunk is its next, the smallest and oldest its previous. `last` is
 * what was split off last, in no bin. The break is where sbrk's bytes end; the top reaches to it.
 */
#include "baselines/newlib_malloc.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_newlib_malloc_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"

enum {
    TOP = 0,
    BREAK = 4,
    END = 8,
    FOOTPRINT = 12, /* the highest break so far */
    LAST = 16,
    MAPS = 20, /* bit i: bin i has chunks */
    BINS = 36,
    BIN_COUNT = 128,
    CONTROL_SIZE = BINS + 8 * BIN_COUNT,
    HEAD = 4,
    NEXT = 4,
    PREVIOUS = 8,
    PREVIOUS_USED = 1,
    CHUNK_LEAST = 16,
    SMALL = 504,
    UNIT_LEAST = 8,
    PAGE = 4096,
    TRIM = 128 * 1024,
};

static inline uint32_t unit_of(const hfit_plan *plan) {
    return plan->alignment < UNIT_LEAST ? UNIT_LEAST : plan->alignment;
}

static inline uint32_t least_chunk(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static inline uint32_t header_size(void) {
    return HEAD;
}

/* The word before a multiple of the alignment. One word before it sbrk's bytes begin. */
static inline uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = unit_of(plan) - 1;
    return ((CONTROL_SIZE + 2 * HEAD + mask) & ~mask) - HEAD;
}

static inline uint32_t size_at(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk) & ~(uint32_t)PREVIOUS_USED;
}

static inline bool is_after_used(const hfit_heap *heap, uint32_t chunk) {
    return (load_word(heap, chunk) & PREVIOUS_USED) != 0;
}

static inline uint32_t before(const hfit_heap *heap, uint32_t chunk) {
    return chunk - load_word(heap, chunk - HEAD);
}

static inline uint32_t behind(const hfit_heap *heap, uint32_t chunk) {
    return chunk + size_at(heap, chunk);
}

/* Chunks below the top only. */
static inline bool is_free(const hfit_heap *heap, uint32_t chunk) {
    return !is_after_used(heap, behind(heap, chunk));
}

static inline void set_size(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, chunk, size | (load_word(heap, chunk) & PREVIOUS_USED));
}

static inline void set_after_used(hfit_heap *heap, uint32_t chunk, bool used) {
    store_word(heap, chunk, size_at(heap, chunk) | used);
}

/* A free chunk's words but its links; what is before it is used. */
static inline void set_free(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, chunk, size | PREVIOUS_USED);
    store_word(heap, chunk + size - HEAD, size);
}

static uint32_t bin_of(uint32_t size) {
    static const struct {
        uint32_t below; /* of 512 bytes */
        uint32_t first, log2;
    } ranges[] = {{1, 0, 3},     {5, 56, 6},     {21, 91, 9},
                  {85, 110, 12}, {341, 119, 15}, {1365, 124, 18}};
    for (uint32_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (size >> 9 < ranges[i].below) {
            return ranges[i].first + (size >> ranges[i].log2);
        }
    }
    return 126;
}

static inline uint32_t head_of(uint32_t bin) {
    return BINS + 8 * bin - NEXT;
}

static inline uint32_t oldest(const hfit_heap *heap, uint32_t bin) {
    return load_word(heap, head_of(bin) + PREVIOUS);
}

static void mark(hfit_heap *heap, uint32_t bin, bool has_chunks) {
    const uint32_t map = MAPS + 4 * (bin >> 5);
    const uint32_t bit = 1u << (bin & 31);
    store_word(heap, map, (load_word(heap, map) & ~bit) | (has_chunks ? bit : 0));
}

/* Puts a chunk before those of its bin that are not larger. */
static void insert(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t bin = bin_of(size);
    uint32_t next = load_word(heap, head_of(bin) + NEXT);
    while (next != head_of(bin) && size < size_at(heap, next)) {
        next = load_word(heap, next + NEXT);
    }
    const uint32_t previous = load_word(heap, next + PREVIOUS);
    store_word(heap, chunk + NEXT, next);
    store_word(heap, chunk + PREVIOUS, previous);
    store_word(heap, previous + NEXT, chunk);
    store_word(heap, next + PREVIOUS, chunk);
    mark(heap, bin, true);
}

/* Takes a free chunk out of its bin, or from being the last that was split off. */
static void take_out(hfit_heap *heap, uint32_t chunk) {
    if (chunk == load_word(heap, LAST)) {
        store_word(heap, LAST, NO_OFFSET);
        return;
    }
    const uint32_t next = load_word(heap, chunk + NEXT);
    const uint32_t previous = load_word(heap, chunk + PREVIOUS);
    store_word(heap, previous + NEXT, next);
    store_word(heap, next + PREVIOUS, previous);
    if (next == previous && next < CONTROL_SIZE) {
        mark(heap, (next + NEXT - BINS) / 8, false);
    }
}

/* Makes a chunk that is in no bin used; what it has beyond, if a chunk, is the last split off. */
static uint32_t use(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t rest = size_at(heap, chunk) - needed;
    if (rest >= CHUNK_LEAST) {
        set_size(heap, chunk, needed);
        set_free(heap, chunk + needed, rest);
        store_word(heap, LAST, chunk + needed);
    } else {
        set_after_used(heap, behind(heap, chunk), true);
    }
    return chunk;
}

/* The smallest chunk of a bin that holds `needed` bytes, the oldest among equals; NO_OFFSET if none
 * does. */
static uint32_t find_in_bin(const hfit_heap *heap, uint32_t bin, uint32_t needed) {
    uint32_t chunk = oldest(heap, bin);
    while (chunk != head_of(bin) && size_at(heap, chunk) < needed) {
        chunk = load_word(heap, chunk + PREVIOUS);
    }
    return chunk == head_of(bin) ? NO_OFFSET : chunk;
}

/* A chunk that fits without a rest, of the bins for the request's size alone. */
static uint32_t find_exact(const hfit_heap *heap, uint32_t needed) {
    const uint32_t bin = bin_of(needed);
    uint32_t chunk = find_in_bin(heap, bin, needed);
    if (chunk == NO_OFFSET && needed < SMALL) {
        chunk = find_in_bin(heap, bin + 1, needed);
    }
    return chunk != NO_OFFSET && size_at(heap, chunk) - needed < CHUNK_LEAST ? chunk : NO_OFFSET;
}

/* The best fit of this bin and those above; NO_OFFSET if there is none. */
static uint32_t find_best(const hfit_heap *heap, uint32_t bin, uint32_t needed) {
    const uint32_t found = find_in_bin(heap, bin, needed);
    uint32_t word = ++bin >> 5;
    if (found != NO_OFFSET || bin == BIN_COUNT) {
        return found;
    }
    uint32_t map = load_word(heap, MAPS + 4 * word) & (~0u << (bin & 31));
    while (map == 0 && ++word < BIN_COUNT / 32) {
        map = load_word(heap, MAPS + 4 * word);
    }
    return map == 0 ? NO_OFFSET : oldest(heap, 32 * word + hfit_trailing_zeros(map));
}

/* Puts what was split off last into its bin. */
static void retire_last(hfit_heap *heap) {
    const uint32_t last = load_word(heap, LAST);
    if (last != NO_OFFSET) {
        store_word(heap, LAST, NO_OFFSET);
        insert(heap, last, size_at(heap, last));
    }
}

static void set_top(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, TOP, chunk);
    store_word(heap, chunk, size | PREVIOUS_USED);
}

/* Asks sbrk for pages that hold the request and a least chunk; what the top has does not count. */
static bool extend_top(hfit_heap *heap, uint32_t needed) {
    const uint32_t end = load_word(heap, BREAK);
    const uint32_t top = load_word(heap, TOP);
    const uint32_t pages = (needed + CHUNK_LEAST + PAGE - 1) & ~(uint32_t)(PAGE - 1);
    if (pages > load_word(heap, END) - end) {
        return false;
    }
    store_word(heap, BREAK, end + pages);
    if (end + pages > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end + pages);
    }
    set_top(heap, top, size_at(heap, top) + pages);
    return true;
}

/* The start of the top, which holds the request and a least chunk. */
static uint32_t take_top(hfit_heap *heap, uint32_t needed) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t size = size_at(heap, top);
    set_top(heap, top + needed, size - needed);
    set_size(heap, top, needed);
    return top;
}

/* A chunk of the bins or the top; what was split off last is too small. */
static uint32_t take_best(hfit_heap *heap, uint32_t needed) {
    const uint32_t chunk = find_best(heap, bin_of(needed), needed);
    const bool is_top_large = size_at(heap, load_word(heap, TOP)) >= needed + CHUNK_LEAST;
    if (chunk == NO_OFFSET && !is_top_large && !extend_top(heap, needed)) {
        return NO_OFFSET;
    }
    retire_last(heap);
    if (chunk == NO_OFFSET) {
        return take_top(heap, needed);
    }
    take_out(heap, chunk);
    return use(heap, chunk, needed);
}

static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed) {
    const uint32_t exact = find_exact(heap, needed);
    const uint32_t last = load_word(heap, LAST);
    (void)plan;
    if (exact != NO_OFFSET) {
        take_out(heap, exact);
        set_after_used(heap, behind(heap, exact), true);
        return exact;
    }
    if (last != NO_OFFSET && size_at(heap, last) >= needed) {
        take_out(heap, last);
        return use(heap, last, needed);
    }
    return take_best(heap, needed);
}

static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    if (!round_size(size, HEAD, unit_of(plan), needed) ||
        *needed > HFIT_LARGEST_BLOCK - PAGE - CHUNK_LEAST) {
        return false;
    }
    *needed = *needed < CHUNK_LEAST ? CHUNK_LEAST : *needed;
    return true;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, needed);
    return chunk == NO_OFFSET ? NULL : block_at(heap, chunk + HEAD);
}

/* Gives pages of a large top back, all but a least chunk. */
static void trim_top(hfit_heap *heap) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t size = size_at(heap, top);
    const uint32_t kept = size >= TRIM ? (size - CHUNK_LEAST - 1) & ~(uint32_t)(PAGE - 1) : 0;
    store_word(heap, BREAK, load_word(heap, BREAK) - kept);
    set_top(heap, top, size - kept);
}

static void release_into_top(hfit_heap *heap, uint32_t chunk) {
    uint32_t size = size_at(heap, chunk) + size_at(heap, load_word(heap, TOP));
    if (!is_after_used(heap, chunk)) {
        chunk = before(heap, chunk);
        size += size_at(heap, chunk);
        take_out(heap, chunk);
    }
    set_top(heap, chunk, size);
    trim_top(heap);
}

/* What joins with the last split off stays so. */
static void release_chunk(hfit_heap *heap, uint32_t chunk) {
    const uint32_t next = behind(heap, chunk);
    const uint32_t last = load_word(heap, LAST);
    uint32_t size = size_at(heap, chunk);
    bool is_last = false;
    if (next == load_word(heap, TOP)) {
        release_into_top(heap, chunk);
        return;
    }
    const bool is_next_free = is_free(heap, next);
    set_after_used(heap, next, false);
    if (!is_after_used(heap, chunk)) {
        chunk = before(heap, chunk);
        size += size_at(heap, chunk);
        is_last = chunk == last;
        take_out(heap, chunk);
    }
    if (is_next_free) {
        size += size_at(heap, next);
        is_last = is_last || next == last;
        take_out(heap, next);
    }
    set_free(heap, chunk, size);
    if (is_last) {
        store_word(heap, LAST, chunk);
    } else {
        insert(heap, chunk, size);
    }
}

static inline uint32_t chunk_of(const hfit_heap *heap, const void *block) {
    return (uint32_t)((uintptr_t)block - (uintptr_t)heap) - HEAD;
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)plan;
    if (block != NULL) {
        release_chunk(heap, chunk_of(heap, block));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Frees what a used chunk has beyond `needed` bytes, if it can be a chunk. */
static void free_rest(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t rest = size_at(heap, chunk) - needed;
    if (rest >= CHUNK_LEAST) {
        set_size(heap, chunk, needed);
        store_word(heap, chunk + needed, rest | PREVIOUS_USED);
        release_chunk(heap, chunk + needed);
    }
}

static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    (void)plan;
    free_rest(heap, chunk, needed);
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    (void)plan;
    store_word(heap, start, (size_at(heap, chunk) - (start - chunk)) | PREVIOUS_USED);
    set_size(heap, chunk, start - chunk);
    release_chunk(heap, chunk);
}

static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    const uint32_t least = alignment < CHUNK_LEAST ? CHUNK_LEAST : alignment;
    return round_sum(needed, least + CHUNK_LEAST + HEAD, unit_of(plan), room);
}

/* What a used chunk may grow into: the bytes that are free behind it and before it. */
typedef struct surroundings {
    bool is_at_top;
    uint32_t behind;
    uint32_t before;
} surroundings;

static surroundings look_around(const hfit_heap *heap, uint32_t chunk) {
    const uint32_t next = behind(heap, chunk);
    const bool is_at_top = next == load_word(heap, TOP);
    const bool may_grow = is_at_top || is_free(heap, next);
    return (surroundings){
        is_at_top,
        may_grow ? size_at(heap, next) : 0,
        is_after_used(heap, chunk) ? 0 : load_word(heap, chunk - HEAD),
    };
}

/* Joins a used chunk with what is free around it and cuts it to `needed`. Its block moves down by
 * what is before. */
static void *join(hfit_heap *heap, uint32_t chunk, surroundings around, uint32_t needed) {
    const uint32_t own = size_at(heap, chunk);
    const uint32_t start = chunk - around.before;
    const uint32_t size = around.before + own + around.behind;
    void *block = block_at(heap, start + HEAD);
    if (around.behind != 0 && !around.is_at_top) {
        take_out(heap, chunk + own);
    }
    if (around.before != 0) {
        take_out(heap, start);
        slide_payload(block, around.before, own - HEAD);
    }
    if (around.behind != 0 && around.is_at_top) {
        set_top(heap, start + needed, size - needed);
        set_size(heap, start, needed);
        return block;
    }
    set_size(heap, start, size);
    set_after_used(heap, start + size, true);
    free_rest(heap, start, needed);
    return block;
}

/* Grows a used chunk into its surroundings: forward, both ways, backward, whichever does first.
 * NULL, and nothing changed, if none does. */
static void *grow(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    surroundings around = look_around(heap, chunk);
    const uint32_t own = size_at(heap, chunk);
    const uint32_t before = around.before;
    const uint32_t forward = around.is_at_top ? needed + CHUNK_LEAST : needed;
    if (around.behind != 0 && before + own + around.behind >= forward) {
        around.before = own + around.behind >= forward ? 0 : before;
        return join(heap, chunk, around, needed);
    }
    around.behind = 0;
    return before + own >= needed ? join(heap, chunk, around, needed) : NULL;
}

/* A block that is given the chunk behind its own, at the top, stays and takes both. */
static void *move_or_extend(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, size_t size,
                            uint32_t needed) {
    const uint32_t next = behind(heap, chunk);
    const uint32_t taken = take_chunk(heap, plan, needed);
    void *block = block_at(heap, chunk + HEAD);
    if (taken == NO_OFFSET) {
        return NULL;
    }
    if (taken == next) {
        set_size(heap, chunk, size_at(heap, chunk) + size_at(heap, taken));
        free_rest(heap, chunk, needed);
        return block;
    }
    const size_t usable = size_at(heap, chunk) - HEAD;
    void *moved = block_at(heap, taken + HEAD);
    copy_payload(moved, block, usable < size ? usable : size);
    release_chunk(heap, chunk);
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t needed;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = chunk_of(heap, block);
    if (needed <= size_at(heap, chunk)) {
        free_rest(heap, chunk, needed);
        return block;
    }
    void *grown = grow(heap, chunk, needed);
    return grown != NULL ? grown : move_or_extend(heap, plan, chunk, size, needed);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    (void)plan;
    return block == NULL ? 0 : size_at(heap, chunk_of(heap, block)) - HEAD;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t top = load_word(heap, TOP);
    for (uint32_t chunk = first_chunk(plan); chunk < top; chunk = behind(heap, chunk)) {
        visitor(context, block_at(heap, chunk + HEAD), size_at(heap, chunk) - HEAD,
                !is_free(heap, chunk));
    }
}

/* Chunks in a bin, which are free, of it, sorted and linked both ways; more than `most` if not. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t bin,
                          uint32_t most) {
    const uint32_t top = load_word(heap, TOP);
    uint32_t previous = head_of(bin);
    uint32_t chunk = load_word(heap, previous + NEXT);
    uint32_t size = UINT32_MAX;
    uint32_t count = 0;
    for (; chunk != head_of(bin) && count <= most; count++) {
        const bool is_chunk = chunk >= first_chunk(plan) && chunk < top &&
                              (chunk - first_chunk(plan)) % unit_of(plan) == 0;
        if (!is_chunk || size_at(heap, chunk) > size || size_at(heap, chunk) >= top - chunk ||
            bin_of(size_at(heap, chunk)) != bin || !is_free(heap, chunk) ||
            load_word(heap, chunk + PREVIOUS) != previous) {
            return most + 1;
        }
        size = size_at(heap, chunk);
        previous = chunk;
        chunk = load_word(heap, chunk + NEXT);
    }
    const bool is_marked = (load_word(heap, MAPS + 4 * (bin >> 5)) >> (bin & 31) & 1) != 0;
    return is_marked == (count != 0) && oldest(heap, bin) == previous ? count : most + 1;
}

/* Free chunks below the top; UINT32_MAX if a chunk there is not sound. */
static uint32_t count_free(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t top = load_word(heap, TOP);
    uint32_t chunk = first_chunk(plan);
    uint32_t count = 0;
    bool after_used = true;
    for (; chunk < top; chunk = behind(heap, chunk)) {
        const uint32_t size = size_at(heap, chunk);
        if (size < CHUNK_LEAST || size % unit_of(plan) != 0 || size > top - chunk ||
            is_after_used(heap, chunk) != after_used) {
            return UINT32_MAX;
        }
        const bool is_used = !is_free(heap, chunk);
        if (!is_used && (!after_used || load_word(heap, chunk + size - HEAD) != size)) {
            return UINT32_MAX;
        }
        after_used = is_used;
        count += !is_used;
    }
    return after_used ? count : UINT32_MAX;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t end = load_word(heap, BREAK);
    const uint32_t last = load_word(heap, LAST);
    if (top < first_chunk(plan) || top - HEAD > end || end > load_word(heap, FOOTPRINT) ||
        load_word(heap, FOOTPRINT) > load_word(heap, END) ||
        load_word(heap, top) != ((end - (top - HEAD)) | PREVIOUS_USED)) {
        return false;
    }
    const uint32_t free_count = count_free(heap, plan);
    if (free_count == UINT32_MAX) {
        return false;
    }
    uint32_t found = last != NO_OFFSET;
    for (uint32_t bin = 2; bin < BIN_COUNT && found <= free_count; bin++) {
        found += count_bin(heap, plan, bin, free_count);
    }
    return found == free_count &&
           (last == NO_OFFSET || (last < top && last >= first_chunk(plan) && is_free(heap, last)));
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_chunk(plan) - HEAD + PAGE : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t first = first_chunk(plan);
    const uint32_t start = first - HEAD;
    for (uint32_t offset = LAST; offset < BINS; offset += 4) {
        store_word(heap, offset, 0);
    }
    for (uint32_t bin = 0; bin < BIN_COUNT; bin++) {
        store_word(heap, head_of(bin) + NEXT, head_of(bin));
        store_word(heap, head_of(bin) + PREVIOUS, head_of(bin));
    }
    store_word(heap, BREAK, start);
    store_word(heap, FOOTPRINT, start);
    store_word(heap, END, start + (((uint32_t)region_size - start) & ~(uint32_t)(PAGE - 1)));
    set_top(heap, first, 0);
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_newlib_malloc_allocator = {
    .name = "newlib_malloc",
    .title = "best fit in 128 bins, pages at the top",
    .origin = "newlib 3.3.0, its full malloc; Lea, malloc 2.6",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc and free: one step a chunk of one bin, so linear in the free "
                          "chunks",
            .block_bytes = "4 for the size, then rounded up to 8; at least 16",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit), in pages of 4096",
            .layout = "| top | break | end | footprint | last | maps | 128 bins | chunk | ... | "
                      "top |\n"
                      "a used chunk: | size+P | payload ... |\n"
                      "a free chunk: | size+P | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes, then ranges of sizes",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "best",
            .order.text = "first freed first",
            .growth.text = "by pages of a request",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_newlib_malloc_operations,
    .unlocked = &hfit_newlib_malloc_unlocked,
};
