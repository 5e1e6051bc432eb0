# SPDX-License-Identifier: Apache-2.0
"""Plans side by side on one trace: the region each needs and the metadata accesses it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapfit import _engine
    from heapfit.plan import Plan
    from heapfit.trace import TraceInfo


@dataclass(frozen=True, slots=True)
class Row:
    """One plan measured on one trace. Sizes in bytes."""

    name: str
    reason: str  # why it was tried, one line; "" where the user asked for it
    plan: Plan
    alignment: int  # of its blocks
    r_min: int | None  # smallest region that succeeds
    r_safe: int | None  # smallest from which every larger scanned region succeeds
    step: int  # between scanned regions; 0 where R follows from the plan or one run tells it
    u_max: int  # most live bytes of the trace
    note: str  # what a reader of the figures must know, "" if nothing
    trained_on_this_trace: bool
    replay: (
        _engine.ReplayResult | None
    )  # metered, 1,000 samples, in `replay_region`; None if no region works

    @property
    def replay_region(self) -> int | None:
        """Where the metered replay ran: R_safe, else R_min."""
        return self.r_safe if self.r_safe is not None else self.r_min

    @property
    def over_u_max(self) -> float | None:
        """R_safe / U_max; 1.0 is what no allocator can beat."""
        return self.r_safe / self.u_max if self.r_safe is not None and self.u_max else None

    @property
    def accesses_per_operation(self) -> float | None:
        """Loads and stores of metadata words per allocation, free or resize."""
        if self.replay is None:
            return None
        operations = self.replay.allocations + self.replay.frees + self.replay.resizes
        return (self.replay.loads + self.replay.stores) / max(operations, 1)

    @property
    def footprint(self) -> int | None:
        """Highest offset ever in use in `replay_region`, control structures included."""
        return None if self.replay is None else self.replay.footprint


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows ranked: smallest R_safe first (none last), then fewest accesses, then by name."""

    trace: TraceInfo
    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest alignment the trace asks for, or the plans'
    rows: tuple[Row, ...]
