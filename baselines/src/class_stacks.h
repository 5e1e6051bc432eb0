/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of fixed size classes, neither split nor joined: a stack of free blocks a bin, and a
 * low-level allocator to ask when the stack is empty.
 *
 *   0           12                   first                          break
 *   +-----------+--------------------+-------+---------------+------+----------------+
 *   | low level | stack of each      | chunk | chunk         | ...  | not asked for  |
 *   |           | class              |       |               |      |                |
 *   +-----------+--------------------+-------+---------------+------+----------------+
 *
 *   used   | tag | the caller's bytes ...          |      tag: bin, H, S, used
 *   free   | tag | next of the class | ...         |
 *
 * S and the caller's bytes of an over-aligned block are drawn in shifted_block.h; H says that the
 * chunk holds such a block, and that its gap stands in the chunk's first payload word. The word
 * before a payload is its tag; a header may be longer, what precedes the tag is padding.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the static
 * functions declared below; what it gets are all functions of the contract.
 */
#ifndef BASELINES_CLASS_STACKS_H
#define BASELINES_CLASS_STACKS_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/low_level.h"
#include "src/aligned.h"
#include "src/shifted_block.h"

enum {
    STACKS = LOW_CONTROL,
    HOLDS_SHIFTED = 4,
    BIN_SHIFT = 3,
};

/* How many classes there are. */
static inline uint32_t class_count(void);

/* Stores the class that serves `size` bytes. False if none does. */
static bool bin_for(const hfit_plan *plan, size_t size, uint32_t *bin);

/* Bytes from one chunk of the class to the next: a multiple of the alignment. */
static uint32_t chunk_size(const hfit_plan *plan, uint32_t bin);

/* Bytes from a chunk's start to its payload: 4 or more. */
static inline uint32_t header_size(const hfit_plan *plan);

/* log2 of what is asked of the low-level allocator at a time, all of it made blocks of the class at
 * once; 0: a block. */
static inline uint32_t step_of(const hfit_plan *plan);

/* True if a chunk freed at the break lowers it. */
static inline bool gives_top_back(void);

static inline uint32_t stack_of(uint32_t bin) {
    return STACKS + 4 * bin;
}

static inline uint32_t control_size(void) {
    return stack_of(class_count());
}

static inline uint32_t first_payload(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return (control_size() + header_size(plan) + mask) & ~mask;
}

static inline uint32_t first_chunk(const hfit_plan *plan) {
    return first_payload(plan) - header_size(plan);
}

static inline uint32_t bin_in(uint32_t tag) {
    return tag >> BIN_SHIFT;
}

/* Bytes of payload in front of the caller's; `tag` is that of the chunk. */
static inline uint32_t gap_in(const hfit_heap *heap, uint32_t payload, uint32_t tag) {
    return (tag & HOLDS_SHIFTED) == 0 ? 0 : load_word(heap, payload) & ~(uint32_t)TAG_SHIFTED;
}

static inline uint32_t usable_in(const hfit_heap *heap, const hfit_plan *plan, uint32_t payload,
                                 uint32_t tag) {
    return chunk_size(plan, bin_in(tag)) - header_size(plan) - gap_in(heap, payload, tag);
}

static void push_block(hfit_heap *heap, uint32_t payload, uint32_t bin) {
    store_word(heap, payload - TAG_SIZE, bin << BIN_SHIFT);
    store_word(heap, payload, load_word(heap, stack_of(bin)));
    store_word(heap, stack_of(bin), payload);
}

/* Makes `bytes` of fresh memory behind a block free blocks, the lowest on top of the stack, which
 * is empty. */
static void carve(hfit_heap *heap, const hfit_plan *plan, uint32_t bin, uint32_t payload,
                  uint32_t bytes) {
    const uint32_t size = chunk_size(plan, bin);
    const uint32_t last = payload + bytes - size;
    store_word(heap, stack_of(bin), payload);
    for (; payload <= last; payload += size) {
        store_word(heap, payload - TAG_SIZE, bin << BIN_SHIFT);
        store_word(heap, payload, payload == last ? NO_OFFSET : payload + size);
    }
}

/* A block of memory from the low-level allocator; what comes with it goes on the stack. */
static uint32_t fresh_block(hfit_heap *heap, const hfit_plan *plan, uint32_t bin) {
    const uint32_t size = chunk_size(plan, bin);
    uint32_t given;
    const uint32_t chunk = low_level_take(heap, hfit_granular(size, step_of(plan)), size, &given);
    if (chunk == NO_OFFSET) {
        return NO_OFFSET;
    }
    const uint32_t rest = given % size;
    if (rest != 0) {
        low_level_give_back(heap, rest);
    }
    if (given - rest > size) {
        carve(heap, plan, bin, chunk + size + header_size(plan), given - rest - size);
    }
    return chunk + header_size(plan);
}

