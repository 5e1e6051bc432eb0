/* SPDX-License-Identifier: Apache-2.0 */
/* As irq.h beside it. */
#ifndef TEST_ZEPHYR_INIT_H
#define TEST_ZEPHYR_INIT_H

#define SYS_INIT(function, level, priority)                                                        \
    int (*const test_init_##level)(void) = (function);                                             \
    enum { TEST_PRIORITY_OF_##level = (priority) }

#endif
