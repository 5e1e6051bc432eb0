/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See baselines/sys_heap.h.
 *
 *   0        4           8     12          16
 *   +--------+-----------+-----+-----------+----------------+-------+-- ... --+-------+-----+
 *   | header | footprint | end | available | hand of a ring | chunk | chunk   | chunk | end |
 *   +--------+-----------+-----+-----------+----------------+-------+-- ... --+-------+-----+
 *
 *   used | left, is shifted | size, is used | the caller's bytes ...
 *   free | left             | size          | previous | next | ...
 *
 * A chunk is told by its offset in units, 0 for none. Its four fields have 2 bytes each where a
 * header has 4, else 4. `left` is the size of the chunk before, 0 for the first. A block asked for
 * at an alignment may begin 4 bytes later in its first unit than others: it is shifted. The control
 * takes as many bytes as Zephyr's, so that a region holds the same chunks.
 */
#include "baselines/sys_heap.h"

#include "hfit/descriptor.h"

#include "src/logarithm.h"

#define HFIT_THIS(operation) hfit_sys_heap_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"

enum {
    HEADER = 0, /* bytes of a chunk's header */
    FOOTPRINT = 4,
    END = 8,        /* the chunk that ends the heap */
    AVAILABLE = 12, /* bit n: ring n has chunks */
    HANDS = 16,
    SHORT_HEADER = 4,
    LONG_HEADER = 8,
    MOST_SHORT = 0x7fff, /* units of a heap with short headers */
    TRIES = 3,           /* CONFIG_SYS_HEAP_ALLOC_LOOPS */
    SHIFT = 4,           /* bytes by which a shifted block lies later */
};

typedef enum { LEFT, SIZE, PREVIOUS, NEXT } chunk_field;

static inline uint32_t unit_of(uint32_t header) {
    return header > 8 ? header : 8;
}

static inline uint32_t header_of(const hfit_heap *heap) {
    return load_word(heap, HEADER);
}

static inline uint32_t offset_in(const hfit_heap *heap, uint32_t chunk) {
    return chunk * unit_of(header_of(heap));
}

static inline uint32_t units_for(uint32_t bytes, uint32_t header) {
    return (bytes + unit_of(header) - 1) / unit_of(header);
}

/* Units of the smallest chunk that may hold a block. */
static inline uint32_t least_chunk(uint32_t header) {
    return units_for(header + 1, header);
}

static uint32_t get(const hfit_heap *heap, uint32_t chunk, chunk_field field) {
    const uint32_t offset = offset_in(heap, chunk);
    const uint32_t place = (uint32_t)field;
    if (header_of(heap) > SHORT_HEADER) {
        return load_word(heap, offset + 4 * place);
    }
    return load_word(heap, offset + place / 2 * 4) >> place % 2 * 16 & 0xffffu;
}

static void put(hfit_heap *heap, uint32_t chunk, chunk_field field, uint32_t value) {
    const uint32_t offset = offset_in(heap, chunk);
    const uint32_t place = (uint32_t)field;
    if (header_of(heap) > SHORT_HEADER) {
        store_word(heap, offset + 4 * place, value);
        return;
    }
    const uint32_t both = load_word(heap, offset + place / 2 * 4);
    const uint32_t other = both & 0xffff0000u >> place % 2 * 16;
    store_word(heap, offset + place / 2 * 4, other | value << place % 2 * 16);
}

static inline uint32_t size_at(const hfit_heap *heap, uint32_t chunk) {
    return get(heap, chunk, SIZE) >> 1;
}

static inline bool is_used(const hfit_heap *heap, uint32_t chunk) {
    return (get(heap, chunk, SIZE) & 1) != 0;
}

static inline uint32_t left_size(const hfit_heap *heap, uint32_t chunk) {
    return get(heap, chunk, LEFT) >> 1;
}

static inline uint32_t shift_of(const hfit_heap *heap, uint32_t chunk) {
    return (get(heap, chunk, LEFT) & 1) * SHIFT;
}

static inline uint32_t behind(const hfit_heap *heap, uint32_t chunk) {
    return chunk + size_at(heap, chunk);
}

static inline void set_used(hfit_heap *heap, uint32_t chunk, bool used) {
    put(heap, chunk, SIZE, size_at(heap, chunk) << 1 | used);
}

static inline void set_shifted(hfit_heap *heap, uint32_t chunk, bool shifted) {
    put(heap, chunk, LEFT, left_size(heap, chunk) << 1 | shifted);
}

/* Makes a chunk free, of `size` units, and tells the chunk behind. */
static void set_size(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t next = chunk + size;
    put(heap, chunk, SIZE, size << 1);
    put(heap, next, LEFT, size << 1 | (get(heap, next, LEFT) & 1));
}

