/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of all boards' start. */
#include "board/start.h"

#include "board/semihost.h"

#include <stdint.h>

enum { LONGEST_LINE = 128, MOST_WORDS = 8, EXIT_BY_FAULT = 3 };

extern uint32_t data_start, data_end, data_in_rom, bss_start, bss_end; /* sections.ld */

int main(int count, char **words);

static char line[LONGEST_LINE];
static char *words[MOST_WORDS];

static int split_line(void) {
    int count = 0;
    char *at = line;
    while (*at != 0 && count < MOST_WORDS) {
        words[count++] = at;
        while (*at != 0 && *at != ' ') {
            at++;
        }
        if (*at == ' ') {
            *at++ = 0;
        }
    }
    return count;
}

void run_main(void) {
    const uint32_t *from = &data_in_rom;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    semihost_command_line(line, sizeof line);
    semihost_exit(main(split_line(), words));
}

void end_by_fault(void) {
    semihost_print("fault\n");
    semihost_exit(EXIT_BY_FAULT);
}
