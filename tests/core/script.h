/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a heap places its blocks, as a script of words. After each word the heap's check must hold.
 *
 *   40  2*40  40@64   one request of 40 bytes, two of them, one at an alignment of 64
 *   a:40              its place is named a, for good
 *   a~90  -a          the block at a is resized, is freed
 *   *40  *            requests of 40 bytes until one is refused; of any size until nothing is left
 *   F  W              the heap's footprint, its first word
 *
 * Behind a request, a resize, F or W stands what must come of it; else it must be served:
 *
 *   !                 it is refused
 *   =a+8  !=a  >a     its place, by a name and bytes, or from the region's start
 *   [96]              its usable bytes
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "hfit/contract.h"

#include "check.h"

#include <stdbool.h>
#include <string.h>

enum { SCRIPT_REGION = 512 * 1024 };

#define REFUSED SIZE_MAX

typedef struct script {
    const char *what; /* holds of the heap */
    const hfit_operations *operations;
    const void *plan;
    size_t bytes; /* of the region */
    const char *words;
} script;

#define SCRIPT(allocator, plan, bytes, what, words)                                                \
    { what, &hfit_##allocator##_operations, &(plan), bytes, words }

static _Alignas(4096) unsigned char script_region[SCRIPT_REGION];

typedef struct script_run {
    const script *script;
    const hfit_operations *operations;
    const hfit_plan *plan;
    hfit_heap *heap;
    const char *at;
    size_t places[26]; /* by name */
} script_run;

static bool skip_char(script_run *r, char c) {
    const bool is_there = *r->at == c;
    r->at += is_there;
    return is_there;
}

static size_t read_number(script_run *r) {
    char *end;
    const size_t number = strtoul(r->at, &end, 10);
    CHECK(end != r->at);
    r->at = end;
    return number;
}

/* A name's place or a number, and what is added. */
static size_t read_place(script_run *r) {
    const bool is_name = *r->at >= 'a' && *r->at <= 'z';
    size_t place = is_name ? r->places[*r->at++ - 'a'] : read_number(r);
    while (*r->at == '+' || *r->at == '-') {
        place = skip_char(r, '+') ? place + read_number(r) : (r->at++, place - read_number(r));
    }
    return place;
}

static size_t place_of(const unsigned char *block) {
    return block == NULL ? REFUSED : (size_t)(block - script_region);
}

static void check_answer(script_run *r, size_t place) {
    const char sign = *r->at;
    if (sign == '!' && r->at[1] != '=') {
        r->at++;
        CHECK(place == REFUSED);
        return;
    }
    CHECK(place != REFUSED);
    if (sign == '=' || sign == '!' || sign == '>') {
        r->at += sign == '!' ? 2 : 1;
        const size_t told = read_place(r);
        CHECK(sign == '=' ? place == told : sign == '>' ? place > told : place != told);
    }
    if (skip_char(r, '[')) {
        CHECK(r->operations->usable_size(r->heap, r->plan, script_region + place) ==
              read_number(r));
        CHECK(skip_char(r, ']'));
    }
}

static size_t ask(const script_run *r, size_t alignment, size_t size) {
    unsigned char *block = alignment == 0
                               ? r->operations->alloc(r->heap, r->plan, size)
                               : r->operations->alloc_aligned(r->heap, r->plan, alignment, size);
    CHECK(block == NULL || alignment == 0 || (uintptr_t)block % alignment == 0);
    return place_of(block);
}

static size_t resize_named(script_run *r) {
    unsigned char *block = script_region + r->places[r->at[0] - 'a'];
    r->at += 2;
    return place_of(r->operations->resize(r->heap, r->plan, block, read_number(r)));
}

/* Requests of one size, or of any if that is 0, until the last is refused. */
static void take_all(const script_run *r, size_t only) {
    for (size_t size = only == 0 ? r->script->bytes : only; size > 0; size = only ? 0 : size / 2) {
        while (ask(r, 0, size) != REFUSED) {
        }
    }
}

static size_t read_requests(script_run *r) {
    size_t size = read_number(r);
    if (skip_char(r, '*')) {
        size_t count = size;
        for (size = read_number(r); count > 1; count--) {
            CHECK(ask(r, 0, size) != REFUSED);
        }
    }
    return ask(r, skip_char(r, '@') ? read_number(r) : 0, size);
}

static size_t read_word_of_heap(script_run *r) {
    uint32_t word;
    memcpy(&word, script_region, sizeof word);
    return *r->at++ == 'F' ? r->operations->footprint(r->heap, r->plan) : word;
}

static void run_word(script_run *r) {
    const char name = r->at[1] == ':' ? *r->at : '\0';
    r->at += name == '\0' ? 0 : 2;
    if (*r->at == '-') {
        r->operations->free(r->heap, r->plan, script_region + r->places[r->at[1] - 'a']);
        r->at += 2;
    } else if (*r->at == '*') {
        r->at++;
        take_all(r, *r->at == ' ' || *r->at == '\0' ? 0 : read_number(r));
    } else {
        const size_t place = *r->at == 'F' || *r->at == 'W' ? read_word_of_heap(r)
                             : r->at[1] == '~'              ? resize_named(r)
                                                            : read_requests(r);
        check_answer(r, place);
        if (name != '\0') {
            r->places[name - 'a'] = place;
        }
    }
    CHECK(r->operations->check(r->heap, r->plan));
}

static void run_script(const script *s) {
    char context[400];
    script_run r = {s, s->operations, s->plan, NULL, s->words, {0}};
    CHECK(s->bytes <= SCRIPT_REGION);
    r.heap = s->operations->init(script_region, s->bytes, s->plan);
    CHECK(r.heap != NULL);
    while (*r.at != '\0') {
        snprintf(context, sizeof context, "%s: before \"%s\"", s->what, r.at);
        check_context = context;
        run_word(&r);
        CHECK(*r.at == ' ' || *r.at == '\0');
        r.at += *r.at == ' ';
    }
    check_context = "";
    check_passed++;
}

#define RUN_SCRIPTS(scripts)                                                                       \
    do {                                                                                           \
        for (size_t i = 0; i < sizeof(scripts) / sizeof *(scripts); i++) {                         \
            run_script(&(scripts)[i]);                                                             \
        }                                                                                          \
    } while (0)

#endif