/* The ring for chunks of `size` units, which is at least least_chunk. */
static inline uint32_t ring_of(uint32_t size, uint32_t header) {
    return log2_down(size - least_chunk(header) + 1);
}

static inline uint32_t hand_of(uint32_t ring) {
    return HANDS + 4 * ring;
}

/* Behind a long header a free unit is too small for a block, and lies in no ring. */
static inline bool is_in_ring(const hfit_heap *heap, uint32_t chunk) {
    return size_at(heap, chunk) >= least_chunk(header_of(heap));
}

static void add(hfit_heap *heap, uint32_t chunk) {
    if (!is_in_ring(heap, chunk)) {
        return;
    }
    const uint32_t ring = ring_of(size_at(heap, chunk), header_of(heap));
    const uint32_t next = load_word(heap, hand_of(ring));
    if (next == NO_OFFSET) {
        store_word(heap, AVAILABLE, load_word(heap, AVAILABLE) | 1u << ring);
        store_word(heap, hand_of(ring), chunk);
        put(heap, chunk, PREVIOUS, chunk);
        put(heap, chunk, NEXT, chunk);
        return;
    }
    const uint32_t previous = get(heap, next, PREVIOUS);
    put(heap, chunk, PREVIOUS, previous);
    put(heap, chunk, NEXT, next);
    put(heap, previous, NEXT, chunk);
    put(heap, next, PREVIOUS, chunk);
}

static void take_out(hfit_heap *heap, uint32_t chunk) {
    if (!is_in_ring(heap, chunk)) {
        return;
    }
    const uint32_t ring = ring_of(size_at(heap, chunk), header_of(heap));
    const uint32_t next = get(heap, chunk, NEXT);
    if (next == chunk) {
        store_word(heap, AVAILABLE, load_word(heap, AVAILABLE) & ~(1u << ring));
        store_word(heap, hand_of(ring), NO_OFFSET);
        return;
    }
    const uint32_t previous = get(heap, chunk, PREVIOUS);
    store_word(heap, hand_of(ring), next);
    put(heap, previous, NEXT, next);
    put(heap, next, PREVIOUS, previous);
}

/* What a chunk has beyond `size` units becomes a chunk, which is returned; NO_OFFSET if nothing is.
 * Both are free then, and in no ring. */
static uint32_t split(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t whole = size_at(heap, chunk);
    if (whole == size) {
        return NO_OFFSET;
    }
    put(heap, chunk + size, LEFT, 0);
    set_size(heap, chunk, size);
    set_size(heap, chunk + size, whole - size);
    return chunk + size;
}

static void split_off(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t rest = split(heap, chunk, size);
    if (rest != NO_OFFSET) {
        add(heap, rest);
    }
}

static void free_chunk(hfit_heap *heap, uint32_t chunk) {
    const uint32_t next = behind(heap, chunk);
    const uint32_t left = left_size(heap, chunk);
    const uint32_t before = chunk - left;
    set_used(heap, chunk, false);
    set_shifted(heap, chunk, false);
    if (!is_used(heap, next)) {
        take_out(heap, next);
        set_size(heap, chunk, size_at(heap, chunk) + size_at(heap, next));
    }
    if (left != 0 && !is_used(heap, before)) {
        take_out(heap, before);
        set_size(heap, before, left + size_at(heap, chunk));
        add(heap, before);
    } else {
        add(heap, chunk);
    }
}

/* A chunk of the ring that has `size` units, among the few that are tried; stores where the hand
 * then is. */
static uint32_t try_ring(const hfit_heap *heap, uint32_t ring, uint32_t size, uint32_t *hand) {
    const uint32_t first = load_word(heap, hand_of(ring));
    *hand = first;
    for (uint32_t tried = 0; *hand != NO_OFFSET && tried < TRIES; tried++) {
        if (size_at(heap, *hand) >= size) {
            return *hand;
        }
        *hand = get(heap, *hand, NEXT);
        if (*hand == first) {
            break;
        }
    }
    return NO_OFFSET;
}

/* The smallest ring above `ring` that has chunks, all of which are large enough; 0 if none has. */
static uint32_t larger_ring(const hfit_heap *heap, uint32_t ring) {
    const uint32_t larger = load_word(heap, AVAILABLE) & ~((2u << ring) - 1);
    return larger == 0 ? 0 : log2_down(larger & (0u - larger));
}

/* A free chunk of at least `size` units, out of its ring; NO_OFFSET if none is found. Also then the
 * hand is past those that are too small. */
