/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of partitions that lie together: what is common to both kinds of metadata. See
 * hfit/partition_pool.h. */
#include "hfit/partition_pool.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_partition_pool_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/partitions/partitions.h"
#include "src/partitions/run.h"
#include "src/partitions/bits.h"
#include "src/partitions/list.h"

enum { METADATA_LIST, METADATA_BITS };

static const hfit_partition_pool_plan *pool_plan(const hfit_plan *plan) {
    return (const hfit_partition_pool_plan *)plan;
}

static inline bool has_bits(const hfit_plan *plan) {
    return pool_plan(plan)->metadata == METADATA_BITS;
}

static inline partition_tunables tunables_of(const hfit_plan *plan) {
    const hfit_partition_pool_plan *own = pool_plan(plan);
    return (partition_tunables){own->partition_size, own->partitions, own->overhead};
}

static inline uint32_t table_size(const hfit_plan *plan, uint32_t count) {
    return has_bits(plan) ? bits_table_size(count) : list_table_size(count);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    const bool is_sound = pool_plan(plan)->fit <= 1 && pool_plan(plan)->metadata <= METADATA_BITS;
    return is_sound ? smallest_partitions(plan) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (plan == NULL || heap_smallest_region(plan) == 0) {
        return NULL;
    }
    hfit_heap *heap = begin_partitions(region, region_size, plan);
    if (heap == NULL) {
        return NULL;
    }
    const partition_layout layout = layout_of(heap, plan);
    if (has_bits(plan)) {
        bits_init(heap, &layout);
    } else {
        list_init(heap, &layout);
    }
    return heap;
}

/* A block of `size` bytes at a multiple of `alignment`, a power of two, or NULL. */
static void *take_block(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    const partition_layout layout = layout_of(heap, plan);
    run_request request = {0, 0, 0, pool_plan(plan)->fit != 0};
    if (!partitions_for(&layout, size, &request.count) ||
        (alignment > plan->alignment && !align_request(heap, &layout, alignment, &request))) {
        return NULL;
    }
    const uint32_t first =
        has_bits(plan) ? bits_take(heap, &layout, &request) : list_take(heap, &layout, &request);
    if (first == NO_PARTITION) {
        return NULL;
    }
    raise_touched(heap, &layout, first + request.count);
    return partition_address(heap, &layout, first);
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    return take_block(heap, plan, 0, size);
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    const bool is_possible = is_power_of_two(alignment) && alignment <= HFIT_LARGEST_BLOCK / 2;
    return is_possible ? take_block(heap, plan, (uint32_t)alignment, size) : NULL;
}

/* A group of used partitions; of length 0 if it is none. */
typedef struct group {
    uint32_t first;
    uint32_t length;
} group;

/* The group of a live block; any other address is told as misuse. */
static group group_of(const hfit_heap *heap, const hfit_plan *plan, const partition_layout *layout,
                      const void *block) {
    const uint32_t first = partition_at(heap, layout, block);
    if (HFIT_SAFETY >= 1 && first == NO_PARTITION) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return (group){0, 0};
    }
    const uint32_t length =
        has_bits(plan) ? bits_group(heap, layout, first) : list_group(heap, first);
    if (HFIT_SAFETY >= 1 && length == 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return (group){0, 0};
    }
    if (HFIT_SAFETY >= 1 && !(has_bits(plan) ? is_bits_group_sound(heap, layout, first, length)
                                             : is_list_group_sound(heap, layout, first, length))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
        return (group){0, 0};
    }
    return (group){first, length};
}

static void release_group(hfit_heap *heap, const hfit_plan *plan, const partition_layout *layout,
                          group own) {
    if (has_bits(plan)) {
        bits_release(heap, own.first, own.length);
    } else {
        (void)list_release(heap, layout, own.first, own.length);
    }
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (block == NULL) {
        return;
    }
    const partition_layout layout = layout_of(heap, plan);
    const group own = group_of(heap, plan, &layout, block);
    if (own.length != 0) {
        release_group(heap, plan, &layout, own);
    }
}

/* The size tells the group's length, so that without checks nothing is searched for. */
static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const partition_layout layout = layout_of(heap, plan);
    group own;
    if (HFIT_SAFETY >= 1 || block == NULL || !partitions_for(&layout, size, &own.length)) {
        heap_free(heap, plan, block);
        return;
    }
    own.first = partition_at(heap, &layout, block);
    release_group(heap, plan, &layout, own);
}

static bool shrink_group(hfit_heap *heap, const hfit_plan *plan, const partition_layout *layout,
                         group own, uint32_t length) {
    const uint32_t end = own.first + own.length;
    if (length == own.length) {
        return true;
    }
    if (has_bits(plan)) {
        bits_shrink(heap, end, own.first + length);
        return true;
    }
    return list_shrink(heap, layout, own.first, end, own.first + length);
}

