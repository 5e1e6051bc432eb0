# SPDX-License-Identifier: Apache-2.0
"""P_i(t) of each pool of a plan: how many requests that it is there for were live, over the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapfit.report.figure import Extremes

if TYPE_CHECKING:
    from heapfit.fit import Fit
    from heapfit.plan import Plan, Pool


@dataclass(frozen=True, slots=True)
class LiveBlocks:
    """The live requests of one pool's sizes."""

    pool: Pool
    blocks: Extremes

    @property
    def peak(self) -> int:
        """P_i,max."""
        return max(self.blocks.highest, default=0)


def live_blocks(fit: Fit) -> list[LiveBlocks]:
    return fit.live
