/* SPDX-License-Identifier: Apache-2.0 */
/* image SEED SECONDS: a gateway for so long, with the traffic of that seed. */
#include "actors.h"
#include "board/semihost.h"
#include "gateway.h"
#include "hooks.h"

#include <stdbool.h>

enum { TICKS_A_SECOND = 1000, REFUSED = 1 };

static uint32_t last_tick;
static volatile bool is_over;

static _Noreturn void end(void) {
    const gateway_counts counted = gateway_counted();
    end_hook();
    semihost_print_count("frames", counted.frames);
    semihost_print_count("dropped", counted.dropped);
    semihost_print_count("batches", counted.batches);
    semihost_print_count("pages", counted.pages);
    semihost_print_count("refused", counted.refused);
    semihost_exit(counted.refused == 0 ? 0 : REFUSED);
}

static void tick(uint32_t now) {
    is_over = is_over || now == last_tick;
    if (!is_over) {
        gateway_tick(now);
    }
}

/* It ends here, where no task is inside the heap. */
static void idle(void) {
    idle_hook();
    if (is_over) {
        end();
    }
}

static uint32_t number(const char *digits) {
    uint32_t value = 0;
    while (*digits >= '0' && *digits <= '9') {
        value = value * 10 + (uint32_t)(*digits++ - '0');
    }
    return value;
}

int main(int count, char **words) {
    const uint32_t seed = count > 1 ? number(words[1]) : 1;
    last_tick = (count > 2 ? number(words[2]) : 20) * TICKS_A_SECOND;
    if (!gateway_create(seed)) {
        semihost_print("refused at the start\n");
        return REFUSED;
    }
    actors_run(tick, idle);
}
