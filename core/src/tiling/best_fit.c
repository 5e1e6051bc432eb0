/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best fit: the index is a row of exact bins for small chunks and a row of tries for the rest. The
 * top, the free chunk before the sentinel, is in neither. See hfit/best_fit.h.
 *
 *   16          20                80                   140
 *   +-----------+-----------------+--------------------+-------
 *   | class map | classes 1 to 15 | classes 16 to 30   | chunks
 *   |           | bins            | tries 6 to 20      |
 *   +-----------+-----------------+--------------------+-------
 *
 * A class has a word, the head of its bin or the root of its trie, and a bit in the map if that is
 * not empty. Bin i is the list of the chunks of i granules, a granule being the alignment. Trie i
 * holds the chunks from 2^i bytes to below 2^(i + 1) that have no bin, and the last one all that
 * are larger.
 */
#include "hfit/best_fit.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_best_fit_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/trie.h"
#include "src/tiling/chunk.h"
#include "src/tiling/tiling.h"

enum {
    CLASS_MAP = TILING_INDEX,
    CLASSES = CLASS_MAP, /* class 0 would lie here: no chunk has 0 granules */
    BIN_COUNT = 16,
    FIRST_TRIE = 6, /* log2 of 16 granules of 4 bytes */
    LAST_TRIE = 20,
    TRIE_LOWER = 12, /* behind the links */
    TRIE_NODE = 28,  /* bytes of a chunk that has all of a trie's words */
    CLASS_COUNT = BIN_COUNT + LAST_TRIE - FIRST_TRIE + 1,
    CONTROL_SIZE = CLASSES + 4 * CLASS_COUNT,
    SMALLEST_REGION = CONTROL_SIZE + CHUNK_LEAST + WORD_SIZE,
};

_Static_assert(BIN_COUNT * 4 == 1 << FIRST_TRIE, "tries begin where bins end");
_Static_assert(CLASS_COUNT <= 31, "each class has a bit, class 0 none");
_Static_assert(BIN_COUNT * 4 >= TRIE_NODE, "a chunk without a bin has room for a trie's words");
_Static_assert((CONTROL_SIZE + WORD_SIZE) % 16 == 0, "a chunk of any alignment begins here");

static const trie_form tries = {
    .size = 0,
    .flags = IS_CODED ? 0 : CHUNK_FREE | AFTER_FREE, /* coded a header is just its size */
    .free = IS_CODED ? 0 : CHUNK_FREE,
    .lower = TRIE_LOWER,
    .last = LAST_TRIE,
};

static inline bool has_bin(const hfit_plan *plan, uint32_t size) {
    return size < BIN_COUNT * plan->alignment;
}

static inline uint32_t bin_class(const hfit_plan *plan, uint32_t size) {
    HFIT_ASSERT(size != 0 && has_bin(plan, size));
    return size >> hfit_trailing_zeros(plan->alignment);
}

static inline uint32_t trie_class(uint32_t size) {
    HFIT_ASSERT(size >= 1u << FIRST_TRIE);
    return trie_of(&tries, size) + BIN_COUNT - FIRST_TRIE;
}

/* The head of a class's bin, or the root of its trie. */
static inline uint32_t word_of(uint32_t class) {
    return CLASSES + 4 * class;
}

/* Apart from index_insert, which stands in several functions. */
static void insert_large(hfit_heap *heap, uint32_t root, uint32_t chunk, uint32_t size,
                         uint32_t end) {
    const sized_chunk inserted = {chunk, size};
    trie_insert(&tries, heap, root, &inserted, end);
}

static inline void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    const uint32_t end = load_word(heap, TILING_END);
    if (chunk + size == end) {
        return;
    }
    uint32_t class;
    if (has_bin(plan, size)) {
        class = bin_class(plan, size);
        (void)list_push(heap, word_of(class), chunk);
    } else {
        class = trie_class(size);
        insert_large(heap, word_of(class), chunk, size, end);
    }
    set_flag(heap, CLASS_MAP, 1u << class);
}

static inline void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t emptied = NO_OFFSET;
    if (chunk + size == end) {
        return;
    }
    if (has_bin(plan, size)) {
        (void)list_unlink(heap, chunk, &emptied);
    } else {
        emptied = trie_remove(&tries, heap, chunk, end);
    }
    if (emptied - CLASSES < CONTROL_SIZE - CLASSES) { /* NO_OFFSET wraps, so is not */
        clear_flag(heap, CLASS_MAP, 1u << ((emptied - CLASSES) / 4));
    }
}

static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                               uint32_t size, uint32_t end) {
    const uint32_t words_end = end - LINK_PREVIOUS;
    return chunk + size == end ||
           (do_links_hold(heap, chunk, words_end) &&
            (has_bin(plan, size) || trie_holds(&tries, heap, chunk, words_end)));
}

/* The top, NO_OFFSET if there is none of at least `size` bytes, or its footer was overwritten so
 * that it leads out of the heap. */
static inline uint32_t find_top(const hfit_heap *heap, uint32_t size, uint32_t end) {
    const uint32_t top_size =
        chunk_size(coded_header(load_word(heap, end - WORD_SIZE))); /* stands at the end, too */
    const bool is_there = (load_word(heap, end) & AFTER_FREE) != 0;
    return is_there && top_size >= size ? sound_offset(end - top_size, end) : NO_OFFSET;
}

