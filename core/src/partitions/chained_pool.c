/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of partitions in a side table. See hfit/chained_pool.h.
 *
 *   index word: how many partitions are free and were used before
 *   free list:  the partition freed last, or NO_LINK
 *   table:      a word a partition, | link to the next partition : 30 | first | used |
 *
 *   partition   0        1        2        3        4
 *   word        2,first, NO_LINK, 4,used   NO_LINK  NO_LINK,         free list = 3
 *               used     first,            (free)   used
 *                        used
 *
 * Free partitions are a chain too. Those from `touched` on have no word yet and come last, so
 * `init` does not depend on how many there are.
 */
#include "hfit/chained_pool.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_chained_pool_##operation
#define HFIT_IN_PIECES 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/partitions/partitions.h"

enum {
    FREE_COUNT = PARTITIONS_INDEX,
    FREE_LIST = PARTITIONS_TABLE,
    CHAIN_TABLE = FREE_LIST + 4,
    PARTITION_USED = 1,
    PARTITION_FIRST = 2, /* of its block */
    LINK_SHIFT = 2,
};

#define NO_LINK (UINT32_MAX >> LINK_SHIFT)
_Static_assert(MOST_PARTITIONS < NO_LINK, "each partition can be linked to");

static const hfit_chained_pool_plan *pool_plan(const hfit_plan *plan) {
    return (const hfit_chained_pool_plan *)plan;
}

static inline partition_tunables tunables_of(const hfit_plan *plan) {
    const hfit_chained_pool_plan *own = pool_plan(plan);
    return (partition_tunables){own->partition_size, own->partitions, own->overhead};
}

static inline uint32_t table_size(const hfit_plan *plan, uint32_t count) {
    (void)plan;
    return CHAIN_TABLE - PARTITIONS_TABLE + 4 * count;
}

static uint32_t load_chain(const hfit_heap *heap, uint32_t partition) {
    return load_word(heap, CHAIN_TABLE + 4 * partition);
}

static void store_chain(hfit_heap *heap, uint32_t partition, uint32_t link, uint32_t flags) {
    HFIT_ASSERT(link <= NO_LINK && flags >> LINK_SHIFT == 0);
    store_word(heap, CHAIN_TABLE + 4 * partition, link << LINK_SHIFT | flags);
}

static uint32_t link_of(uint32_t word) {
    return word >> LINK_SHIFT;
}

static uint32_t flags_of(uint32_t word) {
    return word & (PARTITION_USED | PARTITION_FIRST);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return smallest_partitions(plan);
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    hfit_heap *heap = begin_partitions(region, region_size, plan);
    if (heap != NULL) {
        store_word(heap, FREE_COUNT, 0);
        store_word(heap, FREE_LIST, NO_LINK);
    }
    return heap;
}

/* True if `partition` has been handed out and its flags are these. */
static bool has_flags(const hfit_heap *heap, uint32_t partition, uint32_t flags) {
    return partition < load_word(heap, PARTITIONS_TOUCHED) &&
           flags_of(load_chain(heap, partition)) == flags;
}

/* True if `partition` belongs to a block. */
static bool is_used(const hfit_heap *heap, uint32_t partition) {
    return partition < load_word(heap, PARTITIONS_TOUCHED) &&
           (load_chain(heap, partition) & PARTITION_USED) != 0;
}

/* True if the chain from `partition` on has at least `count` partitions with these flags. */
static bool is_chain_of(const hfit_heap *heap, uint32_t partition, uint32_t flags, uint32_t count) {
    if (count == 0) {
        return true; /* no load that a compiler would drop */
    }
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    for (; count > 0; count--) {
        const uint32_t word = partition < touched ? load_chain(heap, partition) : ~flags;
        if (flags_of(word) != flags) {
            return false;
        }
        partition = link_of(word);
    }
    return true;
}

/* True if the partitions behind the first one of a block are used, no firsts, and end. */
static bool is_block_sound(const hfit_heap *heap, uint32_t first) {
    uint32_t link = link_of(load_chain(heap, first));
    if (link == NO_LINK) {
        return true;
    }
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    uint32_t left = touched;
    for (; link != NO_LINK && left > 0; left--) {
        const uint32_t word = link < touched ? load_chain(heap, link) : 0;
        if (flags_of(word) != PARTITION_USED) {
            return false;
        }
        link = link_of(word);
    }
    return link == NO_LINK;
}

/* Makes the first `count` partitions of the free list, which begins with `partition`, used; the
 * first one gets these flags and the last one's link becomes `behind`. */
