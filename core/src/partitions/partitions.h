/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal partitions that tile a region behind their metadata, for allocators that serve a request
 * with several of them.
 *
 *   0       4      8         12     16       20           base
 *   +-------+------+---------+------+--------+------------+-------------+-------------+--
 *   | count | base | touched | seal | index  | table      | partition 0 | partition 1 | ...
 *   +-------+------+---------+------+--------+------------+-------------+-------------+--
 *
 * `touched` partitions have ever been handed out: those from there on never. The seal is such that
 * a flipped bit of the three words before it shows. The index word and the table are the including
 * allocator's own; so are the partitions from first to last byte, since nothing lies between them.
 * The first one begins at a multiple of the power of two, up to 64, that divides a partition's
 * size, so that partitions of 2^k bytes are aligned to 2^k, up to 64, where the region is.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines tunables_of and
 * table_size.
 */
#ifndef HFIT_PARTITIONS_H
#define HFIT_PARTITIONS_H

#include "src/size.h"
#include "src/region.h"

enum {
    PARTITIONS_COUNT = 0,
    PARTITIONS_BASE = 4, /* offset of partition 0 */
    PARTITIONS_TOUCHED = 8,
    PARTITIONS_SEAL = 12,
    PARTITIONS_INDEX = 16,
    PARTITIONS_TABLE = 20,
    MOST_PARTITIONS = 1 << 24,
    LARGEST_PARTITION = 1 << 24,
    MOST_OVERHEAD = 4096,
    BASE_ALIGNMENT = 64,
};

_Static_assert((uint64_t)MOST_PARTITIONS * 8 < UINT32_MAX, "a number's offset in a table fits");

/* The number of no partition. */
#define NO_PARTITION UINT32_MAX

/* What every plan of partitions says. */
typedef struct partition_tunables {
    uint32_t size;     /* bytes of a partition, before rounding up to the alignment */
    uint32_t count;    /* 0: as many as the region holds */
    uint32_t overhead; /* bytes of metadata set aside for a partition, if the table needs less */
} partition_tunables;

static inline partition_tunables tunables_of(const hfit_plan *plan);

/* Bytes of the table for so many partitions, a multiple of 4. */
static inline uint32_t table_size(const hfit_plan *plan, uint32_t count);

/* Bytes from one partition to the next. */
static inline uint32_t partition_size(const hfit_plan *plan) {
    return (tunables_of(plan).size + plan->alignment - 1) & ~(plan->alignment - 1);
}

/* Where the partitions of a heap lie: loaded once a call. */
typedef struct partition_layout {
    uint32_t count;
    uint32_t base;
    uint32_t size;
} partition_layout;

static inline partition_layout layout_of(const hfit_heap *heap, const hfit_plan *plan) {
    return (partition_layout){load_word(heap, PARTITIONS_COUNT), load_word(heap, PARTITIONS_BASE),
                              partition_size(plan)};
}

static inline uint32_t partition_offset(const partition_layout *layout, uint32_t partition) {
    return layout->base + partition * layout->size;
}

static inline void *partition_address(const hfit_heap *heap, const partition_layout *layout,
                                      uint32_t partition) {
    return block_at(heap, partition_offset(layout, partition));
}

/* The partition that begins at `block`, or NO_PARTITION; at safety level 0 there must be one. What
 * lies below the first one counts as far above the last. */
static inline uint32_t partition_at(const hfit_heap *heap, const partition_layout *layout,
                                    const void *block) {
    const uint32_t distance = offset_of(heap, block, UINT32_MAX) - layout->base;
    const uint32_t partition = distance / layout->size;
    if (HFIT_SAFETY >= 1 && (partition >= layout->count || distance != partition * layout->size)) {
        return NO_PARTITION;
    }
    return partition;
}

/* Stores how many partitions hold a request. False if no region holds it. */
static inline bool partitions_for(const partition_layout *layout, size_t size, uint32_t *count) {
    uint32_t asked;
    HFIT_ASSERT(layout->size != 0);
    if (!round_size(size, 0, 1, &asked)) {
        return false;
    }
    *count = (asked - 1) / layout->size + 1;
    return true;
}

