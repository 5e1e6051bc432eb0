/* SPDX-License-Identifier: Apache-2.0 */
/* The obvious model. See model.h. */
#include "model.h"

#include "aligned_memory.h"
#include "check.h"
#include "contract_config.h"
#include "hfit/config.h"

#include <string.h>

enum {
    MOST_ROUNDING = 4096
}; /* bytes that a block is rounded up by, where it is told with others */

static unsigned char pattern_byte(uint32_t pattern, size_t i) {
    return (unsigned char)((pattern * 2654435761u + i * 40503u) >> 8);
}

static unsigned char *next_piece(const model *m, const live_block *block, const void *piece,
                                 size_t *size) {
    return piece_after(m->plan, m->heap, block->address, piece, block->size, size);
}

static void write_pattern(const model *m, const live_block *block) {
    size_t written = 0;
    size_t size;
    unsigned char *piece = next_piece(m, block, NULL, &size);
    for (; piece != NULL; piece = next_piece(m, block, piece, &size)) {
        for (size_t i = 0; i < size && written < block->size; i++) {
            piece[i] = pattern_byte(block->pattern, written++);
        }
    }
    CHECK(written == block->size);
}

static bool keeps_pattern(const model *m, const live_block *block, size_t bytes) {
    size_t read = 0;
    size_t size;
    const unsigned char *piece = next_piece(m, block, NULL, &size);
    for (; piece != NULL && read < bytes; piece = next_piece(m, block, piece, &size)) {
        for (size_t i = 0; i < size && read < bytes; i++) {
            if (piece[i] != pattern_byte(block->pattern, read++)) {
                return false;
            }
        }
    }
    return read == bytes;
}

/* FNV-1a over words, in lanes whose multiplications do not wait for each other; the tail of an odd
 * region is hashed by bytes. Half of the suite's time, so no sanitizer looks at it: it reads the
 * model's own region and nothing else. */
enum { LANES = 4, WORD = 8 };

__attribute__((no_sanitize("address", "undefined"))) static uint64_t region_hash(const model *m) {
    const uint64_t prime = UINT64_C(1099511628211);
    uint64_t lanes[LANES] = {UINT64_C(14695981039346656037), 1, 2, 3};
    size_t i = 0;
    for (; i + LANES * WORD <= m->region_size; i += LANES * WORD) {
        for (size_t lane = 0; lane < LANES; lane++) {
            uint64_t word;
            memcpy(&word, m->region + i + lane * WORD, WORD);
            lanes[lane] = (lanes[lane] ^ word) * prime;
        }
    }
    for (; i < m->region_size; i++) {
        lanes[0] = (lanes[0] ^ m->region[i]) * prime;
    }
    return lanes[0] ^ (lanes[1] * 3) ^ (lanes[2] * 5) ^ (lanes[3] * 7);
}

bool model_start_in(model *m, const test_plan *plan, unsigned char *region, size_t region_size) {
    memset(m, 0, sizeof *m);
    m->plan = plan;
    m->operations = plan->allocator->operations;
    m->region = region;
    m->region_size = region_size;
    memset(m->region, 0xa5, region_size);
    m->heap = m->operations->init(m->region, region_size, plan_of(plan));
    CHECK(m->heap == NULL || (void *)m->heap == (void *)m->region);
    return m->heap != NULL;
}

void model_start(model *m, const test_plan *plan, size_t region_size) {
    CHECK(region_size <= LARGEST_REGION);
    CHECK(model_start_in(m, plan, take_aligned(REGION_ALIGNMENT, region_size), region_size));
}

void model_end(model *m) {
    return_aligned(m->region);
    m->region = NULL;
}

typedef struct comparison {
    const model *m;
    const unsigned char *previous_end; /* of a block in pieces: the end of its first byte */
    size_t used;                       /* live blocks, or bytes where neighbours are told as one */
    size_t told[MOST_LIVE];            /* usable bytes of each live block */
} comparison;

static const live_block *live_at(const model *m, const void *address) {
    for (size_t i = 0; i < m->live_count; i++) {
        if (m->live[i].address == address) {
            return &m->live[i];
        }
    }
    return NULL;
}

static bool lies_in_pieces(const model *m) {
    return m->plan->allocator->next_piece != NULL;
}

/* Marks the words of a piece as taken; nobody else may have taken one. */
static void claim_words(const model *m, bool *taken, const unsigned char *piece, size_t size) {
    const size_t first = (size_t)(piece - m->region) / 4;
    CHECK(piece >= m->region);
    CHECK(size <= m->region_size);
    CHECK(piece + size <= m->region + m->region_size);
    for (size_t word = first; word < first + (size + 3) / 4; word++) {
        CHECK(!taken[word]);
        taken[word] = true;
    }
}

