/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that a plug-in lives in: reads a recording once, then answers questions on stdin, a
 * line each, until there are no more.
 *
 *   host IMAGE EVENTS ALIGNMENT SECONDS
 *     places BYTES, apart BYTES, content BYTES  the recording in a region (replay.h: effort)
 *     attack NUMBER BYTES                       an attack (attacks.h)
 *
 * Each is done in a child, which may crash, run on for ever or call the system: all three are told
 * as faults. The child alone maps the plug-in's code (image.h), of which nothing runs before it is
 * confined. Its parent watches it and counts CPU time, not that of a clock on the wall: a call of
 * more than a second is endless, as is a replay of more than SECONDS and a millisecond an event.
 */
#include "answer.h"
#include "attacks.h"
#include "content.h"
#include "face.h"
#include "image.h"
#include "region.h"
#include "replay.h"

#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NANOSECONDS = 250000000, SIGNAL_STACK = 1 << 16 };
enum { MILLISECOND = 1000000, MOST_A_CALL = 1000, MOST_STACK = 8 << 20 };

typedef struct question {
    char what[16];
    unsigned number;
    size_t size;
} question;

static void crashed(int number, siginfo_t *about, void *context) {
    (void)context;
    const bool is_access = number == SIGSEGV || number == SIGBUS;
    stop_at(is_access && is_beside(about->si_addr) ? FAULT_OUTSIDE : FAULT_CRASH, 0, 0);
}

static void watch_crashes(void) {
    static unsigned char stack[SIGNAL_STACK]; /* the plug-in may use up its own */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction on_crash = {.sa_sigaction = crashed,
                                       .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        sigaction(crashes[i], &on_crash, NULL);
    }
}

#ifdef __LP64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_I386
#endif

/* Whatever the user's limits are: no file of a core that the plug-in filled, no stack that takes
 * all memory. */
static bool has_bounds(void) {
    struct rlimit stack;
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || getrlimit(RLIMIT_STACK, &stack) != 0) {
        return false;
    }
    if (stack.rlim_cur > MOST_STACK) {
        stack.rlim_cur = MOST_STACK;
    }
    return setrlimit(RLIMIT_STACK, &stack) == 0;
}

/* From here on the child may end; any other call of the system kills it. The number means nothing
 * before the architecture is known: int 0x80 in a program of 64 bits calls by the numbers of 32,
 * and x32 sets a bit in the number. Not seccomp's strict mode, which lets it write: a heap that
 * prints would hang in a full pipe, or answer in its host's place. Nor may it return from a
 * handler, which would let it block signals. */
static void only_compute(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (!has_bounds() || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(1);
    }
}

/* Tried before the plug-in runs: of a later child that ends badly the plug-in is the cause. */
static bool can_confine(void) {
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (!map_image()) {
            _exit(1);
        }
        only_compute();
        end_child();
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void do_what_is_asked(const trace *t, size_t alignment, const question *asked) {
    static const char *const efforts[] = {"places", "apart", "content"};
    const bool is_mapped = map_image(); /* first, where nothing lies in its way */
    block *objects = reserve_objects(t);
    make_region(asked->size, strcmp(asked->what, efforts[EFFORT_PLACES]) != 0);
    if (!is_mapped || heap_region.start == NULL || objects == NULL) {
        return; /* as a region that init does not take */
    }
    only_compute();
    construct();
    if (strcmp(asked->what, "attack") == 0) {
        attack(asked->number, alignment);
    }
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        if (strcmp(asked->what, efforts[i]) == 0) {
            replay(t, alignment, (effort)i, objects);
        }
    }
}

static _Noreturn void answer_in_child(const trace *t, size_t alignment, const question *asked) {
    watch_crashes();
    do_what_is_asked(t, alignment, asked);
    end_child();
}

static int64_t milliseconds_of(pid_t child) {
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(child, &clock) == 0) {
        clock_gettime(clock, &used);
    }
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / MILLISECOND;
}