static void use_freed(hfit_heap *heap, uint32_t partition, uint32_t count, uint32_t behind,
                      uint32_t flags) {
    for (; count > 0; count--) {
        const uint32_t link = link_of(load_chain(heap, partition));
        store_chain(heap, partition, count > 1 ? link : behind, flags);
        partition = link;
        flags = PARTITION_USED;
    }
    store_word(heap, FREE_LIST, partition);
}

/* Chains the partitions from `first` to before `end`, never touched; the first one gets these
 * flags. */
static void use_untouched(hfit_heap *heap, uint32_t first, uint32_t end, uint32_t flags) {
    for (uint32_t partition = first; partition < end; partition++) {
        store_chain(heap, partition, partition + 1 < end ? partition + 1 : NO_LINK, flags);
        flags = PARTITION_USED;
    }
}

/* The first of `count` partitions made a chain, the first one with these flags: those freed last,
 * then ones never touched. NO_PARTITION, and nothing changed, if not so many are free, or the free
 * list is damaged. */
static uint32_t take_chain(hfit_heap *heap, const partition_layout *layout, uint32_t count,
                           uint32_t flags) {
    HFIT_ASSERT(count != 0);
    const uint32_t free_count = load_word(heap, FREE_COUNT);
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    const uint32_t freed = count < free_count ? count : free_count;
    const uint32_t fresh = count - freed;
    if (HFIT_SAFETY >= 1 && fresh != 0 && !is_sealed(heap, layout, touched)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block_at(heap, PARTITIONS_TOUCHED));
        return NO_PARTITION;
    }
    if (fresh > layout->count - touched) {
        return NO_PARTITION;
    }
    const uint32_t first = freed != 0 ? load_word(heap, FREE_LIST) : touched;
    if (HFIT_SAFETY >= 1 && !is_chain_of(heap, first, 0, freed)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block_at(heap, FREE_LIST));
        return NO_PARTITION;
    }
    if (freed != 0) {
        use_freed(heap, first, freed, fresh != 0 ? touched : NO_LINK, flags);
        store_word(heap, FREE_COUNT, free_count - freed);
    }
    if (fresh != 0) {
        use_untouched(heap, touched, touched + fresh,
                      freed != 0 ? (uint32_t)PARTITION_USED : flags);
        seal_partitions(heap, layout->count, layout->base, touched + fresh);
    }
    return first;
}

/* Puts a used chain in front of the free list, in its order. */
static void give_chain(hfit_heap *heap, uint32_t first) {
    uint32_t count = 1;
    uint32_t partition = first;
    uint32_t link = link_of(load_chain(heap, partition));
    while (link != NO_LINK) {
        store_chain(heap, partition, link, 0);
        partition = link;
        link = link_of(load_chain(heap, partition));
        count++;
    }
    store_chain(heap, partition, load_word(heap, FREE_LIST), 0);
    store_word(heap, FREE_LIST, first);
    store_word(heap, FREE_COUNT, load_word(heap, FREE_COUNT) + count);
}

/* A block every piece of which is aligned, or NULL; any partition may become a piece, so all are
 * aligned or none will do. */
static void *take_block(hfit_heap *heap, const hfit_plan *plan, size_t alignment, size_t size) {
    const partition_layout layout = layout_of(heap, plan);
    const uintptr_t start = (uintptr_t)heap + layout.base;
    uint32_t count;
    if (((start | layout.size) & (alignment - 1)) != 0 || !partitions_for(&layout, size, &count)) {
        return NULL;
    }
    const uint32_t first = take_chain(heap, &layout, count, PARTITION_USED | PARTITION_FIRST);
    return first == NO_PARTITION ? NULL : partition_address(heap, &layout, first);
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    return take_block(heap, plan, 1, size);
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    return is_power_of_two(alignment) ? take_block(heap, plan, alignment, size) : NULL;
}

/* The first partition of a live block, or NO_PARTITION; any other address is told as misuse. */
static uint32_t first_of(const hfit_heap *heap, const partition_layout *layout, const void *block) {
    const uint32_t first = partition_at(heap, layout, block);
    if (HFIT_SAFETY >= 1 && first == NO_PARTITION) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return NO_PARTITION;
    }
    if (HFIT_SAFETY >= 1 && !has_flags(heap, first, PARTITION_USED | PARTITION_FIRST)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return NO_PARTITION;
    }
    return first;
}

