# SPDX-License-Identifier: Apache-2.0
"""How hard plans are searched for, in one word.

    quick      what needs no search: allocators as they are, pools and budgets by published rules
    standard   placements learned by replaying, budgets proven, every size tried of what may win
    long       every setting of every allocator, too

With equal recordings and effort a fit names the same plan and region, whatever else it writes
(docs/evidence/design.md).
"""

from __future__ import annotations

from enum import StrEnum


class Effort(StrEnum):
    """The efforts, by the names that a user types."""

    QUICK = "quick"
    STANDARD = "standard"
    LONG = "long"


# The line that an answer with this effort says about itself.
MEANING = {
    Effort.QUICK: "Quick: no learned placement, no proven budgets, not every size tried.",
    Effort.LONG: "Long: the least of so many plans is partly chance; try it on a second run.",
}