static uint32_t take_chunk(hfit_heap *heap, uint32_t size) {
    uint32_t hand;
    if (size >= load_word(heap, END)) {
        return NO_OFFSET;
    }
    const uint32_t ring = ring_of(size, header_of(heap));
    uint32_t chunk = try_ring(heap, ring, size, &hand);
    if (chunk == NO_OFFSET) {
        const uint32_t larger = larger_ring(heap, ring);
        store_word(heap, hand_of(ring), hand);
        if (larger == 0) {
            return NO_OFFSET;
        }
        chunk = load_word(heap, hand_of(larger));
    }
    take_out(heap, chunk);
    return chunk;
}

static void raise_footprint(hfit_heap *heap, uint32_t chunk) {
    const uint32_t end = offset_in(heap, behind(heap, chunk));
    if (end > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end);
    }
}

static void *block_of(const hfit_heap *heap, uint32_t chunk) {
    return block_at(heap, offset_in(heap, chunk) + header_of(heap) + shift_of(heap, chunk));
}

static uint32_t chunk_of(const hfit_heap *heap, const void *block) {
    const uint32_t offset = (uint32_t)((uintptr_t)block - (uintptr_t)heap);
    return (offset - header_of(heap)) / unit_of(header_of(heap));
}

static uint32_t usable_in(const hfit_heap *heap, uint32_t chunk) {
    return offset_in(heap, size_at(heap, chunk)) - header_of(heap) - shift_of(heap, chunk);
}

/* Stores the units of a chunk for `size` bytes, `extra` of them before the block. */
static bool chunk_size_for(const hfit_heap *heap, size_t size, uint32_t extra, uint32_t *units) {
    const uint32_t header = header_of(heap);
    uint32_t bytes;
    if (!round_size(size, header + extra, unit_of(header), &bytes)) {
        return false;
    }
    *units = bytes / unit_of(header);
    return true;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    (void)plan;
    if (!chunk_size_for(heap, size, 0, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, needed);
    if (chunk == NO_OFFSET) {
        return NULL;
    }
    split_off(heap, chunk, needed);
    set_used(heap, chunk, true);
    raise_footprint(heap, chunk);
    return block_of(heap, chunk);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)plan;
    if (block != NULL) {
        free_chunk(heap, chunk_of(heap, block));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the chunk tells */
    heap_free(heap, plan, block);
}

/* Grows into a free chunk behind, if both have `needed` units. */
static bool grow(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t next = behind(heap, chunk);
    const uint32_t both = size_at(heap, chunk) + size_at(heap, next);
    if (is_used(heap, next) || both < needed) {
        return false;
    }
    take_out(heap, next);
    set_size(heap, chunk, both);
    split_off(heap, chunk, needed);
    return true;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t needed;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t chunk = chunk_of(heap, block);
    if (!chunk_size_for(heap, size, shift_of(heap, chunk), &needed)) {
        return NULL;
    }
    if (needed <= size_at(heap, chunk)) {
        const uint32_t rest = split(heap, chunk, needed);
        set_used(heap, chunk, true); /* or the rest joins it */
        if (rest != NO_OFFSET) {
            free_chunk(heap, rest);
        }
    } else if (!grow(heap, chunk, needed)) {
        return move_block(heap, plan, block, usable_in(heap, chunk), size);
    }
    set_used(heap, chunk, true);
    raise_footprint(heap, chunk);
    return block;
}

/* The alignment that every block has: where a region begins at a multiple of 8, the header's. */
static uint32_t alignment_of_all(const hfit_heap *heap) {
    const uint32_t header = header_of(heap);
    if (header > 8) {
        return header;
    }
    return alignment_gap(heap, header, 8) == 0 ? 8 : 4;
}

static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    const uint32_t header = header_of(heap);
    uint32_t room;
    if (alignment <= alignment_of_all(heap)) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_size_for(heap, size, alignment - alignment_of_all(heap), &room)) {
        return NULL;
    }
    const uint32_t whole = take_chunk(heap, room);
    if (whole == NO_OFFSET) {
        return NULL;
    }
    const uint32_t start = offset_in(heap, whole);
    const uint32_t moved = start + alignment_gap(heap, start + header, alignment);
    const uint32_t chunk = moved / unit_of(header);
    const uint32_t shift = moved % unit_of(header);
    if (chunk != whole) {
        split(heap, whole, chunk - whole);
        add(heap, whole);
    }
    uint32_t needed = room;
    (void)chunk_size_for(heap, size, shift, &needed); /* less than with all the room */
    split_off(heap, chunk, needed);
    set_used(heap, chunk, true);
    set_shifted(heap, chunk, shift != 0);
    raise_footprint(heap, chunk);
    return block_of(heap, chunk);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    (void)plan;
    return block == NULL ? 0 : usable_in(heap, chunk_of(heap, block));
}

static inline uint32_t control_units(uint32_t end, uint32_t header) {
    return units_for(hand_of(ring_of(end, header) + 1), header);
}

