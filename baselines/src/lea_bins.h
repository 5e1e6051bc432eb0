/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lea's control words, and its bins: lists of small free chunks, one size each, and bitwise digital
 * trees of large ones, whose nodes are rings of equal sizes.
 *
 *   a node    | size | next | previous | lower | higher | parent | ...    | size |
 *                     ring, oldest first
 *
 * The oldest chunk of a ring is the node; the others have NO_OFFSET for a parent, a root has
 * IS_ROOT. A tree holds the sizes of half a power of two, the last all that are larger. The bits of
 * a size below those that its tree has in common are its turns: 0 leads to `lower`, 1 to `higher`.
 * A node may have any size of its subtree. (Lea, malloc.c 2.8, on tree chunks.)
 *
 * Nothing is checked on the way, as in the original, so that lea's accesses are the algorithm's
 * own.
 */
#ifndef BASELINES_LEA_BINS_H
#define BASELINES_LEA_BINS_H

#include "hfit/compiler.h"

#include "src/region.h"
#include "src/tiling/free_list.h"
#include "src/logarithm.h"

enum {
    TOP = 0,
    END = 4,
    FOOTPRINT = 8,
    VICTIM = 12,
    SMALL_MAP = 16,
    TREE_MAP = 20,
    SMALL_BINS = 24,
    SMALL_COUNT = 32,
    TREES = 32,
    TREE_ROOTS = SMALL_BINS + 4 * SMALL_COUNT,
    CONTROL_SIZE = TREE_ROOTS + 4 * TREES,
    HEADER_SIZE = 4,
    CHUNK_LEAST = 16,
    USED = 1,
    PREVIOUS_USED = 2,
};

static inline uint32_t alignment_log2(const hfit_plan *plan) {
    return hfit_trailing_zeros(plan->alignment);
}

/* log2 of the least size that is kept in trees. */
static inline uint32_t least_tree_log2(const hfit_plan *plan) {
    return alignment_log2(plan) + 5; /* log2 of SMALL_COUNT */
}

static inline bool is_small(const hfit_plan *plan, uint32_t size) {
    return size >> least_tree_log2(plan) == 0;
}

static inline uint32_t bin_of(const hfit_plan *plan, uint32_t size) {
    return size >> alignment_log2(plan);
}

static inline uint32_t head_of(uint32_t bin) {
    return SMALL_BINS + 4 * bin;
}

static inline uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return ((CONTROL_SIZE + HEADER_SIZE + mask) & ~mask) - HEADER_SIZE;
}

enum {
    RING_NEXT = 4,
    RING_PREVIOUS = 8,
    TREE_LOWER = 12,
    TREE_HIGHER = 16,
    TREE_PARENT = 20,
    TREE_NODE = 24, /* bytes up to the parent's end */
    IS_ROOT = 1,    /* no chunk's offset */
};

static inline uint32_t root_of(uint32_t tree) {
    return TREE_ROOTS + 4 * tree;
}

/* The size of a free chunk, whose header has flags in its lowest two bits. */
static inline uint32_t size_at(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk) & ~3u;
}

static uint32_t tree_of(const hfit_plan *plan, uint32_t size) {
    const uint32_t power = log2_down(size);
    const uint32_t half = size >> (power - 1) & 1u;
    const uint32_t tree = 2 * (power - least_tree_log2(plan)) + half;
    return tree < TREES ? tree : TREES - 1;
}

/* The bits that may differ within a tree, from the top. */
static inline uint32_t turns_of(uint32_t size, uint32_t tree) {
    return tree == TREES - 1 ? size : size << (33 - log2_down(size));
}

static inline uint32_t child_at(uint32_t turns) {
    return turns >> 31 == 0 ? (uint32_t)TREE_LOWER : (uint32_t)TREE_HIGHER;
}

/* Puts a chunk in front of the oldest of its ring, that is last. */
static void join_ring(hfit_heap *heap, uint32_t oldest, uint32_t chunk) {
    const uint32_t last = load_word(heap, oldest + RING_PREVIOUS);
    store_word(heap, last + RING_NEXT, chunk);
    store_word(heap, oldest + RING_PREVIOUS, chunk);
    store_word(heap, chunk + RING_NEXT, oldest);
    store_word(heap, chunk + RING_PREVIOUS, last);
    store_word(heap, chunk + TREE_PARENT, NO_OFFSET);
}

/* Makes a chunk the only one of its ring, a leaf that the word at `link` refers to. */
static void add_leaf(hfit_heap *heap, uint32_t link, uint32_t parent, uint32_t chunk) {
    store_word(heap, link, chunk);
    store_word(heap, chunk + RING_NEXT, chunk);
    store_word(heap, chunk + RING_PREVIOUS, chunk);
    store_word(heap, chunk + TREE_LOWER, NO_OFFSET);
    store_word(heap, chunk + TREE_HIGHER, NO_OFFSET);
    store_word(heap, chunk + TREE_PARENT, parent);
}

static void tree_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t tree = tree_of(plan, size);
    uint32_t turns = turns_of(size, tree);
    uint32_t link = root_of(tree);
    uint32_t parent = IS_ROOT;
    uint32_t node = load_word(heap, link);
    if (node == NO_OFFSET) {
        store_word(heap, TREE_MAP, load_word(heap, TREE_MAP) | 1u << tree);
    }
    while (node != NO_OFFSET && size_at(heap, node) != size) {
        parent = node;
        link = node + child_at(turns);
        turns <<= 1;
        node = load_word(heap, link);
    }
    if (node == NO_OFFSET) {
        add_leaf(heap, link, parent, chunk);
    } else {
        join_ring(heap, node, chunk);
    }
}

