/* SPDX-License-Identifier: Apache-2.0 */
/* See attacks.h; tests/battery has what heapfit's own allocators must stand. */
#include "attacks.h"

#include "answer.h"
#include "content.h"
#include "face.h"
#include "region.h"
#include "replay.h"

#include <stdint.h>
#include <string.h>

/* Alignments and resizes go up to 256 times the region, and up to half the address space by attacks
 * of their own: there some well-known allocators crash where a region lies high in the address
 * space, as it does not on a microcontroller. */
enum {
    LARGE_BIT = 24,
    LARGEST_BIT = 8 * sizeof(size_t) - 1,
    MOST_BLOCKS = 4096,
    AFTERWARDS = 64,
    TURNS = 4096
};

static block blocks[MOST_BLOCKS];

/* An attack that this heap gives no room for: told as not run. */
static _Noreturn void leave_out(void) {
    stop_at(FAULT_NONE, 0, 0);
}

static void require_block(const face *f, const block *b, size_t size) {
    if (size > heap_region.size) {
        stop_at(FAULT_HUGE_SERVED, (uint32_t)size, 0);
    }
    require_sound(b->address, size, b->alignment, f->alignment);
}

static void give(const face *f, block *b, size_t size) {
    unclaim(b->address, size);
    face_free(f, b);
    b->address = NULL;
}

/* Asks for a block and, if it is served, writes it and gives it back. */
static void try_size(const face *f, size_t alignment, size_t size) {
    told->events = told->events + 1;
    block b = face_alloc(f, alignment, size, alignment > f->alignment);
    if (b.address != NULL) {
        require_block(f, &b, size);
        write_content(b.address, size, 0);
        give(f, &b, size);
    }
}

static void huge_sizes(const face *f, size_t alignment) {
    for (size_t i = 0; i < 300; i++) {
        try_size(f, alignment, SIZE_MAX - i);
        try_size(f, alignment, (size_t)PTRDIFF_MAX - 150 + i);
    }
    for (unsigned bit = 17; bit < 8 * sizeof(size_t); bit++) {
        for (size_t i = 0; i < 80; i++) {
            try_size(f, alignment, ((size_t)1 << bit) - 40 + i);
        }
    }
}

static void overflowing_sizes(const face *f) {
    huge_sizes(f, f->alignment);
}

static void overflowing_aligned_sizes(const face *f) {
    for (size_t alignment = 32; alignment <= 4096; alignment *= 4) {
        huge_sizes(f, alignment);
    }
}

static void sizes_around_the_region(const face *f) {
    const size_t from = heap_region.size - heap_region.size / 8;
    for (size_t size = from; size <= heap_region.size + 4096; size += 3) {
        try_size(f, f->alignment, size);
    }
}

static void huge_alignments(const face *f) {
    for (unsigned bit = 5; bit <= LARGE_BIT; bit++) {
        try_size(f, (size_t)1 << bit, 8);
    }
}

static void extreme_alignments(const face *f) {
    for (unsigned bit = LARGE_BIT + 1; bit <= LARGEST_BIT; bit++) {
        try_size(f, (size_t)1 << bit, 8);
    }
}

enum { RESIZED = 100 };

static block take_one(const face *f) {
    const block b = face_alloc(f, f->alignment, RESIZED, false);
    if (b.address == NULL) {
        leave_out();
    }
    require_block(f, &b, RESIZED);
    write_content(b.address, RESIZED, 1);
    return b;
}

static void refuse_resize(const face *f, const block *b, size_t size) {
    told->events = told->events + 1;
    if (face_resize(f, b, size) != NULL) {
        stop_at(FAULT_HUGE_SERVED, (uint32_t)size, 0);
    }
    if (!has_content(b->address, RESIZED, 1)) {
        stop_at(FAULT_NULL_CHANGES, RESIZED, 1);
    }
}

static void huge_resizes(const face *f) {
    const block b = take_one(f);
    for (size_t i = 0; i < 40; i++) {
        refuse_resize(f, &b,
                      i % 2 == 0 ? SIZE_MAX - i : heap_region.size + ((size_t)i << LARGE_BIT / 2));
    }
}

static void extreme_resizes(const face *f) {
    const block b = take_one(f);
    for (unsigned bit = LARGE_BIT; bit <= LARGEST_BIT; bit++) {
        for (size_t below = 0; below <= 64; below += 8) {
            refuse_resize(f, &b, ((size_t)1 << bit) - below);
        }
    }
}

/* Blocks until one is refused; how many there are. */
static size_t fill(const face *f, size_t size) {
    size_t count = 0;
    for (; count < MOST_BLOCKS; count++) {
        told->events = told->events + 1;
        blocks[count] = face_alloc(f, f->alignment, size, false);
        if (blocks[count].address == NULL) {
            break;
        }
        require_block(f, &blocks[count], size);
        write_content(blocks[count].address, size, (uint32_t)count);
    }
    return count;
}

