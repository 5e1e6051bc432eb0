/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The battery: every attack on every registered allocator under every test plan, each in a child
 * process with a limit of metadata loads, then 64 allocations that must be sound. Prints one line
 * an allocator, the worst verdict over its plans for each attack; fails where one that must not
 * pass did.
 *
 *   battery           all allocators; the safety level is the build's
 *   battery NAME      one allocator, with a line for each plan and attack that went wrong
 *   battery --list    the attacks: name, what it does, the level from which core must hold
 */
#include "attacks.h"

#include "check.h"
#include "hfit/config.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most loads of an attack that ends are below 8 million, and 590
 * million at level 2, where every call checks the whole heap. */
enum { MOST_LOADS = HFIT_SAFETY != 2 ? 30000000 : 800000000, EXIT_VERDICT = 64 };

static const char letters[VERDICTS + 1] = ".rXMUCOSH";

static test_plan plans[MOST_PLANS];

/* Baselines are true to their originals: of them bad frees and overruns are printed only. */
static bool must_hold(const hfit_allocator *allocator, const attack *a) {
    return a->refused_from == 0 || (is_core(allocator) && a->refused_from <= HFIT_SAFETY);
}

static void exit_hung(void) {
    _exit(EXIT_VERDICT + VERDICT_HANG);
}

static void attack_and_exit(const test_plan *plan, const attack *a) {
    if (freopen("/dev/null", "w", stderr) == NULL) {
        _exit(EXIT_VERDICT + VERDICT_CRASH);
    }
    limit_loads(MOST_LOADS, exit_hung);
    const subject s = subject_start(plan);
    const verdict at_once = a->make(&s);
    _exit(EXIT_VERDICT + (int)worse_of(at_once, subject_still_serves(&s)));
}

static verdict attack_in_child(const test_plan *plan, const attack *a) {
    int status;
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        attack_and_exit(plan, a);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
        return VERDICT_CRASH;
    }
    const int code = WEXITSTATUS(status) - EXIT_VERDICT;
    return code >= 0 && code < VERDICTS ? (verdict)code : VERDICT_CRASH;
}

static void print_head(void) {
    printf("battery at safety level %d, %zu-bit, region of %d bytes\n"
           ". ok  r refused  X changed  M misaligned  U undersized  C corrupt  O overlap  S crash  "
           "H hang\n%-16s",
           HFIT_SAFETY, 8 * sizeof(void *), BATTERY_REGION, "");
    for (size_t i = 0; i < attack_count; i++) {
        printf(" %s", attacks[i].id);
    }
    printf("\n");
}

/* Attacks one allocator under all its plans and prints its line; returns how many attacks that must
 * not pass did. */
static size_t attack_allocator(const test_plan *first, size_t count, bool with_details) {
    size_t failures = 0;
    printf("%-16s", first->allocator->name);
    for (size_t a = 0; a < attack_count; a++) {
        verdict worst = VERDICT_OK;
        /* Nothing is worse than a hang, and each costs its limit. */
        for (size_t i = 0; i < count && (with_details || worst != VERDICT_HANG); i++) {
            const verdict found = attack_in_child(&first[i], &attacks[a]);
            worst = worse_of(worst, found);
            if (with_details && found > VERDICT_REFUSED) {
                fprintf(stderr, "%s: %s (%s): %c\n", first[i].name, attacks[a].id, attacks[a].what,
                        letters[found]);
            }
        }
        failures += worst > VERDICT_REFUSED && must_hold(first->allocator, &attacks[a]);
        printf("  %c", letters[worst]);
        fflush(stdout);
    }
    printf("\n");
    return failures;
}

/* Sanitizers look at core alone: baselines crash and hang, as is told of them. */
#ifdef __SANITIZE_ADDRESS__
enum { ATTACKS_BASELINES = 0 };
#else
enum { ATTACKS_BASELINES = 1 };
#endif

/* Attacks free addresses without telling a size. */
static bool is_subject(const hfit_allocator *allocator, const char *name) {
    return (ATTACKS_BASELINES || is_core(allocator)) && knows_sizes(allocator) &&
           (name == NULL || strcmp(name, allocator->name) == 0);
}

static int list_attacks(void) {
    for (size_t i = 0; i < attack_count; i++) {
        printf("%s\t%s\t%d\n", attacks[i].id, attacks[i].what, attacks[i].refused_from);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        return list_attacks();
    }
    may_invariants_break = HFIT_SAFETY == 0;
    const size_t plan_count = make_test_plans(plans);
    size_t failures = 0;
    size_t first = 0;
    print_head();
    while (first < plan_count) {
        const size_t count = count_alike(&plans[first], plans + plan_count);
        if (is_subject(plans[first].allocator, argc < 2 ? NULL : argv[1])) {
            failures += attack_allocator(&plans[first], count, argc > 1);
        }
        first += count;
    }
    printf("%zu attacks passed that must not\n", failures);
    return failures == 0 ? 0 : 1;
}
