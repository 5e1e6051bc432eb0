/* SPDX-License-Identifier: Apache-2.0 */
/* Events to bytes, bytes to frames; FRAMES.md has the format. */
#include "record.h"

#define FRAME_SIZE HFIT_RECORD_FRAME_SIZE

_Static_assert(FRAME_SIZE >= 44 && FRAME_SIZE <= 127, "an event fits; a length is 7 bits");
_Static_assert(HFIT_RECORD_ALIGNMENT_LOG2 >= 2, "a step's kind and sign take 3 bits");

#ifdef HFIT_RECORD_SERVED
enum { TELLS_SERVED = 1 << 4 }; /* a flag */
#else
enum { TELLS_SERVED = 0 };
#define HFIT_RECORD_SERVED(block) 0
#endif

enum {
    MARK = 0xfdf5, /* neither byte is ever part of UTF-8 text */
    VERSION = 1,
    LENGTH_AT = 2, /* bytes from here to the CRC; highest bit: a header frame */
    NUMBER_AT = 3, /* events offered before this frame, lower 16 bits */
    TICK_AT = 5,   /* when it was begun, 32 bits */
    BODY_AT = HFIT_RECORD_BODY_AT,
    CRC_SIZE = 2,
    HEADER_BIT = 0x80,
    HEADER_EVERY = 32, /* frames */

    /* The lowest two bits of an event's first number ... */
    ALLOC = 0,
    FREE = 1,
    TIME = 2,
    OTHER = 3, /* ... and the whole of it for these. */
    OTHER_RESIZE = 0 << 2 | OTHER,
    OTHER_ZEROED = 1 << 2 | OTHER,
    OTHER_ALIGNED = 2 << 2 | OTHER,
    OTHER_REFUSED = 3 << 2 | OTHER,
    OTHER_SITE = 4 << 2 | OTHER,
    OTHER_NEEDS = 5 << 2 | OTHER,
    OTHER_SERVED = 6 << 2 | OTHER,

    LONGEST_NUMBER = 5, /* bytes of 32 bits, 7 in each */
    LONGEST_FREE = 2 * LONGEST_NUMBER,
    LONGEST_SERVED = TELLS_SERVED != 0 ? 3 : 0,
    LONGEST_ALLOC = 3 * LONGEST_NUMBER + LONGEST_SERVED,
    LONGEST_ALIGNED = LONGEST_ALLOC + 2,
    LONGEST_RESIZE = LONGEST_ALLOC + 1 + LONGEST_NUMBER,
    LONGEST_NEEDS = 3,
    LONGEST_SITE = HFIT_RECORD_CALL_SITES != 0 ? 1 + LONGEST_NUMBER : 0,
    LONGEST_HEADER = BODY_AT + 3 + 6 * LONGEST_NUMBER + CRC_SIZE,
};

_Static_assert(BODY_AT + LONGEST_NEEDS + LONGEST_SITE + LONGEST_RESIZE + CRC_SIZE <= FRAME_SIZE,
               "any event fits in a frame");
_Static_assert(LONGEST_HEADER <= FRAME_SIZE, "a header does");

/* ---- Numbers ---- */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_16(value) __builtin_bswap16(value)
#define LITTLE_32(value) __builtin_bswap32(value)
#else
#define LITTLE_16(value) (value)
#define LITTLE_32(value) (value)
#endif

/* Of fixed length at any address: one store where the processor has it, byte by byte elsewhere. */
typedef struct __attribute__((packed, may_alias)) fixed_16 {
    uint16_t value;
} fixed_16;

typedef struct __attribute__((packed, may_alias)) fixed_32 {
    uint32_t value;
} fixed_32;

static void put_16(uint8_t *at, uint32_t value) {
    ((fixed_16 *)at)->value = LITTLE_16((uint16_t)value);
}

static void put_32(uint8_t *at, uint32_t value) {
    ((fixed_32 *)at)->value = LITTLE_32(value);
}

