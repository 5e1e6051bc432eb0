/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of a recording, version 2, and what readers of version 1 need: WIRE.md as C.
 * Shared by the recorder that writes it and the engine that reads it. All numbers are
 * little-endian.
 *
 *   +--------+----------+-----------------------------+-----------------------------+-----
 *   | header | up to    | thread | record | record |0 | thread | record | record |0 | ...
 *   | 256 B  | its size |  <------ chunk_size ------> |  <------ chunk_size ------> |
 *   +--------+----------+-----------------------------+-----------------------------+-----
 *
 * A chunk is written by one thread at a time. A record begins with its tag, which is stored last:
 *
 *   | tag 1 | order 0-10 | time 0-10 | address 1-10 | size 0-10 | alignment 0-1 | site 0-20 |
 */
#ifndef HFIT_WIRE_H
#define HFIT_WIRE_H

#include <stdint.h>

#define HFIT_WIRE_MAGIC "hfitwire" /* 8 bytes, without the NUL; written last of the header */
#define HFIT_WIRE_PROGRAM_SIZE 192

enum {
    HFIT_WIRE_VERSION = 2,
    HFIT_WIRE_LARGEST_CHUNK = 1 << 20,
    HFIT_WIRE_CHUNK_HEADER = 4, /* bytes: the thread's number, from 1; 0 = nothing written yet */
    HFIT_WIRE_LONGEST = 64,     /* bytes of a record, at most */
    HFIT_WIRE_CALLERS = 4,      /* of a chain */
    HFIT_WIRE_SITES = 256,      /* places of a chunk's table of sites */
    HFIT_WIRE_GRANULE = 16      /* addresses are counted in these where they can be */
};

/* What a record tells: the lowest three bits of its tag. 0 marks one that was not committed. */
enum hfit_wire_op {
    HFIT_WIRE_ALLOC = 1,
    HFIT_WIRE_ZEROED = 2,
    HFIT_WIRE_ALIGNED = 3,
    HFIT_WIRE_FREE = 4,         /* written before the heap gets the block */
    HFIT_WIRE_RESIZE_BEGIN = 5, /* written before; address is the old block's */
    HFIT_WIRE_RESIZE_END = 6,   /* written after; address is the new block's */
    HFIT_WIRE_THREAD = 7        /* what follows in this chunk is another thread's */
};

/* The tag's other bits. */
enum hfit_wire_tag {
    HFIT_WIRE_OP = 7,
    HFIT_WIRE_HAS_ORDER = 8,    /* the order is not the last one's + 1: their difference follows */
    HFIT_WIRE_HAS_TIME = 16,    /* the time is not the last one's: their difference follows */
    HFIT_WIRE_IS_NEW_SITE = 32, /* the site follows in full, and takes its place in the table */
    HFIT_WIRE_IS_ODD = 64,      /* the address is counted in bytes, not in granules */
    HFIT_WIRE_HAS_CALLERS = 128 /* a new site is a chain: its callers follow, 0 behind the last */
};

/* Header flags. */
enum hfit_wire_flag {
    HFIT_WIRE_ATTACHED = 1, /* blocks were live before the first record, and are unknown here */
    HFIT_WIRE_CONFINED = 2  /* the program gave up system calls, or rights, on its way */
};

typedef struct hfit_wire_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;  /* bytes before the first chunk; a multiple of 32 */
    uint32_t unit_size;    /* bytes of a chunk, a multiple of 32; in version 1 of a record, 32 */
    uint32_t pointer_bits; /* of the program: 32 or 64 */
    uint32_t flags;        /* of enum hfit_wire_flag */
    uint32_t process;      /* the system's number of it; 0 where there is none */
    uint32_t image;        /* counts the programs this process has run by exec, from 0 */
    uint32_t stopped;      /* 0, or the error (Linux errno) that ended the recording early */
    uint64_t unrecorded;   /* events after that */
    uint64_t start;        /* us since 1970; 0 where there is no clock */
    char program[HFIT_WIRE_PROGRAM_SIZE]; /* its name, UTF-8, filled up with NULs */
    uint64_t runtime; /* order of the request for libstdc++'s emergency pool; 0: none */
} hfit_wire_header;

/* A record of version 1, which is read and no longer written. */
typedef struct hfit_wire_record_1 {
    uint64_t address;  /* of the block; 0 = the heap refused (resize of size 0: freed) */
    uint64_t size;     /* bytes asked for; a free: 0 */
    uint32_t site;     /* hash of the caller's place in its module, equal in every run; 0 unknown */
    uint32_t thread;   /* from 1, in order of their first event; 0 unknown */
    uint32_t time_low; /* us since the start, lower 32 of 48 bits */
    uint32_t commit;   /* op | log2 of the alignment << 8 | upper 16 bits of the time << 16 */
} hfit_wire_record_1;

#ifdef __cplusplus
#define HFIT_WIRE_ASSERT static_assert
#else
#define HFIT_WIRE_ASSERT _Static_assert
#endif

HFIT_WIRE_ASSERT(sizeof(hfit_wire_header) == 256, "a header is 256 bytes");
HFIT_WIRE_ASSERT(sizeof(hfit_wire_record_1) == 32, "a record of version 1 is 32 bytes");
HFIT_WIRE_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire format is little-endian");

/* The sizes of libstdc++'s emergency pool for exceptions: up to gcc 12, from gcc 13, of 32 bit. */
static inline int hfit_is_emergency_size(uint64_t size) {
    return size == 72704 || size == 73728 || size == 18944;
}

#endif