/* As first_of; NO_PARTITION too, and told, if the block's chain is damaged. */
static uint32_t chain_at(const hfit_heap *heap, const partition_layout *layout, const void *block) {
    const uint32_t first = first_of(heap, layout, block);
    if (HFIT_SAFETY >= 1 && first != NO_PARTITION && !is_block_sound(heap, first)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
        return NO_PARTITION;
    }
    return first;
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (block == NULL) {
        return;
    }
    const partition_layout layout = layout_of(heap, plan);
    const uint32_t first = chain_at(heap, &layout, block);
    if (first != NO_PARTITION) {
        give_chain(heap, first);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)
        size; /* every partition's flags change, so that the chain is followed to its end anyway */
    heap_free(heap, plan, block);
}

/* Where a block's chain has a certain length, or ends before. */
typedef struct chain_place {
    uint32_t partition;
    uint32_t length; /* partitions up to this one, itself included */
} chain_place;

static chain_place chain_upto(const hfit_heap *heap, uint32_t first, uint32_t most) {
    chain_place place = {first, 1};
    uint32_t link = link_of(load_chain(heap, first));
    for (; link != NO_LINK && place.length < most; place.length++) {
        place.partition = link;
        link = link_of(load_chain(heap, link));
    }
    return place;
}

/* Gives a partition of a chain another link. */
static void relink(hfit_heap *heap, uint32_t partition, uint32_t link) {
    store_chain(heap, partition, link, flags_of(load_chain(heap, partition)));
}

/* The block's first partitions stay what they are, so nothing moves. */
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t wanted;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const partition_layout layout = layout_of(heap, plan);
    const uint32_t first = chain_at(heap, &layout, block);
    if (first == NO_PARTITION || !partitions_for(&layout, size, &wanted)) {
        return NULL;
    }
    const chain_place end = chain_upto(heap, first, wanted);
    uint32_t link = link_of(load_chain(heap, end.partition));
    if (end.length == wanted && link != NO_LINK) {
        give_chain(heap, link);
        relink(heap, end.partition, NO_LINK);
    } else if (end.length < wanted) {
        link = take_chain(heap, &layout, wanted - end.length, PARTITION_USED);
        if (link == NO_PARTITION) {
            return NULL;
        }
        relink(heap, end.partition, link);
    }
    return block;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    if (block == NULL) {
        return 0;
    }
    const partition_layout layout = layout_of(heap, plan);
    const uint32_t first = chain_at(heap, &layout, block);
    return first == NO_PARTITION ? 0
                                 : (size_t)chain_upto(heap, first, UINT32_MAX).length * layout.size;
}

/* The last of the partitions that follow each other both in the chain and in the region. */
static uint32_t piece_end(const hfit_heap *heap, uint32_t partition) {
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    while (link_of(load_chain(heap, partition)) == partition + 1 && partition + 1 < touched) {
        partition++;
    }
    return partition;
}

/* The partition that begins the piece after `piece`; NO_PARTITION if that was the last one, or is
 * no piece. */
static uint32_t piece_after(const hfit_heap *heap, const partition_layout *layout,
                            const void *piece) {
    const uint32_t partition = partition_at(heap, layout, piece);
    if (HFIT_SAFETY >= 1 && !is_used(heap, partition)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, piece);
        return NO_PARTITION;
    }
    const uint32_t link = link_of(load_chain(heap, piece_end(heap, partition)));
    if (HFIT_SAFETY >= 1 && link != NO_LINK && !is_used(heap, link)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, piece);
        return NO_PARTITION;
    }
    return link == NO_LINK ? NO_PARTITION : link;
}

static void *heap_next_piece(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                             const void *piece, size_t *size) {
    const partition_layout layout = layout_of(heap, plan);
    const uint32_t partition =
        piece == NULL ? first_of(heap, &layout, block) : piece_after(heap, &layout, piece);
    if (partition == NO_PARTITION) {
        return NULL;
    }
    *size = (size_t)(piece_end(heap, partition) + 1 - partition) * layout.size;
    return partition_address(heap, &layout, partition);
}

void *hfit_chained_pool_next_piece(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                   const void *piece, size_t *size) {
    return HFIT_DO(next_piece)(heap, HFIT_PLAN_OF_BUILD(plan), block, piece, size);
}

/* A block in pieces is told of at its first one, with the bytes of all; so are the free partitions,
 * which one request may take. */