/* Lengthens a group by the free partitions behind it, if these are enough. */
static bool grow_group(hfit_heap *heap, const hfit_plan *plan, const partition_layout *layout,
                       group own, uint32_t length) {
    const uint32_t end = own.first + own.length;
    const uint32_t new_end = own.first + length;
    const bool has_grown = has_bits(plan) ? bits_grow(heap, layout, end, new_end)
                                          : list_grow(heap, layout, own.first, end, new_end);
    if (has_grown) {
        raise_touched(heap, layout, new_end);
    }
    return has_grown;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t length;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const partition_layout layout = layout_of(heap, plan);
    const group own = group_of(heap, plan, &layout, block);
    if (own.length == 0 || !partitions_for(&layout, size, &length)) {
        return NULL;
    }
    if (length <= own.length) {
        return shrink_group(heap, plan, &layout, own, length) ? block : NULL;
    }
    if (grow_group(heap, plan, &layout, own, length)) {
        return block;
    }
    void *moved = heap_alloc(heap, plan, size);
    if (moved != NULL) {
        copy_payload(moved, block, (size_t)own.length * layout.size);
        release_group(heap, plan, &layout, own);
    }
    return moved;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    if (block == NULL) {
        return 0;
    }
    const partition_layout layout = layout_of(heap, plan);
    return (size_t)group_of(heap, plan, &layout, block).length * layout.size;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const partition_layout layout = layout_of(heap, plan);
    uint32_t length;
    for (uint32_t first = 0; first < layout.count; first += length) {
        bool is_used;
        length = has_bits(plan) ? bits_length(heap, &layout, first, &is_used)
                                : list_length(heap, first, &is_used);
        if (length == 0 || length > layout.count - first) { /* damaged */
            return;
        }
        visitor(context, partition_address(heap, &layout, first), (size_t)length * layout.size,
                is_used);
    }
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    if (!are_partitions_sound(heap, plan)) {
        return false;
    }
    const partition_layout layout = layout_of(heap, plan);
    return has_bits(plan) ? bits_check(heap, &layout) : list_check(heap, &layout);
}

#if HFIT_TELLS_ROOM

/* First fit tries the partitions never handed out last. A region has room for whole ones only. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const partition_layout layout = layout_of(heap, plan);
    reach->most = load_word(heap, PARTITIONS_TOUCHED) * layout.size;
    reach->room = layout.count * layout.size;
    reach->chunk = 0;
    return pool_plan(plan)->fit == 0 && pool_plan(plan)->partitions == 0;
}

#endif

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"partition_size", "Bytes of a partition, rounded up to the alignment.", HFIT_SCALAR,
     offsetof(hfit_partition_pool_plan, partition_size), 4, LARGEST_PARTITION, 512, HFIT_AMOUNT},
    {"partitions", "How many partitions; 0: as many as the region holds.", HFIT_SCALAR,
     offsetof(hfit_partition_pool_plan, partitions), 0, MOST_PARTITIONS, 0, HFIT_SWITCH},
    {"overhead",
     "Bytes of bookkeeping set aside a partition, where the metadata need less (4 with a list, "
     "1/4 with bits).",
     HFIT_SCALAR, offsetof(hfit_partition_pool_plan, overhead), 0, MOST_OVERHEAD, 0, HFIT_AMOUNT},
    {"fit", "0: the lowest run that fits (first fit); 1: the smallest (best fit).", HFIT_SCALAR,
     offsetof(hfit_partition_pool_plan, fit), 0, 1, 0, HFIT_CHOICE},
    {"metadata", "0: a list of free groups in address order; 1: two bits a partition.", HFIT_SCALAR,
     offsetof(hfit_partition_pool_plan, metadata), 0, 1, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_partition_pool_allocator = {
    .name = "partition_pool",
    .title = "groups of partitions that lie together",
    .origin = "Elsayed and Galal, part 2; that a group lies together, first fit, and the list's "
              "address order are inferred",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_partition_pool_plan),
    .ignores_region_end = false,
#if HFIT_TELLS_ROOM
    .reach = reach_of,
#endif
    .account =
        {
            .worst_case =
                "alloc: one step a free group, with bits one more for each 32 partitions; free: "
                "with a list one step a free group before the block, with bits one for each 32 "
                "partitions of the block",
            .block_bytes = "none in the block but the rounding up to whole partitions; for each "
                           "partition 4 with a list, 1/4 with bits, or `overhead` if that is more",
            .fragmentation =
                "P (1 + ceil(log2 n)) partitions for P live ones and a largest request of n, with "
                "first fit; about P (n - 2) with best fit (Robson 1977)",
            .layout = "| count | base | touched | seal | index | table | partition | partition | "
                      "... |\n"
                      "list: the index is the first free group; the table has a word a partition: "
                      "length, used\n"
                      "      a free group: | next free group | ...\n"
                      "bits: the index is the table's exclusive or; the table: | 32 used bits | 32 "
                      "last bits | ...",
        },
    .axes =
        {
            .block_sizes.text = "multiples of a partition",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit = {.tunable = "fit", .texts = {"first", "best"}},
            .order.text = "by address",
            .growth.text = "the whole region is free at first",
        },
    .grid = {{"partition_size", {16, 64, 256}, 3}, {"fit", {0, 1}, 2}, {"metadata", {0, 1}, 2}},
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .operations = &hfit_partition_pool_operations,
    .unlocked = &hfit_partition_pool_unlocked,
};
