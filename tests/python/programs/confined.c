/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes BEFORE events (a malloc, a free, ...), confines itself as told, and makes AFTER events:
 * confined BEFORE AFTER WAY. If AFTER is 0 it makes a call that is forbidden. The filter kills at
 * whatever a growing file takes.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KILL_AT(call)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    KILL_AT(SYS_write),
    KILL_AT(SYS_pwrite64),
    KILL_AT(SYS_ftruncate),
    KILL_AT(SYS_fallocate),
    KILL_AT(SYS_mmap),
    KILL_AT(SYS_munmap),
    KILL_AT(SYS_madvise),
    KILL_AT(SYS_openat),
    KILL_AT(SYS_fcntl),
    KILL_AT(SYS_prlimit64),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void make_events(long events) {
    for (long i = 0; i < events; i += 2) {
        void *volatile block = malloc(32);
        free(block);
    }
}

static void confine(const char *way) {
    struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};
    if (strcmp(way, "strict") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        return;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        _exit(3);
    }
    if (strcmp(way, "filter") == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    } else { /* "own": without the C library's prctl */
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
    }
}

int main(int count, char **words) {
    if (count != 4) {
        return 2;
    }
    make_events(atol(words[1]));
    confine(words[3]);
    make_events(atol(words[2]));
    if (atol(words[2]) == 0) {
        syscall(SYS_ftruncate, -1, 0); /* dies as it would have without the recorder */
    }
    syscall(SYS_exit, 0); /* all that strict mode leaves */
}