/* Pieces of all blocks lie apart from each other, each where an aligned block could, and those of a
 * block add up to its usable size. */
static void compare_pieces(const model *m) {
    static bool taken[LARGEST_REGION / 4];
    const hfit_plan *plan = plan_of(m->plan);
    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < m->live_count; i++) {
        size_t sum = 0;
        size_t size;
        const unsigned char *piece = next_piece(m, &m->live[i], NULL, &size);
        CHECK(piece == m->live[i].address);
        for (; piece != NULL; piece = next_piece(m, &m->live[i], piece, &size)) {
            CHECK(((uintptr_t)piece & (m->live[i].alignment - 1)) == 0);
            claim_words(m, taken, piece, size);
            sum += size;
        }
        CHECK(sum == m->operations->usable_size(m->heap, plan, m->live[i].address));
    }
}

static void compare_block(void *context, const void *block, size_t usable_size, bool is_used) {
    comparison *c = context;
    const unsigned char *start = block;
    CHECK(start >= c->previous_end);
    CHECK(usable_size <= c->m->region_size);
    CHECK(lies_in_pieces(c->m) || start + usable_size <= c->m->region + c->m->region_size);
    c->previous_end = start + (lies_in_pieces(c->m) ? 1 : usable_size);
    if (!is_used) {
        return;
    }
    const live_block *live = live_at(c->m, block);
    CHECK(live != NULL);
    CHECK(usable_size >= live->size);
    c->told[live - c->m->live] = usable_size;
    c->used += knows_sizes(c->m->plan->allocator) ? 1 : usable_size;
}

/* Each live block is told, and its size is what usable_size tells. */
static void compare_told(const model *m, const comparison *c) {
    CHECK(c->used == m->live_count);
    for (size_t i = 0; i < m->live_count; i++) { /* the walk held the lock */
        CHECK(m->operations->usable_size(m->heap, plan_of(m->plan), m->live[i].address) ==
              c->told[i]);
    }
}

/* Neighbouring blocks were told as one: each lies in what is told as used, and that is not
 * longer than all of them, each rounded up. */
static void compare_stretches(const model *m, const comparison *c) {
    size_t asked = 0;
    for (size_t i = 0; i < m->live_count; i++) {
        size_t others = 0;
        for (size_t k = 0; k < m->live_count; k++) {
            const unsigned char *end = m->live[k].address + c->told[k];
            others += c->told[k] != 0 && m->live[i].address >= m->live[k].address &&
                      m->live[i].address + m->live[i].size <= end;
        }
        CHECK(others == 1);
        CHECK(m->operations->usable_size(m->heap, plan_of(m->plan), m->live[i].address) == 0);
        asked += m->live[i].size;
    }
    CHECK(c->used >= asked && c->used <= asked + m->live_count * MOST_ROUNDING);
}

void model_compare(model *m) {
    static comparison c;
    c = (comparison){.m = m, .previous_end = m->region};
    m->operations->walk(m->heap, plan_of(m->plan), compare_block, &c);
    if (knows_sizes(m->plan->allocator)) {
        compare_told(m, &c);
    } else {
        compare_stretches(m, &c);
    }
    if (lies_in_pieces(m)) {
        compare_pieces(m);
    }
    CHECK(m->operations->check(m->heap, plan_of(m->plan)));
    const size_t footprint = m->operations->footprint(m->heap, plan_of(m->plan));
    CHECK(footprint >= m->highest_end);
    CHECK(footprint <= m->region_size);
}

/* Remembers where the block's last byte lies, of all its pieces. */
static void note_end(model *m, const live_block *block) {
    size_t left = block->size;
    size_t size;
    const unsigned char *piece = next_piece(m, block, NULL, &size);
    for (; piece != NULL; piece = next_piece(m, block, piece, &size)) {
        const size_t used = size < left ? size : left;
        const size_t end = (size_t)(piece - m->region) + used;
        m->highest_end = end > m->highest_end ? end : m->highest_end;
        left -= used;
    }
}

static bool is_aligned(const void *address, size_t alignment) {
    return ((uintptr_t)address & (alignment - 1)) == 0;
}

/* A block; where the allocator takes tags of call sites, most often with one, known or not. */
static void *alloc_in(const model *m, size_t alignment, size_t size) {
    const hfit_plan *plan = plan_of(m->plan);
    const uint32_t tag = m->next_pattern % 40;
    if (alignment != 0) {
        return m->operations->alloc_aligned(m->heap, plan, alignment, size);
    }
    if (m->plan->allocator->alloc_at != NULL && tag != 0) {
        return m->plan->allocator->alloc_at(m->heap, plan, size, tag);
    }
    if (m->allocs_by_resize) {
        return m->operations->resize(m->heap, plan, NULL, size);
    }
    return m->operations->alloc(m->heap, plan, size);
}