/* The smallest chunk of at least `size` bytes, or the top; NO_OFFSET if there is none. */
static inline uint32_t find_best(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                 uint32_t end) {
    trie_way way = {{NO_OFFSET, UINT32_MAX}, NO_OFFSET};
    uint32_t class; /* this one and those below it will not do */
    if (has_bin(plan, size)) {
        class = bin_class(plan, size) - 1;
    } else {
        class = trie_class(size);
        way = trie_follow(&tries, heap, word_of(class), size, end);
    }
    if (way.above == NO_OFFSET) {
        if (way.best.offset != NO_OFFSET) {
            return way.best.offset;
        }
        const uint32_t map = load_word(heap, CLASS_MAP) & (~1u << class);
        if (map == 0) {
            return find_top(heap, size, end);
        }
        class = hfit_trailing_zeros(map);
        way.above = word_of(class);
        if (class < BIN_COUNT) {
            return sound_offset(load_link(heap, way.above), end);
        }
    }
    trie_least(&tries, heap, way.above, &way.best, end);
    return way.best.offset;
}

static inline bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                              uint32_t end, uint32_t *chunk) {
    *chunk = find_best(heap, plan, size, end);
    return *chunk != NO_OFFSET;
}

/* What `check` has yet to find. */
typedef struct unfound {
    uint32_t chunks; /* free ones */
    uint32_t slots;  /* of tries, that something hangs from */
} unfound;

/* Chunks in the bin of `class`, if each is a free one of its size and the links hold; more than
 * `most` if not. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t class,
                          uint32_t most) {
    const uint32_t size = class * plan->alignment;
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t place = word_of(class);
    uint32_t chunk = load_link(heap, word_of(class));
    uint32_t count = 0;
    for (; chunk != NO_OFFSET && count <= most; count++) {
        if (!is_chunk_offset(heap, plan, chunk, end) || size > end - chunk ||
            load_word(heap, chunk) != coded_header(size | CHUNK_FREE) ||
            load_previous(heap, chunk) != place) {
            return UINT32_MAX;
        }
        place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return count;
}

/* Finds the chunks of all bins and the roots of all tries. False if a bin or the map does not hold.
 */
static bool check_classes(const hfit_heap *heap, const hfit_plan *plan, unfound *left) {
    uint32_t map = 0;
    for (uint32_t class = bin_class(plan, CHUNK_LEAST); class < CLASS_COUNT; class ++) {
        const bool is_empty = load_link(heap, word_of(class)) == NO_OFFSET;
        map |= (uint32_t)!is_empty << class;
        if (class >= BIN_COUNT) {
            left->slots += !is_empty;
            continue;
        }
        const uint32_t count = count_bin(heap, plan, class, left->chunks);
        if (count > left->chunks) {
            return false;
        }
        left->chunks -= count;
    }
    return map == load_word(heap, CLASS_MAP);
}

/* Finds, for a free chunk that is the entry of a ring, the ring and its slot. False if they or the
 * chunk's links do not hold. */
static bool check_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        unfound *left) {
    const uint32_t end = load_word(heap, TILING_END);
    if (!index_holds(heap, plan, chunk, size, end)) {
        return false;
    }
    if (has_bin(plan, size) || chunk + size == end ||
        load_link_field(heap, chunk, slot_in(&tries)) == NO_OFFSET) {
        return true;
    }
    const sized_chunk entry = {chunk, size};
    const uint32_t count = count_ring(&tries, heap, entry, left->chunks, end);
    left->chunks -= count;
    left->slots += count_subtries(&tries, heap, chunk) - 1;
    return count != 0 && trie_leads_to(&tries, heap, word_of(trie_class(size)), entry, end);
}

/* Every entry is found by its size in the slot that it names, and nothing else hangs from any slot;
 * bins and rings have all chunks but the top, each once. */
static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t end = load_word(heap, TILING_END);
    const bool has_top = (load_word(heap, end) & AFTER_FREE) != 0;
    unfound left = {free_count - has_top, 0};
    uint32_t size;
    if (!check_classes(heap, plan, &left)) {
        return false;
    }
    for (uint32_t chunk = load_word(heap, TILING_FIRST); chunk != end; chunk += size) {
        size = chunk_size(load_header(heap, chunk));
        if ((load_word(heap, chunk) & CHUNK_FREE) != 0 &&
            !check_chunk(heap, plan, chunk, size, &left)) {
            return false;
        }
    }
    return left.chunks == 0 && left.slots == 0;
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

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? smallest_tiling(plan, CONTROL_SIZE) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < SMALLEST_REGION) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_word(heap, CLASS_MAP, 0);
    for (uint32_t offset = CLASS_MAP + 4; offset < CONTROL_SIZE; offset += 4) {
        store_link(heap, offset, NO_OFFSET);
    }
    tile_region(heap, plan, first_chunk(plan, CONTROL_SIZE), sentinel_of(plan, region_size));
    return heap;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    tiling_holes(plan, holes);
    return true;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
};

const hfit_allocator hfit_best_fit_allocator = {
    .name = "best_fit",
    .title = "exact best fit, the top last",
    .origin = "best fit of Lea 2005 (dlmalloc 2.8), without its designated victim",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_best_fit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc: two walks in tries to find, one to take, one to put back what is "
                          "split off; free: one to take each neighbour, one to put back; a walk is "
                          "at most log2 of the largest chunk in granules steps",
            .block_bytes =
                "4 for the header, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout = "| first | end | footprint | tally | class map | bins | tries | chunk "
                      "| ... | top | sentinel |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | lower | higher | slot | ... | "
                      "size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes, then powers of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "best",
            .order.text = "by size",
            .growth.text = "from the end of what is in use",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_best_fit_operations,
    .unlocked = &hfit_best_fit_unlocked,
};
