/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child that runs the plug-in tells its parent, in memory that both have: so it is told even
 * if the child crashes.
 */
#ifndef HOST_ANSWER_H
#define HOST_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

/* What can be wrong with a heap. FAULT_NAMES in heapfit/plugin/faults.py has them in this order. */
typedef enum fault {
    FAULT_NONE,
    FAULT_OVERLAP,           /* two live blocks share bytes */
    FAULT_MISALIGNED,        /* a block off the alignment that init was told */
    FAULT_ALIGNMENT_IGNORED, /* an aligned request's block is not so aligned */
    FAULT_OUTSIDE,           /* a block or a write beyond the region */
    FAULT_TOO_SMALL,         /* a block shorter than asked for: the next begins inside it */
    FAULT_HEADER_IN_PAYLOAD, /* the allocator wrote into a live block */
    FAULT_RESIZE_LOSES,      /* a resized block does not begin as the old one did */
    FAULT_NULL_CHANGES,      /* a resize that was refused changed the old block */
    FAULT_NEVER_REUSED,      /* refuses although nothing is live that was served before */
    FAULT_OTHER_MEMORY,      /* asks malloc or the system for memory */
    FAULT_HUGE_SERVED,       /* serves more bytes than the region has */
    FAULT_SYSTEM_CALL,       /* the system was called, as print and sleep do */
    FAULT_ENDLESS,           /* a call that takes too long */
    FAULT_ABORT,             /* it ended itself: an assertion, a panic */
    FAULT_CRASH,
} fault;

typedef struct answer {
    uint32_t runs;       /* 1: everything was served */
    uint32_t is_region;  /* 0: init took none of this size */
    uint32_t events;     /* done; the one that ends a replay is not */
    uint32_t footprint;  /* bytes from the region's start to the end of the highest block */
    uint32_t height;     /* from the lowest byte that a block was asked for to the highest */
    uint64_t placements; /* hash of all offsets, as the engine's Replay has it */
    uint64_t loads;      /* of the plug-in's own code, payload and stack apart; 0 if not metered */
    uint64_t stores;
    uint64_t longest; /* loads and stores of the call that has most */
    uint64_t payload; /* bytes of payload that it copied */
    uint32_t fault;   /* the first; nothing is done after it */
    uint32_t detail;  /* of the fault, in bytes: docs in faults.py */
    uint32_t other;
} answer;

extern volatile answer *told; /* the child's own; its parent reads it when the child has ended */

/* Ends the child; what it has told stays told. */
_Noreturn void end_child(void);

/* Tells of a fault and ends the child. */
_Noreturn void stop_at(fault found, uint32_t detail, uint32_t other);

#endif
