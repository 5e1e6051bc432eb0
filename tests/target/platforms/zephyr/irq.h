/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of Zephyr's header, declared by ourselves after its documentation. */
#ifndef TEST_ZEPHYR_IRQ_H
#define TEST_ZEPHYR_IRQ_H

unsigned int irq_lock(void);
void irq_unlock(unsigned int key);

#endif
