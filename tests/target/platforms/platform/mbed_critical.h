/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of Mbed OS's header, declared by ourselves after its documentation. */
#ifndef TEST_MBED_CRITICAL_H
#define TEST_MBED_CRITICAL_H

void core_util_critical_section_enter(void);
void core_util_critical_section_exit(void);

#endif
