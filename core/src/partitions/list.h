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

#include "src/region.h"
#include "src/partitions/partitions.h"
#include "src/partitions/run.h"

/* A free group and the one before it in the list; NO_PARTITION: none, and its length or end 0. */
typedef struct list_place {
    uint32_t previous;
    uint32_t previous_end;
    uint32_t group;
    uint32_t length;
} list_place;

_Static_assert(MOST_PARTITIONS <= UINT32_MAX >> 1, "a record holds the length of all as one");

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
static inline uint32_t link_word(const partition_layout *layout, uint32_t previous) {
    return previous == NO_PARTITION ? (uint32_t)PARTITIONS_INDEX
                                    : partition_offset(layout, previous);
}

static inline uint32_t load_link(const hfit_heap *heap, const partition_layout *layout,
                                 uint32_t previous) {
    return load_word(heap, link_word(layout, previous));
}

static inline void store_link(hfit_heap *heap, const partition_layout *layout, uint32_t previous,
                              uint32_t group) {
    store_word(heap, link_word(layout, previous), group);
}

/* True if the link behind `previous` may lead to a partition: it goes up and leaves a gap. */
static inline bool is_link_sound(const partition_layout *layout, const list_place *place) {
    return place->group < layout->count &&
           (place->previous == NO_PARTITION || place->group > place->previous_end);
}

/* Moves to the group behind `previous`, which ends at `previous_end`. False, and that told, if the
 * link or the group's record is damaged. */
static inline bool move_behind(const hfit_heap *heap, const partition_layout *layout,
                               uint32_t previous, uint32_t previous_end, list_place *place) {
    *place = (list_place){previous, previous_end, load_link(heap, layout, previous), 0};
    if (place->group == NO_PARTITION) {
        return true;
    }
    if (HFIT_SAFETY < 1 || is_link_sound(layout, place)) {
        const uint32_t record = load_record(heap, place->group);
        place->length = record_length(record);
        if (HFIT_SAFETY < 1 || (!is_record_used(record) && place->length != 0 &&
                                place->length <= layout->count - place->group)) {
            return true;
        }
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block_at(heap, link_word(layout, previous)));
    return false;
}

static inline bool move_to_first(const hfit_heap *heap, const partition_layout *layout,
                                 list_place *place) {
    return move_behind(heap, layout, NO_PARTITION, 0, place);
}

static inline bool move_on(const hfit_heap *heap, const partition_layout *layout,
                           list_place *place) {
    return move_behind(heap, layout, place->group, place->group + place->length, place);
}

static inline void list_init(hfit_heap *heap, const partition_layout *layout) {
    for (uint32_t partition = 0; partition < layout->count; partition++) {
        store_record(heap, partition, 0);
    }
    store_record(heap, 0, free_record(layout->count));
    store_link(heap, layout, NO_PARTITION, 0);
    store_link(heap, layout, 0, NO_PARTITION);
}

/* Member by member, since compilers turn the copy of a struct into a call of memcpy. */
static inline void copy_place(list_place *to, const list_place *from) {
    to->group = from->group;
    to->length = from->length;
    to->previous = from->previous;
    to->previous_end = from->previous_end;
}

/* No group, longer than any. */
static inline void set_no_place(list_place *place) {
    place->group = NO_PARTITION;
    place->length = UINT32_MAX;
    place->previous = NO_PARTITION;
    place->previous_end = 0;
}

/* Finds the free group that holds a run such as requested. False if there is none, or a link is
 * damaged. One step a free group. */
static inline bool list_find(const hfit_heap *heap, const partition_layout *layout,
                             const run_request *request, list_place *found) {
    list_place place;
    set_no_place(found);
    if (!move_to_first(heap, layout, &place)) {
        return false;
    }
    while (place.group != NO_PARTITION) {
        if (place.length < found->length &&
            place_from(request, place.group) + request->count <= place.group + place.length) {
            copy_place(found, &place);
            if (!request->smallest || place.length == request->count) {
                break;
            }
        }
        if (!move_on(heap, layout, &place)) {
            return false;
        }
    }
    return found->length != UINT32_MAX;
}

/* Takes `length` partitions from `first` on out of the free group at `place`; what is left of it
 * before and behind stays free. Their record is the caller's business. */
static inline void list_cut(hfit_heap *heap, const partition_layout *layout,
                            const list_place *place, uint32_t first, uint32_t length) {
    const uint32_t group_end = place->group + place->length;
    const uint32_t end = first + length;
    HFIT_ASSERT(place->group <= first && length != 0 && end <= group_end);
    uint32_t next = load_link(heap, layout, place->group);
    if (end < group_end) {
        store_record(heap, end, free_record(group_end - end));
        store_link(heap, layout, end, next);
        next = end;
    }
    if (first > place->group) {
        store_record(heap, place->group, free_record(first - place->group));
        store_link(heap, layout, place->group, next);
    } else {
        store_link(heap, layout, place->previous, next);
    }
}