/* Waits for the child's end, which a call or a replay that takes too long has at once; whether it
 * was so. SIGCHLD is blocked. */
static bool ended_late(pid_t child, int64_t most, int *status) {
    const struct timespec tick = {0, TICK_NANOSECONDS};
    uint32_t events = 0;
    int64_t since = 0;
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGCHLD);
    while (waitpid(child, status, WNOHANG) == 0) {
        const int64_t used = milliseconds_of(child);
        if (told->events != events) {
            events = told->events;
            since = used;
        }
        if (used - since > MOST_A_CALL || used > most) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return true;
        }
        sigtimedwait(&end, NULL, &tick);
    }
    return false;
}

/* The fault of a child that did not say itself how it ended. */
static fault fault_of_end(int status, bool is_late) {
    if (is_late) {
        return FAULT_ENDLESS;
    }
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGSYS ? FAULT_SYSTEM_CALL : FAULT_CRASH;
    }
    return WEXITSTATUS(status) != 0 ? FAULT_ABORT : FAULT_NONE;
}

/* Whether a child says that it served a recording in fewer bytes than are live at once: it wrote
 * its answer itself. */
static bool is_impossible(const trace *t, const question *asked) {
    return told->runs != 0 && strcmp(asked->what, "attack") != 0 && asked->size < t->most_live;
}

static void print_answer(void) {
    const answer a = *told;
    printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
           a.runs, a.is_region, a.events, a.footprint, a.height, a.placements, a.loads, a.stores,
           a.longest, a.payload, a.fault, a.detail, a.other);
    fflush(stdout);
}

static void answer_question(const trace *t, size_t alignment, int64_t most, const question *asked) {
    int status = 0;
    memset((void *)(uintptr_t)told, 0, sizeof *told);
    const pid_t child = fork();
    if (child == 0) {
        answer_in_child(t, alignment, asked);
    }
    const bool is_late = child > 0 && ended_late(child, most, &status);
    const fault end = fault_of_end(status, is_late);
    if (child < 0) {
        perror("host: no process for a replay");
        exit(1);
    }
    const fault found = end == FAULT_NONE && is_impossible(t, asked) ? FAULT_HUGE_SERVED : end;
    if (found != FAULT_NONE && told->fault == FAULT_NONE) {
        told->runs = 0;
        told->fault = (uint32_t)found;
        told->detail = (uint32_t)t->most_live;
    }
    print_answer();
}

static void block_end_of_child(void) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGCHLD);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &end, NULL);
}

static bool read_question(question *asked) {
    char line[128];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return false;
    }
    *asked = (question){.number = 0};
    return sscanf(line, "%15s %zu %u", asked->what, &asked->size, &asked->number) >= 2;
}

int main(int count, char **words) {
    question asked;
    const entries *table = count == 5 ? open_image(words[1]) : NULL;
    if (table == NULL) {
        fprintf(stderr, count != 5 ? "usage: see host.c\n" : "%s: no image\n", words[1]);
        return 2;
    }
    use_entries(table);
    const char *missing = missing_functions();
    if (missing != NULL) {
        fprintf(stderr, "has no %s\n", missing);
        return 2;
    }
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if ((void *)(uintptr_t)told == MAP_FAILED) {
        perror("host");
        return 1;
    }
    if (!can_confine()) {
        fprintf(stderr, "no memory for the plug-in, or no filters of system calls (seccomp)\n");
        return 1;
    }
    const trace t = open_trace(words[2]);
    make_contents();
    block_end_of_child();
    printf("%s\n", is_sized() ? "is told sizes" : "is told none");
    fflush(stdout);
    const int64_t most = strtoll(words[4], NULL, 10) * 1000 + t.count;
    while (read_question(&asked)) {
        answer_question(&t, strtoul(words[3], NULL, 10), most, &asked);
    }
    return 0;
}
