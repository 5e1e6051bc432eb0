/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for memory in the handler of a signal that comes at any time, and so within calls: handled
 * CALLS. Prints the requests that were served in the handler and outside. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { SIZE = 48, FIRST_SIGNAL_US = 100 };

static volatile long handled, plain;

static void request(volatile long *count) {
    void *volatile block = malloc(SIZE);
    *count += block != NULL;
    free(block);
}

static void handle(int number) {
    (void)number;
    request(&handled);
}

int main(int count, char **arguments) {
    const struct itimerval often = {{0, FIRST_SIGNAL_US}, {0, FIRST_SIGNAL_US}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    signal(SIGALRM, handle);
    signal(SIGUSR1, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = count > 1 ? atol(arguments[1]) : 0; i > 0; i--) {
        request(&plain);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld %ld\n", handled, plain);
    return 0;
}
