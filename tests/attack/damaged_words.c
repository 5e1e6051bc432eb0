/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged words: on a copy of a random heap some words behind its control words are overwritten,
 * then one call is made. It must touch nothing outside the region, and it must return.
 *
 *   damaged_words [CALLS [ALLOCATOR]]          so many calls an allocator
 *   damaged_words plans [CALLS [ALLOCATOR]]    with one bit of the plan and its tables flipped
 * instead
 *
 *   | no access, 4 GiB | copy ...       | no access, 4 GiB |     the copy begins where pages begin,
 *   | no access, 4 GiB |       ... copy | no access, 4 GiB |     or ends where they end, in turn
 *
 * An offset has 32 bits, so what is outside the region is found there, but for a few bytes of the
 * other end's page. Prints a line an allocator. Fails if a call touched what is outside, or did not
 * return; but for plans, which each call believes: that is counted alone.
 */
#define _GNU_SOURCE
#include "attack.h"

#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

enum {
    STANDARD_CALLS = 20000,
    CALLS_A_STATE = 16,
    STEPS_A_STATE = 40,
    STATES_A_HEAP = 8,
    MOST_DAMAGED = 3, /* words */
    MOST_ROOM = 2048,
    PAGE = 4096,
    POINTER_BITS = 40,    /* a word with more is a pointer */
    MOST_LOADS = 1000000, /* of a call; one that ends makes 450 */
};

typedef enum outcome {
    RETURNED,
    READ_OUTSIDE,
    WROTE_OUTSIDE,
    DID_NOT_RETURN,
    OUTCOMES,
} outcome;

typedef enum call {
    ALLOC,
    ALLOC_ALIGNED,
    FREE,
    FREE_SIZED,
    RESIZE,
    USABLE_SIZE,
    CHECK_HEAP,
    WALK,
    CALLS,
} call;

static test_plan plans[MOST_PLANS];
static attacked_heap heap;
static unsigned char *pages; /* of LARGEST_REGION, between those without access */
static sigjmp_buf before_call;
static bool attacks_plans;

#if UINTPTR_MAX > UINT32_MAX
#define GUARD ((size_t)1 << 32)
#else
#define GUARD ((size_t)0) /* no room: see main */
#endif

/* True for a write, on processors whose page faults tell it; else all count as reads. */
static bool is_write(const ucontext_t *context) {
#ifdef REG_ERR
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
    return false;
#endif
}

static void leave_call(int number, siginfo_t *info, void *context) {
    (void)info;
    if (number == SIGFPE) { /* some processors give 0 for a division by 0 */
        siglongjmp(before_call, DID_NOT_RETURN);
    }
    siglongjmp(before_call, is_write(context) ? WROTE_OUTSIDE : READ_OUTSIDE);
}

static void leave_hang(void) {
    siglongjmp(before_call, DID_NOT_RETURN);
}

static void set_up_pages(void) {
    const struct sigaction action = {.sa_sigaction = leave_call, .sa_flags = SA_SIGINFO};
    const size_t size = 2 * GUARD + LARGEST_REGION;
    unsigned char *all =
        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(all != MAP_FAILED);
    pages = all + GUARD;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGFPE, &action, NULL) == 0);
}

/* A copy of the heap at the start or the end of pages of its own. */
static hfit_heap *copied(bool is_at_end) {
    const uint32_t size = (heap.size + 15u) & ~15u;
    const uint32_t whole = (heap.size + PAGE - 1) / PAGE * PAGE;
    CHECK(mprotect(pages, LARGEST_REGION, PROT_NONE) == 0);
    CHECK(mprotect(pages, whole, PROT_READ | PROT_WRITE) == 0);
    unsigned char *copy = pages + (is_at_end ? whole - size : 0);
    memcpy(copy, attack_region(), heap.size);
    return (hfit_heap *)(void *)copy;
}

