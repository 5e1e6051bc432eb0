/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend of preload.c that decides by a planned heap what is served. It places a block for each
 * request in a region of its own; the program's block stays the C library's, aligned as the
 * program's compiler expects, and a table tells which planned block stands for it.
 *
 *   malloc(n) --> planned heap places n --> C library's block --> table: address, planned block, n
 *                 or refuses: NULL
 *
 * Events are counted as an import of a recording counts them, so that the first refusal has the
 * number that `heapfit check` prints. HEAPFIT_RECORD names the file of planned_heap.h: a program
 * that copies its environment asks for as many variables as where it is recorded. Only the process
 * that the command started is on the heap, each program that it runs by exec on a heap of its own;
 * a forked child is not. The command includes
 * run_heap.h, as generated, before this file.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "planned_heap.h"
#include "recording.h"

enum {
    LARGEST_ALIGNMENT_LOG2 = 24, /* 16 MiB: larger ones are no events of a recording */
    FEWEST_PLACES = 1 << 12      /* of the table; a power of two */
};

struct entry {
    const void *address; /* NULL: the place is free */
    void *planned;
    size_t size;
};

struct state {
    pthread_mutex_t lock; /* all zero = PTHREAD_MUTEX_INITIALIZER, in glibc */
    hfit_run *run;        /* NULL: off, as in a forked child, whose page the kernel wipes */
    struct entry *table;
    size_t places;
    size_t used;
};

#ifdef HFIT_SIZED_FREES
#define RESIZE(block, old_size, size) run_realloc_sized(block, old_size, size)
#define RELEASE(block, size) run_free_sized(block, size)
#else
#define RESIZE(block, old_size, size) ((void)(old_size), run_realloc(block, size))
#define RELEASE(block, size) ((void)(size), run_free(block))
#endif

/* How a system's own heap asks its plan, as in a replay
 * (heapfit.comparison.incumbents.requests). */
enum resizes { IN_PLACE, SHRINK, CUT, MOVE };

struct system_heap {
    enum resizes resizes;
    size_t least;     /* bytes as which smaller requests are served */
    size_t least_cut; /* the least that a block loses in place where it is cut */
    size_t unit;      /* sizes of blocks are multiples */
    size_t alignment; /* what is to be aligned more is not served */
};

#ifndef HFIT_SYSTEM_HEAP
#define HFIT_SYSTEM_HEAP IN_PLACE, 0, 0, 1, SIZE_MAX
#define HFIT_MARKS 0
#endif

static const struct system_heap asks = {HFIT_SYSTEM_HEAP};
static const size_t mark_sizes[] = {HFIT_MARKS}; /* blocks before the first request, up to a 0 */

static size_t at_least(size_t size) {
    return size < asks.least ? asks.least : size;
}

static size_t round_up(size_t size) {
    return (size + asks.unit - 1) / asks.unit * asks.unit;
}

/* True where a resize is a request, a copy and a free. */
static bool moves(const void *block, size_t old, size_t size) {
    const size_t asked = round_up(size);
    switch (asks.resizes) {
    case IN_PLACE:
        return false;
    case SHRINK:
        return size > old;
    case CUT:
        return asked != run_usable_size(block) && asked + asks.least_cut > run_usable_size(block);
    case MOVE:
        break;
    }
    return true;
}

/* The marks between regions: every other block is freed again, as a region's bytes. */
static void put_marks(void) {
    void *marks[sizeof(mark_sizes) / sizeof(mark_sizes[0])];
    for (size_t i = 0; mark_sizes[i] != 0; i++) {
        marks[i] = run_malloc(mark_sizes[i]);
    }
    for (size_t i = 0; mark_sizes[i] != 0; i += 2) {
        RELEASE(marks[i], mark_sizes[i]);
    }
}

/* The plan's call sites, each with its tag: {0x12345678, 1}, ... */
#ifdef HFIT_SITE_TAGS
static unsigned tag_of_caller(uint32_t caller) {
    static const uint32_t tagged[][2] = {HFIT_SITE_TAGS};
    for (size_t i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++) {
        if (tagged[i][0] == caller) {
            return tagged[i][1];
        }
    }
    return 0;
}

