/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that a plug-in lives in: reads a recording once, then answers questions on stdin, a
 * line each, until there are no more.
 *
 *   host EVENTS ALIGNMENT
 *     places BYTES, apart BYTES, content BYTES  the recording in a region (replay.h: effort)
 *     attack NUMBER BYTES                       an attack (attacks.h)
 *
 * Each is done in a child, which may crash, run on for ever or call the system: all three are told
 * as faults. A call that uses more than a second of CPU time is endless; no clock on the wall
 * counts.
 */
#include "answer.h"
#include "attacks.h"
#include "content.h"
#include "face.h"
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
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MICROSECONDS = 250000, TICKS_A_CALL = 4, SIGNAL_STACK = 1 << 16, MOST_SECONDS = 3600 };

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

/* Has an event been done since the last tick of CPU time? */
static void ticked(int number) {
    static uint32_t before = UINT32_MAX;
    static int since;
    (void)number;
    since = told->events == before ? since + 1 : 0;
    before = told->events;
    if (since >= TICKS_A_CALL) {
        stop_at(FAULT_ENDLESS, 0, 0);
    }
}

static void watch(void) {
    static unsigned char stack[SIGNAL_STACK]; /* the plug-in may use up its own */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction on_crash = {.sa_sigaction = crashed,
                                       .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const struct sigaction on_tick = {.sa_handler = ticked, .sa_flags = SA_RESTART | SA_ONSTACK};
    const struct itimerval every = {{0, TICK_MICROSECONDS}, {0, TICK_MICROSECONDS}};
    const struct rlimit most = {MOST_SECONDS, MOST_SECONDS + 1};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        sigaction(crashes[i], &on_crash, NULL);
    }
    sigaction(SIGPROF, &on_tick, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    setrlimit(RLIMIT_CPU, &most);
}

#ifdef __LP64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_I386
#endif

/* From here on the child may end, and come back from its handlers of signals; any other call of the
 * system kills it. Numbers mean nothing before the architecture is known: int 0x80 in a program of
 * 64 bits calls by the numbers of 32, and x32 sets a bit that no allowed number has. Not seccomp's
 * strict mode, which lets it write: a heap that prints would hang in a full pipe, or answer in its
 * host's place. */
static void only_compute(void) {
    static const uint32_t allowed[] = {
        SYS_exit,
        SYS_rt_sigreturn,
#ifdef SYS_sigreturn
        SYS_sigreturn,
#endif
    };
    enum { COUNT = sizeof allowed / sizeof *allowed, KILL = 3 + COUNT, ALLOW };
    struct sock_filter filter[ALLOW + 1] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, KILL - 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        [KILL] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        [ALLOW] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    for (int i = 0; i < COUNT; i++) {
        filter[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
                                                     (unsigned char)(COUNT - i), 0);
    }
    const struct sock_fprog program = {.len = ALLOW + 1, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(1);
    }
}

static void do_what_is_asked(const trace *t, size_t alignment, const question *asked) {
    static const char *const efforts[] = {"places", "apart", "content"};
    block *objects = reserve_objects(t);
    make_region(asked->size, strcmp(asked->what, efforts[EFFORT_PLACES]) != 0);
    if (heap_region.start == NULL || objects == NULL) {
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
    watch();
    do_what_is_asked(t, alignment, asked);
    end_child();
}

static uint32_t fault_of_signal(int number) {
    switch (number) {
    case SIGSYS: /* what comes of a call that is not allowed */
        return FAULT_SYSTEM_CALL;
    case SIGXCPU:
        return FAULT_ENDLESS;
    default:
        return FAULT_CRASH;
    }
}

static void tell_of_signal(int status) {
    if (WIFSIGNALED(status) && told->fault == FAULT_NONE) {
        told->runs = 0;
        told->fault = fault_of_signal(WTERMSIG(status));
    }
}

static void print_answer(void) {
    const answer a = *told;
    printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
           a.runs, a.is_region, a.events, a.footprint, a.height, a.placements, a.loads, a.stores,
           a.payload, a.fault, a.detail, a.other);
    fflush(stdout);
}

static void answer_question(const trace *t, size_t alignment, const question *asked) {
    int status;
    memset((void *)(uintptr_t)told, 0, sizeof *told);
    const pid_t child = fork();
    if (child == 0) {
        answer_in_child(t, alignment, asked);
    }
    if (child < 0 || waitpid(child, &status, 0) != child ||
        (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        perror("host: no process for a replay, or none that can be watched");
        exit(1);
    }
    tell_of_signal(status);
    print_answer();
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
    const char *missing = missing_functions();
    if (count != 3 || missing != NULL) {
        fprintf(stderr, count != 3 ? "usage: host EVENTS ALIGNMENT\n" : "has no %s\n", missing);
        return 2;
    }
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if ((void *)(uintptr_t)told == MAP_FAILED) {
        perror("host");
        return 1;
    }
    const trace t = open_trace(words[1]);
    make_contents();
    printf("%s\n", is_sized() ? "is told sizes" : "is told none");
    fflush(stdout);
    while (read_question(&asked)) {
        answer_question(&t, strtoul(words[2], NULL, 10), &asked);
    }
    return 0;
}
