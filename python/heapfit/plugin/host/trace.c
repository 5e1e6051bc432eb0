/* SPDX-License-Identifier: Apache-2.0 */
/* See trace.h. */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static _Noreturn void give_up(const char *path) {
    perror(path);
    exit(1);
}

/* Of a path for the message. */
static uint64_t most_live_of(const trace *t, const char *path) {
    const size_t bytes = ((size_t)t->objects + 1) * sizeof(uint32_t);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint32_t *sizes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (sizes == MAP_FAILED) {
        give_up(path);
    }
    uint64_t live = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const event e = t->events[i];
        const uint32_t size = operation_of(e) == OP_FREE ? 0 : e.size;
        live += (uint64_t)size - sizes[e.object];
        sizes[e.object] = size;
        most = live > most ? live : most;
    }
    munmap(sizes, bytes);
    return most;
}

trace open_trace(const char *path) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        give_up(path);
    }
    trace t = {NULL, (uint32_t)(status.st_size / (off_t)sizeof(event)), 0, 0};
    if (t.count > 0) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped == MAP_FAILED) {
            give_up(path);
        }
        t.events = mapped;
    }
    for (uint32_t i = 0; i < t.count; i++) {
        if (t.events[i].object >= t.objects) {
            t.objects = t.events[i].object + 1;
        }
    }
    t.most_live = most_live_of(&t, path);
    return t;
}