static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const partition_layout layout = layout_of(heap, plan);
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    const uint32_t free_count = load_word(heap, FREE_COUNT) + layout.count - touched;
    const size_t size = layout.size;
    bool is_free_told = free_count == 0;
    for (uint32_t partition = 0; partition < layout.count; partition++) {
        const uint32_t flags = partition < touched ? flags_of(load_chain(heap, partition)) : 0;
        void *block = partition_address(heap, &layout, partition);
        if ((flags & PARTITION_FIRST) != 0) {
            const bool is_damaged = HFIT_SAFETY >= 1 && !is_block_sound(heap, partition);
            const uint32_t most = is_damaged ? 1 : UINT32_MAX;
            visitor(context, block, chain_upto(heap, partition, most).length * size, true);
        } else if (flags == 0 && !is_free_told) {
            visitor(context, block, free_count * size, false);
            is_free_told = true;
        }
    }
}

/* What a pass over the table finds. `difference` is the exclusive or of all links of used
 * partitions and of all partitions that one should lead to: 0 in a sound heap. */
typedef struct chain_counts {
    uint32_t unused;
    uint32_t links;
    uint32_t linked;
    uint32_t difference;
} chain_counts;

/* Counts a partition. False if its word contradicts itself or its link. */
static bool count_chain(const hfit_heap *heap, uint32_t partition, chain_counts *counts) {
    const uint32_t word = load_chain(heap, partition);
    if ((word & PARTITION_USED) == 0) {
        counts->unused++;
        return (word & PARTITION_FIRST) == 0;
    }
    if ((word & PARTITION_FIRST) == 0) {
        counts->linked++;
        counts->difference ^= partition;
    }
    if (link_of(word) == NO_LINK) {
        return true;
    }
    counts->links++;
    counts->difference ^= link_of(word);
    return has_flags(heap, link_of(word), PARTITION_USED);
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    chain_counts counts;
    counts.links = 0;
    counts.linked = 0;
    counts.difference = 0;
    counts.unused = 0;
    if (!are_partitions_sound(heap, plan)) {
        return false;
    }
    const uint32_t touched = load_word(heap, PARTITIONS_TOUCHED);
    for (uint32_t partition = 0; partition < touched; partition++) {
        if (!count_chain(heap, partition, &counts)) {
            return false;
        }
    }
    uint32_t partition = load_word(heap, FREE_LIST);
    for (uint32_t i = 0; i < counts.unused; i++) {
        if (!has_flags(heap, partition, 0)) {
            return false;
        }
        partition = link_of(load_chain(heap, partition));
    }
    return partition == NO_LINK && load_word(heap, FREE_COUNT) == counts.unused &&
           counts.links == counts.linked && counts.difference == 0;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"partition_size", "Bytes of a partition, rounded up to the alignment.", HFIT_SCALAR,
     offsetof(hfit_chained_pool_plan, partition_size), 4, LARGEST_PARTITION, 512, HFIT_AMOUNT},
    {"partitions", "How many partitions; 0: as many as the region holds.", HFIT_SCALAR,
     offsetof(hfit_chained_pool_plan, partitions), 0, MOST_PARTITIONS, 0, HFIT_SWITCH},
    {"overhead", "Bytes of bookkeeping set aside a partition, where above the 4 needed.",
     HFIT_SCALAR, offsetof(hfit_chained_pool_plan, overhead), 0, MOST_OVERHEAD, 0, HFIT_AMOUNT},
};

const hfit_allocator hfit_chained_pool_allocator = {
    .name = "chained_pool",
    .title = "chains of partitions, blocks in pieces",
    .origin = "Elsayed and Galal, part 2; that a group may be scattered is inferred",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_chained_pool_plan),
    .ignores_region_end = false,
    .next_piece = hfit_chained_pool_next_piece,
    .account =
        {
            .worst_case = "alloc, free and resize: one step a partition of the block, twice at "
                          "safety level 1; a refusal for want of partitions: constant",
            .block_bytes = "none in the block but the rounding up to whole partitions; for each "
                           "partition 4, or `overhead` if that is more",
            .fragmentation = "none: P partitions serve any requests of P partitions together",
            .layout = "| count | base | touched | seal | free count | free list | table | "
                      "partition | ... |\n"
                      "the table, a word a partition: | next of its block, or next free | first | "
                      "used |",
        },
    .axes =
        {
            .block_sizes.text = "one partition, in chains",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "all set aside",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .limit = HFIT_LIMIT_PARTITIONS,
    .operations = &hfit_chained_pool_operations,
    .unlocked = &hfit_chained_pool_unlocked,
};
