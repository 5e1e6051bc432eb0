/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file a process records its heap into. What was appended survives any death of the process;
 * a fork begins a file of its own. Nothing here asks the heap for memory or changes errno.
 */
#ifndef HFIT_RECORDING_H
#define HFIT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site.h"
#include "wire.h"

/* Opens this process's file, unless it is open or the recording is off. */
void recording_start(void);

/*
 * Appends a record: after all whose append has returned, before all whose append has not begun.
 * `address` 0 tells that the heap refused. Returns the record's number; 0 where none was written.
 */
uint64_t recording_append(enum hfit_wire_op op, const void *address, uint64_t size,
                          unsigned alignment_log2, struct site site);

/*
 * True if the program is to get what it asks for; otherwise it is out of memory. Asked before each
 * allocation, and before a resize (RESIZE_BEGIN, with the block). A recorder admits everything.
 */
#ifdef HFIT_PLANNED_HEAP
bool recording_admits(enum hfit_wire_op op, const void *block, size_t size, unsigned alignment_log2,
                      struct site site);
#else
static inline bool recording_admits(enum hfit_wire_op op, const void *block, size_t size,
                                    unsigned alignment_log2, struct site site) {
    (void)op, (void)block, (void)size, (void)alignment_log2, (void)site;
    return true;
}
#endif

/* Marks the record of this number as the request for libstdc++'s emergency pool; the first counts.
 */
void recording_mark_runtime(uint64_t order);

/*
 * To call before the program confines itself (seccomp): takes room for the records that follow.
 * A call without effect costs disk space only.
 */
void recording_prepare(void);

/*
 * To call after it: from now on no system call is made. Where the room ends, the recording does,
 * and tells why. `is_strict`: even the clock may be forbidden, so time stands still.
 */
void recording_confine(bool is_strict);

#endif
