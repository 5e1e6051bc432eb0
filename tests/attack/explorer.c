/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All states of small heaps: from a fresh one on, each request of a few sizes and each free leads
 * to another state, until no new one is met. In every state the address of every word that is not
 * live is freed: all must be told as misuse and change nothing.
 *
 *   explorer [full [NAME [BYTES]]]    small regions, or those of decision 18, or of BYTES
 *
 * A state is the region's bytes and which words are live blocks; of those met before a hash of 64
 * bits is kept. Blocks are written in full with 0xa5, or left as they were handed out.
 */
#include "hfit/address_first_fit.h"
#include "hfit/best_fit.h"
#include "hfit/first_fit.h"
#include "hfit/fixed_pool.h"
#include "hfit/good_fit.h"
#include "hfit/partition_pool.h"
#include "hfit/segregated_fit.h"
#include "hfit/tailored.h"
#include "hfit/tlsf.h"

#include "contract_config.h"

#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGION = 512, MOST_SIZES = 4, BASE_ALIGNMENT = 4096 };

typedef struct state {
    unsigned char region[MOST_REGION];
    bool is_live[MOST_REGION / 4]; /* a block begins at this word */
} state;

typedef struct exploration {
    const char *name;
    const hfit_operations *operations;
    const hfit_plan *plan;
    uint32_t region;            /* bytes, of the short form */
    uint32_t full_region;       /* and of the full one */
    uint32_t sizes[MOST_SIZES]; /* of requests; 0 ends them */
    bool leaves;                /* blocks are left as they were handed out */
} exploration;

