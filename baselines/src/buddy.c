/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary buddy system. See baselines/buddy.h.
 *
 *   0       4           8                         128              base
 *   +-------+-----------+-------------------------+----------------+-------+-------+ ...
 *   | atoms | footprint | bin of each order, 30   | state of each  | atom  | atom  |
 *   |       |           |                         | atom, a byte   |       |       |
 *   +-------+-----------+-------------------------+----------------+-------+-------+ ...
 *
 *   a block of order k: 2^k atoms, the first a multiple of 2^k      free: | next | previous | ... |
 *   states: of its first atom  order + STATE_FREE or STATE_USED     of its other atoms  0
 *
 * An over-aligned block begins at another atom than the first of its block: then the first has
 * STATE_SHIFTED too, and the one it begins at has the order and STATE_SHIFTED alone.
 */
#include "baselines/buddy.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_buddy_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#define IS_CODED 0 /* links stand as published */
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/logarithm.h"

enum {
    ATOMS = 0,
    FOOTPRINT = 4,
    BINS = 8,
    ORDERS = 30,
    STATES = BINS + 4 * ORDERS,
    ATOM_LEAST = 8,
    STATE_ORDER = 0x1f,
    STATE_FREE = 0x20,
    STATE_USED = 0x40,
    STATE_SHIFTED = 0x80,
};

static inline uint32_t atom_size(const hfit_plan *plan) {
    return plan->alignment < ATOM_LEAST ? ATOM_LEAST : plan->alignment;
}

/* Offset of the first of so many atoms. */
static inline uint32_t base_for(const hfit_plan *plan, uint32_t atoms) {
    const uint32_t mask = atom_size(plan) - 1;
    return (STATES + ((atoms + 3) & ~3u) + mask) & ~mask;
}

static inline uint32_t base_of(const hfit_heap *heap, const hfit_plan *plan) {
    return base_for(plan, load_word(heap, ATOMS));
}

static uint32_t state_of(const hfit_heap *heap, uint32_t atom) {
    return (load_word(heap, STATES + (atom & ~3u)) >> 8 * (atom & 3u)) & 0xff;
}

static void set_state(hfit_heap *heap, uint32_t atom, uint32_t state) {
    const uint32_t word = STATES + (atom & ~3u);
    const uint32_t shift = 8 * (atom & 3u);
    store_word(heap, word, (load_word(heap, word) & ~(UINT32_C(0xff) << shift)) | state << shift);
}

/* The free list of an order links nodes: the offsets 4 bytes before blocks, so that the links of
 * free_list.h are a block's first two words. */
static inline uint32_t node_of(const hfit_plan *plan, uint32_t base, uint32_t atom) {
    return base + atom * atom_size(plan) - LINK_NEXT;
}

static inline uint32_t atom_of(const hfit_plan *plan, uint32_t base, uint32_t node) {
    return (node + LINK_NEXT - base) / atom_size(plan);
}

static void insert_block(hfit_heap *heap, const hfit_plan *plan, uint32_t atom, uint32_t order) {
    set_state(heap, atom, order | STATE_FREE);
    list_push(heap, BINS + 4 * order, node_of(plan, base_of(heap, plan), atom));
}

static void remove_block(hfit_heap *heap, const hfit_plan *plan, uint32_t atom, uint32_t order) {
    set_state(heap, atom, 0);
    (void)list_remove(heap, BINS + 4 * order, node_of(plan, base_of(heap, plan), atom));
}

/* Stores the order of the smallest block of `size` bytes. False if no region holds it. */
static bool order_for(const hfit_plan *plan, size_t size, uint32_t *order) {
    uint32_t needed;
    if (!round_size(size, 0, atom_size(plan), &needed)) {
        return false;
    }
    *order = log2_up(needed / atom_size(plan));
    return true;
}

/* Takes a block of the order, split off a larger one if need be. False if there is none. */
static bool take_block(hfit_heap *heap, const hfit_plan *plan, uint32_t order, uint32_t *atom) {
    uint32_t from = order;
    uint32_t node;
    while (from < ORDERS && load_word(heap, BINS + 4 * from) == NO_OFFSET) {
        from++;
    }
    if (from >= ORDERS) {
        return false;
    }
    const uint32_t base = base_of(heap, plan);
    (void)list_pop(heap, BINS + 4 * from, &node);
    *atom = atom_of(plan, base, node);
    while (from > order) {
        from--;
        insert_block(heap, plan, *atom + (1u << from), from);
    }
    set_state(heap, *atom, order | STATE_USED);
    const uint32_t end = base + (*atom + (1u << order)) * atom_size(plan);
    if (end > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end);
    }
    return true;
}

