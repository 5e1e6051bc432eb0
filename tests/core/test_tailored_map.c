/* SPDX-License-Identifier: Apache-2.0 */
/* tailored's two maps of bounds alone: on chunks drawn at random, with whatever was left in words
 * that no mark needs, each granule tells what begins there. The source is included for what it
 * keeps to itself. */
#include "contract_config.h"

#include "check.h"
#include "random_number.h"

#include "src/tailored/tailored.c"

static _Alignas(4096) unsigned char region[1 << 15];

static hfit_tailored_plan settings = {.common = {8}, .ends = 1};
static const hfit_plan *const plan = &settings.common;

enum { MOST_DRAWN = 2000 };

typedef struct drawing {
    struct {
        uint32_t start;
        bool is_free;
    } chunks[MOST_DRAWN + 1];
    size_t count;
} drawing;

static uint32_t drawn_size(void) {
    static const uint32_t most[] = {4, 8, 70, 300};
    return least_chunk(plan) + random_below(most[random_below(4)]);
}

/* Chunks from the first granule to `end`, the last one's, free ones not side by side. */
static void draw_chunks(drawing *d, uint32_t first, uint32_t end) {
    uint32_t start = first;
    for (d->count = 0; start < end; d->count++) {
        const bool after_free = d->count > 0 && d->chunks[d->count - 1].is_free;
        const uint32_t size = drawn_size();
        CHECK(d->count < MOST_DRAWN);
        d->chunks[d->count].start = start;
        d->chunks[d->count].is_free = !after_free && random_below(2) == 0;
        start += end - start < size + least_chunk(plan) ? end - start : size;
    }
    d->chunks[d->count].start = end;
    d->chunks[d->count].is_free = false;
}

/* Words with no mark of their own hold what was left there. */
static void draw_map(hfit_heap *heap, const drawing *d, const map_layout *layout) {
    for (uint32_t at = layout->start; at < layout->end; at += 4) {
        store_word(heap, at, random_below(2) == 0 ? 0 : skip_of(random_below(1 << 24)));
    }
    for (uint32_t outside = 0; outside < 2; outside++) {
        store_word(heap, outside == 0 ? layout->start : layout->end - 4, 0);
    }
    for (size_t i = 0; i <= d->count; i++) {
        const uint32_t start = d->chunks[i].start;
        const uint32_t end = d->chunks[i + (i < d->count)].start;
        mark(heap, layout->base, start, d->chunks[i].is_free ? 2 : 1);
        if (d->chunks[i].is_free) {
            mark(heap, layout->base, end - 2, 2);
        }
    }
    for (size_t i = 0; i < d->count; i++) {
        const uint32_t is_free = d->chunks[i].is_free;
        note_skip(heap, layout->base, d->chunks[i].start + is_free,
                  d->chunks[i + 1].start - 2 * is_free);
    }
}

/* The same in pairs. */
static void draw_pairs(hfit_heap *heap, const drawing *d, const map_layout *layout) {
    for (uint32_t at = layout->start; at < layout->end; at += GROUP_SIZE) {
        const bool is_outside = at == layout->start || at + GROUP_SIZE == layout->end;
        const uint32_t left = is_outside ? 0 : random_below(1 << 24);
        const uint32_t sign = left == 0 ? 0 : SKIP_PAIRS;
        store_group(heap, at, left, sign | left, sign);
    }
    begin_at(heap, d->chunks[0].start - 1, USED_BEGINS);
    for (size_t i = 0; i <= d->count; i++) {
        begin_at(heap, d->chunks[i].start, d->chunks[i].is_free ? FREE_BEGINS : USED_BEGINS);
    }
    for (size_t i = 0; i < d->count; i++) {
        note_passed(heap, d->chunks[i].start, d->chunks[i + 1].start);
    }
}

static void check_used(const hfit_heap *heap, const drawing *d, size_t i) {
    const bool after_free = i > 0 && d->chunks[i - 1].is_free;
    hfit_misuse misuse;
    place at = {.start = d->chunks[i].start};
    CHECK(bounds_find(heap, plan, &at, &misuse));
    CHECK(at.end == d->chunks[i + 1].start);
    CHECK(look_around(heap, plan, &at));
    CHECK(at.from == (after_free ? d->chunks[i - 1].start : at.start));
    CHECK(at.to == (d->chunks[i + 1].is_free ? d->chunks[i + 2].start : at.end));
}

/* Asks of each granule whether a used chunk begins there, or a free one of any size up to eight or
 * of the chunk's. */
static void check_drawing(const hfit_heap *heap, const drawing *d) {
    hfit_misuse misuse;
    for (size_t i = 0; i < d->count; i++) {
        const uint32_t start = d->chunks[i].start;
        const uint32_t size = d->chunks[i + 1].start - start;
        for (uint32_t granule = start; granule < start + size; granule++) {
            const bool is_first = granule == start;
            place at = {.start = granule};
            CHECK(bounds_find(heap, plan, &at, &misuse) == (is_first && !d->chunks[i].is_free));
            for (uint32_t asked = least_chunk(plan); asked <= 8; asked++) {
                CHECK(is_free_chunk(heap, plan, granule, asked) ==
                      (is_first && d->chunks[i].is_free && asked == size));
            }
        }
        CHECK(is_free_chunk(heap, plan, start, size) == d->chunks[i].is_free);
        if (!d->chunks[i].is_free) {
            check_used(heap, d, i);
        }
    }
}

static void check_drawings(hfit_tailored_layout which) {
    static drawing d;
    random_state = 7;
    settings.layout = which;
    for (uint32_t round = 0; round < 300; round++) {
        hfit_heap *heap = hfit_tailored_init(region, 16384 + 8 * random_below(64), plan);
        const uint32_t end = chunks_end(heap) / 8;
        map_layout layout = {0};
        draw_chunks(&d, lay_out(plan, end, &layout), end);
        if (which == HFIT_TAILORED_PAIRS) {
            draw_pairs(heap, &d, &layout);
        } else {
            draw_map(heap, &d, &layout);
        }
        check_drawing(heap, &d);
    }
}

TEST(each_granule_tells_in_a_few_words_what_begins_there) {
    check_drawings(HFIT_TAILORED_MAP);
    check_drawings(HFIT_TAILORED_PAIRS);
}

/* The granules that the map's first group has in common with the control words. */
TEST(no_granule_before_the_first_chunk_s_neighbour_may_be_marked_in_pairs) {
    uint32_t marked = 0;
    settings.layout = HFIT_TAILORED_PAIRS;
    for (uint32_t size = 1024; size <= 16384; size += 136) {
        hfit_heap *heap = hfit_tailored_init(region, size, plan);
        map_layout layout = {0};
        const uint32_t first = lay_out(plan, chunks_end(heap) / 8, &layout);
        for (uint32_t granule = layout.first & ~63u; granule + 1 < first; granule++, marked++) {
            begin_at(heap, granule, USED_BEGINS);
            CHECK(!hfit_tailored_check(heap, plan));
            begin_at(heap, granule, NONE_BEGINS);
            CHECK(hfit_tailored_check(heap, plan));
        }
    }
    CHECK(marked > 1000);
}

RUN_TESTS()