static void empty(const face *f, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++) {
        const size_t next = i % 2 == 0 ? i / 2 : count - 1 - i / 2; /* from both ends */
        if (!has_content(blocks[next].address, size, (uint32_t)next)) {
            stop_at(FAULT_HEADER_IN_PAYLOAD, (uint32_t)size, (uint32_t)next);
        }
        give(f, &blocks[next], size);
    }
}

/* Half of what was served once must be served again; and one block again and again. */
static void freed_blocks_come_back(const face *f) {
    enum { SIZE = 200 };
    const size_t first = fill(f, SIZE);
    empty(f, first, SIZE);
    const size_t second = fill(f, SIZE);
    empty(f, second, SIZE);
    if (2 * second < first) {
        stop_at(FAULT_NEVER_REUSED, (uint32_t)first, (uint32_t)second);
    }
    for (size_t i = 0; i < TURNS && first > 0; i++) {
        told->events = told->events + 1;
        block b = face_alloc(f, f->alignment, SIZE, false);
        if (b.address == NULL) {
            stop_at(FAULT_NEVER_REUSED, (uint32_t)i, 0);
        }
        require_block(f, &b, SIZE);
        give(f, &b, SIZE);
    }
}

/* Misuse by the caller, of which nobody has to be safe: three blocks with one behind them. */
enum { NEIGHBOURS = 4, MISUSED = 40 };

static void take_neighbours(const face *f) {
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        blocks[i] = face_alloc(f, f->alignment, MISUSED, false);
        if (blocks[i].address == NULL) {
            leave_out();
        }
        write_content(blocks[i].address, MISUSED, 0);
    }
}

static void free_again(const face *f, const unsigned char *order, size_t count) {
    take_neighbours(f);
    for (size_t i = 0; i < count; i++) {
        told->events = told->events + 1;
        face_free(f, &blocks[order[i]]);
    }
}

static void double_free(const face *f) {
    free_again(f, (const unsigned char[]){0, 0}, 2);
}

static void double_free_with_one_between(const face *f) {
    free_again(f, (const unsigned char[]){0, 1, 0}, 3);
}

static void double_free_after_joining(const face *f) {
    free_again(f, (const unsigned char[]){0, 2, 1, 1}, 4);
}

static void free_inside(const face *f) {
    take_neighbours(f);
    block inside = blocks[1];
    inside.address += 16;
    face_free(f, &inside);
}

static void overrun(const face *f) {
    take_neighbours(f);
    memset(blocks[0].address + MISUSED, 0x41, 16);
    for (size_t i = 0; i + 1 < NEIGHBOURS; i++) {
        face_free(f, &blocks[i]);
    }
}

static void write_after_free(const face *f) {
    take_neighbours(f);
    face_free(f, &blocks[1]);
    memset(blocks[1].address, 0x41, 16);
}

/* Half of them of the size that was misused. */
static size_t size_afterwards(size_t i) {
    return i % 2 == 0 ? MISUSED : 1 + i * 37 % 200;
}

/* After whatever was refused: blocks that are sound, apart, and keep what is written. */
static void still_serves(const face *f) {
    for (size_t i = 0; i < AFTERWARDS; i++) {
        const size_t size = size_afterwards(i);
        blocks[i] = face_alloc(f, f->alignment, size, false);
        if (blocks[i].address != NULL) {
            require_block(f, &blocks[i], size);
            write_content(blocks[i].address, size, (uint32_t)i);
        }
    }
    for (size_t i = 0; i < AFTERWARDS; i++) {
        const size_t size = size_afterwards(i);
        if (blocks[i].address == NULL) {
            continue;
        }
        if (!has_content(blocks[i].address, size, (uint32_t)i)) {
            stop_at(FAULT_HEADER_IN_PAYLOAD, (uint32_t)size, (uint32_t)i);
        }
        give(f, &blocks[i], size);
    }
}

void attack(unsigned number, size_t alignment) {
    static void (*const attacks[])(const face *) = {
        overflowing_sizes,
        overflowing_aligned_sizes,
        sizes_around_the_region,
        huge_alignments,
        huge_resizes,
        freed_blocks_come_back,
        double_free,
        double_free_with_one_between,
        double_free_after_joining,
        free_inside,
        overrun,
        write_after_free,
        extreme_alignments,
        extreme_resizes,
    };
    const face f = {face_init(heap_region.start, heap_region.size, alignment), alignment, true};
    if (f.heap == NULL || number >= sizeof attacks / sizeof *attacks) {
        return;
    }
    told->is_region = 1;
    attacks[number](&f);
    still_serves(&f);
    if (!is_filler_kept()) {
        stop_at(FAULT_OUTSIDE, 0, 0);
    }
    told->runs = 1;
}
