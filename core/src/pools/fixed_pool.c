/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pool of equal blocks. See hfit/fixed_pool.h.
 *
 *   0           4             8           base
 *   +-----------+-------------+-----------+---------+---------+-----
 *   | free list | 3 * blocks  | used bits | block 0 | block 1 | ...
 *   +-----------+-------------+-----------+---------+---------+-----
 *
 * Free blocks are linked as in src/pools/linked_blocks.h. What follows from the plan alone is
 * computed each time: a build for one plan (hfit/plan_of_build.h) has it as constants.
 */
#include "hfit/fixed_pool.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_fixed_pool_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"

enum {
    FREE_LIST = 0,
    BLOCK_COUNT = 4,
    USED_BITS = 8,
    LARGEST_POOL_BLOCK = 0x40000000,
    MOST_BLOCKS = 0x3fffffff, /* all bits of a number set */
    MOST_OVERHEAD = 4096,
};

_Static_assert(MOST_BLOCKS <= UINT32_MAX / 3, "the stored triple of a count does not wrap");
_Static_assert(LARGEST_POOL_BLOCK + MOST_OVERHEAD <= HFIT_LARGEST_BLOCK - 16,
               "a stride has no carry");
_Static_assert((MOST_BLOCKS & (MOST_BLOCKS + 1)) == 0, "all bits of a number set");
_Static_assert(3 * 0xaaaaaaabu == 1, "the factor that count_of divides by 3 with");

static const hfit_fixed_pool_plan *pool_plan(const hfit_plan *plan) {
    return (const hfit_fixed_pool_plan *)plan;
}

/* Bytes from one block to the next. */
static FORCE_INLINE uint32_t stride_of(const hfit_plan *plan) {
    return rounded_up(pool_plan(plan)->block_size + pool_plan(plan)->overhead, plan->alignment);
}

/* Where the first of so many blocks begins. */
static FORCE_INLINE uint32_t base_for(const hfit_plan *plan, uint32_t count) {
    return rounded_up(USED_BITS + 4 * ((count + 31) / 32), plan->alignment);
}

/* Bytes of a region of so many blocks. */
static FORCE_INLINE uint64_t size_for(const hfit_plan *plan, uint32_t count) {
    return base_for(plan, count) + (uint64_t)count * stride_of(plan);
}

static FORCE_INLINE bool is_plan_sound(const hfit_plan *plan) {
    const hfit_fixed_pool_plan *own = pool_plan(plan);
    return is_alignment_allowed(plan->alignment) && own->block_size >= 1 &&
           own->block_size <= LARGEST_POOL_BLOCK && own->blocks <= MOST_BLOCKS &&
           own->overhead <= MOST_OVERHEAD;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_plan_sound(plan)) {
        return 0;
    }
    const uint64_t size =
        size_for(plan, pool_plan(plan)->blocks == 0 ? 1 : pool_plan(plan)->blocks);
    return size <= UINT32_MAX ? (size_t)size : 0;
}

/* How many blocks the plan wants, or how many fit. */
static FORCE_INLINE uint32_t count_for(const hfit_plan *plan, size_t region_size) {
    uint32_t count = pool_plan(plan)->blocks;
    if (count == 0) {
        for (uint32_t bit = (MOST_BLOCKS + 1) / 2; bit != 0; bit /= 2) {
            count += size_for(plan, count + bit) <= region_size ? bit : 0;
        }
    }
    return count;
}

/* No flipped bit leaves a multiple of 3. */
static inline uint32_t coded(uint32_t count) {
    return 3 * count;
}

/* How many blocks there are; 0 if nothing tells it any more. */
static FORCE_INLINE uint32_t count_of(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t wanted = pool_plan(plan)->blocks;
    if (wanted != 0) {
        return wanted;
    }
    const uint32_t count = load_word(heap, BLOCK_COUNT) * 0xaaaaaaabu; /* 1 / 3 modulo 2^32 */
    return count <= MOST_BLOCKS ? count : 0;
}

