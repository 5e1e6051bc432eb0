/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pool of equal blocks. See hfit/fixed_pool.h.
 *
 *   0           4              8         12     16     20          24 or 32
 *   +-----------+--------------+---------+------+------+-----------+--------+-----
 *   | free list | block count  | inverse | bias | turn | bits at   | block  | ...
 *   +-----------+--------------+---------+------+------+-----------+--------+-----
 *
 * From safety level 1 on the number of the block at an offset is (offset * inverse + bias) rotated
 * right by turn, as in hfit/pools.h: below the count just where a block begins.
 */
#include "hfit/fixed_pool.h"

#include "hfit/descriptor.h"

#include "src/pool_blocks.h"

#define HFIT_THIS(operation) hfit_fixed_pool_##operation
#include "src/operations.h"

enum {
    FREE_LIST = 0,
    BLOCK_COUNT = 4,
    INVERSE = 8,
    BIAS = 12,
    TURN = 16,
    BITS_AT = 20,
    CONTROL = 24,
    LARGEST_POOL_BLOCK = 0x40000000,
    MOST_BLOCKS = 0x3fffffff,
    MOST_OVERHEAD = 4096,
};

static const hfit_fixed_pool_plan *pool_plan(const hfit_plan *plan) {
    return (const hfit_fixed_pool_plan *)plan;
}

static inline uint32_t round_up(uint32_t size, uint32_t alignment) {
    return (size + alignment - 1) & ~(alignment - 1);
}

/* Bytes from one block to the next. */
static inline uint32_t stride_of(const hfit_plan *plan) {
    return round_up(pool_plan(plan)->block_size + pool_plan(plan)->overhead, plan->alignment);
}

static inline uint32_t base_of(const hfit_plan *plan) {
    return round_up(CONTROL, plan->alignment);
}

static inline uint32_t bits_size(uint32_t count) {
    return 4 * ((count + 31) / 32);
}

static bool is_plan_sound(const hfit_plan *plan) {
    const hfit_fixed_pool_plan *own = pool_plan(plan);
    return is_alignment_allowed(plan->alignment) && own->block_size >= 1 &&
           own->block_size <= LARGEST_POOL_BLOCK && own->blocks <= MOST_BLOCKS &&
           own->overhead <= MOST_OVERHEAD;
}

size_t hfit_fixed_pool_smallest_region(const hfit_plan *plan) {
    if (!is_plan_sound(plan)) {
        return 0;
    }
    const uint32_t count = pool_plan(plan)->blocks == 0 ? 1 : pool_plan(plan)->blocks;
    const uint64_t size = base_of(plan) + (uint64_t)count * stride_of(plan) + bits_size(count);
    return size <= UINT32_MAX ? (size_t)size : 0;
}

/* Links blocks from the base on, as many as wanted and as there is room for with their used bits.
 * Stores where they end; returns how many they are. */
static uint32_t link_blocks(hfit_heap *heap, const hfit_plan *plan, uint32_t region_size,
                            uint32_t *end) {
    const uint32_t stride = stride_of(plan);
    const uint32_t wanted = pool_plan(plan)->blocks - 1; /* 0 - 1 is as many as there can be */
    uint32_t link = FREE_LIST;
    uint32_t offset = base_of(plan);
    uint32_t count = 0;
    while (count <= wanted && stride + bits_size(count + 1) <= region_size - offset) {
        store_word(heap, link, offset);
        link = offset;
        offset += stride;
        count++;
    }
    store_word(heap, link, NO_OFFSET);
    *end = offset;
    return count;
}

/* What tells blocks by their addresses. */
static void init_numbers(hfit_heap *heap, const hfit_plan *plan, uint32_t count, uint32_t end) {
    const uint32_t turn = even_part_log2(stride_of(plan));
    const uint32_t inverse = inverse_of(stride_of(plan) >> turn);
    store_word(heap, INVERSE, inverse);
    store_word(heap, BIAS, 0 - base_of(plan) * inverse);
    store_word(heap, TURN, turn);
    store_word(heap, BITS_AT, end);
    for (uint32_t offset = 0; offset < bits_size(count); offset += 4) {
        store_word(heap, end + offset, 0);
    }
}