static void *run_malloc_from(size_t size, struct site site) {
    const unsigned tag = tag_of_caller(site.name);
    return run_malloc_at(size, tag != 0 ? tag : tag_of_caller(site.callers[0]));
}
#else
#define run_malloc_from(size, site) run_malloc(size)
#endif

static struct state *state; /* NULL: not begun */

/* What was admitted to this thread and has no address yet; `planned` NULL: nothing. */
static _Thread_local struct entry pending;
static _Thread_local const void *pending_from; /* in a resize: the block's address before */

static void *private_pages(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* ---- the table: open addressing, at most half full ---- */

static struct entry *place_of(const struct state *s, const void *address) {
    const uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 32) & (s->places - 1);
    while (s->table[i].address != NULL && s->table[i].address != address) {
        i = (i + 1) & (s->places - 1);
    }
    return &s->table[i];
}

static bool grow(struct state *s) {
    struct state larger = {.places = s->places == 0 ? FEWEST_PLACES : 2 * s->places};
    larger.table = private_pages(larger.places * sizeof(*larger.table));
    if (larger.table == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->places; i++) {
        if (s->table[i].address != NULL) {
            *place_of(&larger, s->table[i].address) = s->table[i];
        }
    }
    if (s->table != NULL) {
        munmap(s->table, s->places * sizeof(*s->table));
    }
    s->table = larger.table;
    s->places = larger.places;
    return true;
}

static void insert(struct state *s, struct entry entry) {
    if (2 * s->used >= s->places && !grow(s)) {
        abort(); /* the host itself is out of memory */
    }
    *place_of(s, entry.address) = entry;
    s->used++;
}

/* Takes an entry out and moves those behind it, so that each is still found from its own place. */
static struct entry take(struct state *s, const void *address) {
    struct entry *gap = place_of(s, address);
    const struct entry taken = *gap;
    if (taken.address == NULL) {
        return taken;
    }
    s->used--;
    for (;;) {
        gap->address = NULL;
        size_t i = (size_t)(gap - s->table);
        for (;;) {
            i = (i + 1) & (s->places - 1);
            const struct entry moved = s->table[i];
            if (moved.address == NULL) {
                return taken;
            }
            s->table[i].address = NULL;
            struct entry *const better = place_of(s, moved.address);
            *better = moved;
            if (better != &s->table[i]) {
                gap = &s->table[i];
                break;
            }
        }
    }
}

/* ---- the run ---- */

static hfit_run *map_run(void) {
    const char *path = getenv("HEAPFIT_RECORD");
    const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return NULL;
    }
    void *run = mmap(NULL, sizeof(hfit_run), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return run == MAP_FAILED ? NULL : run;
}

/* Makes the heap at a multiple of the largest alignment that a recording keeps. */
static bool make_heap(size_t size) {
    const uintptr_t alignment = (uintptr_t)1 << LARGEST_ALIGNMENT_LOG2;
    const uintptr_t pages = (uintptr_t)private_pages(size + alignment);
    const uintptr_t region = (pages + alignment - 1) / alignment * alignment;
    if (pages == 0 || !run_heap_init((void *)region, size)) {
        return false;
    }
    put_marks();
    return true;
}

static void begin(struct state *s) {
    hfit_run *run = map_run();
    if (run == NULL || (uint64_t)getppid() != run->parent) {
        return;
    }
    *run = (hfit_run){.region = run->region,
                      .parent = run->parent,
                      .state = 2,
                      .pointer_bits = 8 * sizeof(void *)};
    if (grow(s) && make_heap((size_t)run->region)) {
        run->state = 1;
        s->run = run;
    }
}

void recording_start(void) {
    const int kept_errno = errno;
    if (state == NULL) { /* one thread alone: nothing of the program runs yet */
        struct state *page = private_pages(sizeof(*page));
        if (page != NULL && madvise(page, sizeof(*page), MADV_WIPEONFORK) == 0) {
            begin(page);
            state = page;
        }
    }
    errno = kept_errno;
}

static void note_live(hfit_run *run, size_t before, size_t after) {
    run->events++;
    run->live = run->live + after - before;
    run->peak = run->live > run->peak ? run->live : run->peak;
}

