/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second frees: on random heaps of mixed sizes, every address that was ever handed out and is dead
 * is freed again, and every other word's address that is not live is freed, too. All of them must
 * be told as misuse and change nothing.
 *
 *   second_frees [FREES [ALLOCATOR]]    at least so many second frees an allocator and alignment
 *
 * Blocks are written in full, to the byte that was asked for, or left as they were handed out. Then
 * what the heap itself once wrote lies in them, whole or cut by the block's last bytes, and must
 * not be believed. Prints a line an allocator and alignment; fails if one free was accepted.
 */
#include "attack.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum {
    STANDARD_FREES = 100000,
    STEPS = 300,
    WITH_ALL = 32,   /* steps from one state in which every word's address is freed to the next */
    MOST_OTHERS = 8, /* of addresses never handed out, for each second free */
    MOST_IDLE = 4,
    MOST_ROOM = 2048
};

typedef struct tally {
    uint64_t second;   /* frees of dead addresses */
    uint64_t other;    /* of addresses never handed out */
    uint64_t accepted; /* of both */
    uint64_t by_payload[PAYLOADS];
} tally;

static test_plan plans[MOST_PLANS];
static attacked_heap heap;

/* Frees an address that is not live on a copy of the heap. */
static void free_one(tally *t, uint32_t offset) {
    const bool is_accepted = !attack_free_is_refused(&heap, offset);
    t->second += heap.was_live[offset / 4];
    t->other += !heap.was_live[offset / 4];
    t->accepted += is_accepted;
    t->by_payload[heap.written] += is_accepted;
}

/* Frees every dead address and, in every so many states, all words' that are not live. */
static void free_again(tally *t, bool with_all) {
    attack_begin(&heap);
    for (uint32_t i = 0; i < heap.seen_count; i++) {
        if (!attack_is_live(&heap, heap.seen[i])) {
            free_one(t, heap.seen[i]);
        }
    }
    for (uint32_t offset = 0; with_all && offset < heap.size; offset += 4) {
        if (!heap.was_live[offset / 4]) {
            free_one(t, offset);
        }
    }
}

static void attack_one_heap(const test_plan *plan, payload written, tally *t, uint64_t enough) {
    attack_start(&heap, plan, random_below(MOST_ROOM), written);
    for (uint32_t step = 0; step < STEPS && t->second < enough; step++) {
        attack_step(&heap);
        free_again(t, step % WITH_ALL == 0 && t->other <= MOST_OTHERS * t->second);
    }
}

/* All plans in turn, and each with all payloads. Plans under which no request is served are left
 * after a few heaps. */
static tally attack_plans(const test_plan *first, size_t count, uint64_t frees) {
    const uint64_t turns = (uint64_t)count * PAYLOADS;
    tally t = {0};
    for (uint64_t turn = 0; turn < turns; turn++) {
        const uint64_t enough = frees * (turn + 1) / turns;
        for (uint32_t idle = 0; t.second < enough && idle < MOST_IDLE; idle++) {
            const uint64_t before = t.second;
            attack_one_heap(&first[turn / PAYLOADS], (payload)(turn % PAYLOADS), &t, enough);
            idle = t.second == before ? idle : 0;
        }
    }
    return t;
}

static uint64_t attack_and_print(const test_plan *first, size_t count, uint64_t frees) {
    const tally t = attack_plans(first, count, frees);
    printf("%-16s %9u %12llu %12llu %9llu  %.4f %%", first->allocator->name,
           plan_of(first)->alignment, (unsigned long long)t.second, (unsigned long long)t.other,
           (unsigned long long)t.accepted,
           100.0 * (double)t.accepted / (double)(t.second + t.other));
    for (size_t p = 0; p < PAYLOADS; p++) {
        printf(" %s %llu", payload_names[p], (unsigned long long)t.by_payload[p]);
    }
    printf("\n");
    fflush(stdout);
    return t.accepted;
}

int main(int argc, char **argv) {
    const uint64_t frees = argc > 1 ? strtoull(argv[1], NULL, 10) : STANDARD_FREES;
    const size_t plan_count = make_test_plans(plans);
    uint64_t accepted = 0;
    printf("%-16s %9s %12s %12s %9s\n", "allocator", "alignment", "second frees", "other frees",
           "accepted");
    for (size_t first = 0; first < plan_count && is_core(plans[first].allocator);) {
        size_t count = 1;
        while (first + count < plan_count &&
               plans[first + count].allocator == plans[first].allocator &&
               plan_of(&plans[first + count])->alignment == plan_of(&plans[first])->alignment) {
            count++;
        }
        if (!knows_sizes(plans[first].allocator)) {
            printf("%-16s callers hand the size over; see tests/core/test_sized.c\n",
                   plans[first].allocator->name);
        } else if (argc < 3 || strcmp(argv[2], plans[first].allocator->name) == 0) {
            accepted += attack_and_print(&plans[first], count, frees);
        }
        first += count;
    }
    printf("%llu accepted\n", (unsigned long long)accepted);
    return accepted == 0 ? 0 : 1;
}