/* Makes a block free and joins it with its buddy while that is free. */
static void release_block(hfit_heap *heap, const hfit_plan *plan, uint32_t atom, uint32_t order) {
    const uint32_t atoms = load_word(heap, ATOMS);
    set_state(heap, atom, 0);
    for (; order < ORDERS - 1; order++) {
        const uint32_t buddy = atom ^ (1u << order);
        if (buddy >= atoms || state_of(heap, buddy) != (order | STATE_FREE)) {
            break;
        }
        remove_block(heap, plan, buddy, order);
        atom &= ~(1u << order);
    }
    insert_block(heap, plan, atom, order);
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t order;
    uint32_t atom;
    if (!order_for(plan, size, &order) || !take_block(heap, plan, order, &atom)) {
        return NULL;
    }
    return block_at(heap, base_of(heap, plan) + atom * atom_size(plan));
}

/* Where a block of the caller's lies: the first atom and the order of the block it is in, and the
 * atom it begins at. */
typedef struct block_place {
    uint32_t first;
    uint32_t order;
    uint32_t begin;
} block_place;

static block_place place_of(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    const uint32_t offset = (uint32_t)((uintptr_t)block - (uintptr_t)heap);
    const uint32_t begin = (offset - base_of(heap, plan)) / atom_size(plan);
    const uint32_t order = state_of(heap, begin) & STATE_ORDER;
    return (block_place){begin & ~((1u << order) - 1), order, begin};
}

static size_t usable_at(const hfit_plan *plan, block_place place) {
    return (size_t)(place.first + (1u << place.order) - place.begin) * atom_size(plan);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (block != NULL) {
        const block_place place = place_of(heap, plan, block);
        set_state(heap, place.begin, 0);
        release_block(heap, plan, place.first, place.order);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the state tells */
    heap_free(heap, plan, block);
}

/* A block stays while it has the power of two that its size asks for, and moves to save memory too;
 * where there is no room to move and it need not, it stays. */
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t order;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!order_for(plan, size, &order)) {
        return NULL;
    }
    const block_place place = place_of(heap, plan, block);
    const size_t usable = usable_at(plan, place);
    if (size <= usable && order == place.order) {
        return block;
    }
    void *moved = move_block(heap, plan, block, usable, size);
    return moved == NULL && size <= usable ? block : moved;
}

/* A block with room for every gap; the block begins at the atom that has the alignment. */
static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    uint32_t room;
    uint32_t order;
    uint32_t atom;
    const uint32_t base = base_of(heap, plan);
    const uint32_t mask = atom_size(plan) < alignment ? atom_size(plan) - 1 : alignment - 1;
    if ((((uintptr_t)heap + base) & mask) != 0 ||
        !round_size(size, alignment - plan->alignment, 1, &room) ||
        !order_for(plan, room, &order) || !take_block(heap, plan, order, &atom)) {
        return NULL;
    }
    const uint32_t offset = base + atom * atom_size(plan);
    const uint32_t gap = alignment_gap(heap, offset, alignment);
    if (gap != 0) {
        set_state(heap, atom, order | STATE_USED | STATE_SHIFTED);
        set_state(heap, atom + gap / atom_size(plan), order | STATE_SHIFTED);
    }
    return block_at(heap, offset + gap);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    return block == NULL ? 0 : usable_at(plan, place_of(heap, plan, block));
}

/* The atom that the caller's block begins at, in a used block whose first atom is `atom`; the next
 * block's first if there is none. */
static uint32_t begin_in(const hfit_heap *heap, uint32_t atom, uint32_t state) {
    const uint32_t order = state & STATE_ORDER;
    uint32_t begin = atom;
    if ((state & STATE_SHIFTED) != 0) {
        do {
            begin++;
        } while (begin < atom + (1u << order) && state_of(heap, begin) != (order | STATE_SHIFTED));
    }
    return begin;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t atoms = load_word(heap, ATOMS);
    uint32_t atom = 0;
    while (atom < atoms) {
        const uint32_t state = state_of(heap, atom);
        const uint32_t begin = begin_in(heap, atom, state);
        const block_place place = {atom, state & STATE_ORDER, begin};
        visitor(context, block_at(heap, base_of(heap, plan) + begin * atom_size(plan)),
                usable_at(plan, place), (state & STATE_USED) != 0);
        atom += 1u << place.order;
    }
}

/* True if a block may begin at `atom`: its state is one, it lies where its order may, its other
 * atoms have no state but the one a shifted block begins at, and it is not free beside a free
 * buddy. */
