/* SPDX-License-Identifier: Apache-2.0 */
/* Events from a file of this machine. */
#include "generated_events.h"

#include <inttypes.h>
#include <stdio.h>

static FILE *file;

bool open_events(const char *name) {
    file = fopen(name, "rb");
    return file != NULL;
}

bool next_event(replay_event *event) {
    return fread(event, sizeof *event, 1, file) == 1;
}

void tell_result(uint64_t placement_hash, uint32_t refusals, uint32_t footprint) {
    printf("%" PRIu64 " %" PRIu32 " %" PRIu32 "\n", placement_hash, refusals, footprint);
}
