# SPDX-License-Identifier: Apache-2.0
"""One plan measured on one trace or on several, and such rows ranked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.margin import HeapSize, MarginBasis, divide_by_peak, heap_size
from heapfit.comparison.work import NO_WORK, Work
from heapfit.forecast.load import Load
from heapfit.plan.allocators import info_of, splits_blocks
from heapfit.plan.brief import Brief
from heapfit.plan.energy import Sram
from heapfit.trace.tabular import arrow_table


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Row(Brief, Candidate):
    """A candidate measured on a trace, or on several, of which it needs the most. Sizes in bytes.

    Of several the last fields have what each needs; in a design for the choice alone, they may be
    empty.
    """

    alignment: int  # of its blocks
    r_min: int | None  # smallest region that succeeds: memory of the heap, its control included
    r_safe: int | None  # smallest that succeeds above all that failed
    step: int  # between scanned regions; 0 where R follows from the plan or from one run
    load: Load  # of the trace, or of all
    replay: _engine.ReplayResult | None  # metered, in `replay_region`; None if no region works.
    # Its series is empty, but of rows that went through with_series.
    events_left: int = 0  # that trying every region left out above R_safe would take, about
    placed: int | None = None  # height of its lowest placement where that beats the packing known
    r_safe_at_least: int | None = None  # bytes; of a plan that was pruned, as it cannot win
    work: Work = NO_WORK  # that all this took
    changes: ChangeTest | None = None  # None: not tried, as it cannot win
    parts: tuple[int | None, ...] = ()  # R_safe on parts of the trace, of plans made without them
    lasts: bool | None = None  # False: there it does not lead what learned nothing; None: not asked
    needs: tuple[int | None, ...] = ()  # R_safe on each of several
    unseen: tuple[int | None, ...] = ()  # R_safe on each, of the plan made without it
    unseen_r_safe: int | None = None  # the largest of these
    held: tuple[bool, ...] = ()  # true for each trace that runs in the heap set without it

    @property
    def replay_region(self) -> int | None:
        """Where the metered replay ran: R_safe, else R_min, as a region of the plan."""
        memory = self.r_safe if self.r_safe is not None else self.r_min
        return None if memory is None else self.heap.region(memory)

    @property
    def own(self) -> int | None:
        """Bytes of that memory that are the heap's before any request; None of pools, too."""
        memory = self.r_min if self.r_safe is None else self.r_safe
        return (
            None if memory is None or self.plan.filled_pools else self.heap.taken_by_itself(memory)
        )

    @property
    def over_u_max(self) -> float | None:
        """R_safe / U_max; no allocator can get below 1."""
        return divide_by_peak(self.r_safe, self.u_max)

    @property
    def heap_size(self) -> HeapSize | None:
        """What to set a heap to; None if no region is safe."""
        return None if self.r_safe is None else heap_size(self.r_safe, self.known)

    @property
    def runs(self) -> int:
        """How many traces it was measured on."""
        return self.load.runs

    @property
    def u_max(self) -> int:
        """The most live bytes of any of them."""
        return self.load.u_max

    @property
    def known(self) -> MarginBasis:
        """What the margin of this row depends on."""
        return self.margin_basis(self.load, 0.0 if self.changes is None else self.changes.needed)

    @property
    def needed(self) -> int | None:
        """The region that ranks the row: of several traces that of hold-out ones."""
        return self.r_safe if self.runs == 1 else self.unseen_r_safe

    @property
    def is_in_pieces(self) -> bool:
        """True if a block may be split into pieces; R then is for callers that follow them."""
        return splits_blocks(self.plan)

    @property
    def needs_size(self) -> bool:
        """True if the plan needs sized deallocation, so that R is for callers that know sizes."""
        return info_of(self.plan).needs_size

    @property
    def is_exhaustive(self) -> bool:
        """True if every multiple of 8 B above R_safe was tried; else it is the smallest found."""
        return self.events_left == 0

    @property
    def is_monotone(self) -> bool:
        """True if every scanned region above one that works works, too."""
        return self.r_min == self.r_safe

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


def row_table(rows: Sequence[Row]) -> pa.Table:
    """Rows of a comparison as a table; `region` is what to set a heap to, margin included."""
    return arrow_table(
        rows,
        {
            "name": lambda row: row.name,
            "allocator": lambda row: row.plan.allocator,
            "region": lambda row: None if row.heap_size is None else row.heap_size.region,
            "r_safe": lambda row: row.r_safe,
            "r_min": lambda row: row.r_min,
            "over_u_max": lambda row: row.over_u_max,
            "accesses_per_operation": lambda row: row.accesses_per_operation,
            "trained_on_this_trace": lambda row: row.trained_on_this_trace,
            "reason": lambda row: row.reason,
        },
    )


def with_work_of(row: Row, before: Row) -> Row:
    """A row that was measured again, with what the first measurement took, and its R_min."""
    return replace(row, r_min=row.r_min or before.r_min, work=before.work + row.work)


def rank_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Sorts rows, the best first, each with its kind's margin. Equal inputs give equal order."""

    def key(row: Row) -> tuple[float, float, float, str]:
        accesses, needed = row.accesses_per_operation, row.needed
        return (
            math.inf if needed is None else heap_size(needed, row.known).region,
            row.r_safe or math.inf,
            -1.0 if accesses is None else accesses,
            row.name,
        )

    return tuple(sorted(rows, key=key))


def energies_over_least(rows: Sequence[Any], sram: Sram) -> list[float | None]:
    """Energy of each row's metadata accesses in an SRAM of its region's size, the least as 1.

    Rows of plug-ins may be among them.

    None where there was no replay, or the table has no memory so large.
    """
    energies = [
        sram.energy(row.replay, row.replay_region) if row.replay and row.replay_region else None
        for row in rows
    ]
    least = min((energy for energy in energies if energy), default=None)
    return [energy / least if energy and least else None for energy in energies]
