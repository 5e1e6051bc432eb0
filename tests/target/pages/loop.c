/* SPDX-License-Identifier: Apache-2.0 */
/* The application in a main loop, on the C library's heap. */
#include "app.h"
#include "board/semihost.h"

#include <stdlib.h>

static void *held[APP_HELD];
static uint32_t steps;

uint32_t my_ticks(void) {
    return steps;
}

void app_step(int step) {
    steps = (uint32_t)step;
    free(held[step % APP_HELD]);
    held[step % APP_HELD] = malloc((size_t)(APP_SMALLEST + step));
    if (held[step % APP_HELD] == NULL) {
        semihost_exit(1);
    }
}
