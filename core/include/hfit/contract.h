/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract every heapfit allocator keeps.
 *
 *   region (RAM, given by the caller)               plan (const, may lie in ROM)
 *   +-------------------------------------------+   +---------------------------+
 *   | all that the allocator changes | blocks   |   | alignment, pools, tables  |
 *   +-------------------------------------------+   +---------------------------+
 *     ^ hfit_heap *
 *
 * A heap is its region: the handle that `init` returns is the region's first byte, and metadata
 * hold offsets from it, never pointers. So a heap has the same layout on 32 and 64 bits. The plan
 * is passed beside the heap in every call and must be the one it was initialised with.
 *
 * Rules for all allocators:
 * - A function that cannot serve a request returns NULL and leaves the heap as it was; at safety
 *   level 3 freed blocks that waited in quarantine have become free.
 * - A request of 0 bytes is served as 1 byte, so live blocks always have different addresses.
 * - Sizes that would overflow, or that no region below 4 GiB can hold, are refused like any other
 * too large one.
 * - Blocks are aligned to `plan->alignment`; more is had from `alloc_aligned`.
 * - Of a region larger than its words can count an allocator leaves the end unused; its header says
 *   from where on.
 * - Nothing is thread-safe by itself; one heap serves one caller at a time.
 *
 * Blocks in pieces. An allocator whose descriptor has `next_piece` (hfit/descriptor.h) scatters a
 * block over its region:
 *
 *   block = address of piece 0       piece 2              piece 1
 *   +------------------------+-------+------------+-------+---------------+--
 *   | bytes 0 to 63          | ...   | 192 to 255 | ...   | 64 to 191     | ...
 *   +------------------------+-------+------------+-------+---------------+--
 *
 * The caller's bytes lie in the pieces in the order that `next_piece` tells, and nothing may be
 * read or written beyond the end of a piece. Everything above holds, with these words: a block's
 * address is that of its first piece; plan->alignment and that of `alloc_aligned` hold for each
 * piece; `resize` appends pieces or drops the last ones, or makes the last one longer or shorter,
 * and never moves or copies a byte, so that the address stays; `usable_size` is the sum over the
 * pieces; `walk` tells once of each block, at its first piece with the bytes of all, and once of
 * all free memory that one request may take, at the lowest of its pieces. Such an allocator cannot
 * stand behind pools, which move blocks.
 */
#ifndef HFIT_CONTRACT_H
#define HFIT_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A heap living at the start of its region. Never dereferenced by callers. */
typedef struct hfit_heap hfit_heap;

/* What every plan begins with. An allocator's own plan has this as its first member, named
 * `common`. */
typedef struct hfit_plan {
    uint32_t alignment; /* of every block, in bytes: 4, 8 or 16 */
} hfit_plan;

/* What HFIT_ON_MISUSE is told about a block that cannot be freed or resized. */
typedef enum hfit_misuse {
    HFIT_MISUSE_FOREIGN,  /* the address is not one this heap could have handed out */
    HFIT_MISUSE_NOT_LIVE, /* a block of this heap, but not allocated now: most often a double free
                           */
    HFIT_MISUSE_DAMAGED,  /* metadata the call would have changed do not hold: they were overwritten
                           */
} hfit_misuse;

/* Told of every block by `walk`, in ascending order of address within each part of the heap: where
 * its payload starts, how many bytes the caller may use, and whether it is allocated. */
typedef void (*hfit_visitor)(void *context, const void *block, size_t usable_size, bool is_used);

/* The operations of one allocator. Every allocator offers each of them as a function,
 * hfit_<name>_<operation>. */
