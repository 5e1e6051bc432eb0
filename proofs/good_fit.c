/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `good_fit` does in every state that its invariant allows, in regions up to a size: an
 * induction over calls, run by scripts/prove_heap.py on the shipped text.
 *
 *   good_fit ALIGNMENT BYTES    regions of that plan, from the smallest to BYTES
 *
 * A state is how chunks tile the heap up to its top, which of them are used, in what order the
 * lists of classes hold the free ones, and whether the footprint was higher. No two free chunks
 * touch, and none touches the top. All such states are made, reached or not; in each of them every
 * request, every free of a live block, every resize and every aligned request is called once, and
 * from safety level 1 on a free of every other even address, and of what was freed once more.
 * Afterwards the invariant holds again, the live blocks are those before but for the one that the
 * call is about, and all others have their bytes.
 *
 * What else the region holds cannot matter: a call that loads a word which is neither metadata nor
 * was stored by it fails, and so does one that stores into another's block.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hfit/contract.h"

static void note_load(uint32_t offset);
static void note_store(uint32_t offset);
static void note_misuse(hfit_misuse kind, const void *pointer);

/* Ends the program with what does not hold. */
#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            fprintf(stderr, "%s, line %d: not true: %s\n", now, __LINE__, #statement);             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *now = "init";

#define HFIT_ON_LOAD(heap, offset) ((void)(heap), note_load(offset))
#define HFIT_ON_STORE(heap, offset) ((void)(heap), note_store(offset))
#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), note_misuse((hfit_misuse)(kind), pointer))
#define HFIT_ASSERT(statement) CHECK(statement)
#include "src/tiling/good_fit.c"

#include "good_fit_invariant.h"

/* ---- One call in one state. ---- */

static void begin(const char *name, uint32_t about) {
    now = name;
    memcpy(region, before, sizeof region);
    memcpy(is_known, known_before, sizeof is_known);
    own = about;
    loads = stores = misuses = 0;
    bad = NULL;
    calls++;
}

/* What holds after a call that is about the chunk `old` (0: none) and gave `block` for at least
 * `least` bytes of chunk (NULL: for none). */
static void finish(const state *s, uint32_t old, const unsigned char *block, uint32_t least) {
    chunk live[MOST_CHUNKS];
    uint32_t count = 0;
    const uint32_t start = block == NULL ? end : (uint32_t)(block - region) - HEADER_SIZE;
    bool is_put = block == NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const chunk *c = &s->chunks[i];
        if (!is_put && start < c->start) {
            live[count++] = (chunk){start, 0, true};
            is_put = true;
        }
        if (c->is_used && c->start != old) {
            live[count++] = *c;
            CHECK(memcmp(region + c->start + 4, garbage + c->start + 4, c->size - 4) == 0);
        }
    }
    if (!is_put) {
        live[count++] = (chunk){start, 0, true};
    }
    memset(is_known, true, sizeof is_known); /* heap_check may look at what it likes */
    loads = 0;
    check_invariant(live, count, least);
}

static void expect_unchanged(void) {
    CHECK(stores == 0 && memcmp(region, before, sizeof region) == 0);
}

/* The chunk that is to serve a request of this chunk size: of the first two of its class one that
 * has room, else the first of the next class that has any, else the top; 0 if that has no room. */
static uint32_t serving(const state *s, uint32_t needed) {
    uint32_t class = class_of_size[needed / 4];
    for (uint32_t i = 0; i < 2 && i < s->lengths[class]; i++) {
        for (uint32_t j = 0; j < s->count; j++) {
            if (s->chunks[j].start == s->lists[class][i] && s->chunks[j].size >= needed) {
                return s->chunks[j].start;
            }
        }
    }
    for (class ++; class < none; class ++) {
        if (s->lengths[class] > 0) {
            return s->lists[class][0];
        }
    }
    return end - s->top >= needed ? s->top : 0;
}

