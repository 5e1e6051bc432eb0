/* SPDX-License-Identifier: Apache-2.0 */
/* Which plans a run of the suite takes. Command line: contract all STEPS PART PARTS */
#include "board/semihost.h"
#include "board_limits.h"

#include <stdlib.h>

bool is_plan_in_part(size_t number) {
    char line[64];
    unsigned long numbers[4] = {0}; /* "all" counts as one */
    char *at = line;
    semihost_command_line(line, sizeof line);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        while (*at != 0 && *at++ != ' ') {
        }
        numbers[i] = (unsigned long)strtol(at, &at, 10);
    }
    return number % numbers[3] == numbers[2];
}
