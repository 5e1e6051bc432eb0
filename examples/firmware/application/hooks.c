/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks.h"

__attribute__((weak)) void start_hook(void) {}

__attribute__((weak)) void idle_hook(void) {}

__attribute__((weak)) void end_hook(void) {}