static uint32_t needed_for(size_t size) {
    const uint32_t mask = plan.common.alignment - 1;
    const uint32_t needed = ((uint32_t)size + 4 + mask) & ~mask;
    return needed < CHUNK_LEAST ? CHUNK_LEAST : needed;
}

static void try_alloc(const state *s, size_t size) {
    begin("alloc", 0);
    const unsigned char *block = hfit_good_fit_alloc(heap, &plan.common, size);
    const uint32_t start = size < end ? serving(s, needed_for(size)) : 0;
    CHECK(block == (start == 0 ? NULL : region + start + HEADER_SIZE));
    if (block == NULL) {
        expect_unchanged();
    } else {
        finish(s, 0, block, needed_for(size));
    }
}

/* Bytes before an aligned block in a chunk: 0, or enough for a free chunk. */
static uint32_t gap_before(uint32_t start, uint32_t alignment) {
    uint32_t gap = (0u - start - HEADER_SIZE) & (alignment - 1);
    while (gap != 0 && gap < CHUNK_LEAST) {
        gap += alignment;
    }
    return gap;
}

/* As serving, for an aligned block: a chunk that has room wherever it begins, else the top if that
 * has just enough; where the block lies. */
static uint32_t serving_aligned(const state *s, uint32_t alignment, uint32_t needed) {
    const uint32_t most = alignment + CHUNK_LEAST - plan.common.alignment;
    uint32_t start = needed + most < end ? serving(s, needed + most) : 0;
    if (start == 0 && gap_before(s->top, alignment) + needed <= end - s->top) {
        start = s->top;
    }
    return start == 0 ? 0 : start + gap_before(start, alignment) + HEADER_SIZE;
}

static void try_aligned(const state *s, size_t alignment, size_t size) {
    begin("alloc_aligned", 0);
    const unsigned char *block = hfit_good_fit_alloc_aligned(heap, &plan.common, alignment, size);
    if (alignment > plan.common.alignment) {
        const uint32_t needed = needed_for(size);
        const uint32_t place = size < end ? serving_aligned(s, (uint32_t)alignment, needed) : 0;
        CHECK(block == (place == 0 ? NULL : region + place));
    }
    if (block == NULL) {
        expect_unchanged();
    } else {
        CHECK((uintptr_t)block % alignment == 0);
        finish(s, 0, block, needed_for(size));
    }
}

/* A free of what a call just gave back or moved away from. */
static void free_again(const unsigned char *block) {
    bad = block;
    kind = (uint32_t)(block - region) - HEADER_SIZE >= word_at(TOP) ? HFIT_MISUSE_FOREIGN
                                                                    : HFIT_MISUSE_NOT_LIVE;
    stores = 0;
    hfit_good_fit_free(heap, &plan.common, (unsigned char *)(uintptr_t)block);
    CHECK(misuses == 1 && stores == 0);
}

static void try_free(const state *s, const chunk *c) {
    begin("free", c->start);
    CHECK(hfit_good_fit_free_usable(heap, &plan.common, region + c->start + HEADER_SIZE) ==
          c->size - HEADER_SIZE);
    finish(s, c->start, NULL, 0);
    if (HFIT_SAFETY >= 1) {
        CHECK((word_at(c->start) & CHUNK_FREE) != 0); /* whatever block it lies in later */
        free_again(region + c->start + HEADER_SIZE);
    }
}

/* What may stand before an address that is no block's and is no header there: with this kind of
 * word the chunk `c`, in which it stands, if one is there, would seem to end where it does. */
static uint32_t no_header(const chunk *c, uint32_t offset) {
    const uint32_t rest = c == NULL ? 0 : c->start + c->size - offset;
    const uint32_t words[] = {0,
                              8,
                              end,
                              garbage[offset] * 0x01010101u,
                              HFIT_LARGEST_BLOCK + 1,
                              c == NULL || c->is_used ? 12 : rest};
    return words[(offset / 4 + states) % (sizeof words / sizeof words[0])];
}

