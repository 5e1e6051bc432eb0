/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills a list, and asks more than once for more at its fullest: drilled careful|crash|hang. What
 * the careful one gets no memory for it does without; the others rely on one request at the peak.
 */
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 300 };

static char *take(size_t size) {
    char *block = malloc(size);
    if (block != NULL) {
        memset(block, 1, size);
    }
    return block;
}

static void use_last(const char *mode) {
    char *last = calloc(1, 2000);
    if (last == NULL && strcmp(mode, "careful") == 0) {
        return;
    }
    while (last == NULL && mode[0] == 'h') {
    }
    *last = 1;
    free(last);
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "careful";
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = take(16 + (size_t)i % 7 * 24);
    }
    char *grown = realloc(NULL, 900);
    char *more = realloc(grown, 1500);
    use_last(mode);
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
    free(more != NULL ? more : grown);
    return 0;
}
