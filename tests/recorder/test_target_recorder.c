/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of frames, of each kind of event, beside those that FRAMES.md says; a ring without
 * room; the sinks. What the host makes of frames is tested in tests/python/test_frames.py.
 */
#include "record.h"
#include "sinks/sinks.h"

#include "check.h"

#include <string.h>

enum { FRAMES = 4, RING = FRAMES * HFIT_RECORD_FRAME_SIZE, BASE = 0x1000, OVERHEAD = 11 };

uint32_t test_ticks;
int test_locks;
uint8_t test_served;

static uint8_t ring[RING];
static const hfit_record_about about = {
    .ring = ring,
    .ring_size = RING,
    .heap_base = (const void *)BASE,
    .heap_size = 4096,
    .tick_rate = 1000,
};

static uint8_t log_bytes[4096];
static hfit_memory_sink memory;

static hfit_recorder new_recorder(void) {
    memset(ring, 0, sizeof ring);
    test_ticks = 0;
    test_served = 0;
    memory = (hfit_memory_sink){log_bytes, sizeof log_bytes, 0};
    return (hfit_recorder)HFIT_RECORDER(about, ring, BASE);
}

static const void *block_at(uintptr_t offset) {
    return (const void *)(BASE + offset);
}

/* Another way to the CRC: a bit at a time. */
static uint32_t slow_crc(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0xffff;
    for (size_t i = 0; i < 8 * size; i++) {
        const uint32_t bit = (uint32_t)bytes[i / 8] >> (7 - i % 8) & 1u;
        crc = (crc << 1 ^ ((crc >> 15 ^ bit) & 1u) * 0x1021) & 0xffff;
    }
    return crc;
}

/* The frame at `at` is whole; its size. */
static size_t frame_size(const uint8_t *at) {
    const size_t length = at[2] & 0x7fu;
    CHECK(at[0] == 0xf5 && at[1] == 0xfd);
    CHECK(slow_crc(at + 2, length) == (at[length + 2] | (uint32_t)at[length + 3] << 8));
    return length + 4;
}

/* Of the log, the header frame and behind it one frame of these events. */
static void check_log(const uint8_t *body, size_t size) {
    const uint8_t *frame = log_bytes + frame_size(log_bytes);
    CHECK((log_bytes[2] & 0x80) != 0);
    CHECK(frame_size(frame) == size + OVERHEAD);
    CHECK(frame + size + OVERHEAD == log_bytes + memory.used);
    CHECK(memcmp(frame + 9, body, size) == 0);
    CHECK(test_locks == 0);
}

static void drain_all(hfit_recorder *recorder) {
    hfit_record_close_frame(recorder);
    CHECK(hfit_record_drain(recorder, hfit_record_to_memory, &memory));
}

TEST(each_kind_of_event_has_its_bytes) {
    hfit_recorder r = new_recorder();
    hfit_record_alloc(&r, block_at(16), 24);
    test_ticks = 3;
    hfit_record_free(&r, block_at(16));
    hfit_record_free(&r, NULL);
    hfit_record_zeroed(&r, block_at(8), 300);
    hfit_record_aligned(&r, block_at(64), 1, 32);
    hfit_record_alloc(&r, NULL, 5);
    hfit_record_site(&r, (const void *)0x81);
    hfit_record_alloc(&r, block_at(4), 2);
    hfit_record_site(&r, (const void *)2);
    hfit_record_resize(&r, block_at(4), block_at(8), 9);
    hfit_record_resize(&r, block_at(8), NULL, 200);
    hfit_record_site(&r, (const void *)2);
    hfit_record_resize(&r, block_at(8), NULL, 0);
    hfit_record_resize(&r, NULL, block_at(8), 7);
    drain_all(&r);
    const uint8_t body[] = {
        4 << 3,     24,                                     /* 16 B on: 4 units */
        3 << 2 | 2, 1,                                      /* 3 ticks; the same block */
        1 << 2 | 3, 2 << 3 | 4, 0xac,       2,              /* 2 units back; 300 */
        2 << 2 | 3, 5,          14 << 3,    1,              /* 2^5; 14 units on */
        3 << 2 | 3, 5,                                      /* refused */
        4 << 2 | 3, 0x81,       1,          15 << 3 | 4, 2, /* the site; 15 units back */
        4 << 2 | 3, 2,          3,          0,              /* the site of a resize */
        1 << 3,     9,                                      /* moved by 1 unit */
        3,          0,          3 << 2 | 3, 0xc8,        1, /* refused: it stays */
        1,                                                  /* to 0 bytes */
        0,          7,                                      /* of no block */
    };
    check_log(body, sizeof body);
    CHECK(r.events == 10);
}

