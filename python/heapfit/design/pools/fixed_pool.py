# SPDX-License-Identifier: Apache-2.0
"""One pool of equal buffers, as Elsayed and Galal compare with.

A buffer holds the largest request, and there are as many as are ever live at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from heapfit.trace.profile import Profile

ALLOCATOR = "fixed_pool"


def scalars_for(profile: Profile) -> Mapping[str, int]:
    """The tunables that serve every request of a trace."""
    largest = max(profile.sizes.tolist(), default=1)
    return {"block_size": max(largest, 1), "blocks": max(profile.live_blocks_max, 1)}
