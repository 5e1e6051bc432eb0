/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's settings under FreeRTOS without its lock: to show what that is for. */
#ifndef TARGET_UNLOCKED_CONFIG_H
#define TARGET_UNLOCKED_CONFIG_H

#include "adapters/freertos_config.h"

#undef HFIT_RECORD_LOCK
#undef HFIT_RECORD_UNLOCK
#define HFIT_RECORD_LOCK() ((void)0)
#define HFIT_RECORD_UNLOCK() ((void)0)

#endif
