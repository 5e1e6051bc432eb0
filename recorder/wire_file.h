/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of this process's recording: made, found again whatever the program does with
 * descriptors, and grown. To be used with the recording's lock held.
 */
#ifndef HFIT_WIRE_FILE_H
#define HFIT_WIRE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "wire.h"

/* Makes a file of this process's own in the folder that HEAPFIT_RECORD names, with room for its
 * header, and writes that. NULL when it cannot be made, or none is asked for. `chunk_size` in
 * bytes. */
hfit_wire_header *wire_file_make(size_t chunk_size);

/* The next `size` bytes of the file, a multiple of the page, zero and allocated on disk: a store
 * into them can never hit a full disk. Mapped so that the kernel keeps them when the process dies,
 * and no child inherits them. NULL, with errno, when the file cannot grow. */
void *wire_file_map(size_t size);

/* Processes since the last exec, this one included; 0 before the first file. */
uint32_t wire_file_generation(void);

uint64_t microseconds(clockid_t clock);

#endif