static uint32_t word_at(const hfit_heap *copy, uint32_t offset) {
    uint32_t word;
    memcpy(&word, (const unsigned char *)copy + offset, sizeof word);
    return word;
}

/* What overwrites a word: one bit, another word of the heap, a place near or in it, coded as a link
 * is or not, or anything. */
static uint32_t damaged_word(const hfit_heap *copy, uint32_t offset) {
    const uint32_t place = 4 * random_below(heap.size / 2);
    switch (random_below(6)) {
    case 0:
        return word_at(copy, offset) ^ 1u << random_below(32);
    case 1:
        return word_at(copy, 4 * random_below(heap.size / 4));
    case 2:
        return place;
    case 3:
        return ~place;
    case 4:
        return 0u - (place | random_below(4));
    default:
        return random_below(1u << 16) << 16 | random_below(1u << 16);
    }
}

static void damage(hfit_heap *copy, uint32_t first) {
    for (uint32_t i = random_below(MOST_DAMAGED) + 1; i > 0; i--) {
        const uint32_t offset = first + 4 * random_below((heap.size - first) / 4);
        const uint32_t word = damaged_word(copy, offset);
        memcpy((unsigned char *)copy + offset, &word, sizeof word);
    }
}

/* Bytes of the header before a block: none in heaps that tell chunks by a map, which lies below. */
static uint32_t header_bytes(void) {
    const hfit_allocator *allocator = heap.plan->allocator;
    hfit_holes holes = {.header = 4};
    if (allocator->holes != NULL) {
        (void)allocator->holes(plan_of(heap.plan), 0, &holes);
    }
    return holes.header;
}

/* Where the words that blocks lie between begin: at the header of the lowest block there was. */
static uint32_t first_word(void) {
    uint32_t first = heap.size;
    for (uint32_t i = 0; i < heap.seen_count; i++) {
        first = heap.seen[i] < first ? heap.seen[i] : first;
    }
    return (first - header_bytes()) & ~3u;
}

static void visit_nothing(void *context, const void *block, size_t usable_size, bool is_used) {
    (void)context, (void)block, (void)usable_size, (void)is_used;
}

static void make_call(hfit_heap *copy, call made) {
    const hfit_operations *operations = heap.plan->allocator->operations;
    const hfit_plan *plan = plan_of(heap.plan);
    const live_block one = heap.live[random_below(heap.live_count)];
    const uint32_t size = random_below(random_below(heap.size) + 1);
    unsigned char *block = (unsigned char *)copy + one.offset;
    const bool needs_size = heap.plan->allocator->needs_size;
    if (made == ALLOC) {
        (void)operations->alloc(copy, plan, size);
    } else if (made == ALLOC_ALIGNED) {
        (void)operations->alloc_aligned(copy, plan, 8u << random_below(5), size);
    } else if (made == FREE_SIZED || (made == FREE && needs_size)) {
        operations->free_sized(copy, plan, block, one.size);
    } else if (made == FREE) {
        operations->free(copy, plan, block);
    } else if (made == USABLE_SIZE) {
        (void)operations->usable_size(copy, plan, block);
    } else if (made == CHECK_HEAP) {
        (void)operations->check(copy, plan);
    } else if (made == WALK) {
        operations->walk(copy, plan, visit_nothing, NULL);
    } else if (needs_size) {
        (void)operations->resize_sized(copy, plan, block, one.size, size);
    } else {
        (void)operations->resize(copy, plan, block, size);
    }
}

/* Flips a bit of a plan's numbers, pools or index, but none of its pointers. */
static void flip_in_plan(test_plan *plan) {
    const size_t sizes[] = {sizeof plan->bytes, sizeof plan->pools, sizeof plan->index};
    unsigned char *const parts[] = {(unsigned char *)plan->bytes, (unsigned char *)plan->pools,
                                    plan->index};
    const uint32_t part = random_below(3);
    const uint32_t at = random_below((uint32_t)sizes[part]);
    if (part != 0 || plan->bytes[at / 8] >> POINTER_BITS == 0) {
        parts[part][at] ^= (unsigned char)(1u << random_below(8));
    }
}

