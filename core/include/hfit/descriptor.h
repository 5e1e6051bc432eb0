/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an allocator says of itself: its names, where it comes from, what can be tuned, and its
 * operations.
 *
 * The command line, the documentation, the reports and the generator read descriptors; firmware
 * links operations alone and drops the texts.
 */
#ifndef HFIT_DESCRIPTOR_H
#define HFIT_DESCRIPTOR_H

#include "hfit/contract.h"
#include "hfit/pools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a tunable lies in the plan, at `offset` bytes from its start. */
typedef enum hfit_tunable_kind {
    HFIT_SCALAR, /* a uint32_t from `lowest` to `highest` */
    HFIT_POOLS,  /* an hfit_pool_list (hfit/pools.h) */
    HFIT_SHARED, /* an hfit_shared (hfit/pools.h): the allocator that serves what the pools do not
                  */
} hfit_tunable_kind;

/* What another value makes of the code of a build for one plan (hfit/plan_of_build.h). */
typedef enum hfit_code_effect {
    HFIT_CHOICE, /* each value is code of its own */
    HFIT_SWITCH, /* 0 is one code, any other value another */
    HFIT_AMOUNT, /* another constant in the same code */
} hfit_code_effect;

typedef struct hfit_tunable {
    const char *name;
    const char *meaning; /* one sentence, unit included */
    hfit_tunable_kind kind;
    size_t offset;
    uint32_t lowest;
    uint32_t highest;
    uint32_t standard; /* the value of a plan that says nothing */
    hfit_code_effect effect;
} hfit_tunable;

/* The alignment every plan begins with, for use in a tunables table. */
#define HFIT_ALIGNMENT_TUNABLE                                                                     \
    {                                                                                              \
        "alignment", "Alignment of every block, in bytes: 4, 8 or 16.", HFIT_SCALAR,               \
            offsetof(hfit_plan, alignment), 4, 16, 8, HFIT_AMOUNT                                  \
    }

/* The two tunables of an hfit_pools_plan (hfit/pools.h). */
#define HFIT_POOLS_TUNABLES                                                                        \
    {"pools",    "Blocks set aside: size in bytes, count, exact or not.",                          \
     HFIT_POOLS, offsetof(hfit_pools_plan, pools),                                                 \
     0,          0,                                                                                \
     0,          HFIT_CHOICE},                                                                     \
    {                                                                                              \
        "shared", "The allocator that serves what the pools do not.", HFIT_SHARED,                 \
            offsetof(hfit_pools_plan, shared), 0, 0, 0, HFIT_CHOICE                                \
    }

/* What an allocator costs, in sentences for a page; measured figures are elsewhere. Texts that are
 * NULL are unknown. */
typedef struct hfit_account {
    const char *worst_case;    /* steps of alloc and of free at worst, and what they grow with */
    const char *block_bytes;   /* bytes a block takes beyond its request */
    const char *fragmentation; /* bound on the region for M live bytes, and its source */
    const char *layout;        /* the region drawn: lines of at most 90 characters */
} hfit_account;

/* A value on an axis of the design space: the text of the plan's value of `tunable`, else `text`.
 * Texts that are NULL are unknown. */
typedef struct hfit_axis {
    const char *text;
    const char *tunable;  /* NULL if no tunable moves it */
    const char *texts[3]; /* for the tunable's values from 0 on */
} hfit_axis;

/* The axes of Mamagkakis et al., section 4 (A to D); the order as in Wilson et al. 1995, section 3;
 * growth is ours. */
typedef struct hfit_axes {
    hfit_axis block_sizes;
    hfit_axis splitting;
    hfit_axis coalescing;
    hfit_axis pools;
    hfit_axis pool_fit;  /* which pool or free list is tried */
    hfit_axis block_fit; /* which block of it */
    hfit_axis order;     /* of free blocks */
    hfit_axis growth;
} hfit_axes;

/* Values of a tunable that are worth trying. */
typedef struct hfit_grid_line {
    const char *tunable;
    uint32_t values[3];
    uint32_t count;
} hfit_grid_line;