typedef struct hfit_operations {
    /* Makes a heap of `region_size` bytes at `region`, which the caller owns and keeps until it is
     * done with the heap. NULL if the region is NULL, not aligned to the plan's alignment, 4 GiB or
     * larger or too small for the control structures, or if the plan is malformed. Safety level 0
     * trusts the plan: it may then serve a malformed one. */
    hfit_heap *(*init)(void *region, size_t region_size, const hfit_plan *plan);

    /* A block of at least `size` bytes, contents undefined, or NULL. */
    void *(*alloc)(hfit_heap *heap, const hfit_plan *plan, size_t size);

    /* Gives a block back. NULL is allowed and does nothing. */
    void (*free)(hfit_heap *heap, const hfit_plan *plan, void *block);

    /* As `free`, for callers that know the size they asked for last; can be faster. */
    void (*free_sized)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);

    /* Makes `block` at least `size` bytes long, moving it if it must, and keeps the contents up to
     * the smaller of both sizes. NULL if it cannot; `block` then stays as it was. `resize(NULL, n)`
     * is `alloc(n)`. `size` 0 is served as 1 byte: who wants realloc's old habit calls `free`. */
    void *(*resize)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);

    /* As `resize`, for callers that know the size they asked for last; with `block` NULL `old_size`
     * is not looked at. */
    void *(*resize_sized)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t old_size,
                          size_t size);

    /* As `alloc`, at an address that is a multiple of `alignment`, a power of two. NULL if it is
     * not one. */
    void *(*alloc_aligned)(hfit_heap *heap, const hfit_plan *plan, size_t alignment, size_t size);

    /* Bytes the caller may use in a live block: at least what was asked for. 0 for any other
     * address. */
    size_t (*usable_size)(const hfit_heap *heap, const hfit_plan *plan, const void *block);

    /* Tells `visitor` of every block, used and free. The lock is held meanwhile: the visitor must
     * not call the heap. Of a damaged heap it may tell what is not so, or only a part. */
    void (*walk)(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor, void *context);

    /* True if every invariant of the heap's metadata holds. Cost: linear in the number of blocks,
     * or worse. */
    bool (*check)(const hfit_heap *heap, const hfit_plan *plan);

    /* Bytes from the region's start to the end of the highest byte ever in use, control structures
     * included. */
    size_t (*footprint)(const hfit_heap *heap, const hfit_plan *plan);

    /* The smallest region `init` accepts for this plan; 0 if the plan is malformed. */
    size_t (*smallest_region)(const hfit_plan *plan);
} hfit_operations;

/* Declares the functions of allocator `name`, as described above, and two tables: of just these
 * functions, hfit_<name>_operations, and of their work without lock and without the whole-heap
 * check of safety level 2, hfit_<name>_unlocked, for a heap behind another heap.
 *
 * Three more are for callers that count, and are as alloc, free and resize. They tell what
 * usable_size would, where the call has found it anyway. alloc_usable stores it of the new block;
 * 0 if there is none. free_usable returns it of the block that is freed; 0 if that was NULL or no
 * live block. resize_usable stores it of `block` before the call in usable[0], and of the block
 * that there is after it in usable[1]: where NULL is returned, both are the same. */
#define HFIT_DECLARE_ALLOCATOR(name)                                                               \
    hfit_heap *hfit_##name##_init(void *region, size_t region_size, const hfit_plan *plan);        \
    void *hfit_##name##_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size);                \
    void hfit_##name##_free(hfit_heap *heap, const hfit_plan *plan, void *block);                  \
    void hfit_##name##_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block,             \
                                  size_t size);                                                    \
    void *hfit_##name##_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);  \
    void *hfit_##name##_resize_sized(hfit_heap *heap, const hfit_plan *plan, void *block,          \
                                     size_t old_size, size_t size);                                \
    void *hfit_##name##_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,          \
                                     size_t *usable);                                              \
    size_t hfit_##name##_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block);         \
    void *hfit_##name##_resize_usable(hfit_heap *heap, const hfit_plan *plan, void *block,         \
                                      size_t size, size_t usable[2]);                              \
    void *hfit_##name##_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,    \
                                      size_t size);                                                \
    size_t hfit_##name##_usable_size(const hfit_heap *heap, const hfit_plan *plan,                 \
                                     const void *block);                                           \
    void hfit_##name##_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,    \
                            void *context);                                                        \
    bool hfit_##name##_check(const hfit_heap *heap, const hfit_plan *plan);                        \
    size_t hfit_##name##_footprint(const hfit_heap *heap, const hfit_plan *plan);                  \
    size_t hfit_##name##_smallest_region(const hfit_plan *plan);                                   \
    extern const hfit_operations hfit_##name##_operations;                                         \
    extern const hfit_operations hfit_##name##_unlocked

#ifdef __cplusplus
}
#endif

#endif
