/* SPDX-License-Identifier: Apache-2.0 */
/* Where a replay in C++ has its events from, and whom it tells what it found. */
#ifndef GENERATED_EVENTS_H
#define GENERATED_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As test_generate_replay.py writes it. */
typedef struct replay_event {
    uint64_t size;
    uint32_t object, alignment, op, tag;
} replay_event;

/* False if there is no such file. */
bool open_events(const char *name);

/* False at the file's end. */
bool next_event(replay_event *event);

void tell_result(uint64_t placement_hash, uint32_t refusals, uint32_t footprint);

#ifdef __cplusplus
}
#endif

#endif