/* A free of an address that is no live block's. The word before it, if it is no metadata, is none
 * of a header: else it is one that the program forged, which level 1 may believe. */
static void try_bad_free(const state *s, uint32_t offset) {
    const chunk *in = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const chunk *c = &s->chunks[i];
        if (c->is_used && offset == c->start + HEADER_SIZE) {
            return;
        }
        in = c->start + HEADER_SIZE < offset && offset < c->start + c->size ? c : in;
    }
    begin("bad free", 0);
    bad = region + offset;
    if (offset >= HEADER_SIZE && offset % 4 == 0 && offset <= end && !is_known[offset / 4 - 1]) {
        put(offset - HEADER_SIZE, no_header(in, offset - HEADER_SIZE));
    }
    kind = offset < first + HEADER_SIZE || offset >= s->top + HEADER_SIZE ||
                   offset % plan.common.alignment != 0 ||
                   (word_at(offset - HEADER_SIZE) & CHUNK_FREE) == 0
               ? HFIT_MISUSE_FOREIGN
               : HFIT_MISUSE_NOT_LIVE;
    memset(is_known, true, sizeof is_known); /* the word behind a chunk that is none */
    CHECK(hfit_good_fit_free_usable(heap, &plan.common, region + offset) == 0);
    CHECK(misuses == 1 && stores == 0);
}

/* The chunk in which a block has room for a new size: its own with what is free behind it, else the
 * one that serves a request, else its own with what is free on both sides; 0 if none has. */
static uint32_t serving_resize(const state *s, const chunk *c, uint32_t needed) {
    const uint32_t i = (uint32_t)(c - s->chunks);
    const chunk *left = i > 0 && !c[-1].is_used ? c - 1 : NULL;
    const bool is_last = i + 1 == s->count;
    const uint32_t behind = is_last ? end - s->top : c[1].is_used ? 0 : c[1].size;
    if (needed <= c->size + behind) {
        return c->start;
    }
    const uint32_t start = serving(s, needed);
    return start != 0 || left == NULL || left->size + c->size + behind < needed ? start
                                                                                : left->start;
}

static void try_resize(const state *s, const chunk *c, size_t size) {
    begin("resize", c->start);
    unsigned char *block = region + c->start + HEADER_SIZE;
    const unsigned char *moved = hfit_good_fit_resize(heap, &plan.common, block, size);
    const uint32_t start = size < end ? serving_resize(s, c, needed_for(size)) : 0;
    CHECK(moved == (start == 0 ? NULL : region + start + HEADER_SIZE));
    if (moved == NULL) {
        expect_unchanged();
        return;
    }
    const size_t kept = size < c->size - 4 ? size : c->size - 4;
    CHECK(memcmp(moved, garbage + c->start + HEADER_SIZE, kept) == 0);
    finish(s, c->start, moved, needed_for(size));
    if (HFIT_SAFETY >= 1 && moved != block) {
        free_again(block);
    }
}

/* A free and a resize of a block beside which this word is damaged: it is not the one at `again`,
 * where the sound one stands. */
static void try_beside(const chunk *c, uint32_t offset, uint32_t word, uint32_t again) {
    unsigned char *block = region + c->start + HEADER_SIZE;
    begin("damaged neighbour", 0);
    if (word != word_at(again)) {
        put(offset, word);
        memset(is_known, true, sizeof is_known);
        bad = block;
        kind = HFIT_MISUSE_DAMAGED;
        CHECK(hfit_good_fit_free_usable(heap, &plan.common, block) == 0);
        CHECK(misuses-- == 1 && stores == 0);
        CHECK(hfit_good_fit_resize(heap, &plan.common, block, 1) == NULL);
        CHECK(misuses == 1 && stores == 0);
    }
}

