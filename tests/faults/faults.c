/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault injection: every bit of every metadata word of heaps of 4 KiB is flipped, one at a time.
 * Then `check` must say so, or the next 1,000 operations must go as they do in the heap without the
 * flip. What is neither is silent; core's allocators may have 0.1 % of that.
 *
 *   faults           all allocators: ten heaps of each that ships, three of each baseline, or one a
 *                    plan where there are more plans
 *   faults NAME      one allocator, ten heaps under every plan
 *
 * A word is metadata if `check` loads it, or if the operations that follow load it before they
 * store it. Flips run in children, since a damaged heap may crash or hang.
 */
#include "faults_config.h"
#include "plans.h"

#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REGION = 4096,
    GUARD = 64 * 1024,
    WORDS = REGION / 4,
    HEAPS = 10,
    HEAPS_OF_BASELINES = 3,
    SLOTS = 40,
    STEPS_BEFORE = 300,
    STEPS_AFTER = 1000,
    MOST_BLOCKS = 1024,
    MOST_LOADS = 200000, /* after a flip; one that ends takes 70,000 */
};

/* What became of a flip. */
enum outcome { NOT_RUN, FOUND, HARMLESS, SILENT, CRASHED, OUTCOMES };

/* Where a flipped word lies. */
enum kind { CONTROL, USED_HEADER, FREE_HEADER, FREE_LINKS, FREE_END, FREE_MIDDLE, KINDS };

static const char *const kind_names[KINDS] = {
    "control",
    "before a used block",
    "before a free block",
    "links of a free block",
    "end of a free block",
    "inside a free block",
};

typedef struct slots {
    void *blocks[SLOTS];
    size_t sizes[SLOTS]; /* as they were asked for last */
    uint32_t random;
} slots;

typedef struct subject {
    const test_plan *made_from;
    const hfit_allocator *allocator;
    const hfit_operations *operations;
    const hfit_plan *plan;
    hfit_heap *heap;
    slots slots;
} subject;

static unsigned char *region;   /* REGION bytes between pages that cannot be touched */
static unsigned char *outcomes; /* one a flip, shared with the children */
static test_plan plans[MOST_PLANS];

/* Which words were loaded, and which of them before they were stored. */
bool are_accesses_noted;
static struct {
    bool loaded[WORDS];
    bool stored[WORDS];
} accesses;

void note_load(const void *heap, uint32_t offset) {
    const size_t word = (size_t)((const unsigned char *)heap + offset - region) / 4;
    if (word < WORDS && !accesses.stored[word]) {
        accesses.loaded[word] = true;
    }
}

void note_store(const void *heap, uint32_t offset) {
    const size_t word = (size_t)((const unsigned char *)heap + offset - region) / 4;
    if (word < WORDS) {
        accesses.stored[word] = true;
    }
}

static uint32_t random_next(slots *s) {
    s->random = s->random * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return s->random >> 8;
}

/* One step of a fixed mix; the offset of what it returned, or UINT32_MAX. */
static uint32_t step(subject *s) {
    const uint32_t number = random_next(&s->slots) % SLOTS;
    void **slot = &s->slots.blocks[number];
    size_t *had = &s->slots.sizes[number];
    const uint32_t random = random_next(&s->slots);
    const size_t size = random % 4 == 0 ? random / 4 % 400 : random / 4 % 64;
    if (*slot == NULL) {
        *slot = s->operations->alloc(s->heap, s->plan, size);
        *had = size;
    } else if (random % 5 == 0) {
        void *moved = resize_block(s->made_from, s->heap, *slot, *had, size);
        *had = moved == NULL ? *had : size;
        *slot = moved == NULL ? *slot : moved;
    } else {
        free_block(s->made_from, s->heap, *slot, *had);
        *slot = NULL;
    }
    return *slot == NULL ? UINT32_MAX : (uint32_t)((unsigned char *)*slot - region);
}

