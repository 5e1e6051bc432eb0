/* SPDX-License-Identifier: Apache-2.0 */
/* What safety level 3 adds to every allocator of core, under every test plan. */
#include "every_plan.h"

enum { ROOM = 4096, MOST_SIZE = 70, MOST_OVERRUN = 40, SECRET_SIZE = 16 };

static unsigned char *take(const subject *h, size_t size) {
    return h->operations->alloc(h->heap, h->plan, size);
}

static void give(const subject *h, void *block) {
    h->operations->free(h->heap, h->plan, block);
}

static bool is_sound(const subject *h) {
    return h->operations->check(h->heap, h->plan);
}

static bool lies_in_pieces(const subject *h) {
    return h->allocator->next_piece != NULL;
}

/* The piece of a block after `piece`, up to the caller's last byte. */
static unsigned char *next_piece(const subject *h, unsigned char *block, unsigned char *piece,
                                 size_t *size) {
    const size_t usable = h->operations->usable_size(h->heap, h->plan, block);
    return piece_after(h->from, h->heap, block, piece, usable, size);
}

static unsigned char *end_of(const subject *h, unsigned char *block) {
    unsigned char *end = block;
    size_t size;
    for (unsigned char *piece = NULL; (piece = next_piece(h, block, piece, &size)) != NULL;) {
        end = piece + size;
    }
    return end;
}

static void fill(const subject *h, unsigned char *block, int value) {
    size_t size;
    for (unsigned char *piece = NULL; (piece = next_piece(h, block, piece, &size)) != NULL;) {
        memset(piece, value, size);
    }
}

static void tells_its_size(const test_plan *plan) {
    const subject h = start(plan, ROOM);
    for (size_t size = 0; size < MOST_SIZE; size++) {
        unsigned char *block = take(&h, size);
        if (block != NULL) {
            CHECK(h.operations->usable_size(h.heap, h.plan, block) == (size == 0 ? 1 : size));
            give(&h, block);
        }
    }
    CHECK(misuse_count == 0);
}

TEST(a_block_has_just_the_bytes_that_were_asked_for) {
    (void)for_each_plan(tells_its_size, false);
}

/* Overruns a block; its free must tell that and change nothing, nor may it ever come back. */
static void overrun(const test_plan *plan, size_t size, size_t bytes, int value) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, size);
    if (block == NULL || end_of(&h, block) + bytes > region + h.bytes) {
        return;
    }
    memset(end_of(&h, block), value, bytes);
    CHECK(!is_sound(&h));
    remember();
    misuse_count = 0;
    give(&h, block);
    CHECK(misuse_count == 1);
    CHECK(h.operations->resize(h.heap, h.plan, block, size + 1) == NULL);
    CHECK(misuse_count == 2);
    CHECK(is_unchanged());
}

static void tells_overruns(const test_plan *plan) {
    static const int values[] = {0, 'A'};
    for (size_t size = 1; size < MOST_SIZE; size += 23) {
        for (size_t bytes = 1; bytes <= MOST_OVERRUN; bytes++) {
            overrun(plan, size, bytes, values[bytes % 2]);
            overrun(plan, size, bytes, values[(bytes + 1) % 2]);
        }
    }
}

TEST(an_overrun_by_zeros_or_text_is_told_when_its_block_is_freed_or_resized) {
    (void)for_each_plan(tells_overruns, false);
}

static void fills_and_keeps(const test_plan *plan) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, 40);
    if (block == NULL) {
        return;
    }
    unsigned char *last = end_of(&h, block) - 1;
    fill(&h, block, 0x5a);
    give(&h, block);
    CHECK(*block == HFIT_FREED_BYTE && *last == HFIT_FREED_BYTE);
    for (size_t i = 0; i < HFIT_QUARANTINE - 1; i++) {
        unsigned char *other = take(&h, 40);
        if (other == NULL || other == block) { /* there was no room for another one */
            return;
        }
        give(&h, other);
    }
    CHECK(is_sound(&h));
    CHECK(misuse_count == 0);
}

TEST(a_freed_block_holds_no_address_and_waits) {
    (void)for_each_plan(fills_and_keeps, false);
}

static void refuses_what_waits(const test_plan *plan) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, 40);
    if (block == NULL) {
        return;
    }
    give(&h, block);
    give(&h, block);
    CHECK(misuse_count == 1);
    CHECK(h.operations->resize(h.heap, h.plan, block, 8) == NULL);
    CHECK(h.operations->usable_size(h.heap, h.plan, block) == 0);
    CHECK(misuse_count == 3);
    CHECK(is_sound(&h));
}

TEST(a_block_that_waits_is_not_live) {
    (void)for_each_plan(refuses_what_waits, false);
}