static void note_refusal(hfit_run *run, size_t size, struct site site) {
    run_heap_free_blocks found = {0};
    if (run->refused == 0) { /* of the first alone: it takes time linear in the blocks */
        run_heap_find_free(&found);
    }
    run->last = (hfit_refusal){.event = run->events,
                               .size = size,
                               .live = run->live,
                               .free = found.bytes,
                               .largest = found.largest,
                               .site = site.name};
    if (run->refused++ == 0) {
        run->first = run->last;
    }
}

static void *placed(size_t size, unsigned alignment_log2, struct site site) {
    const size_t alignment = (size_t)1 << alignment_log2;
    (void)site;
    if (alignment_log2 == 0) {
        return run_malloc_from(at_least(size), site);
    }
    return alignment > asks.alignment ? NULL : run_aligned_alloc(alignment, at_least(size));
}

static bool place(struct state *s, size_t size, unsigned alignment_log2, struct site site) {
    void *block = placed(size, alignment_log2, site);
    if (block == NULL) {
        note_refusal(s->run, size, site);
        return false;
    }
    pending = (struct entry){.planned = block, .size = size};
    note_live(s->run, 0, size);
    return true;
}

static void *resized(struct entry known, size_t size) {
    if (!moves(known.planned, known.size, size)) {
        return RESIZE(known.planned, known.size, asks.resizes == CUT ? size : at_least(size));
    }
    void *block = run_malloc(at_least(size));
    if (block != NULL) {
        RELEASE(known.planned, known.size);
    }
    return block;
}

static bool resize(struct state *s, const void *block, size_t size, struct site site) {
    const struct entry known = *place_of(s, block);
    if (known.address == NULL) {
        return true;
    }
    void *moved = size == 0 ? NULL : resized(known, size);
    if (size == 0) {
        RELEASE(known.planned, known.size);
    } else if (moved == NULL) {
        note_refusal(s->run, size, site);
        return false;
    }
    take(s, block);
    pending_from = block;
    pending = (struct entry){.planned = moved, .size = size};
    note_live(s->run, known.size, size);
    return true;
}

bool recording_admits(enum hfit_wire_op op, const void *block, size_t size, unsigned alignment_log2,
                      struct site site) {
    const int kept_errno = errno;
    recording_start(); /* before the constructor, a library's may ask */
    pending = (struct entry){0};
    bool is_served = true;
    /* What no C library serves is no event of a recording. */
    if (state != NULL && size <= PTRDIFF_MAX && alignment_log2 <= LARGEST_ALIGNMENT_LOG2) {
        pthread_mutex_lock(&state->lock);
        if (state->run != NULL) {
            is_served = op == HFIT_WIRE_RESIZE_BEGIN ? resize(state, block, size, site)
                                                     : place(state, size, alignment_log2, site);
        }
        pthread_mutex_unlock(&state->lock);
    }
    errno = kept_errno;
    return is_served;
}

static void release(struct state *s, struct entry entry) {
    RELEASE(entry.planned, entry.size);
    note_live(s->run, entry.size, 0);
}

/* The C library gave the block that was admitted, or could not: then it is as if none was asked. */
static void settle(struct state *s, const void *address) {
    struct entry entry = pending;
    pending = (struct entry){0};
    entry.address = address != NULL ? address : pending_from;
    if (entry.planned != NULL && entry.address != NULL) {
        insert(s, entry);
    } else if (entry.planned != NULL) {
        release(s, entry);
        s->run->events -= 2;
    }
    pending_from = NULL;
}

uint64_t recording_append(enum hfit_wire_op op, const void *address, uint64_t size,
                          unsigned alignment_log2, struct site site) {
    (void)size, (void)alignment_log2, (void)site;
    if (op == HFIT_WIRE_RESIZE_BEGIN) {
        return 1; /* as told: what was admitted is settled at the end */
    }
    if (state == NULL) {
        return 0;
    }
    pthread_mutex_lock(&state->lock);
    if (state->run != NULL && op != HFIT_WIRE_FREE) {
        settle(state, address);
    } else if (state->run != NULL) {
        const struct entry freed = take(state, address);
        if (freed.address != NULL) {
            release(state, freed);
        }
    }
    pthread_mutex_unlock(&state->lock);
    return 0;
}

void recording_mark_runtime(uint64_t order) {
    (void)order; /* it was not asked for, so it is in no table */
}

void recording_prepare(void) {}

void recording_confine(bool is_strict) {
    (void)is_strict;
}
