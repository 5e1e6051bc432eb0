/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of a recording, version 2: what WIRE.md specifies, as C structs. Shared by the
 * recorder that writes it and the engine that reads it. All fields are little-endian.
 *
 *   +--------+-----------+----------+----------+-----+------------------+
 *   | header | up to     | record 0 | record 1 | ... | zeros: not yet   |
 *   | 256 B  | its size  | 32 B     | 32 B     |     | written          |
 *   +--------+-----------+----------+----------+-----+------------------+
 */
#ifndef HFIT_WIRE_H
#define HFIT_WIRE_H

#include <stdint.h>

#define HFIT_WIRE_MAGIC "hfitwire" /* 8 bytes, without the NUL; written last of the header */
#define HFIT_WIRE_VERSION 2
#define HFIT_WIRE_OLDEST 1 /* version without chains, read as well */
#define HFIT_WIRE_PROGRAM_SIZE 200

/* What a record tells. 0 marks a record that was not committed. */
enum hfit_wire_op {
    HFIT_WIRE_ALLOC = 1,
    HFIT_WIRE_ZEROED = 2,
    HFIT_WIRE_ALIGNED = 3,
    HFIT_WIRE_FREE = 4,         /* written before the heap gets the block */
    HFIT_WIRE_RESIZE_BEGIN = 5, /* written before; address is the old block's */
    HFIT_WIRE_RESIZE_END = 6,   /* written after; address is the new block's */
    HFIT_WIRE_CHAIN = 7         /* no event: which callers a site consists of */
};

/* Header flags. */
enum hfit_wire_flag {
    HFIT_WIRE_ATTACHED = 1, /* blocks were live before the first record, and are unknown here */
    HFIT_WIRE_CONFINED = 2  /* the program gave up system calls, or rights, on its way */
};

typedef struct hfit_wire_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;  /* bytes before the first record; a multiple of 32 */
    uint32_t record_size;  /* 32 */
    uint32_t pointer_bits; /* of the program: 32 or 64 */
    uint32_t flags;        /* of enum hfit_wire_flag */
    uint32_t process;      /* the system's number of it; 0 where there is none */
    uint32_t image;        /* counts the programs this process has run by exec, from 0 */
    uint32_t stopped;      /* 0, or the error (Linux errno) that ended the recording early */
    uint64_t unrecorded;   /* events after that */
    uint64_t start;        /* us since 1970; 0 where there is no clock */
    char program[HFIT_WIRE_PROGRAM_SIZE]; /* its name, UTF-8, filled up with NULs */
} hfit_wire_header;

typedef struct hfit_wire_record {
    uint64_t address;  /* of the block; 0 = the heap refused (resize of size 0: freed) */
    uint64_t size;     /* bytes asked for; a free: 0 */
    uint32_t site;     /* hash of the caller's place in its module, equal in every run; 0 unknown */
    uint32_t thread;   /* from 1, in order of their first event; 0 unknown */
    uint32_t time_low; /* us since the start, lower 32 of 48 bits */
    uint32_t commit;   /* op | log2 of the alignment << 8 | upper 16 bits of the time << 16 */
} hfit_wire_record;

#ifdef __cplusplus
#define HFIT_WIRE_ASSERT static_assert
#else
#define HFIT_WIRE_ASSERT _Static_assert
#endif

HFIT_WIRE_ASSERT(sizeof(hfit_wire_header) == 256, "a header is 256 bytes");
HFIT_WIRE_ASSERT(sizeof(hfit_wire_record) == 32, "a record is 32 bytes");
HFIT_WIRE_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire format is little-endian");

#endif