static FORCE_INLINE block_run all_blocks(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = count_of(heap, plan);
    return (block_run){base_for(plan, count), count, 0, 8 * USED_BITS};
}

/* Number of the block at `offset`, as in hfit/pools.h: below the count just where one begins. */
static FORCE_INLINE uint32_t number_at(const hfit_plan *plan, const block_run *run,
                                       uint32_t offset) {
    const uint32_t turn = even_part_log2(stride_of(plan));
    return rotate_right((offset - run->base) * inverse_of(stride_of(plan) >> turn), turn);
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) ||
        (HFIT_SAFETY >= 1 && !is_plan_sound(plan))) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t count = count_for(plan, region_size);
    if (count == 0 || size_for(plan, count) > region_size) {
        return NULL;
    }
    store_word(heap, BLOCK_COUNT, coded(count));
    for (uint32_t word = USED_BITS; HFIT_SAFETY >= 1 && word < base_for(plan, count); word += 4) {
        store_word(heap, word, 0);
    }
    const block_run run = all_blocks(heap, plan);
    thread_blocks(heap, FREE_LIST, &run, stride_of(plan));
    return heap;
}

/* NULL; where the list leads to nowhere and not to its end, that is told. */
static inline void *none_free(const hfit_heap *heap, uint32_t link) {
    if (link != NO_LINK) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    }
    return NULL;
}

/* As heap_alloc at safety level 0. */
static inline void *alloc_trusting(hfit_heap *heap) {
    const uint32_t offset = load_word(heap, FREE_LIST);
    if (offset == NO_LINK) {
        return NULL;
    }
    unlink_first(heap, FREE_LIST, offset);
    return block_at(heap, offset);
}

static FORCE_INLINE void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    if (size > pool_plan(plan)->block_size) {
        return NULL;
    }
    if (HFIT_SAFETY < 1) {
        return alloc_trusting(heap);
    }
    const block_run run = all_blocks(heap, plan);
    const uint32_t stride = stride_of(plan);
    const uint32_t number = load_word(heap, FREE_LIST);
    return HFIT_LIKELY(take_linked(heap, FREE_LIST, &run, stride, number))
               ? block_at(heap, offset_in_run(&run, stride, number))
               : none_free(heap, number);
}

/* A block, live or free. */
typedef struct found_block {
    uint32_t number;
    used_bit bit;
} found_block;

/* Stores what block begins at an address. False, which has been told, if none does. */
static FORCE_INLINE bool find_block(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                    found_block *found) {
    const block_run run = all_blocks(heap, plan);
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    found->number = number_at(plan, &run, (uint32_t)distance);
    found->bit = used_bit_of(&run, found->number);
    if (found->number >= run.count || (uint32_t)distance != distance) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    return true;
}

/* As heap_free at safety level 0. */
static inline void free_trusting(hfit_heap *heap, uint32_t offset) {
    store_word(heap, offset, load_word(heap, FREE_LIST));
    store_word(heap, FREE_LIST, offset);
}

static FORCE_INLINE void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const uint32_t offset = (uint32_t)((uintptr_t)block - (uintptr_t)heap);
    found_block found;
    if (block == NULL) {
        return;
    }
    if (HFIT_SAFETY < 1) {
        free_trusting(heap, offset);
    } else if (find_block(heap, plan, block, &found) &&
               !put_linked(heap, FREE_LIST, &found.bit, offset, found.number)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
    }
}

static inline void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block,
                                   size_t size) {
    (void)size; /* all blocks are alike */
    heap_free(heap, plan, block);
}

/* Blocks are aligned alike or are not served. */
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    const uintptr_t first = (uintptr_t)heap + base_for(plan, count_of(heap, plan));
    return is_power_of_two(alignment) && ((first | stride_of(plan)) & (alignment - 1)) == 0
               ? heap_alloc(heap, plan, size)
               : NULL;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    found_block found;
    if (block == NULL || (HFIT_SAFETY >= 1 && !find_block(heap, plan, block, &found))) {
        return 0;
    }
    if (HFIT_SAFETY >= 1 && !is_bit_set(heap, &found.bit)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return 0;
    }
    return pool_plan(plan)->block_size;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const size_t usable = heap_usable_size(heap, plan, block); /* 0 if it is no live block */
    return usable != 0 && size <= usable ? block : NULL;
}

