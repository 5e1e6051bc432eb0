/* SPDX-License-Identifier: Apache-2.0 */
/* A recording done to the plug-in in one region, by the rules of the engine's Replay. */
#ifndef HOST_REPLAY_H
#define HOST_REPLAY_H

#include "trace.h"

/* How much is looked at: more takes longer, and places no block elsewhere. */
typedef enum effort {
    EFFORT_PLACES,  /* each block inside the region, and aligned; up to the first refusal */
    EFFORT_APART,   /* and apart from all others: accesses to payload are known by that */
    EFFORT_CONTENT, /* and its content */
} effort;

/* Memory for a replay's objects; NULL: there is none. */
struct block *reserve_objects(const trace *t);

/* In the child, which has made the region: fills in what is told. */
void replay(const trace *t, size_t alignment, effort how, struct block *objects);

/* Stops the child unless the block lies inside the region, so aligned, and on no other. */
void require_sound(const void *address, size_t size, size_t alignment, size_t least);

#endif