hfit_heap *hfit_fixed_pool_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) ||
        (HFIT_SAFETY >= 1 && !is_plan_sound(plan)) || region_size < base_of(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    uint32_t end;
    const uint32_t count = link_blocks(heap, plan, (uint32_t)region_size, &end);
    store_word(heap, BLOCK_COUNT, count);
    if (HFIT_SAFETY >= 1) {
        init_numbers(heap, plan, count, end);
    }
    return count == 0 || count < pool_plan(plan)->blocks ? NULL : heap;
}

/* Number of the block at `offset`; the count or more if none begins there. */
static inline uint32_t number_at(const hfit_heap *heap, uint32_t offset) {
    return rotate_right(offset * load_word(heap, INVERSE) + load_word(heap, BIAS),
                        load_word(heap, TURN));
}

static inline used_bit bit_of(const hfit_heap *heap, uint32_t number) {
    return used_bit_of((block_run){0, 0, load_word(heap, BITS_AT), 0}, number);
}

/* From safety level 1 on, marks the first free block as used. False if there is no free block where
 * the list leads; if it leads anywhere that has been told. */
static inline bool mark_used(hfit_heap *heap, uint32_t offset) {
    const uint32_t number = number_at(heap, offset);
    if (number < load_word(heap, BLOCK_COUNT)) {
        const used_bit bit = bit_of(heap, number);
        const uint32_t bits = load_word(heap, bit.word);
        if ((bits & bit.mask) == 0) {
            store_word(heap, bit.word, bits | bit.mask);
            return true;
        }
    }
    if (offset != NO_OFFSET) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    }
    return false;
}

static inline void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const uint32_t offset = load_word(heap, FREE_LIST);
    if (size > pool_plan(plan)->block_size) {
        return NULL;
    }
    if (HFIT_SAFETY >= 1 ? !mark_used(heap, offset) : offset == NO_OFFSET) {
        return NULL;
    }
    unlink_first(heap, FREE_LIST, offset);
    return block_at(heap, offset);
}

/* Stores the used bit of the block, live or free, at an address. False, which has been told, if
 * none begins there. */
static inline bool find_block(const hfit_heap *heap, const void *block, used_bit *bit) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    const uint32_t number = number_at(heap, (uint32_t)distance);
    if (number >= load_word(heap, BLOCK_COUNT) || (uint32_t)distance != distance) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    *bit = bit_of(heap, number);
    return true;
}

/* Marks a live block as free. False, and nothing changed, if `block` is none, which has been told.
 */
static inline bool mark_free(hfit_heap *heap, const void *block) {
    used_bit bit;
    if (!find_block(heap, block, &bit)) {
        return false;
    }
    const uint32_t bits = load_word(heap, bit.word);
    if ((bits & bit.mask) == 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return false;
    }
    store_word(heap, bit.word, bits & ~bit.mask);
    return true;
}

static inline void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)plan;
    if (block != NULL && (HFIT_SAFETY < 1 || mark_free(heap, block))) {
        push_block(heap, FREE_LIST, (uint32_t)((uintptr_t)block - (uintptr_t)heap));
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
    const uintptr_t first = (uintptr_t)heap + base_of(plan);
    return is_power_of_two(alignment) && ((first | stride_of(plan)) & (alignment - 1)) == 0
               ? heap_alloc(heap, plan, size)
               : NULL;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    used_bit bit;
    if (block == NULL || (HFIT_SAFETY >= 1 && !find_block(heap, block, &bit))) {
        return 0;
    }
    if (HFIT_SAFETY >= 1 && !is_bit_set(heap, bit)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return 0;
    }
    return pool_plan(plan)->block_size;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    return size <= heap_usable_size(heap, plan, block) ? block : NULL;
}

