/* SPDX-License-Identifier: Apache-2.0 */
/* What an image may do at such moments; by default nothing. */
#ifndef FIRMWARE_HOOKS_H
#define FIRMWARE_HOOKS_H

/* When nothing is to be done until the next tick. */
void idle_hook(void);

/* At the end, when every task waits. */
void end_hook(void);

#endif
