/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariant of a heap of `good_fit`, for proofs/good_fit.c, which includes this behind the
 * shipped text: a state, the region that it stands for, and whether a region is one of a state.
 */
#ifndef GOOD_FIT_INVARIANT_H
#define GOOD_FIT_INVARIANT_H

enum {
    MOST_BYTES = 1024,
    MOST_CHUNKS = MOST_BYTES / CHUNK_LEAST,
    FIRST_CLASS = 8, /* of the smallest chunks; classes below are control words */
    MOST_CLASSES = 64,
    MOST_ALIGNMENT = 64,
    MOST_LOADS = 1000, /* of one call; more is a loop without end */
};

typedef struct chunk {
    uint32_t start;
    uint32_t size;
    bool is_used;
} chunk;

typedef struct state {
    chunk chunks[MOST_CHUNKS]; /* by address, up to the top */
    uint32_t count;
    uint32_t top;
    uint32_t lists[MOST_CLASSES][MOST_CHUNKS]; /* starts of a class's free chunks, first to last */
    uint32_t lengths[MOST_CLASSES];
} state;

/* A region's numbers, which init leaves and no call changes. */
static hfit_good_fit_plan plan;
static uint32_t first, end, none;
static uint8_t class_of_size[MOST_BYTES / 4 + 2]; /* by size / 4 */

static _Alignas(MOST_ALIGNMENT) unsigned char region[MOST_BYTES];
static unsigned char before[MOST_BYTES], garbage[MOST_BYTES];
static hfit_heap *const heap = (hfit_heap *)(void *)region;

/* Of each word: whether a call may load it, and the chunk whose block it lies in, if one is used.
 */
static bool is_known[MOST_BYTES / 4], known_before[MOST_BYTES / 4];
static uint32_t holder[MOST_BYTES / 4];
static uint32_t own; /* the chunk that a call is about, or 0 */
static uint32_t loads, stores, misuses;
static const void *bad;  /* what is to be told as misuse, if anything */
static hfit_misuse kind; /* as which */
static uint64_t states, calls;

static void note_load(uint32_t offset) {
    CHECK(offset % 4 == 0 && offset < end && is_known[offset / 4]);
    CHECK(++loads <= MOST_LOADS);
}

static void note_store(uint32_t offset) {
    CHECK(offset % 4 == 0 && offset < end);
    CHECK(holder[offset / 4] == 0 || holder[offset / 4] == own);
    is_known[offset / 4] = true;
    stores++;
}

static void note_misuse(hfit_misuse told, const void *pointer) {
    CHECK(pointer == bad && misuses++ == 0);
    CHECK(told == kind);
}

static uint32_t word_at(uint32_t offset) {
    uint32_t word;
    memcpy(&word, region + offset, 4);
    return word;
}

/* The highest top that a region had: what its footprint follows from. */
static uint32_t highest_top(const unsigned char *of) {
    uint32_t top, lowered;
    memcpy(&top, of + TOP, 4);
    memcpy(&lowered, of + FOOTPRINT, 4);
    return top > lowered ? top : lowered;
}

static void put(uint32_t offset, uint32_t word) {
    memcpy(region + offset, &word, 4);
    is_known[offset / 4] = true;
}

/* What stands for words in free chunks, as src/tiling/coded.h and free_list.h say. */
static uint32_t as_link(uint32_t offset) {
    return HFIT_SAFETY >= 1 ? ~offset : offset;
}

static uint32_t as_place(uint32_t place) {
    return HFIT_SAFETY >= 1 ? 3 - place : place;
}

static uint32_t as_free(uint32_t size) {
    return HFIT_SAFETY >= 1 ? ~size : size + 1;
}

static uint32_t size_of_free(uint32_t word) {
    return HFIT_SAFETY >= 1 ? ~word : word - 1;
}

/* ---- The classes: each granule up to 16, then four for each power of two. ---- */

static void number_classes(void) {
    uint32_t class = FIRST_CLASS, next = CHUNK_LEAST, step = plan.common.alignment;
    for (uint32_t size = CHUNK_LEAST; size / 4 < sizeof class_of_size; size += 4) {
        if (size == next + step) {
            class ++;
            next = size;
        }
        if (next >= 16 * plan.common.alignment && (next & (next - 1)) == 0) {
            step = next / 4;
        }
        class_of_size[size / 4] = (uint8_t) class;
    }
}

/* ---- From a state to a region, and back. ---- */