/* True for baselines whose originals order or join free chunks also where they refuse. */
static bool searches_in_vain(const hfit_allocator *allocator) {
    return strcmp(allocator->name, "sys_heap") == 0 || strcmp(allocator->name, "byte_pool") == 0;
}

/* A refused request changed nothing. At safety level 3 it may have ended the wait of freed blocks:
 * then the same one changes nothing. */
static bool nothing_changed(const model *m, uint64_t before) {
    return HFIT_SAFETY >= 3 || searches_in_vain(m->plan->allocator) || region_hash(m) == before;
}

bool model_alloc(model *m, size_t alignment, size_t size) {
    const hfit_plan *plan = plan_of(m->plan);
    CHECK(m->live_count < MOST_LIVE);
    uint64_t before = region_hash(m);
    void *block = alloc_in(m, alignment, size);
    if (block == NULL) {
        CHECK(nothing_changed(m, before));
        before = region_hash(m);
        CHECK(HFIT_SAFETY < 3 || alloc_in(m, alignment, size) == NULL);
        CHECK(region_hash(m) == before);
        return false;
    }
    CHECK(is_aligned(block, plan->alignment));
    CHECK(alignment == 0 || is_aligned(block, alignment));
    live_block *live = &m->live[m->live_count++];
    *live =
        (live_block){block, size, alignment == 0 ? plan->alignment : alignment, m->next_pattern++};
    write_pattern(m, live);
    note_end(m, live);
    return true;
}

bool model_resize(model *m, size_t index, size_t size) {
    live_block *live = &m->live[index];
    uint64_t before = region_hash(m);
    void *block = resize_block(m->plan, m->heap, live->address, live->size, size);
    if (block == NULL) {
        CHECK(nothing_changed(m, before));
        before = region_hash(m);
        CHECK(HFIT_SAFETY < 3 ||
              resize_block(m->plan, m->heap, live->address, live->size, size) == NULL);
        CHECK(region_hash(m) == before);
        return false;
    }
    live->address = block;
    CHECK(is_aligned(block, plan_of(m->plan)->alignment));
    CHECK(keeps_pattern(m, live, size < live->size ? size : live->size));
    live->size = size;
    live->alignment = plan_of(m->plan)->alignment;
    write_pattern(m, live);
    note_end(m, live);
    return true;
}

/* Takes a block, which must still hold what was written, off the list of live ones. */
static live_block take_off(model *m, size_t index) {
    const live_block block = m->live[index];
    CHECK(keeps_pattern(m, &block, block.size));
    m->live[index] = m->live[--m->live_count];
    return block;
}

void model_free(model *m, size_t index, bool sized) {
    const live_block block = take_off(m, index);
    if (sized) {
        m->operations->free_sized(m->heap, plan_of(m->plan), block.address, block.size);
    } else {
        free_block(m->plan, m->heap, block.address, block.size);
    }
}

void model_free_sized(model *m, size_t index, size_t size) {
    const live_block block = take_off(m, index);
    m->operations->free_sized(m->heap, plan_of(m->plan), block.address, size);
}

bool model_is_live(const model *m, const void *address) {
    return live_at(m, address) != NULL;
}

void model_misuses(const model *m, model_misuse how, void *address, size_t size) {
    const hfit_plan *plan = plan_of(m->plan);
    const uint64_t before = region_hash(m);
    const uint32_t misuses = misuse_count;
    switch (how) {
    case MISUSED_FREE:
        m->operations->free(m->heap, plan, address);
        break;
    case MISUSED_FREE_SIZED:
        m->operations->free_sized(m->heap, plan, address, size);
        break;
    case MISUSED_RESIZE:
        CHECK(m->operations->resize(m->heap, plan, address, size) == NULL);
        break;
    default:
        CHECK(m->operations->usable_size(m->heap, plan, address) == 0);
    }
    const bool may_be_silent =
        how == MISUSED_USABLE_SIZE || (how == MISUSED_RESIZE && size > m->region_size);
    CHECK(misuse_count == misuses + 1 || may_be_silent);
    CHECK(region_hash(m) == before);
}

void model_misaligns(const model *m, size_t alignment, size_t size) {
    const uint64_t before = region_hash(m);
    CHECK(m->operations->alloc_aligned(m->heap, plan_of(m->plan), alignment, size) == NULL);
    CHECK(region_hash(m) == before);
}
