/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of NuttX's header, declared by ourselves after its documentation. */
#ifndef TEST_NUTTX_IRQ_H
#define TEST_NUTTX_IRQ_H

typedef unsigned long irqstate_t;
irqstate_t enter_critical_section(void);
void leave_critical_section(irqstate_t flags);

#endif
