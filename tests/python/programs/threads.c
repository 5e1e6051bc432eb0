/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads allocate, resize and free blocks that pass from thread to thread through shared
 * slots: threads ROUNDS. Prints how many blocks were allocated and freed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, SLOTS = 64 };

static _Atomic(void *) slots[SLOTS];
static atomic_long allocated;
static atomic_long freed;
static long rounds;

static uint32_t next_random(uint32_t *state) { /* xorshift, Marsaglia 2003 */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void release(void *block) {
    if (block != NULL) {
        atomic_fetch_add(&freed, 1);
        free(block);
    }
}

static void *hammer(void *seed) {
    uint32_t random = (uint32_t)(uintptr_t)seed;
    for (long i = 0; i < rounds; i++) {
        const uint32_t slot = next_random(&random) % SLOTS;
        const size_t size = 1 + next_random(&random) % 2000;
        void *block = atomic_exchange(&slots[slot], NULL);
        if (next_random(&random) % 3 == 0) {
            release(block);
            block = NULL;
        }
        allocated += block == NULL;
        release(atomic_exchange(&slots[slot], realloc(block, size)));
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    rounds = count == 2 ? atol(arguments[1]) : 0;
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, hammer, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < SLOTS; i++) {
        release(slots[i]);
    }
    printf("%ld %ld\n", allocated, freed);
    return 0;
}