static uint8_t *put(uint8_t *at, uint32_t value) {
    while (value > 0x7f) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* An event of this kind and the step to its block from the block before, less than 2 GiB. */
static uint8_t *put_step(hfit_recorder *recorder, uint8_t *at, uint32_t kind, const void *block) {
    const uint32_t step = (uint32_t)((uintptr_t)block - recorder->address);
    const uint32_t is_back = step >> 31;
    const uint32_t distance = is_back != 0 ? 0u - step : step;
    recorder->address = (uintptr_t)block;
    return put(at, distance >> HFIT_RECORD_ALIGNMENT_LOG2 << 3 | is_back << 2 | kind);
}

/* ---- Frames ---- */

static uint8_t *after(const hfit_recorder *recorder, uint8_t *frame) {
    uint8_t *ring = recorder->about->ring;
    const size_t next = (size_t)(frame - ring) + FRAME_SIZE;
    return next + FRAME_SIZE > recorder->about->ring_size ? ring : ring + next;
}

/* Ends the frame being filled and begins the next, which is read without those before it. False if
 * none is free: then nothing more goes to this one, as events are missing behind it. */
static bool turn_frame(hfit_recorder *recorder, uint32_t tick) {
    uint8_t *full = recorder->filled;
    uint8_t *frame = after(recorder, full);
    if (recorder->at != full + FRAME_SIZE) {
        full[LENGTH_AT] = (uint8_t)(recorder->at - full - LENGTH_AT);
    }
    if (frame == recorder->oldest) {
        recorder->at = full + FRAME_SIZE;
        return false;
    }
    put_16(frame + NUMBER_AT, recorder->events);
    put_32(frame + TICK_AT, tick);
    recorder->at = frame + BODY_AT;
    recorder->address = (uintptr_t)recorder->about->heap_base;
    recorder->tick = tick;
    if (TELLS_SERVED != 0) {
        recorder->served = 0;
    }
    __asm__ volatile("" : : : "memory"); /* the drain reads a frame once `filled` is beyond it */
    recorder->filled = frame;
    return true;
}

void hfit_record_site(hfit_recorder *recorder, const void *site) {
    recorder->site = (uint32_t)(uintptr_t)site;
}

/* The place that the next request comes from, which is no later one's; 0 where none is told. */
static uint32_t take_site(hfit_recorder *recorder) {
#if HFIT_RECORD_CALL_SITES
    const uint32_t site = recorder->site;
    recorder->site = 0;
    return site;
#else
    (void)recorder;
    return 0;
#endif
}

/* Where an event of at most `longest` bytes goes, the time before it, its place and its needs
 * written; NULL: nowhere. */
static uint8_t *begin_event(hfit_recorder *recorder, uint32_t longest) {
    const uint32_t tick = HFIT_RECORD_TICKS();
    const size_t taken = (size_t)(recorder->at - recorder->filled) + CRC_SIZE;
    const uint8_t needs = recorder->needs;
    recorder->needs = 0;
    const uint32_t site = take_site(recorder);
    longest += needs != 0 ? LONGEST_NEEDS : 0;
    longest += site != 0 ? LONGEST_SITE : 0;
    const bool has_room = taken + longest <= FRAME_SIZE || turn_frame(recorder, tick);
    recorder->events++;
    if (!has_room) {
        return NULL;
    }
    const uint32_t ticks = tick - recorder->tick;
    recorder->tick = tick;
    uint8_t *at = ticks == 0 ? recorder->at : put(recorder->at, ticks << 2 | TIME);
    if (needs != 0) {
        *at++ = OTHER_NEEDS;
        at = put(at, needs);
    }
    if (site != 0) {
        *at++ = OTHER_SITE;
        at = put(at, site);
    }
    return at;
}

/* The memory that serves requests from here on, if it is another than the frame's last. */
static uint8_t *put_served(hfit_recorder *recorder, uint8_t *at, const void *block) {
    (void)block;
    const uint8_t served = HFIT_RECORD_SERVED(block);
    if (TELLS_SERVED != 0 && served != recorder->served) {
        recorder->served = served;
        *at++ = OTHER_SERVED;
        at = put(at, served);
    }
    return at;
}

/* A request, after what tells that it is no plain one. */
static void put_request(hfit_recorder *recorder, uint8_t *at, const void *block, size_t size) {
    if (block == NULL) {
        *at++ = OTHER_REFUSED;
    } else {
        at = put_step(recorder, put_served(recorder, at, block), ALLOC, block);
    }
    recorder->at = put(at, (uint32_t)size);
}

/* ---- Events ---- */

void hfit_record_needs(hfit_recorder *recorder, uint8_t needs) {
    recorder->needs = needs;
}

void hfit_record_alloc(hfit_recorder *recorder, const void *block, size_t size) {
    HFIT_RECORD_LOCK();
    uint8_t *at = begin_event(recorder, LONGEST_ALLOC);
    if (at != NULL) {
        put_request(recorder, at, block, size);
    }
    HFIT_RECORD_UNLOCK();
}

void hfit_record_zeroed(hfit_recorder *recorder, const void *block, size_t size) {
    HFIT_RECORD_LOCK();
    uint8_t *at = begin_event(recorder, LONGEST_ALIGNED);
    if (at != NULL) {
        *at++ = OTHER_ZEROED;
        put_request(recorder, at, block, size);
    }
    HFIT_RECORD_UNLOCK();
}

void hfit_record_aligned(hfit_recorder *recorder, const void *block, size_t size,
                         size_t alignment) {
    HFIT_RECORD_LOCK();
    uint8_t *at = begin_event(recorder, LONGEST_ALIGNED);
    if (at != NULL) {
        uint8_t log2 = 0;
        while (alignment >> log2 > 1) {
            log2++;
        }
        *at++ = OTHER_ALIGNED;
        *at++ = log2;
        put_request(recorder, at, block, size);
    }
    HFIT_RECORD_UNLOCK();
}

void hfit_record_free(hfit_recorder *recorder, const void *block) {
    if (block == NULL) {
        return;
    }
    HFIT_RECORD_LOCK();
    (void)take_site(recorder); /* of a resize that is a free */
    uint8_t *at = begin_event(recorder, LONGEST_FREE);
    if (at != NULL) {
        recorder->at = put_step(recorder, at, FREE, block);
    }
    HFIT_RECORD_UNLOCK();
}

/* The old block and the request that takes its place are one event. */
static void record_move(hfit_recorder *recorder, const void *old, const void *block, size_t size) {
    HFIT_RECORD_LOCK();
    uint8_t *at = begin_event(recorder, LONGEST_RESIZE);
    if (at != NULL) {
        *at++ = OTHER_RESIZE;
        at = put_step(recorder, at, ALLOC, old);
        put_request(recorder, at, block, size);
    }
    HFIT_RECORD_UNLOCK();
}

void hfit_record_resize(hfit_recorder *recorder, const void *old, const void *block, size_t size) {
    if (old == NULL) {
        hfit_record_alloc(recorder, block, size);
    } else if (block == NULL && size == 0) {
        hfit_record_free(recorder, old);
    } else {
        record_move(recorder, old, block, size);
    }
}

/* ---- Out ---- */

/* CRC-16 with the polynomial 0x1021 and 0xffff to begin with, a byte at a time without a table; of
 * one byte or more. */
static uint32_t crc_of(const uint8_t *bytes, const uint8_t *end) {
    uint32_t crc = 0xffff;
    do {
        uint32_t x = (crc >> 8 ^ *bytes++) & 0xff;
        x ^= x >> 4;
        crc = crc << 8 ^ x << 12 ^ x << 5 ^ x;
    } while (bytes < end);
    return crc;
}

/* Adds what the host finds a frame by, and hands it over. */
static bool send_frame(uint8_t *frame, hfit_record_sink *sink, void *context) {
    uint8_t *end = frame + LENGTH_AT + (frame[LENGTH_AT] & ~HEADER_BIT);
    const uint32_t crc = crc_of(frame + LENGTH_AT, end);
    put_16(frame, MARK);
    put_16(end, crc);
    return sink(context, frame, (size_t)(end + CRC_SIZE - frame));
}

/* Tells what the recording is of, before the frame to drain next, if that is one of HEADER_EVERY.
 * It is on the stack here alone, not while other frames are sent. */
__attribute__((noinline)) static bool send_header(const hfit_recorder *recorder,
                                                  hfit_record_sink *sink, void *context) {
    const hfit_record_about *about = recorder->about;
    if ((size_t)(recorder->oldest - about->ring) % (HEADER_EVERY * FRAME_SIZE) != 0) {
        return true;
    }
    uint8_t frame[LONGEST_HEADER];
    for (uint32_t i = NUMBER_AT; i < BODY_AT; i++) {
        frame[i] = recorder->oldest[i];
    }
    frame[BODY_AT] = VERSION;
    frame[BODY_AT + 1] = 8 * sizeof(void *);
    frame[BODY_AT + 2] = HFIT_RECORD_ALIGNMENT_LOG2;
    uint8_t *at = put(frame + BODY_AT + 3, about->tick_rate);
    at = put(at, (uint32_t)(uintptr_t)about->heap_base);
    at = put(at, about->heap_size);
    at = put(at, about->live);
    at = put(at, about->flags | TELLS_SERVED);
    at = put(at, recorder->events);
    frame[LENGTH_AT] = (uint8_t)(HEADER_BIT | (at - frame - LENGTH_AT));
    return send_frame(frame, sink, context);
}

bool hfit_record_drain(hfit_recorder *recorder, hfit_record_sink *sink, void *context) {
    const uint8_t *full = recorder->filled; /* what fills up meanwhile is the next drain's */
    while (recorder->oldest != full) {
        if (!send_header(recorder, sink, context) || !send_frame(recorder->oldest, sink, context)) {
            return false;
        }
        recorder->oldest = after(recorder, recorder->oldest);
    }
    return true;
}

void hfit_record_close_frame(hfit_recorder *recorder) {
    HFIT_RECORD_LOCK();
    if (recorder->at != recorder->filled + BODY_AT) {
        (void)turn_frame(recorder, HFIT_RECORD_TICKS());
    }
    HFIT_RECORD_UNLOCK();
}