/* Takes a leaf below a node out of the tree; NO_OFFSET if the node is one itself. */
static uint32_t detach_leaf(hfit_heap *heap, uint32_t node) {
    uint32_t link = NO_OFFSET;
    for (;;) {
        uint32_t below = node + TREE_HIGHER;
        if (load_word(heap, below) == NO_OFFSET) {
            below = node + TREE_LOWER;
        }
        if (load_word(heap, below) == NO_OFFSET) {
            break;
        }
        link = below;
        node = load_word(heap, link);
    }
    if (link == NO_OFFSET) {
        return NO_OFFSET;
    }
    store_word(heap, link, NO_OFFSET);
    return node;
}

/* Puts `heir` where `node` is in the tree, or nothing if it is NO_OFFSET. */
static void replace_node(hfit_heap *heap, uint32_t tree, uint32_t node, uint32_t heir) {
    const uint32_t parent = load_word(heap, node + TREE_PARENT);
    uint32_t link = root_of(tree);
    if (parent != IS_ROOT) {
        const bool is_lower = load_word(heap, parent + TREE_LOWER) == node;
        link = parent + (is_lower ? TREE_LOWER : TREE_HIGHER);
    }
    store_word(heap, link, heir);
    if (heir == NO_OFFSET) {
        if (parent == IS_ROOT) {
            store_word(heap, TREE_MAP, load_word(heap, TREE_MAP) & ~(1u << tree));
        }
        return;
    }
    store_word(heap, heir + TREE_PARENT, parent);
    for (uint32_t child = TREE_LOWER; child <= TREE_HIGHER; child += TREE_HIGHER - TREE_LOWER) {
        const uint32_t below = load_word(heap, node + child);
        store_word(heap, heir + child, below);
        if (below != NO_OFFSET) {
            store_word(heap, below + TREE_PARENT, heir);
        }
    }
}

static void tree_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t next = load_word(heap, chunk + RING_NEXT);
    if (next != chunk) {
        const uint32_t previous = load_word(heap, chunk + RING_PREVIOUS);
        store_word(heap, previous + RING_NEXT, next);
        store_word(heap, next + RING_PREVIOUS, previous);
    }
    if (load_word(heap, chunk + TREE_PARENT) != NO_OFFSET) {
        const uint32_t heir = next != chunk ? next : detach_leaf(heap, chunk);
        replace_node(heap, tree_of(plan, size), chunk, heir);
    }
}

/* The node of the least size in a subtree that is not empty: it lies on the way along the lowest
 * children. */
static uint32_t least_of(const hfit_heap *heap, uint32_t node) {
    uint32_t best = node;
    uint32_t least = size_at(heap, node);
    while (node != NO_OFFSET) {
        const uint32_t size = size_at(heap, node);
        if (size < least) {
            best = node;
            least = size;
        }
        const uint32_t lower = load_word(heap, node + TREE_LOWER);
        node = lower != NO_OFFSET ? lower : load_word(heap, node + TREE_HIGHER);
    }
    return best;
}

/* The node of the least size from `size` on in its own tree, NO_OFFSET if all are less. What lies
 * on the way of the size's turns is compared; of what lies beside, only the subtree passed by last
 * on its higher side can have less. */
static uint32_t best_in_tree(const hfit_heap *heap, uint32_t tree, uint32_t size) {
    uint32_t turns = turns_of(size, tree);
    uint32_t best = NO_OFFSET;
    uint32_t least = UINT32_MAX;
    uint32_t beside = NO_OFFSET;
    uint32_t node = load_word(heap, root_of(tree));
    while (node != NO_OFFSET && least != size) {
        const uint32_t own = size_at(heap, node);
        if (own >= size && own < least) {
            best = node;
            least = own;
        }
        const uint32_t higher = load_word(heap, node + TREE_HIGHER);
        const bool goes_higher = turns >> 31 != 0;
        beside = goes_higher || higher == NO_OFFSET ? beside : higher;
        node = goes_higher ? higher : load_word(heap, node + TREE_LOWER);
        turns <<= 1;
    }
    if (least != size && beside != NO_OFFSET) {
        const uint32_t other = least_of(heap, beside);
        best = size_at(heap, other) < least ? other : best;
    }
    return best;
}

/* The node of the least size in all trees from `tree` on, NO_OFFSET if they are empty. */
static uint32_t least_from_tree(const hfit_heap *heap, uint32_t tree) {
    const uint32_t map = tree < TREES ? load_word(heap, TREE_MAP) & (~0u << tree) : 0;
    return map == 0 ? NO_OFFSET
                    : least_of(heap, load_word(heap, root_of(hfit_trailing_zeros(map))));
}

/* The oldest chunk of the least size from `size` on, NO_OFFSET if there is none. */
static uint32_t tree_best(const hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    const uint32_t tree = tree_of(plan, size);
    const uint32_t best = best_in_tree(heap, tree, size);
    return best != NO_OFFSET ? best : least_from_tree(heap, tree + 1);
}

static void insert_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    if (is_small(plan, size)) {
        const uint32_t bin = bin_of(plan, size);
        list_push(heap, head_of(bin), chunk);
        store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) | 1u << bin);
    } else {
        tree_insert(heap, plan, chunk, size);
    }
}

static void remove_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    if (is_small(plan, size)) {
        const uint32_t bin = bin_of(plan, size);
        if (list_remove(heap, head_of(bin), chunk)) {
            store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) & ~(1u << bin));
        }
    } else {
        tree_remove(heap, plan, chunk, size);
    }
}

static uint32_t pop_small(hfit_heap *heap, uint32_t bin) {
    uint32_t chunk;
    if (list_pop(heap, head_of(bin), &chunk)) {
        store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) & ~(1u << bin));
    }
    return chunk;
}

#endif
