/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <sys/syscall.h>
#include <unistd.h>

volatile answer *told;

void end_child(void) {
    for (;;) {
        syscall(SYS_exit, 0); /* exit_group, which _exit calls, is not allowed here */
    }
}

void stop_at(fault found, uint32_t detail, uint32_t other) {
    told->runs = 0;
    told->fault = (uint32_t)found;
    told->detail = detail;
    told->other = other;
    end_child();
}