TEST(needs_are_told_of_each_request_and_another_memory_once) {
    hfit_recorder r = new_recorder();
    hfit_record_alloc(&r, block_at(8), 4);
    test_served = 131;
    hfit_record_resize(&r, block_at(8), block_at(12), 4);
    hfit_record_needs(&r, 2);
    hfit_record_zeroed(&r, block_at(8), 4);
    hfit_record_alloc(&r, NULL, 4);
    test_served = 0;
    hfit_record_alloc(&r, block_at(4), 4);
    test_served = 8;
    drain_all(&r);
    const uint8_t body[] = {
        2 << 3,     4,                       /* in a memory that is not known */
        3,          0,      6 << 2 | 3, 131, /* moved to another one, 131 in two bytes */
        1,          1 << 3, 4,               /* 1 unit on */
        5 << 2 | 3, 2,      1 << 2 | 3,      /* needs DMA */
        1 << 3 | 4, 4,                       /* in the same */
        3 << 2 | 3, 4,                       /* refused: in none */
        6 << 2 | 3, 0,      1 << 3 | 4, 4,   /* no longer known */
    };
    check_log(body, sizeof body);
    hfit_record_alloc(&r, block_at(4), 4);
    hfit_record_close_frame(&r);
    CHECK(r.oldest[9] == (6 << 2 | 3) && r.oldest[10] == 8); /* each frame begins anew */
}

TEST(a_header_tells_what_the_recording_is_of) {
    hfit_recorder r = new_recorder();
    hfit_record_free(&r, block_at(4));
    drain_all(&r);
    const uint8_t expected[] = {
        0x80 | 19, 0,    0,    0,    0,    0, 0,  1, 8 * sizeof(void *), 2, 0xe8,
        0x07,      0x80, 0x20, 0x80, 0x20, 0, 16, 1};
    CHECK(frame_size(log_bytes) == sizeof expected + 4);
    CHECK(memcmp(log_bytes + 2, expected, sizeof expected) == 0);
}

/* Also one that is shorter than that for which there was no room. */
TEST(an_event_without_room_is_left_out_and_counted) {
    hfit_recorder r = new_recorder();
    uint32_t offered = 0;
    for (const uint8_t *at = NULL; r.at != at; offered++) {
        at = r.at;
        hfit_record_alloc(&r, block_at(8), 100);
    }
    for (uint32_t i = 0; i < 70000; i++, offered++) {
        hfit_record_alloc(&r, block_at(8), 100);
        hfit_record_close_frame(&r);
    }
    CHECK(r.events == offered);
    drain_all(&r);
    memory.used = 0;
    hfit_record_free(&r, block_at(8));
    drain_all(&r);
    const uint8_t *last = log_bytes;
    while (last + frame_size(last) < log_bytes + memory.used) {
        last += frame_size(last);
    }
    CHECK((last[3] | (uint32_t)last[4] << 8) == (offered & 0xffff));
}

TEST(a_frame_that_the_sink_did_not_take_is_offered_again) {
    hfit_recorder r = new_recorder();
    hfit_record_alloc(&r, block_at(8), 100);
    hfit_record_close_frame(&r);
    memory.size = 30; /* the header, and no frame */
    CHECK(!hfit_record_drain(&r, hfit_record_to_memory, &memory));
    const size_t header = memory.used;
    memory.size = sizeof log_bytes;
    memory.used = 0;
    CHECK(hfit_record_drain(&r, hfit_record_to_memory, &memory));
    CHECK(memory.used == header + OVERHEAD + 2);
}