/* After a write to a freed block nothing may be handed out at its address. */
static void write_after_free(const test_plan *plan, size_t at) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, 40);
    if (block == NULL || (lies_in_pieces(&h) && at != 0)) {
        return;
    }
    give(&h, block);
    block[at] = 1;
    CHECK(!is_sound(&h));
    for (size_t i = 0; i < 2 * HFIT_QUARANTINE; i++) {
        unsigned char *other = take(&h, 40);
        CHECK(other != block);
        give(&h, other);
    }
    CHECK(misuse_count == 1);
    CHECK(!is_sound(&h));
}

static void tells_writes_after_free(const test_plan *plan) {
    for (size_t at = 0; at < 40; at += 13) {
        write_after_free(plan, at);
    }
}

TEST(a_write_after_free_is_told_and_its_block_never_handed_out_again) {
    (void)for_each_plan(tells_writes_after_free, false);
}

/* As many blocks as there are, then one freed and one asked for, again and again: what waits goes
 * before a request is refused. */
static void serves_to_the_last(const test_plan *plan) {
    const subject h = start(plan, 600);
    unsigned char *blocks[MOST_LIVE];
    size_t count = 0;
    while (count < MOST_LIVE && (blocks[count] = take(&h, 40)) != NULL) {
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        give(&h, blocks[i]);
        blocks[i] = take(&h, 40);
        CHECK(blocks[i] != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        give(&h, blocks[i]);
    }
    for (size_t i = 0; i < count; i++) {
        CHECK((blocks[i] = take(&h, 40)) != NULL);
    }
    CHECK(misuse_count == 0 && is_sound(&h));
}

TEST(waiting_takes_no_room) {
    (void)for_each_plan(serves_to_the_last, false);
}

static bool holds(const unsigned char *secret, size_t size) {
    for (size_t i = 0; i + SECRET_SIZE <= size; i += 4) {
        if (memcmp(region + i, secret, SECRET_SIZE) == 0) {
            return true;
        }
    }
    return false;
}

/* A secret at the end of a block that is resized to each of these sizes, then freed. */
static void leave_secret(const subject *h, const unsigned char *secret) {
    static const size_t sizes[] = {90, 400, 500, 200, 64, 120, 40};
    unsigned char *block = take(h, 64);
    for (size_t i = 0; block != NULL && i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = h->operations->usable_size(h->heap, h->plan, block);
        memcpy(block + 4 * ((size - SECRET_SIZE) / 4), secret, SECRET_SIZE);
        unsigned char *moved = h->operations->resize(h->heap, h->plan, block, sizes[i]);
        CHECK(moved == NULL || sizes[i] >= size || !holds(secret, h->bytes));
        block = moved == NULL ? block : moved;
        memset(block, 0, h->operations->usable_size(h->heap, h->plan, block));
    }
    give(h, block);
}

/* In a region so full that blocks must grow where they are, and in one with room. */
static void leaves_nothing(const test_plan *plan) {
    static const unsigned char secret[SECRET_SIZE] = "fifteen letters";
    for (size_t room = 200; room <= ROOM; room += 100) {
        const subject h = start(plan, room);
        if (lies_in_pieces(&h)) {
            return;
        }
        unsigned char *first = take(&h, 300);
        unsigned char *second = take(&h, 100);
        give(&h, first);
        leave_secret(&h, secret);
        give(&h, second);
        CHECK(!holds(secret, h.bytes));
        CHECK(misuse_count == 0 && is_sound(&h));
    }
}

TEST(nothing_is_left_of_what_a_block_held_when_it_moved_shrank_or_was_freed) {
    (void)for_each_plan(leaves_nothing, false);
}

static void refuses_forged(const test_plan *plan) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, 200);
    if (block == NULL || lies_in_pieces(&h)) {
        return;
    }
    for (uint32_t header = 16; header <= 64; header += 8) {
        for (size_t i = 0; i + sizeof header <= 200; i += sizeof header) {
            memcpy(block + i, &header, sizeof header);
        }
        const uint32_t misuses = misuse_count;
        give(&h, block + 64);
        CHECK(misuse_count == misuses + 1);
    }
    misuse_count = 0;
    give(&h, block);
    CHECK(misuse_count == 0 && is_sound(&h));
}

TEST(a_header_that_the_program_forged_is_refused) {
    (void)for_each_plan(refuses_forged, false);
}

/* The words before the heap: each flipped bit is found. */
static void guards_its_words(const test_plan *plan) {
    const subject h = start(plan, ROOM);
    unsigned char *block = take(&h, 40);
    give(&h, block);
    for (size_t bit = 0; block != NULL && bit < 8 * (12 + 4 * HFIT_QUARANTINE); bit++) {
        region[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(!is_sound(&h));
        region[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    CHECK(is_sound(&h));
}

TEST(a_flipped_bit_of_the_guards_own_words_is_found) {
    (void)for_each_plan(guards_its_words, false);
}

RUN_TESTS()