static const hfit_fixed_pool_plan pool = {{8}, 8, 0, 0};
static const hfit_partition_pool_plan partitions = {{4}, 8, 0, 0, 0, 0};
static const hfit_tlsf_plan tlsf = {{8}, 1, 2};
static const hfit_best_fit_plan best_fit_4 = {{4}};
static const hfit_first_fit_plan first_fit = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_first_fit_plan by_address = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
static const hfit_first_fit_plan never_joined = {{8}, 0, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_address_first_fit_plan address_first_fit = {{8}};
static const hfit_segregated_fit_plan segregated = {{8}, 2, 0, 0, 4, 0};
static const hfit_good_fit_plan good_fit = {{8}};
static const hfit_tailored_plan map = {.common = {8}, .ends = 1};
static const hfit_tailored_plan headers = {
    .common = {8}, .ends = 1, .layout = HFIT_TAILORED_HEADERS};
static const hfit_tailored_plan pairs = {.common = {8}, .ends = 1, .layout = HFIT_TAILORED_PAIRS};

#define EXPLORE(label, allocator, plan, ...)                                                       \
    { label, &hfit_##allocator##_operations, &(plan).common, __VA_ARGS__ }

static const exploration explorations[] = {
    EXPLORE("fixed_pool", fixed_pool, pool, 72, 88, {8}, false),
    EXPLORE("partition_pool", partition_pool, partitions, 96, 152, {8, 16, 24}, false),
    EXPLORE("tlsf", tlsf, tlsf, 128, 144, {8, 20, 36}, false),
    EXPLORE("tlsf, left", tlsf, tlsf, 128, 136, {8, 20, 36}, true),
    EXPLORE("best_fit 4", best_fit, best_fit_4, 196, 224, {8, 16, 24}, false),
    EXPLORE("best_fit 4, left", best_fit, best_fit_4, 196, 204, {8, 16, 24}, true),
    EXPLORE("first_fit", first_fit, first_fit, 84, 108, {8, 20, 36}, false),
    EXPLORE("first_fit, left", first_fit, first_fit, 84, 92, {8, 20, 36}, true),
    EXPLORE("by address", first_fit, by_address, 92, 108, {8, 20, 36}, false),
    EXPLORE("never joined", first_fit, never_joined, 116, 132, {8, 20, 36}, false),
    EXPLORE("address_first_fit", address_first_fit, address_first_fit, 84, 108, {8, 20, 36}, false),
    EXPLORE("address_first_fit, left", address_first_fit, address_first_fit, 76, 92, {8, 20, 36},
            true),
    EXPLORE("segregated_fit", segregated_fit, segregated, 108, 116, {8, 20, 36}, false),
    EXPLORE("segregated_fit, left", segregated_fit, segregated, 100, 116, {8, 20, 36}, true),
    EXPLORE("good_fit", good_fit, good_fit, 156, 172, {8, 20, 36}, false),
    EXPLORE("good_fit, left", good_fit, good_fit, 148, 156, {8, 20, 36}, true),
    EXPLORE("map", tailored, map, 120, 160, {8, 24, 40}, false),
    EXPLORE("map, left", tailored, map, 120, 144, {8, 24, 40}, true),
    EXPLORE("headers", tailored, headers, 120, 144, {8, 20, 36}, false),
    EXPLORE("headers, left", tailored, headers, 120, 128, {8, 20, 36}, true),
    EXPLORE("pairs", tailored, pairs, 120, 136, {8, 16, 32}, false),
    EXPLORE("pairs, left", tailored, pairs, 112, 120, {8, 16, 32}, true),
};

static _Alignas(BASE_ALIGNMENT) unsigned char region[MOST_REGION];

static hfit_heap *const heap = (hfit_heap *)(void *)region;

/* ---- States met, and those whose steps are still to be taken. ---- */

static uint64_t *met;
static size_t met_room; /* a power of two */
static size_t met_count;
static state *left;
static size_t left_room;
static size_t left_count;

static uint64_t hash_of(const state *s) {
    const unsigned char *bytes = (const unsigned char *)s;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *s; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash == 0 ? 1 : hash;
}

static bool put_hash(uint64_t *table, size_t room, uint64_t hash) {
    size_t at = (size_t)hash & (room - 1);
    while (table[at] != 0 && table[at] != hash) {
        at = (at + 1) & (room - 1);
    }
    const bool is_new = table[at] == 0;
    table[at] = hash;
    return is_new;
}

static void make_room_for_hashes(void) {
    if (2 * met_count < met_room) {
        return;
    }
    const size_t room = met_room == 0 ? 1024 : 2 * met_room;
    uint64_t *larger = calloc(room, sizeof *larger);
    CHECK(larger != NULL);
    for (size_t i = 0; i < met_room; i++) {
        if (met[i] != 0) {
            (void)put_hash(larger, room, met[i]);
        }
    }
    free(met);
    met = larger;
    met_room = room;
}

/* Keeps a state that was not met before. */
static void meet(const state *s) {
    make_room_for_hashes();
    if (!put_hash(met, met_room, hash_of(s))) {
        return;
    }
    met_count++;
    if (left_count == left_room) {
        left_room = left_room == 0 ? 64 : 2 * left_room;
        left = realloc(left, left_room * sizeof *left);
        CHECK(left != NULL);
    }
    left[left_count++] = *s;
}

/* ---- What leads from one state to the next, and what must not. ---- */

static void meet_after_alloc(const exploration *e, const state *before, uint32_t size) {
    state after = *before;
    memcpy(region, before->region, MOST_REGION);
    unsigned char *block = e->operations->alloc(heap, e->plan, size);
    if (block == NULL) {
        return;
    }
    if (!e->leaves) {
        memset(block, 0xa5, size);
    }
    CHECK(!after.is_live[(block - region) / 4]);
    after.is_live[(block - region) / 4] = true;
    memcpy(after.region, region, MOST_REGION);
    meet(&after);
}

static void meet_after_free(const exploration *e, const state *before, uint32_t word) {
    state after = *before;
    memcpy(region, before->region, MOST_REGION);
    e->operations->free(heap, e->plan, region + (size_t)4 * word);
    after.is_live[word] = false;
    memcpy(after.region, region, MOST_REGION);
    meet(&after);
}

/* Frees what is not live; returns how many were accepted. */
static uint64_t free_badly(const exploration *e, const state *before, uint32_t bytes,
                           uint64_t *frees) {
    uint64_t accepted = 0;
    memcpy(region, before->region, MOST_REGION);
    for (uint32_t word = 0; word <= bytes / 4; word++) {
        if (word < bytes / 4 && before->is_live[word]) {
            continue;
        }
        const uint32_t misuses = misuse_count;
        e->operations->free(heap, e->plan, region + (size_t)4 * word);
        *frees += 1;
        if (misuse_count == misuses || memcmp(region, before->region, bytes) != 0) {
            accepted++;
            memcpy(region, before->region, MOST_REGION);
        }
    }
    return accepted;
}

static void start(const exploration *e, uint32_t bytes) {
    state first = {0};
    met_count = 0;
    met_room = 0;
    left_count = 0;
    memset(region, e->leaves ? 0 : 0xa5, MOST_REGION);
    CHECK(bytes <= MOST_REGION && e->operations->init(region, bytes, e->plan) != NULL);
    memcpy(first.region, region, MOST_REGION);
    meet(&first);
}

/* Explores one heap and prints its line; returns how many bad frees were accepted. */
static uint64_t explore(const exploration *e, uint32_t bytes) {
    uint64_t frees = 0;
    uint64_t accepted = 0;
    uint32_t misuses = misuse_count;
    for (start(e, bytes); left_count > 0;) {
        const state s = left[--left_count];
        accepted += free_badly(e, &s, bytes, &frees);
        misuses = misuse_count;
        for (size_t i = 0; i < MOST_SIZES && e->sizes[i] != 0; i++) {
            meet_after_alloc(e, &s, e->sizes[i]);
        }
        for (uint32_t word = 0; word < bytes / 4; word++) {
            if (s.is_live[word]) {
                meet_after_free(e, &s, word);
            }
        }
        CHECK(misuse_count == misuses); /* sound use is never told */
    }
    printf("%-24s %6u %12zu %14llu %9llu\n", e->name, bytes, met_count, (unsigned long long)frees,
           (unsigned long long)accepted);
    fflush(stdout);
    return accepted;
}

int main(int argc, char **argv) {
    const bool is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    uint64_t accepted = 0;
    printf("%-24s %6s %12s %14s %9s\n", "heap", "region", "states", "bad frees", "accepted");
    for (size_t i = 0; i < sizeof explorations / sizeof explorations[0]; i++) {
        const exploration *e = &explorations[i];
        if (argc < 3 || strncmp(argv[2], e->name, strlen(argv[2])) == 0) {
            const uint32_t bytes = is_full ? e->full_region : e->region;
            accepted += explore(e, argc < 4 ? bytes : (uint32_t)atoi(argv[3]));
        }
    }
    return accepted == 0 ? 0 : 1;
}