/* Damages a copy, or the plan for one call, and tells what came of it. */
static outcome attack_once(uint32_t first) {
    hfit_heap *copy = copied(random_below(2) == 1);
    const call made = (call)random_below(CALLS);
    const uint32_t locked = lock_count;
    test_plan *const plan = &plans[heap.plan - plans];
    static test_plan kept;
    kept = *plan;
    if (attacks_plans) {
        flip_in_plan(plan);
    } else {
        damage(copy, first);
    }
    limit_loads(MOST_LOADS, leave_hang);
    const outcome found = (outcome)sigsetjmp(before_call, 1);
    if (found == RETURNED) {
        make_call(copy, made);
    } else if (lock_count != locked) {
        release_lock();
    }
    limit_loads(UINT64_MAX, NULL);
    *plan = kept;
    return found;
}

static void attack_heap(const test_plan *plan, uint32_t calls, uint64_t found[OUTCOMES]) {
    attack_start(&heap, plan, random_below(MOST_ROOM), MIXED);
    for (uint32_t step = 0, made = 0; step < STATES_A_HEAP * STEPS_A_STATE && made < calls;) {
        do {
            attack_step(&heap);
        } while (++step % STEPS_A_STATE != 0);
        for (uint32_t i = 0; heap.live_count > 0 && i < CALLS_A_STATE; i++, made++) {
            found[attack_once(first_word())]++;
        }
    }
}

/* A shared heap's control words lie behind the pools, so among the words that are damaged here. */
static bool has_shared(const test_plan *plan) {
    const hfit_tunable *behind = tunable_of_kind(plan->allocator, HFIT_SHARED);
    hfit_shared shared = {NULL, NULL};
    if (behind != NULL) {
        memcpy(&shared, (const char *)plan->bytes + behind->offset, sizeof shared);
    }
    return shared.operations != NULL;
}

/* All plans of one allocator in turn. True if nothing was found. */
static bool attack_allocator(const test_plan *first, size_t count, uint64_t calls) {
    uint64_t found[OUTCOMES] = {0};
    uint64_t made = 0;
    for (uint64_t turn = 0; made < calls && turn < calls; turn++) {
        if (!has_shared(&first[turn % count])) {
            attack_heap(&first[turn % count], CALLS_A_STATE * STATES_A_HEAP, found);
        }
        made = found[0] + found[1] + found[2] + found[3];
    }
    printf("%-16s %9llu %12llu %13llu %14llu\n", first->allocator->name, (unsigned long long)made,
           (unsigned long long)found[READ_OUTSIDE], (unsigned long long)found[WROTE_OUTSIDE],
           (unsigned long long)found[DID_NOT_RETURN]);
    fflush(stdout);
    return found[RETURNED] == made;
}

int main(int argc, char **argv) {
    attacks_plans = argc > 1 && strcmp(argv[1], "plans") == 0;
    argc -= attacks_plans;
    argv += attacks_plans;
    const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : STANDARD_CALLS;
    const size_t plan_count = make_test_plans(plans);
    bool is_sound = true;
    if (GUARD == 0) {
        printf("not run: with 32 bits there is no room for pages that nothing may touch\n");
        return 0;
    }
    may_invariants_break = true;
    set_up_pages();
    printf("%-16s %9s %12s %13s %14s\n", "allocator", "calls", "read outside", "wrote outside",
           "did not return");
    for (size_t first = 0, count; first < plan_count && is_core(plans[first].allocator);
         first += count) {
        count = count_alike(&plans[first], plans + plan_count);
        if (argc < 3 || strcmp(argv[2], plans[first].allocator->name) == 0) {
            is_sound &= attack_allocator(&plans[first], count, calls);
        }
    }
    return is_sound || attacks_plans ? 0 : 1;
}