/* FNV-1a over what the steps return. */
static uint64_t walk_steps(subject *s, int count) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < count; i++) {
        hash = (hash ^ step(s)) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool make_heap(subject *s, const test_plan *plan, uint32_t seed) {
    memset(region, 0, REGION);
    *s = (subject){.made_from = plan,
                   .allocator = plan->allocator,
                   .operations = plan->allocator->operations,
                   .plan = plan_of(plan)};
    s->slots.random = seed;
    s->heap = s->operations->init(region, REGION, s->plan);
    if (s->heap != NULL) {
        (void)walk_steps(s, STEPS_BEFORE);
    }
    return s->heap != NULL;
}

/* The blocks of a heap in order of address, to tell kinds of words. */
typedef struct block_list {
    struct {
        uint32_t start;
        uint32_t end;
        bool is_used;
    } blocks[MOST_BLOCKS];
    size_t count;
} block_list;

static void list_block(void *context, const void *block, size_t usable_size, bool is_used) {
    block_list *list = context;
    CHECK(list->count < MOST_BLOCKS);
    const uint32_t start = (uint32_t)((const unsigned char *)block - region);
    list->blocks[list->count].start = start;
    list->blocks[list->count].end = start + (uint32_t)usable_size;
    list->blocks[list->count].is_used = is_used;
    list->count++;
}

static enum kind kind_inside(uint32_t offset, uint32_t start, uint32_t end) {
    if (offset < start + 8) {
        return FREE_LINKS;
    }
    return offset + 4 >= end ? FREE_END : FREE_MIDDLE;
}

static enum kind kind_of(const block_list *list, uint32_t offset) {
    for (size_t i = 0; i < list->count; i++) {
        if (offset >= list->blocks[i].start && offset < list->blocks[i].end) {
            return kind_inside(offset, list->blocks[i].start, list->blocks[i].end);
        }
        if (offset + 4 == list->blocks[i].start) {
            return list->blocks[i].is_used ? USED_HEADER : FREE_HEADER;
        }
    }
    return CONTROL;
}

/* Marks the metadata words of the heap as it is: a copy of it is checked and worked on. */
static uint64_t find_metadata(const subject *made, const unsigned char *snapshot) {
    subject s = *made;
    memset(&accesses, 0, sizeof accesses);
    are_accesses_noted = true;
    CHECK(s.operations->check(s.heap, s.plan));
    const uint64_t expected = walk_steps(&s, STEPS_AFTER);
    are_accesses_noted = false;
    memcpy(region, snapshot, REGION);
    return expected;
}

static enum outcome flip(const subject *made, const unsigned char *snapshot, size_t number,
                         uint64_t expected) {
    subject s = *made;
    memcpy(region, snapshot, REGION);
    region[number / 8] ^= (unsigned char)(1u << number % 8);
    if (!s.operations->check(s.heap, s.plan)) {
        return FOUND;
    }
    return walk_steps(&s, STEPS_AFTER) == expected ? HARMLESS : SILENT;
}

static void exit_hung(void) {
    _exit(1);
}

/* Flips from bit `number` on, as far as a child gets; the flip at which it died counts as crashed.
 */
static size_t flip_on(const subject *made, const unsigned char *snapshot, size_t number,
                      uint64_t expected) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(1);
        }
        for (; number < (size_t)8 * REGION; number++) {
            if (accesses.loaded[number / 32]) {
                limit_loads(MOST_LOADS, exit_hung);
                outcomes[number] = CRASHED;
                outcomes[number] = (unsigned char)flip(made, snapshot, number, expected);
            }
        }
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    while (number < (size_t)8 * REGION && outcomes[number] != CRASHED) {
        number++;
    }
    return number + 1;
}

typedef struct tally {
    uint64_t flips[KINDS][OUTCOMES];
} tally;