static void lay_free(const state *s, uint32_t start, uint32_t size) {
    const uint32_t class = class_of_size[size / 4];
    const uint32_t *list = s->lists[class];
    uint32_t i = 0;
    while (list[i] != start) {
        i++;
    }
    put(start, as_free(size));
    put(start + size - 4, as_free(size));
    put(start + 4, as_link(i + 1 < s->lengths[class] ? list[i + 1] : 0));
    put(start + 8, as_place(i == 0 ? 4 * class : list[i - 1] + 4));
}

/* Lays out a state's region, with the footprint at one of its ends. */
static void lay_out(const state *s, bool is_high) {
    uint32_t maps[MAP_WORDS] = {0}, used = 0;
    bool after_free = false;
    memcpy(region, garbage, sizeof region);
    memset(is_known, 0, sizeof is_known);
    memset(holder, 0, sizeof holder);
    for (uint32_t i = 0; i < s->count; i++) {
        const chunk *c = &s->chunks[i];
        if (c->is_used) {
            put(c->start, c->size + 2 * after_free);
            used++;
            for (uint32_t word = c->start / 4 + 1; word < (c->start + c->size) / 4; word++) {
                holder[word] = c->start;
            }
        } else {
            lay_free(s, c->start, c->size);
        }
        after_free = !c->is_used;
    }
    for (uint32_t class = FIRST_CLASS; class <= none; class ++) {
        put(4 * class, as_link(s->lengths[class] > 0 ? s->lists[class][0] : 0));
        if (s->lengths[class] > 0 || class == none) {
            maps[class / 32] |= 1u << (31 - class % 32);
        }
    }
    for (uint32_t i = 0; i < MAP_WORDS; i++) {
        put(4 * i, maps[i] + (CHECKS_WORDS && i == 0 ? used << 24 : 0));
    }
    put(CHUNKS_END, end);
    put(TOP, s->top);
    put(FOOTPRINT, is_high ? end : 0);
    put(CHUNKS_FIRST, first);
    memcpy(before, region, sizeof region);
    memcpy(known_before, is_known, sizeof is_known);
}

/* Free chunks in a class's list, each of the class, known as free and led back from. */
static uint32_t count_list(uint32_t class, bool is_free[]) {
    uint32_t count = 0, place = 4 * class;
    for (uint32_t at = as_link(word_at(place)); at != 0; at = as_link(word_at(place)), count++) {
        CHECK(at >= first && at < end && at % 4 == 0 && is_free[at / 4]);
        is_free[at / 4] = false;
        CHECK(class_of_size[size_of_free(word_at(at)) / 4] == class);
        CHECK(as_place(word_at(at + 8)) == place);
        place = at + 4;
    }
    CHECK(((word_at(class / 32 * 4) >> (31 - class % 32)) & 1) == (count != 0 || class == none));
    return count;
}

/* The invariant, of the region as it is, where just these blocks are live. A size of 0 stands for
 * any from `least` on of which the rest would be no chunk. */
static void check_invariant(const chunk *live, uint32_t count, uint32_t least) {
    bool is_free[MOST_BYTES / 4] = {false}, after_free = false;
    const uint32_t top = word_at(TOP);
    uint32_t left = 0, used = 0;
    CHECK(word_at(CHUNKS_END) == end && word_at(CHUNKS_FIRST) == first);
    CHECK(first <= top && top <= end);
    CHECK(highest_top(region) == (top > highest_top(before) ? top : highest_top(before)));
    for (uint32_t at = first; at != top;) {
        const uint32_t word = word_at(at);
        const bool is_used = used < count && live[used].start == at;
        const uint32_t size = is_used ? word & ~3u : size_of_free(word);
        CHECK(size >= CHUNK_LEAST && size % plan.common.alignment == 0 && size <= top - at);
        if (is_used) {
            CHECK((word & 3) == 2 * (uint32_t)after_free);
            CHECK(live[used].size == 0 ? size >= least && size - least < CHUNK_LEAST
                                       : size == live[used].size);
            used++;
        } else {
            CHECK(!after_free && word == as_free(size) && word_at(at + size - 4) == word);
            is_free[at / 4] = true;
            left++;
        }
        after_free = !is_used;
        at += size;
    }
    CHECK(!after_free && used == count);
    for (uint32_t class = FIRST_CLASS; class <= none; class ++) {
        left -= count_list(class, is_free);
    }
    CHECK(left == 0 && word_at(4 * none) == as_link(0));
    CHECK(word_at(0) >> 24 == (CHECKS_WORDS ? used : 0) && heap_check(heap, &plan.common));
}

#endif