/* Where words are checked: a block whose neighbours' headers and links are damaged, one word at a
 * time, by values that no sound heap has there; of sizes those that do not stand where they lead.
 */
static void try_damage(const state *s, const chunk *c) {
    const chunk *const next = c + 1;
    const uint32_t behind = c->start + c->size, i = (uint32_t)(c - s->chunks);
    const uint32_t longer = s->top - behind + plan.common.alignment;
    for (uint32_t size = 4; i + 1 < s->count && size <= longer; size += 4) {
        try_beside(c, behind, as_free(size), behind + size - 4);
    }
    if (i + 1 < s->count) {
        try_beside(c, behind, longer, behind); /* a used one */
    }
    for (const chunk *n = i > 0 ? c - 1 : next; n <= next && n < s->chunks + s->count; n += 2) {
        const uint32_t links[] = {n->start + 4, s->top, end + 4, n->start + 2};
        for (uint32_t j = 0; !n->is_used && j < sizeof links / sizeof links[0]; j++) {
            try_beside(c, n->start + 4, as_link(j == 0 ? n->start : links[j]), n->start + 4);
            try_beside(c, n->start + 8, as_place(links[j]), n->start + 8);
        }
        for (uint32_t size = 4; n < c && !n->is_used && size <= c->start; size += 4) {
            try_beside(c, c->start - 4, as_free(size), c->start - size);
        }
    }
}

/* Every call: of sizes one for each size of a chunk, and one that no heap has. */
static void try_calls(const state *s) {
    for (uint32_t needed = needed_for(0);; needed += plan.common.alignment) {
        const size_t size = needed <= end - first ? needed - HEADER_SIZE : SIZE_MAX;
        try_alloc(s, size);
        for (size_t alignment = 2 * plan.common.alignment; alignment <= 32; alignment *= 2) {
            try_aligned(s, alignment, size);
        }
        for (uint32_t i = 0; i < s->count; i++) {
            if (s->chunks[i].is_used) {
                try_resize(s, &s->chunks[i], size);
            }
        }
        if (size == SIZE_MAX) {
            break;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->chunks[i].is_used) {
            try_free(s, &s->chunks[i]);
            if (CHECKS_WORDS) {
                try_damage(s, &s->chunks[i]);
            }
        }
    }
    for (uint32_t offset = 0; HFIT_SAFETY >= 1 && offset <= end + 8; offset += 2) {
        try_bad_free(s, offset);
    }
}

/* ---- All states. ---- */

static void try_states(state *s);

/* Adds a free chunk behind the last one, at each place of its class's list. */
static void try_free_chunk(state *s, uint32_t size) {
    const uint32_t class = class_of_size[size / 4];
    uint32_t *list = s->lists[class];
    const uint32_t length = s->lengths[class]++;
    s->chunks[s->count++] = (chunk){s->top, size, false};
    s->top += size;
    for (uint32_t place = 0; place <= length; place++) {
        memmove(list + place + 1, list + place, (length - place) * sizeof *list);
        list[place] = s->chunks[s->count - 1].start;
        try_states(s);
        memmove(list + place, list + place + 1, (length - place) * sizeof *list);
    }
    s->top -= size;
    s->count--;
    s->lengths[class]--;
}

/* All states that begin with these chunks. */
static void try_states(state *s) {
    const bool after_free = s->count > 0 && !s->chunks[s->count - 1].is_used;
    for (bool is_high = false; !after_free; is_high = true) {
        lay_out(s, is_high);
        states++;
        try_calls(s);
        if (is_high) {
            break;
        }
    }
    for (uint32_t size = CHUNK_LEAST; size <= end - s->top; size += plan.common.alignment) {
        s->chunks[s->count++] = (chunk){s->top, size, true};
        s->top += size;
        try_states(s);
        s->top -= size;
        s->count--;
        if (!after_free) {
            try_free_chunk(s, size);
        }
    }
}