static hfit_recorder *busy;
static uint32_t frames_taken;

/* Slower than what is asked meanwhile: each frame it takes finds another one full. */
static bool take_slowly(void *context, const void *bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    frames_taken++;
    for (uint32_t i = 0; i < 100; i++) {
        hfit_record_alloc(busy, block_at(8), 100);
    }
    return true;
}

TEST(a_drain_ends_however_much_is_asked_meanwhile) {
    hfit_recorder r = new_recorder();
    busy = &r;
    hfit_record_alloc(&r, block_at(8), 100);
    hfit_record_close_frame(&r);
    CHECK(hfit_record_drain(&r, take_slowly, NULL));
    CHECK(frames_taken == 2); /* the header and the frame */
}

TEST(longest_events_stay_in_their_frames) {
    hfit_recorder r = new_recorder();
    for (uint32_t i = 0; i < 1000; i++) {
        test_served ^= UINT8_MAX;
        test_ticks += UINT32_MAX / 4 - 1;
        const uintptr_t far = (i % 2 + 1) * (uintptr_t)0x70000000;
        hfit_record_needs(&r, UINT8_MAX);
        hfit_record_aligned(&r, (const void *)far, SIZE_MAX, (size_t)1 << 31);
        hfit_record_resize(&r, (const void *)far, (const void *)(uintptr_t)8, SIZE_MAX);
        hfit_record_needs(&r, UINT8_MAX);
        hfit_record_site(&r, (const void *)UINTPTR_MAX);
        hfit_record_resize(&r, (const void *)(uintptr_t)8, (const void *)far, SIZE_MAX);
        CHECK(r.at - r.filled <= HFIT_RECORD_FRAME_SIZE - 2);
        memory.used = 0;
        drain_all(&r);
        for (size_t at = 0; at < memory.used;) {
            at += frame_size(log_bytes + at);
        }
    }
}

static char typed[256];
static int typed_count;

static int type(int character) {
    typed[typed_count++] = (char)character;
    return character;
}

TEST(characters_are_the_frames_bytes) {
    hfit_recorder r = new_recorder();
    hfit_character_sink sink = {type};
    hfit_record_alloc(&r, block_at(8), 100);
    hfit_record_close_frame(&r);
    hfit_recorder same = r;
    CHECK(hfit_record_drain(&same, hfit_record_to_memory, &memory));
    CHECK(hfit_record_drain(&r, hfit_record_to_characters, &sink));
    CHECK((size_t)typed_count == memory.used);
    CHECK(memcmp(typed, log_bytes, memory.used) == 0);
}

/* As a probe does: what is between the two places, in order. */
static size_t probe(hfit_debugger_ring *debugger, uint8_t *to) {
    size_t count = 0;
    while (debugger->read_at != debugger->next) {
        to[count++] = debugger->buffer[debugger->read_at];
        debugger->read_at = (debugger->read_at + 1) % debugger->size;
    }
    return count;
}

TEST(a_probe_finds_the_ring_and_empties_it) {
    static uint8_t buffer[100];
    static uint8_t found[8192];
    hfit_debugger_ring debugger = {.buffer = buffer, .size = sizeof buffer};
    hfit_recorder r = new_recorder();
    size_t count = 0;
    size_t refused = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        hfit_record_alloc(&r, block_at(8 * (i % 50)), 300);
        refused += !hfit_record_drain(&r, hfit_record_to_debugger, &debugger);
        count += i % 97 == 96 ? probe(&debugger, found + count) : 0;
    }
    CHECK(memcmp(debugger.id, "SEGGER RTT\0\0\0\0\0", 16) == 0);
    CHECK(debugger.up_count == 1 && debugger.down_count == 0 && debugger.flags == 0);
    CHECK(refused > 0);
    size_t frames = 0;
    for (size_t at = 0; at < count; frames++) {
        at += frame_size(found + at);
    }
    CHECK(frames > 5);
}

RUN_TESTS()