static inline void seal_partitions(hfit_heap *heap, uint32_t count, uint32_t base,
                                   uint32_t touched) {
    store_word(heap, PARTITIONS_TOUCHED, touched);
    store_word(heap, PARTITIONS_SEAL, ~(count ^ base ^ touched));
}

/* True if what is known of the partitions, and `touched`, are as they were sealed. */
static inline bool is_sealed(const hfit_heap *heap, const partition_layout *layout,
                             uint32_t touched) {
    return load_word(heap, PARTITIONS_SEAL) == ~(layout->count ^ layout->base ^ touched) &&
           touched <= layout->count;
}

/* Notes that the partitions before `end` have been handed out. */
static inline void raise_touched(hfit_heap *heap, const partition_layout *layout, uint32_t end) {
    if (end > load_word(heap, PARTITIONS_TOUCHED)) {
        seal_partitions(heap, layout->count, layout->base, end);
    }
}

/* Offset of partition 0 if there are `count`. */
static inline uint64_t partitions_base(const hfit_plan *plan, uint32_t count) {
    const uint64_t set_aside = (uint64_t)count * tunables_of(plan).overhead;
    const uint64_t table = table_size(plan, count);
    const uint32_t divisor = partition_size(plan) & (0u - partition_size(plan));
    const uint32_t mask = (divisor < BASE_ALIGNMENT ? divisor : BASE_ALIGNMENT) - 1;
    return (PARTITIONS_TABLE + (set_aside > table ? set_aside : table) + mask) & ~(uint64_t)mask;
}

static inline uint64_t partitions_end(const hfit_plan *plan, uint32_t count) {
    return partitions_base(plan, count) + (uint64_t)count * partition_size(plan);
}

/* How many partitions a region holds, or the plan wants; 0 if the region is too small. */
static inline uint32_t partitions_in(const hfit_plan *plan, size_t region_size) {
    const uint32_t wanted = tunables_of(plan).count;
    uint32_t low = 0;
    uint32_t high = MOST_PARTITIONS;
    if (wanted != 0) {
        return partitions_end(plan, wanted) <= region_size ? wanted : 0;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (partitions_end(plan, middle) <= region_size) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* The smallest region for a plan; 0 if a value is out of range or the partitions would end beyond
 * HFIT_LARGEST_BLOCK. */
static inline size_t smallest_partitions(const hfit_plan *plan) {
    const partition_tunables tunables = tunables_of(plan);
    if (!is_alignment_allowed(plan->alignment) || tunables.size == 0 ||
        tunables.size > LARGEST_PARTITION || tunables.count > MOST_PARTITIONS ||
        tunables.overhead > MOST_OVERHEAD) {
        return 0;
    }
    const uint64_t end = partitions_end(plan, tunables.count == 0 ? 1 : tunables.count);
    return end <= HFIT_LARGEST_BLOCK ? (size_t)end : 0;
}

/* Lays out a region. The heap, but for its index and table; NULL if it cannot be one. */
static inline hfit_heap *begin_partitions(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || smallest_partitions(plan) == 0) {
        return NULL;
    }
    const size_t usable = region_size < HFIT_LARGEST_BLOCK ? region_size : HFIT_LARGEST_BLOCK;
    const uint32_t count = partitions_in(plan, usable);
    if (count == 0) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t base = (uint32_t)partitions_base(plan, count);
    store_word(heap, PARTITIONS_COUNT, count);
    store_word(heap, PARTITIONS_BASE, base);
    seal_partitions(heap, count, base, 0);
    return heap;
}

/* True if the first four words hold; nothing may be read by their leave before that is known. */
static inline bool are_partitions_sound(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    const uint32_t base = load_word(heap, PARTITIONS_BASE);
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    return load_word(heap, PARTITIONS_SEAL) == ~(count ^ base ^ touched) && touched <= count &&
           count <= MOST_PARTITIONS && base == partitions_base(plan, count);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const partition_layout layout = layout_of(heap, plan);
    return partition_offset(&layout, load_word(heap, PARTITIONS_TOUCHED));
}

#endif