/* States of a larger region, with two chunks of a class that holds several sizes, in either order.
 */
static void try_two_of_a_class(void) {
    const uint32_t granule = plan.common.alignment, used = needed_for(0);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t sizes[] = {(16 + i / 2 % 4) * granule, (16 + i / 8) * granule};
        const uint32_t class = class_of_size[sizes[0] / 4];
        state s = {.top = first};
        for (uint32_t j = 0; j < 5; j++) {
            const uint32_t size = j % 2 == 0 ? used : sizes[j / 2];
            s.chunks[s.count++] = (chunk){s.top, size, j % 2 == 0};
            s.top += size;
        }
        s.lengths[class] = 2;
        s.lists[class][i % 2] = s.chunks[1].start;
        s.lists[class][1 - i % 2] = s.chunks[3].start;
        lay_out(&s, false);
        states++;
        try_calls(&s);
    }
}

/* A region's numbers, and what init leaves of it. False if it is too small. */
static bool try_init(uint32_t bytes) {
    now = "init";
    memcpy(region, garbage, sizeof region);
    memset(is_known, 0, sizeof is_known);
    memset(holder, 0, sizeof holder);
    const uint32_t mask = plan.common.alignment - 1;
    end = ((bytes + 4) & ~mask) - 4;
    none = class_of_size[(end + 4) / 4] + 1u;
    first = ((4 * (none + 1) + 4 + mask) & ~mask) - 4;
    const bool is_enough = bytes >= 48 && first + CHUNK_LEAST <= end;
    CHECK((hfit_good_fit_init(region, bytes, &plan.common) != NULL) == is_enough);
    CHECK(is_enough == (bytes >= hfit_good_fit_smallest_region(&plan.common)));
    if (is_enough) {
        memset(before, 0, sizeof before);
        finish(&(state){.top = first}, 0, NULL, 0);
    }
    return is_enough;
}

/* Requests of any size in a fresh heap: what else one of them asks for is one of the chunks above.
 */
static void try_sizes(void) {
    const state fresh = {.top = first};
    lay_out(&fresh, false);
    begin("free of none", 0);
    hfit_good_fit_free(heap, &plan.common, NULL);
    expect_unchanged();
    CHECK(hfit_good_fit_alloc_aligned(heap, &plan.common, 3, 1) == NULL);
    const hfit_plan odd = {3};
    CHECK(hfit_good_fit_smallest_region(&odd) == 0);
    begin("resize of none", 0);
    finish(&fresh, 0, hfit_good_fit_resize(heap, &plan.common, NULL, 9), needed_for(9));
    try_aligned(&fresh, plan.common.alignment, 1);
    CHECK(stores > 0);
    for (uint32_t i = 0; i < 2 * MOST_BYTES; i++) {
        try_alloc(&fresh, i);
        try_alloc(&fresh, SIZE_MAX - i);
        try_alloc(&fresh, (size_t)UINT32_MAX + MOST_BYTES - i);
        try_alloc(&fresh, (size_t)INT32_MAX + MOST_BYTES - i);
    }
}

int main(int count, char **words) {
    CHECK(count == 3);
    plan.common.alignment = (uint32_t)atoi(words[1]);
    const uint32_t most = (uint32_t)atoi(words[2]);
    CHECK(most <= MOST_BYTES);
    for (uint32_t i = 0; i < MOST_BYTES; i++) {
        garbage[i] = (unsigned char)(0xa5 + 7 * i);
    }
    number_classes();
    for (uint32_t bytes = 0; bytes <= most; bytes++) {
        if (try_init(bytes) && (bytes + 4) % plan.common.alignment == 0) {
            try_sizes();
            try_states(&(state){.top = first});
        }
    }
    CHECK(states > 0 && try_init(MOST_BYTES - 4));
    try_two_of_a_class();
    printf("%llu states, %llu calls\n", (unsigned long long)states, (unsigned long long)calls);
    return 0;
}