enum { HFIT_GRID_LINES = 3 };

/* What is missing when a request is refused. Proofs of how large a region must be, and of how many
 * requests are refused, start from it; where it is unknown nothing is proven. */
typedef enum hfit_limit {
    HFIT_LIMIT_UNKNOWN,
    HFIT_LIMIT_BLOCKS,     /* one of the `blocks` equal blocks of `block_size` bytes */
    HFIT_LIMIT_PARTITIONS, /* partitions of `partition_size` bytes, wherever they lie */
    HFIT_LIMIT_POOLS,      /* a block in the pools that next_pool tells, and in the shared heap */
    HFIT_LIMIT_SIZES,      /* a block among those of the request's own size */
    HFIT_LIMIT_HOLES,      /* a free chunk as large as `holes` tells; free neighbours are joined */
    HFIT_LIMIT_BUDDIES,    /* a free power of two, or two free halves of one */
    HFIT_LIMIT_POWERS,     /* a free chunk of the next power of two; free neighbours are joined */
} hfit_limit;

/* How free blocks are kept. How much more memory another run of a program may need depends on it
 * (docs/margin.md): which block is found first in one list of all sizes changes with every run. */
typedef enum hfit_free_lists {
    HFIT_FREE_LISTS_UNKNOWN,
    HFIT_FREE_LISTS_NONE,    /* pools of equal blocks each, nothing to search */
    HFIT_FREE_LISTS_CLASSES, /* apart by size: a list a size class, or an index by size */
    HFIT_FREE_LISTS_SINGLE,  /* all in one list, tree or map, or all but small ones */
} hfit_free_lists;

/* The chunks of a plan, for HFIT_LIMIT_HOLES. */
typedef struct hfit_holes {
    uint32_t header;         /* bytes before each block */
    uint32_t smallest_chunk; /* bytes */
    uint32_t spare;          /* bytes at most that a chunk keeps beyond what its request needs */
    uint32_t class_log2;     /* a chunk surely serves what needs less by one part in two to this; 0:
                              * every chunk that is large enough serves */
    bool is_by_address;      /* the lowest chunk that is large enough serves */
} hfit_holes;

/* How far a heap has filled its room for chunks, of which the region's size takes nothing but the
 * bytes that control structures need. */
typedef struct hfit_reach {
    uint32_t most;  /* bytes in use at once at most, from both ends of the room, holes included */
    uint32_t room;  /* bytes there are */
    uint32_t chunk; /* bytes of the smallest chunk; 0: no room is less than one. With `most` and so
                     * much more of room, or `most` alone, every block lies where it lay, counted
                     * from its own end; what is between them may be given to a block that asked
                     * for less. */
    uint32_t last;  /* bytes of the free chunk at the room's end; 0: none is free there. Only of
                     * allocators that know room_alike. */
} hfit_reach;

/* An allocator must give its names, tunables, plan_size and operations. What else it leaves out is
 * NULL or 0, and unknown: pages say so, nothing is proven of it, and its margin is the largest. */