static uint32_t take_block(hfit_heap *heap, const hfit_plan *plan, uint32_t bin) {
    uint32_t payload = load_word(heap, stack_of(bin));
    if (payload != NO_OFFSET) {
        store_word(heap, stack_of(bin), load_word(heap, payload));
    } else {
        payload = fresh_block(heap, plan, bin);
        if (payload == NO_OFFSET) {
            return NO_OFFSET;
        }
    }
    store_word(heap, payload - TAG_SIZE, bin << BIN_SHIFT | TAG_USED);
    low_level_note_end(heap, payload - header_size(plan) + chunk_size(plan, bin));
    return payload;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t bin;
    if (!bin_for(plan, size, &bin)) {
        return NULL;
    }
    const uint32_t payload = take_block(heap, plan, bin);
    return payload == NO_OFFSET ? NULL : block_at(heap, payload);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    uint32_t tag;
    if (block == NULL) {
        return;
    }
    const uint32_t payload = payload_around(heap, offset_of_block(heap, block), &tag);
    const uint32_t chunk = payload - header_size(plan);
    const uint32_t size = chunk_size(plan, bin_in(tag));
    if (gives_top_back() && chunk + size == load_word(heap, LOW_BREAK)) {
        low_level_give_back(heap, size);
    } else {
        push_block(heap, payload, bin_in(tag));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the tag tells */
    heap_free(heap, plan, block);
}

/* A block stays while its size stays in its bin, and moves to save memory too; where there is no
 * room to move and it need not, it stays. */
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t tag;
    uint32_t bin;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!bin_for(plan, size, &bin)) {
        return NULL;
    }
    const uint32_t payload = payload_around(heap, offset_of_block(heap, block), &tag);
    const uint32_t usable = usable_in(heap, plan, payload, tag);
    if (bin == bin_in(tag) && size <= usable) {
        return block;
    }
    void *moved = move_block(heap, plan, block, usable, size);
    return moved == NULL && size <= usable ? block : moved;
}

static void note_shift(hfit_heap *heap, const hfit_plan *plan, uint32_t payload, uint32_t gap,
                       uint32_t room) {
    uint32_t bin = 0;
    (void)bin_for(plan, room, &bin); /* the block's: it was asked for with `room` bytes */
    store_word(heap, payload - TAG_SIZE, bin << BIN_SHIFT | HOLDS_SHIFTED | TAG_USED);
    store_word(heap, payload, gap | TAG_SHIFTED);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    uint32_t tag;
    if (block == NULL) {
        return 0;
    }
    const uint32_t payload = payload_around(heap, offset_of_block(heap, block), &tag);
    return usable_in(heap, plan, payload, tag);
}

/* The memory never asked for is told as a free block, since a request can have it. */
static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t header = header_size(plan);
    const uint32_t brk = load_word(heap, LOW_BREAK);
    uint32_t payload = first_payload(plan);
    while (payload - header < brk) {
        const uint32_t tag = load_word(heap, payload - TAG_SIZE);
        visitor(context, block_at(heap, payload + gap_in(heap, payload, tag)),
                usable_in(heap, plan, payload, tag), (tag & TAG_USED) != 0);
        payload += chunk_size(plan, bin_in(tag));
    }
    if (load_word(heap, LOW_END) - brk > header) {
        visitor(context, block_at(heap, brk + header), load_word(heap, LOW_END) - brk - header,
                false);
    }
}

/* True if the tag of the chunk at `payload` may stand there, `room` bytes before the break. */
static bool is_tag_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t payload,
                         uint32_t room) {
    const uint32_t tag = load_word(heap, payload - TAG_SIZE);
    const uint32_t flags = tag & (TAG_USED | TAG_SHIFTED | HOLDS_SHIFTED);
    if (bin_in(tag) >= class_count() || chunk_size(plan, bin_in(tag)) > room) {
        return false;
    }
    if ((tag & HOLDS_SHIFTED) == 0) {
        return flags == 0 || flags == TAG_USED;
    }
    const uint32_t way_back = load_word(heap, payload);
    const uint32_t gap = way_back & ~(uint32_t)TAG_SHIFTED;
    return flags == (TAG_USED | HOLDS_SHIFTED) && gap % TAG_SIZE == 0 && gap != 0 &&
           gap < chunk_size(plan, bin_in(tag)) - header_size(plan) &&
           load_word(heap, payload + gap - TAG_SIZE) == way_back;
}

/* How many free blocks, and the sum of their offsets, which tells whether two sets of so many are
 * the same ones. */
typedef struct block_set {
    uint32_t count;
    uint32_t sum;
} block_set;

static bool add_stack(const hfit_heap *heap, uint32_t bin, uint32_t most, block_set *set) {
    const uint32_t brk = load_word(heap, LOW_BREAK);
    uint32_t payload = load_word(heap, stack_of(bin));
    for (; payload != NO_OFFSET; payload = load_word(heap, payload)) {
        if (payload >= brk || payload % TAG_SIZE != 0 || payload < control_size() + TAG_SIZE ||
            set->count == most || load_word(heap, payload - TAG_SIZE) != bin << BIN_SHIFT) {
            return false;
        }
        set->count++;
        set->sum += payload;
    }
    return true;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t header = header_size(plan);
    const uint32_t brk = load_word(heap, LOW_BREAK);
    uint32_t payload = first_payload(plan);
    block_set tagged = {0, 0};
    block_set stacked = {0, 0};
    if (!is_low_level_sound(heap, first_chunk(plan))) {
        return false;
    }
    while (payload - header < brk) {
        if (!is_tag_sound(heap, plan, payload, brk - (payload - header))) {
            return false;
        }
        const uint32_t tag = load_word(heap, payload - TAG_SIZE);
        if ((tag & TAG_USED) == 0) {
            tagged.count++;
            tagged.sum += payload;
        }
        payload += chunk_size(plan, bin_in(tag));
    }
    for (uint32_t bin = 0; bin < class_count(); bin++) {
        if (!add_stack(heap, bin, tagged.count, &stacked)) {
            return false;
        }
    }
    return stacked.count == tagged.count && stacked.sum == tagged.sum;
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, LOW_FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_alignment_allowed(plan->alignment) || step_of(plan) > LOW_MOST_STEP) {
        return 0;
    }
    return first_chunk(plan) + chunk_size(plan, 0);
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || heap_smallest_region(plan) == 0 ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    for (uint32_t bin = 0; bin < class_count(); bin++) {
        store_word(heap, stack_of(bin), NO_OFFSET);
    }
    low_level_start(heap, first_chunk(plan), (uint32_t)region_size);
    return heap;
}

#endif
