/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several memories, each with a heap of its own, behind one malloc.
 *
 *   request: size, needs, tag        route: 0x21             heaps, each in its region
 *   +-------------------------+      +------------------+    0: internal  +---------------+
 *   | 1500 bytes, needs DMA   | ---> | 0, then 1; those | -> 1: psram     +--------------------+
 *   +-------------------------+      | that offer DMA   |
 *                                    +------------------+
 *
 * A request takes the route of what it needs if it needs anything, else that of its call site's
 * tag, else that of its size. Memories of a route that do not offer all that is needed are passed
 * over; the first of the others whose heap serves the request does. A block is given back to the
 * heap whose region it lies in.
 *
 * The plan is const and may lie in ROM. What changes are the heaps and an array of their handles,
 * which the caller keeps. Each call of a heap takes its lock, if the build has one, by itself. A
 * heap that is told a block's size by its caller (hfit/sized.h) cannot be one of these.
 */
#ifndef HFIT_MEMORIES_H
#define HFIT_MEMORIES_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HFIT_MOST_MEMORIES 8u

/* Memories in the order in which they are tried, from the lowest four bits on: each is its number
 * and 1; 0 ends the route. */
typedef uint32_t hfit_route;

typedef struct hfit_memory {
    const hfit_operations *operations;
    const hfit_plan *plan;
    size_t size;     /* bytes of its region */
    uint32_t offers; /* a bit for each capability */
} hfit_memory;

typedef struct hfit_size_route {
    size_t up_to; /* bytes of a request */
    hfit_route route;
} hfit_size_route;

typedef struct hfit_memories_plan {
    const hfit_memory *memories;
    const hfit_size_route *by_size; /* sizes ascend; larger requests take the last one's route */
    const hfit_route *by_tag;       /* the first is of tag 1; 0: by size */
    hfit_route of_needs;            /* of all requests that need anything */
    uint32_t memory_count;          /* 1 to HFIT_MOST_MEMORIES */
    uint32_t size_count;            /* at least 1 */
    uint32_t tag_count;
} hfit_memories_plan;

typedef struct hfit_request {
    size_t size;
    size_t alignment; /* a power of two; 0: the heap's own */
    uint32_t needs;   /* bits that its memory must offer */
    uint32_t tag;     /* of its call site; 0: none */
} hfit_request;

/* Makes each heap in its region and stores the handles. False if one cannot be made. */
bool hfit_memories_init(const hfit_memories_plan *plan, void *const regions[], hfit_heap *heaps[]);

/* A block, or NULL if no memory of the request's route serves it. */
void *hfit_memories_alloc(const hfit_memories_plan *plan, hfit_heap *const heaps[],
                          const hfit_request *request);

/* As a new request, but that in the block's own memory the block is resized, and from any other
 * memory its contents are copied. NULL, and the block stays, if no memory serves it, or if the
 * block lies in none. The alignment is not looked at. */
void *hfit_memories_resize(const hfit_memories_plan *plan, hfit_heap *const heaps[], void *block,
                           const hfit_request *request);

/* Gives a block back to its heap; an address in no memory is none's, and nothing is done. */
void hfit_memories_free(const hfit_memories_plan *plan, hfit_heap *const heaps[], void *block);

/* The number of the memory that an address lies in; memory_count if it lies in none. */
uint32_t hfit_memories_find(const hfit_memories_plan *plan, hfit_heap *const heaps[],
                            const void *block);

#ifdef __cplusplus
}
#endif

#endif
