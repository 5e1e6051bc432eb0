/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of partitions kept as a list of free groups in address order, with one word of record a
 * partition (Elsayed and Galal: a request takes a group of partitions, free groups hang in a linked
 * list; address order is our reading).
 *
 *   index word: the first free group
 *   record     of a group's first partition: its length * 2, + 1 if it is used; of others: 0
 *   link       in the first word of a free group: the next one's number, or NO_PARTITION
 *
 *   partition  0     1     2     3     4     5     6     7          index = 2
 *   record     5     0     4     0     3     4     0     ...        a used group of 2, a free one
 * of | used      | free      |used | free                 2, a used one of 1, a free one link: 5
 * link: NO_PARTITION     of 2 or more
 *
 * The list ascends, so a walk ends, and free groups never touch.
 */
#ifndef HFIT_PARTITION_LIST_H
#define HFIT_PARTITION_LIST_H

#include "src/partition_run.h"

/* A free group and the one before it in the list; NO_PARTITION: none. */
typedef struct list_place {
    uint32_t previous;
    uint32_t group;
} list_place;

static inline uint32_t list_table_size(uint32_t count) {
    return 4 * count;
}

static inline uint32_t load_record(const hfit_heap *heap, uint32_t partition) {
    return load_word(heap, PARTITIONS_TABLE + 4 * partition);
}

static inline void store_record(hfit_heap *heap, uint32_t partition, uint32_t record) {
    store_word(heap, PARTITIONS_TABLE + 4 * partition, record);
}

static inline uint32_t free_record(uint32_t length) {
    return length << 1;
}

static inline uint32_t used_record(uint32_t length) {
    return length << 1 | 1u;
}

static inline bool is_record_used(uint32_t record) {
    return (record & 1u) != 0;
}

static inline uint32_t record_length(uint32_t record) {
    return record >> 1;
}

/* Offset of the word that leads to the group behind `previous`. */
static inline uint32_t link_word(const hfit_heap *heap, const hfit_plan *plan, uint32_t previous) {
    return previous == NO_PARTITION ? (uint32_t)PARTITIONS_INDEX
                                    : partition_offset(heap, plan, previous);
}

static inline uint32_t load_link(const hfit_heap *heap, const hfit_plan *plan, uint32_t previous) {
    return load_word(heap, link_word(heap, plan, previous));
}

static inline void store_link(hfit_heap *heap, const hfit_plan *plan, uint32_t previous,
                              uint32_t group) {
    store_word(heap, link_word(heap, plan, previous), group);
}

/* True if a link that leads to `group` from a place before partition `from` leads to a free group.
 */
static inline bool is_free_group(const hfit_heap *heap, uint32_t group, uint32_t from) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    if (group < from || group >= count) {
        return false;
    }
    const uint32_t record = load_record(heap, group);
    return !is_record_used(record) && record != 0 && record_length(record) <= count - group;
}

/* Moves on to the next group. False, and that told, if the link is damaged. */
static inline bool step_to(const hfit_heap *heap, const hfit_plan *plan, uint32_t previous,
                           uint32_t from, list_place *place) {
    *place = (list_place){previous, load_link(heap, plan, previous)};
    if (HFIT_SAFETY >= 1 && place->group != NO_PARTITION &&
        !is_free_group(heap, place->group, from)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block_at(heap, link_word(heap, plan, previous)));
        return false;
    }
    return true;
}

static inline void list_init(hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    for (uint32_t partition = 0; partition < count; partition++) {
        store_record(heap, partition, 0);
    }
    store_record(heap, 0, free_record(count));
    store_link(heap, plan, NO_PARTITION, 0);
    store_link(heap, plan, 0, NO_PARTITION);
}

/* Finds the free group that holds a run such as requested. False if there is none, or a link is
 * damaged. One step a free group. */
static inline bool list_find(const hfit_heap *heap, const hfit_plan *plan,
                             const run_request *request, list_place *found) {
    uint32_t best_length = UINT32_MAX;
    list_place place;
    if (!step_to(heap, plan, NO_PARTITION, 0, &place)) {
        return false;
    }
    while (place.group != NO_PARTITION) {
        const uint32_t length = record_length(load_record(heap, place.group));
        const uint32_t end = place.group + length;
        if (place_from(request, place.group) + request->count <= end && length < best_length) {
            *found = place;
            best_length = length;
            if (!request->smallest || length == request->count) {
                break;
            }
        }
        if (!step_to(heap, plan, place.group, end + 1, &place)) {
            return false;
        }
    }
    return best_length != UINT32_MAX;
}

/* Takes `length` partitions from `first` on out of the free group at `place`; what is left of it
 * before and behind stays free. Their record is the caller's business. */