static uint32_t first_chunk(const hfit_heap *heap) {
    return control_units(load_word(heap, END), header_of(heap));
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, END);
    (void)plan;
    for (uint32_t chunk = first_chunk(heap); chunk < end; chunk = behind(heap, chunk)) {
        if (is_used(heap, chunk) || is_in_ring(heap, chunk)) {
            visitor(context, block_of(heap, chunk), usable_in(heap, chunk), is_used(heap, chunk));
        }
    }
}

/* Free chunks in a ring, whose links and hand agree; more than `most` if they do not. */
static uint32_t count_ring(const hfit_heap *heap, uint32_t ring, uint32_t most) {
    const uint32_t end = load_word(heap, END);
    const uint32_t first = load_word(heap, hand_of(ring));
    uint32_t count = 0;
    uint32_t chunk = first;
    if ((first != NO_OFFSET) != ((load_word(heap, AVAILABLE) >> ring & 1) != 0)) {
        return most + 1;
    }
    while (chunk != NO_OFFSET && count <= most) {
        const uint32_t next = get(heap, chunk, NEXT);
        if (is_used(heap, chunk) || !is_in_ring(heap, chunk) || next >= end ||
            ring_of(size_at(heap, chunk), header_of(heap)) != ring ||
            get(heap, next, PREVIOUS) != chunk) {
            return most + 1;
        }
        count++;
        chunk = next == first ? NO_OFFSET : next;
    }
    return count;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, END);
    uint32_t left = 0;
    uint32_t listed = 0;
    bool after_free = false;
    (void)plan;
    for (uint32_t chunk = first_chunk(heap); chunk < end; chunk += left) {
        const bool is_free = !is_used(heap, chunk);
        if (left_size(heap, chunk) != left || (is_free && after_free)) {
            return false;
        }
        left = size_at(heap, chunk);
        if (left == 0 || left > end - chunk) {
            return false;
        }
        listed += is_free && is_in_ring(heap, chunk);
        after_free = is_free;
    }
    uint32_t in_rings = 0;
    for (uint32_t ring = 0; ring <= ring_of(end, header_of(heap)) && in_rings <= listed; ring++) {
        in_rings += count_ring(heap, ring, listed);
    }
    return left_size(heap, end) == left && in_rings == listed;
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

/* Units of the smallest heap that holds a chunk. */
static uint32_t least_end(uint32_t header) {
    uint32_t end = least_chunk(header);
    while (control_units(end, header) + least_chunk(header) > end) {
        end++;
    }
    return end;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    const uint32_t header = plan->alignment;
    return is_alignment_allowed(header) ? least_end(header) * unit_of(header) + header : 0;
}

/* Stores bytes of a header and returns where a heap ends. The end has a header, which Zephyr takes
 * for long from one unit less on. */
static uint32_t end_in(uint32_t region_size, const hfit_plan *plan, uint32_t *header) {
    const bool is_large = region_size / 8 > MOST_SHORT;
    const uint32_t footer =
        plan->alignment == SHORT_HEADER && is_large ? LONG_HEADER : plan->alignment;
    const uint32_t end = (region_size - footer) / unit_of(footer);
    *header = plan->alignment == SHORT_HEADER && end <= MOST_SHORT ? SHORT_HEADER : footer;
    return end;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    uint32_t header;
    const uint32_t end = end_in((uint32_t)region_size, plan, &header);
    const uint32_t first = control_units(end, header);
    store_word(heap, HEADER, header);
    store_word(heap, FOOTPRINT, first * unit_of(header));
    store_word(heap, END, end);
    store_word(heap, AVAILABLE, 0);
    for (uint32_t ring = 0; ring <= ring_of(end, header); ring++) {
        store_word(heap, hand_of(ring), NO_OFFSET);
    }
    put(heap, first, LEFT, 0);
    put(heap, end, LEFT, 0);
    put(heap, end, SIZE, 1);
    set_size(heap, first, end - first);
    add(heap, first);
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_sys_heap_allocator = {
    .name = "sys_heap",
    .title = "rings of powers of two, three tries",
    .origin = "Zephyr 2.5.0, its sys_heap",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc and free: the same few steps, three tries at most",
            .block_bytes = "4, then rounded up to 8; 8 above 256 KiB or at an alignment of 8",
            .fragmentation = "not bounded here: three tries may miss a chunk that fits",
            .layout = "| header | footprint | end | available | hand of a ring ... | chunk | ... | "
                      "end |\n"
                      "a used chunk: | left | size | payload ... |\n"
                      "a free chunk: | left | size | previous | next | ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "by power of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "first of three",
            .order.text = "first freed first, from a hand",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_sys_heap_operations,
    .unlocked = &hfit_sys_heap_unlocked,
};
