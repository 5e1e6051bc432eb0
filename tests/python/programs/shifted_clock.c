/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose monotonic clock is put two hours on or three back, now and then; the C library's
 * is not asked. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 1000, HOUR = 3600 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int calls, hours;
    const int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_MONOTONIC) {
        calls++;
        hours += calls % EACH == 0 ? (calls / EACH % 2 == 0 ? -3 : 2) : 0;
        now->tv_sec += hours * HOUR;
    }
    return code;
}