/* True if a block is allocated. Where no bits are kept the free list is searched. */
static bool is_used(const hfit_heap *heap, const block_run *run, uint32_t number, uint32_t offset) {
    if (HFIT_SAFETY >= 1) {
        return is_number_used(heap, run, number);
    }
    uint32_t link = load_word(heap, FREE_LIST);
    while (link != NO_LINK && link != offset) {
        link = load_word(heap, link);
    }
    return link == NO_LINK;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const block_run run = all_blocks(heap, plan);
    uint32_t offset = run.base;
    for (uint32_t number = 0; number < run.count; number++) {
        visitor(context, block_at(heap, offset), pool_plan(plan)->block_size,
                is_used(heap, &run, number, offset));
        offset += stride_of(plan);
    }
}

static uint32_t count_unused(const hfit_heap *heap, const block_run *run) {
    uint32_t unused = 0;
    for (uint32_t number = 0; number < run->count; number++) {
        unused += HFIT_SAFETY < 1 || !is_number_used(heap, run, number);
    }
    return unused;
}

/* Stores the offset of the block that a link leads to. False if there is none that is free. */
static bool find_linked(const hfit_heap *heap, const hfit_plan *plan, const block_run *run,
                        uint32_t link, uint32_t *offset) {
    const uint32_t number = HFIT_SAFETY >= 1 ? link : number_at(plan, run, link);
    *offset = run->base + number * stride_of(plan);
    return number < run->count &&
           (HFIT_SAFETY >= 1 ? !is_number_used(heap, run, number) : *offset == link);
}

/* True if the free list holds just the blocks that are not used; without bits, if it ends and holds
 * nothing but blocks. A list that came back to a block would never end. */
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const block_run run = all_blocks(heap, plan);
    if (load_word(heap, BLOCK_COUNT) != coded(run.count)) {
        return false;
    }
    const uint32_t most = count_unused(heap, &run);
    uint32_t link = load_word(heap, FREE_LIST);
    uint32_t found = 0;
    for (; link != NO_LINK && found < most; found++) {
        uint32_t offset;
        if (!find_linked(heap, plan, &run, link, &offset)) {
            return false;
        }
        link = load_word(heap, offset);
    }
    return link == NO_LINK && (found == most || HFIT_SAFETY < 1);
}

/* Blocks are set aside whole, so all count from the start. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    return (size_t)size_for(plan, count_of(heap, plan));
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"block_size", "Bytes that a request may have.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, block_size), 1, LARGEST_POOL_BLOCK, 2048, HFIT_AMOUNT},
    {"blocks", "How many blocks; 0: as many as the region holds.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, blocks), 0, MOST_BLOCKS, 0, HFIT_SWITCH},
    {"overhead", "Bytes of bookkeeping set aside a block, beside its bit.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, overhead), 0, MOST_OVERHEAD, 0, HFIT_AMOUNT},
};

const hfit_allocator hfit_fixed_pool_allocator = {
    .name = "fixed_pool",
    .title = "one pool of equal buffers",
    .origin = "Elsayed and Galal, fixed-size buffer pools",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_fixed_pool_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc and free: constant, one list operation and one used bit",
            .block_bytes = "from the request to `block_size`, `overhead`, rounded up to the "
                           "alignment, and 1 bit",
            .fragmentation = "none between blocks; n blocks of s bytes hold n requests whatever "
                             "was freed before (sum S_i P_i,max, Lee and Yi 2008)",
            .layout = "| list | 3 * count | used bits | block | block | ...\n"
                      "a free block: | link | ... |",
        },
    .axes =
        {
            .block_sizes.text = "one",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "all set aside",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .limit = HFIT_LIMIT_BLOCKS,
    .operations = &hfit_fixed_pool_operations,
    .unlocked = &hfit_fixed_pool_unlocked,
};