static inline void list_cut(hfit_heap *heap, const hfit_plan *plan, list_place place,
                            uint32_t first, uint32_t length) {
    const uint32_t group_end = place.group + record_length(load_record(heap, place.group));
    const uint32_t end = first + length;
    uint32_t next = load_link(heap, plan, place.group);
    if (end < group_end) {
        store_record(heap, end, free_record(group_end - end));
        store_link(heap, plan, end, next);
        next = end;
    }
    if (first > place.group) {
        store_record(heap, place.group, free_record(first - place.group));
        store_link(heap, plan, place.group, next);
    } else {
        store_link(heap, plan, place.previous, next);
    }
}

/* The first partition of a run such as requested, or NO_PARTITION. */
static inline uint32_t list_take(hfit_heap *heap, const hfit_plan *plan,
                                 const run_request *request) {
    list_place place;
    if (!list_find(heap, plan, request, &place)) {
        return NO_PARTITION;
    }
    const uint32_t first = place_from(request, place.group);
    list_cut(heap, plan, place, first, request->count);
    store_record(heap, first, used_record(request->count));
    return first;
}

/* Finds the first free group behind partition `first`, which is used. False if a link is damaged.
 */
static inline bool list_seek(const hfit_heap *heap, const hfit_plan *plan, uint32_t first,
                             list_place *place) {
    uint32_t previous = NO_PARTITION;
    uint32_t from = 0;
    while (step_to(heap, plan, previous, from, place)) {
        if (place->group > first) { /* NO_PARTITION too */
            return true;
        }
        previous = place->group;
        from = previous + record_length(load_record(heap, previous)) + 1;
    }
    return false;
}

/* How many partitions the group at `first` has; 0 if no used one begins there. */
static inline uint32_t list_group(const hfit_heap *heap, uint32_t first) {
    const uint32_t record = load_record(heap, first);
    return is_record_used(record) ? record_length(record) : 0;
}

/* True if a used group of that length ends where another group begins, or at the end. */
static inline bool is_list_group_sound(const hfit_heap *heap, uint32_t first, uint32_t length) {
    const uint32_t left = load_word(heap, PARTITIONS_COUNT) - first;
    return length == left || (length < left && load_record(heap, first + length) != 0);
}

/* Makes a run of used partitions, whose record is stale or 0, free and joins it with its free
 * neighbours. False, and nothing changed, if a link is damaged. */
static inline bool list_release(hfit_heap *heap, const hfit_plan *plan, uint32_t first,
                                uint32_t length) {
    list_place place;
    if (!list_seek(heap, plan, first, &place)) {
        return false;
    }
    uint32_t next = place.group;
    if (next == first + length) {
        length += record_length(load_record(heap, next));
        store_record(heap, next, 0);
        next = load_link(heap, plan, next);
    }
    const uint32_t before =
        place.previous == NO_PARTITION ? 0 : record_length(load_record(heap, place.previous));
    if (before != 0 && place.previous + before == first) {
        store_record(heap, first, 0);
        first = place.previous;
        length += before;
    } else {
        store_link(heap, plan, place.previous, first);
    }
    store_record(heap, first, free_record(length));
    store_link(heap, plan, first, next);
    return true;
}

/* Both as their namesakes in partition_bits.h; also false if a link is damaged. */
static inline bool list_shrink(hfit_heap *heap, const hfit_plan *plan, uint32_t first, uint32_t end,
                               uint32_t new_end) {
    if (!list_release(heap, plan, new_end, end - new_end)) {
        return false;
    }
    store_record(heap, first, used_record(new_end - first));
    return true;
}

static inline bool list_grow(hfit_heap *heap, const hfit_plan *plan, uint32_t first, uint32_t end,
                             uint32_t new_end) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    list_place place;
    if (new_end > count || is_record_used(load_record(heap, end)) ||
        record_length(load_record(heap, end)) < new_end - end ||
        !list_seek(heap, plan, first, &place) || place.group != end) {
        return false;
    }
    list_cut(heap, plan, place, end, new_end - end);
    store_record(heap, end, 0);
    store_record(heap, first, used_record(new_end - first));
    return true;
}

/* How many partitions the group at `first` has. */
static inline uint32_t list_length(const hfit_heap *heap, uint32_t first, bool *is_used) {
    const uint32_t record = load_record(heap, first);
    *is_used = is_record_used(record);
    return record_length(record);
}

/* Groups tile the partitions, records inside them are 0, free groups do not touch, and the list is
 * just the free groups in order. */
static inline bool list_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    uint32_t previous = NO_PARTITION;
    bool after_free = false;
    for (uint32_t first = 0; first < count;) {
        const uint32_t record = load_record(heap, first);
        const uint32_t length = record_length(record);
        if (length == 0 || length > count - first || (after_free && !is_record_used(record))) {
            return false;
        }
        for (uint32_t i = 1; i < length; i++) {
            if (load_record(heap, first + i) != 0) {
                return false;
            }
        }
        after_free = !is_record_used(record);
        if (after_free) {
            if (load_link(heap, plan, previous) != first) {
                return false;
            }
            previous = first;
        }
        first += length;
    }
    return load_link(heap, plan, previous) == NO_PARTITION;
}

#endif