/* True if a block is allocated. Where no bits are kept the free list is searched. */
static bool is_used(const hfit_heap *heap, uint32_t number, uint32_t offset) {
    if (HFIT_SAFETY >= 1) {
        return is_bit_set(heap, bit_of(heap, number));
    }
    uint32_t free = load_word(heap, FREE_LIST);
    while (free != NO_OFFSET && free != offset) {
        free = load_word(heap, free);
    }
    return free == NO_OFFSET;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t count = load_word(heap, BLOCK_COUNT);
    uint32_t offset = base_of(plan);
    for (uint32_t number = 0; number < count; number++) {
        visitor(context, block_at(heap, offset), pool_plan(plan)->block_size,
                is_used(heap, number, offset));
        offset += stride_of(plan);
    }
}

/* True if the words beside the list follow from the plan and from one another. */
static bool are_numbers_sound(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t wanted = pool_plan(plan)->blocks;
    const uint32_t count = load_word(heap, BLOCK_COUNT);
    const uint32_t turn = even_part_log2(stride_of(plan));
    const uint32_t inverse = inverse_of(stride_of(plan) >> turn);
    return (wanted == 0 || count == wanted) &&
           (HFIT_SAFETY < 1 ||
            (load_word(heap, INVERSE) == inverse && load_word(heap, TURN) == turn &&
             load_word(heap, BIAS) == 0 - base_of(plan) * inverse &&
             load_word(heap, BITS_AT) == base_of(plan) + (uint64_t)count * stride_of(plan)));
}

static uint32_t count_unused(const hfit_heap *heap, uint32_t count) {
    uint32_t unused = 0;
    for (uint32_t number = 0; number < count; number++) {
        unused += HFIT_SAFETY < 1 || !is_bit_set(heap, bit_of(heap, number));
    }
    return unused;
}

/* True if a block begins at `offset` and, where bits are kept, is not used. */
static bool is_unused_block(const hfit_heap *heap, const hfit_plan *plan, uint32_t count,
                            uint32_t offset) {
    const uint32_t turn = even_part_log2(stride_of(plan));
    const uint32_t number =
        rotate_right((offset - base_of(plan)) * inverse_of(stride_of(plan) >> turn), turn);
    return number < count && (HFIT_SAFETY < 1 || !is_bit_set(heap, bit_of(heap, number)));
}

/* True if the free list holds just the blocks that are not used; without bits, if it ends and holds
 * nothing but blocks. A list that came back to a block would never end. */
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = load_word(heap, BLOCK_COUNT);
    if (!are_numbers_sound(heap, plan)) {
        return false;
    }
    const uint32_t most = count_unused(heap, count);
    uint32_t offset = load_word(heap, FREE_LIST);
    uint32_t found = 0;
    for (; offset != NO_OFFSET && found < most; found++) {
        if (!is_unused_block(heap, plan, count, offset)) {
            return false;
        }
        offset = load_word(heap, offset);
    }
    return offset == NO_OFFSET && (found == most || HFIT_SAFETY < 1);
}

/* Blocks are set aside whole, so all count from the start. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = load_word(heap, BLOCK_COUNT);
    return base_of(plan) + count * stride_of(plan) + bits_size(count);
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"block_size", "Bytes that a request may have.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, block_size), 1, LARGEST_POOL_BLOCK, 2048},
    {"blocks", "How many blocks; 0: as many as the region holds.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, blocks), 0, MOST_BLOCKS, 0},
    {"overhead", "Bytes of bookkeeping set aside a block, beside its bit.", HFIT_SCALAR,
     offsetof(hfit_fixed_pool_plan, overhead), 0, MOST_OVERHEAD, 0},
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
            .layout = "| list | count | inverse | bias | turn | bits at | block | ... | used bits |"
                      "\na free block: | link | ... |",
        },
    .operations = &hfit_fixed_pool_operations,
    .unlocked = &hfit_fixed_pool_unlocked,
};
