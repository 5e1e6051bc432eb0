/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of RIOT's header, declared by ourselves after its documentation. */
#ifndef TEST_RIOT_IRQ_H
#define TEST_RIOT_IRQ_H

unsigned irq_disable(void);
void irq_restore(unsigned state);

#endif
