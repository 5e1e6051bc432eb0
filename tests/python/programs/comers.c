/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads come and go, one after the other: comers COUNT. Each frees the block of the one before it
 * and leaves one of 100 bytes.
 */
#include <pthread.h>
#include <stdlib.h>

static void *left;

static void *come(void *unused) {
    free(left);
    left = malloc(100);
    return unused;
}

int main(int count, char **arguments) {
    for (long i = count == 2 ? atol(arguments[1]) : 0; i > 0; i--) {
        pthread_t thread;
        pthread_create(&thread, NULL, come, NULL);
        pthread_join(thread, NULL);
    }
    free(left);
    return 0;
}
