// SPDX-License-Identifier: Apache-2.0
// The counters that the metered build of core adds to; see heapfit/metered_config.h.
#include "heapfit/replay/metered_config.h"

HEAPFIT_THREAD_LOCAL heapfit_access_counts heapfit_counts = {0, 0, 0, 0};
