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

trace open_trace(const char *path) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        give_up(path);
    }
    trace t = {NULL, (uint32_t)(status.st_size / (off_t)sizeof(event)), 0};
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
    return t;
}
