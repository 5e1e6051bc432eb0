/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argv[1] says which process asks for memory: "daemon": both, and the child outlives its parent
 * until the file argv[2] is gone; "child": the child alone; "own": a malloc of the program's own,
 * if so built.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef OWN_MALLOC
static char pool[1 << 20];
static size_t used;
void *malloc(size_t size) {
    used += (size + 31) & ~(size_t)15;
    return pool + used - ((size + 31) & ~(size_t)15);
}
void free(void *block) {
    (void)block;
}
void *calloc(size_t count, size_t size) {
    return malloc(count * size);
}
#endif

static void ask(int times) {
    for (int i = 0; i < times; i++) {
        free(malloc(100));
    }
}

int main(int count, char **arguments) {
    (void)count;
    const int is_daemon = strcmp(arguments[1], "daemon") == 0;
    if (is_daemon || strcmp(arguments[1], "own") == 0) {
        ask(1);
    }
    if (strcmp(arguments[1], "own") == 0) {
        return 0;
    }
    if (fork() == 0) {
        while (is_daemon && access(arguments[2], F_OK) == 0) {
            usleep(1000);
        }
        ask(10);
        exit(0);
    }
    return is_daemon ? 0 : (wait(NULL), 0);
}
