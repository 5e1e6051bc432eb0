/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs on heaps of random plans (heap_program.h), an allocator after the other.
 *
 *   heap [--steps N] [--seed S] [--allocator NAME]    steps an allocator; those of seed 1, unless
 *                                                     told otherwise
 *
 * Prints a line an allocator, with the heaps, the regions and plans that were refused, and how many
 * blocks were live in the mean. A failure names the seed of its program: --seed with --steps 1 runs
 * that one alone.
 */
#include "attack/heap_program.h"

#include "check.h"
#include "split_mix.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4096, STANDARD_STEPS = 100000 };

typedef struct wish {
    uint64_t steps;
    uint64_t seed;
    const char *allocator; /* NULL: all */
} wish;

static void run_program_of(uint64_t seed, const hfit_allocator *allocator, program_count *count) {
    static uint8_t bytes[MOST_BYTES];
    random_state = seed;
    const size_t size = 256 + (size_t)(random_next() % (MOST_BYTES - 255));
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)random_next();
    }
    run_heap_program(allocator, bytes, size, count);
}

static uint64_t now_running; /* the seed of the program */

static void tell_seed(void) {
    if (now_running != 0) {
        fprintf(stderr, "in the program of --seed %llu --steps 1\n",
                (unsigned long long)now_running);
    }
}

/* A false invariant of core, or an access that goes astray. */
static void tell_seed_and_die(int signal_number) {
    tell_seed();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void attack(const hfit_allocator *allocator, const wish *w) {
    program_count count = {0};
    for (now_running = w->seed; count.steps < w->steps; now_running++) {
        run_program_of(now_running, allocator, &count);
    }
    now_running = 0;
    printf("%-16s %10llu %10llu %8llu %8llu %6llu\n", allocator->name,
           (unsigned long long)count.steps, (unsigned long long)count.misuses,
           (unsigned long long)count.heaps, (unsigned long long)count.refused_regions,
           (unsigned long long)(count.live / count.steps));
    fflush(stdout);
}

static wish wish_of(int count, char **words) {
    wish w = {STANDARD_STEPS, 1, NULL};
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(words[i], "--steps") == 0) {
            w.steps = strtoull(words[i + 1], NULL, 10);
        } else if (strcmp(words[i], "--seed") == 0) {
            w.seed = strtoull(words[i + 1], NULL, 10);
        } else {
            CHECK(strcmp(words[i], "--allocator") == 0);
            w.allocator = words[i + 1];
        }
    }
    CHECK(count % 2 == 1 && w.seed != 0);
    return w;
}

int main(int count, char **words) {
    const wish w = wish_of(count, words);
    size_t allocators;
    const hfit_allocator *const *all = hfit_allocators(&allocators);
    size_t attacked = 0;
    atexit(tell_seed);
    signal(SIGABRT, tell_seed_and_die);
    signal(SIGSEGV, tell_seed_and_die);
    printf("%-16s %10s %10s %8s %8s %6s\n", "allocator", "steps", "misuses", "heaps", "refused",
           "live");
    for (size_t i = 0; i < allocators; i++) {
        if (w.allocator == NULL || strcmp(w.allocator, all[i]->name) == 0) {
            attack(all[i], &w);
            attacked++;
        }
    }
    CHECK(attacked > 0);
    return 0;
}