typedef struct hfit_allocator {
    const char *name;   /* as in allocators.def */
    const char *title;  /* a few words for a table */
    const char *origin; /* paper and section, or published description */
    const char *alias;  /* another name that many know it by; NULL if there is none */
    const hfit_tunable *tunables;
    uint32_t tunable_count;
    size_t plan_size; /* bytes of the allocator's plan struct */
    /* True if no placement depends on where the region ends. One run in a large region then tells
     * the smallest region: its footprint. (A resize that finds no room at the end of a smaller one
     * may find a hole elsewhere, so a trace that resizes may run in less.) */
    bool ignores_region_end;
    /* For allocators whose control structures grow with the region, but which else place alike in
     * every region with room enough, unless blocks are aligned beyond the plan; else NULL. One run
     * in a large region then tells how much room is enough. False where this plan looks at how much
     * room there is. */
    bool (*reach)(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach);
    /* For allocators to whose choices the room matters only as the last chunk's size, else NULL:
     * stores how much room a region must have for the next request, of `size` bytes for a new block
     * or for `block`, to be served as it is here. Every larger region then serves it so, too, and
     * where that holds for all requests of a run in turn, each block lies in all these regions
     * where it lay here. False where nothing is known. `reach` tells the room of a region, and
     * false. Of no blocks aligned beyond the plan. In builds with HFIT_TELLS_ROOM. */
    bool (*room_for)(const hfit_heap *heap, const hfit_plan *plan, const void *block, size_t size,
                     uint32_t *room);
    /* For the same allocators, else NULL: as room_for of regions that are no larger than this one
     * and whose control structures are as long. Each of them with so much room does with the next
     * request what is done here, be it refused. False where nothing is known. */
    bool (*room_alike)(const hfit_heap *heap, const hfit_plan *plan, const void *block, size_t size,
                       uint32_t *room);
    /* For the same allocators, else NULL: makes of a heap the one that it would be in a region of
     * `region_size` bytes, no larger, in which all that was done was done alike, if the last thing
     * done to free chunks was to change the last of them. False, and nothing changed, if its
     * control structures would not be as long, or it would have no last chunk. */
    bool (*end_at)(hfit_heap *heap, const hfit_plan *plan, size_t region_size);
    /* True if callers hand the size over, by free_sized and resize_sized. Below safety level 2 what
     * lacks it (free, resize) is refused, usable_size is 0, and `walk` tells of neighbouring blocks
     * as of one. */
    bool needs_size;
    /* For allocators of pools, else NULL: the pool that is tried for a request of `size` bytes, 1
     * or more, after pool `after` had no block. HFIT_NO_POOL for `after` begins, and as the answer
     * ends, the search. What tells a designer how many blocks each pool needs is so the very rule
     * that firmware follows. */
    uint32_t (*next_pool)(const hfit_pools_plan *plan, size_t size, uint32_t after);
    /* For allocators of pools, else NULL: completes their plan, as HFIT_DECLARE_POOLS_PLAN says. */
    bool (*complete)(hfit_pools_plan *plan, uint8_t *table, uint32_t room);
    /* For allocators whose blocks may lie in pieces (hfit/contract.h), else NULL, and a block is
     * its one piece: the piece of `block` after `piece`, and how many bytes the caller may use in
     * it, which over all pieces is the block's usable size. NULL for `piece` begins, and as the
     * answer ends, the walk. Pieces that touch in the caller's order are told as one. Stays good
     * until the block is resized or freed. */
    void *(*next_piece)(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                        const void *piece, size_t *size);
    /* For allocators that search their free blocks in an order of their own, else NULL: stores what
     * each could serve, in bytes, for the first `most` of them in that order, and returns how many
     * there are. */
    size_t (*free_sizes)(const hfit_heap *heap, const hfit_plan *plan, uint32_t *sizes,
                         size_t most);
    /* For allocators that place by call site, too, else NULL: as `alloc`, with the tag of the site
     * or 0. What a tag means is the plan's; tags that it does not know are like none. */
    void *(*alloc_at)(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag);
    hfit_account account;
    hfit_axes axes;
    hfit_grid_line grid[HFIT_GRID_LINES]; /* all combined; lines beyond the last are empty */
    hfit_free_lists free_lists;
    /* With HFIT_FREE_LISTS_SINGLE: the tunable whose values other than 0 make the lowest block that
     * is large enough serve; NULL if there is none. */
    const char *address_order;
    hfit_limit limit;
    /* With HFIT_LIMIT_HOLES, else NULL: false if under this plan nothing is proven. `live`: bytes
     * of requests that are live at most, and fewer than the region has. */
    bool (*holes)(const hfit_plan *plan, size_t live, hfit_holes *holes);
    const hfit_operations *operations;
    const hfit_operations *unlocked; /* for a heap behind another heap; NULL: it cannot be one */
} hfit_allocator;

/* The registered allocators in the order of allocators.def; stores how many there are. */
const hfit_allocator *const *hfit_allocators(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