static bool is_block_sound(const hfit_heap *heap, uint32_t atom, uint32_t atoms) {
    const uint32_t state = state_of(heap, atom);
    const uint32_t order = state & STATE_ORDER;
    const uint32_t kind = state & ~(uint32_t)STATE_ORDER;
    const uint32_t count = UINT32_C(1) << order;
    if ((kind != STATE_FREE && kind != STATE_USED && kind != (STATE_USED | STATE_SHIFTED)) ||
        order >= ORDERS || (atom & (count - 1)) != 0 || count > atoms - atom) {
        return false;
    }
    const uint32_t begin = begin_in(heap, atom, state);
    for (uint32_t i = atom + 1; i < atom + count; i++) {
        if (i != begin && state_of(heap, i) != 0) {
            return false;
        }
    }
    const uint32_t buddy = atom ^ count;
    return begin < atom + count &&
           !(kind == STATE_FREE && buddy < atoms && state_of(heap, buddy) == (order | STATE_FREE));
}

/* How many free blocks, and the sum of their atoms, which tells whether two sets of so many are the
 * same ones. */
typedef struct block_set {
    uint32_t count;
    uint32_t sum;
} block_set;

static bool add_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t order, uint32_t most,
                    block_set *set) {
    const uint32_t base = base_of(heap, plan);
    uint32_t place = BINS + 4 * order;
    uint32_t node = load_word(heap, BINS + 4 * order);
    for (; node != NO_OFFSET; node = load_word(heap, node + LINK_NEXT)) {
        const uint32_t atom = atom_of(plan, base, node);
        if (node + LINK_NEXT < base || atom >= load_word(heap, ATOMS) ||
            node != node_of(plan, base, atom) || set->count == most ||
            state_of(heap, atom) != (order | STATE_FREE) ||
            load_word(heap, node + LINK_PREVIOUS) != place) {
            return false;
        }
        set->count++;
        set->sum += atom;
        place = node + LINK_NEXT;
    }
    return true;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t atoms = load_word(heap, ATOMS);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    const uint32_t base = base_for(plan, atoms);
    block_set stated = {0, 0};
    block_set binned = {0, 0};
    if (footprint < base || footprint > base + atoms * atom_size(plan)) {
        return false;
    }
    for (uint32_t atom = 0; atom < atoms; atom += 1u << (state_of(heap, atom) & STATE_ORDER)) {
        if (!is_block_sound(heap, atom, atoms)) {
            return false;
        }
        if ((state_of(heap, atom) & STATE_FREE) != 0) {
            stated.count++;
            stated.sum += atom;
        }
    }
    for (uint32_t order = 0; order < ORDERS; order++) {
        if (!add_bin(heap, plan, order, stated.count, &binned)) {
            return false;
        }
    }
    return binned.count == stated.count && binned.sum == stated.sum;
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? base_for(plan, 1) + atom_size(plan) : 0;
}

/* As many atoms as fit with their states. The first atom lies in the region, whose size is at least
 * the smallest one's; the sum of both could pass 2^32. */
static uint32_t atoms_in(const hfit_plan *plan, uint32_t region_size) {
    uint32_t atoms = (region_size - STATES) / (atom_size(plan) + 1);
    while (atoms * atom_size(plan) > region_size - base_for(plan, atoms)) {
        atoms--;
    }
    return atoms;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t atoms = atoms_in(plan, (uint32_t)region_size);
    const uint32_t base = base_for(plan, atoms);
    store_word(heap, ATOMS, atoms);
    store_word(heap, FOOTPRINT, base);
    for (uint32_t offset = BINS; offset < STATES + ((atoms + 3) & ~3u); offset += 4) {
        store_word(heap, offset, 0);
    }
    uint32_t atom = 0;
    for (uint32_t order = ORDERS; order-- > 0;) {
        if ((atoms >> order & 1u) != 0) {
            insert_block(heap, plan, atom, order);
            atom += UINT32_C(1) << order;
        }
    }
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_buddy_allocator = {
    .name = "buddy",
    .title = "binary buddies, as memsys5",
    .origin = "Knowlton 1965; Hipp, Dynamic Memory Allocation In SQLite, section 3.1.4 (memsys5)",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: log2 of the region splits; free: log2 of the region joins",
            .block_bytes = "rounded up to a power of two, 8 at least, and a byte for "
                           "every 8 of them",
            .fragmentation = "M (1 + log2(n) / 2) - n + 1 for M live bytes, powers of two all, and "
                             "a largest request of n units (Robson 1974, as in SQLite's page)",
            .layout = "| atoms | footprint | bin of each order | a state byte an atom | block | "
                      "block | ... |\n"
                      "a used block: | payload ... |\n"
                      "a free block: | next | previous | ... |",
        },
    .axes =
        {
            .block_sizes.text = "powers of two",
            .splitting.text = "in halves",
            .coalescing.text = "buddies, at once",
            .pools.text = "one for each block size",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_BUDDIES,
    .operations = &hfit_buddy_operations,
    .unlocked = &hfit_buddy_unlocked,
};