static void flip_every_bit(tally *sums, const subject *made) {
    static unsigned char snapshot[REGION];
    static block_list list;
    memcpy(snapshot, region, REGION);
    list.count = 0;
    made->operations->walk(made->heap, made->plan, list_block, &list);
    const uint64_t expected = find_metadata(made, snapshot);
    memset(outcomes, NOT_RUN, (size_t)8 * REGION);
    size_t number = 0;
    while (number < (size_t)8 * REGION) {
        number = flip_on(made, snapshot, number, expected);
    }
    for (number = 0; number < (size_t)8 * REGION; number++) {
        if (outcomes[number] != NOT_RUN) {
            sums->flips[kind_of(&list, (uint32_t)(number / 32 * 4))][outcomes[number]]++;
        }
    }
}

static uint64_t sum_of(const tally *sums, enum outcome outcome) {
    uint64_t sum = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        sum += sums->flips[kind][outcome];
    }
    return sum;
}

static void print_kinds(const tally *sums) {
    for (size_t kind = 0; kind < KINDS; kind++) {
        const uint64_t *flips = sums->flips[kind];
        const uint64_t all = flips[FOUND] + flips[HARMLESS] + flips[SILENT] + flips[CRASHED];
        if (all > 0) {
            printf("  %-22s %9llu flips  found %6.2f %%  harmless %6.2f %%  silent %7.3f %%  crash "
                   "%7.3f %%\n",
                   kind_names[kind], (unsigned long long)all,
                   100.0 * (double)flips[FOUND] / (double)all,
                   100.0 * (double)flips[HARMLESS] / (double)all,
                   100.0 * (double)flips[SILENT] / (double)all,
                   100.0 * (double)flips[CRASHED] / (double)all);
        }
    }
}

/* Flips through all plans of one allocator; true if so few flips were silent that core may ship. */
static bool flip_allocator(const test_plan *first, size_t count, uint32_t heaps) {
    tally sums = {0};
    for (size_t i = 0; i < count; i++) {
        for (uint32_t seed = 1; seed <= heaps; seed++) {
            subject made;
            if (make_heap(&made, &first[i], seed)) {
                flip_every_bit(&sums, &made);
            }
        }
    }
    const uint64_t silent = sum_of(&sums, SILENT) + sum_of(&sums, CRASHED);
    const uint64_t all = silent + sum_of(&sums, FOUND) + sum_of(&sums, HARMLESS);
    printf("%-16s %9llu flips, %llu neither found nor harmless (%.3f %%)\n", first->allocator->name,
           (unsigned long long)all, (unsigned long long)silent,
           all == 0 ? 0.0 : 100.0 * (double)silent / (double)all);
    print_kinds(&sums);
    fflush(stdout);
    return all > 0 && silent * 1000 <= all;
}

static void map_memory(void) {
    unsigned char *mapping =
        mmap(NULL, REGION + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)mapping != MAP_FAILED);
    region = mapping + GUARD;
    CHECK(mprotect(region, REGION, PROT_READ | PROT_WRITE) == 0);
    outcomes =
        mmap(NULL, (size_t)8 * REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)outcomes != MAP_FAILED);
}

int main(int argc, char **argv) {
    const size_t plan_count = make_test_plans(plans);
    const bool is_whole = argc > 1;
    bool all_hold = true;
    map_memory();
    for (size_t first = 0; first < plan_count;) {
        const size_t count = count_alike(&plans[first], plans + plan_count);
        if (!is_whole || strcmp(argv[1], plans[first].allocator->name) == 0) {
            const size_t wanted = is_core(plans[first].allocator) ? HEAPS : HEAPS_OF_BASELINES;
            const size_t heaps = is_whole ? HEAPS : (wanted + count - 1) / count;
            const bool holds = flip_allocator(&plans[first], count, (uint32_t)heaps);
            all_hold &= holds || !is_core(plans[first].allocator);
        }
        first += count;
    }
    return all_hold ? 0 : 1;
}
