/* SPDX-License-Identifier: Apache-2.0 */
/* What a generated heap uses of ThreadX's header, declared by ourselves after its documentation. */
#ifndef TEST_TX_API_H
#define TEST_TX_API_H

unsigned test_disable(void);
void test_restore(unsigned posture);
#define TX_INTERRUPT_SAVE_AREA unsigned interrupt_save;
#define TX_DISABLE interrupt_save = test_disable();
#define TX_RESTORE test_restore(interrupt_save);

#endif