/* The first partition of a run such as requested, or NO_PARTITION. */
static inline uint32_t list_take(hfit_heap *heap, const partition_layout *layout,
                                 const run_request *request) {
    list_place place;
    if (!list_find(heap, layout, request, &place)) {
        return NO_PARTITION;
    }
    const uint32_t first = place_from(request, place.group);
    list_cut(heap, layout, &place, first, request->count);
    store_record(heap, first, used_record(request->count));
    return first;
}

/* Finds the first free group behind partition `first`, which is used. False if a link is damaged.
 */
static inline bool list_seek(const hfit_heap *heap, const partition_layout *layout, uint32_t first,
                             list_place *place) {
    bool is_sound = move_to_first(heap, layout, place);
    while (is_sound && place->group < first) { /* NO_PARTITION is not */
        is_sound = move_on(heap, layout, place);
    }
    return is_sound;
}

/* How many partitions the group at `first` has; 0 if no used one begins there. */
static inline uint32_t list_group(const hfit_heap *heap, uint32_t first) {
    const uint32_t record = load_record(heap, first);
    return is_record_used(record) ? record_length(record) : 0;
}

/* True if a used group of that length ends where another group begins, or at the end. */
static inline bool is_list_group_sound(const hfit_heap *heap, const partition_layout *layout,
                                       uint32_t first, uint32_t length) {
    const uint32_t left = layout->count - first;
    return length == left || (length < left && load_record(heap, first + length) != 0);
}

/* Makes a run of used partitions, whose record is stale or 0, free and joins it with its free
 * neighbours. False, and nothing changed, if a link is damaged. */
static inline bool list_release(hfit_heap *heap, const partition_layout *layout, uint32_t first,
                                uint32_t length) {
    list_place place;
    HFIT_ASSERT(length != 0 && first + length <= layout->count);
    if (!list_seek(heap, layout, first, &place)) {
        return false;
    }
    uint32_t next = place.group;
    if (next == first + length) {
        length += place.length;
        store_record(heap, next, 0);
        next = load_link(heap, layout, next);
    }
    if (place.previous != NO_PARTITION && place.previous_end == first) {
        store_record(heap, first, 0);
        length += first - place.previous;
        first = place.previous;
    } else {
        store_link(heap, layout, place.previous, first);
    }
    store_record(heap, first, free_record(length));
    store_link(heap, layout, first, next);
    return true;
}

/* Both as their namesakes in partition_bits.h; also false if a link is damaged. */
static inline bool list_shrink(hfit_heap *heap, const partition_layout *layout, uint32_t first,
                               uint32_t end, uint32_t new_end) {
    if (!list_release(heap, layout, new_end, end - new_end)) {
        return false;
    }
    store_record(heap, first, used_record(new_end - first));
    return true;
}

static inline bool list_grow(hfit_heap *heap, const partition_layout *layout, uint32_t first,
                             uint32_t end, uint32_t new_end) {
    list_place place;
    if (new_end > layout->count || is_record_used(load_record(heap, end)) ||
        record_length(load_record(heap, end)) < new_end - end ||
        !list_seek(heap, layout, first, &place) || place.group != end) {
        return false;
    }
    list_cut(heap, layout, &place, end, new_end - end);
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

/* True if no record but the first of a group's is there. */
static inline bool are_records_inside_clear(const hfit_heap *heap, uint32_t first,
                                            uint32_t length) {
    for (uint32_t i = 1; i < length; i++) {
        if (load_record(heap, first + i) != 0) {
            return false;
        }
    }
    return true;
}

/* Groups tile the partitions, records inside them are 0, free groups do not touch, and the list is
 * just the free groups in order. */
static inline bool list_check(const hfit_heap *heap, const partition_layout *layout) {
    uint32_t next = load_link(heap, layout, NO_PARTITION);
    bool after_free = false;
    for (uint32_t first = 0; first < layout->count;) {
        const uint32_t record = load_record(heap, first);
        const uint32_t length = record_length(record);
        const bool is_free = !is_record_used(record);
        if (length == 0 || length > layout->count - first || (is_free && after_free) ||
            is_free != (next == first) || !are_records_inside_clear(heap, first, length)) {
            return false;
        }
        if (is_free) {
            next = load_link(heap, layout, first);
        }
        after_free = is_free;
        first += length;
    }
    return next == NO_PARTITION;
}

#endif
