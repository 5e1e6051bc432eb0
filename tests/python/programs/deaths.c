/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes EVENTS events (a malloc, a free, ...) and then ends as told: deaths EVENTS WAY. It asks for
 * memory nowhere else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_events(long events) {
    for (long i = 0; i < events; i += 2) {
        void *volatile block = malloc(32);
        free(block);
    }
}

static volatile int depth_limit = 1 << 30;

__attribute__((noinline)) static int sink(int depth) {
    volatile char frame[4096];
    frame[depth % 4096] = (char)depth;
    return depth < depth_limit ? sink(depth + 1) + frame[0] : 0;
}

/* The child frees a block of its parent and then makes events of its own. */
static void split(long events) {
    void *volatile shared = malloc(100);
    if (fork() == 0) {
        free(shared);
        make_events(events);
        _exit(0);
    }
    wait(NULL);
    free(shared);
}

/* What daemons do: all descriptors closed, and their numbers used again. */
static void close_all(void) {
    for (int descriptor = 3; descriptor < 1024; descriptor++) {
        close(descriptor);
    }
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 200);
}

int main(int count, char **arguments) {
    if (count != 3) {
        return 2;
    }
    const long events = atol(arguments[1]);
    const char *way = arguments[2];
    make_events(events);
    if (strcmp(way, "kill") == 0) {
        kill(getpid(), SIGKILL);
    } else if (strcmp(way, "segv") == 0) {
        *(volatile int *)8 = 1;
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "overflow") == 0) {
        return sink(0);
    } else if (strcmp(way, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(way, "exec") == 0) {
        execl(arguments[0], arguments[0], arguments[1], "_exit", (char *)NULL);
    } else if (strcmp(way, "fork") == 0) {
        split(events);
    } else if (strcmp(way, "close") == 0) {
        close_all();
        make_events(events);
    }
    return 0;
}
