/* SPDX-License-Identifier: Apache-2.0 */
/* What core calls when the caller, or core itself, is wrong. */
#include "contract_config.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t misuse_count;

void invariant_broken(const char *statement) {
    fprintf(stderr, "invariant of core does not hold: %s\n", statement);
    abort();
}
