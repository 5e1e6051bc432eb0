/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder as its test builds it: a clock that the test sets, a lock that it counts. */
#ifndef HFIT_TEST_RECORD_CONFIG_H
#define HFIT_TEST_RECORD_CONFIG_H

#include <stdint.h>

extern uint32_t test_ticks;
extern int test_locks;      /* taken and not released */
extern uint8_t test_served; /* the memory of all blocks */

#define HFIT_RECORD_CALL_SITES 1
#define HFIT_RECORD_TICKS() test_ticks
#define HFIT_RECORD_SERVED(block) ((void)(block), test_served)
#define HFIT_RECORD_LOCK() (void)(test_locks++)
#define HFIT_RECORD_UNLOCK() (void)(test_locks--)

#endif
