# SPDX-License-Identifier: Apache-2.0
"""The bytes that runs of each length need of a heap: by one law, the reserve of forecast/load.py.

What grows needs more by its growth, if it goes on. Of bursts too few to know how large they get,
and beyond a hundred times the recording, nothing is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from heapfit.comparison.margin import UNIT, HeapSize, MarginBasis, margin_for
from heapfit.forecast.horizon import MOST_TIMES, Horizon, UnknownRuns
from heapfit.forecast.kind import FEWEST_FOR_SIZE, Kind, RecordingKind
from heapfit.forecast.load import ENOUGH_BURSTS, RARE, USUAL
from heapfit.plan.quantities import format_count

_TIMES = (1.0, 10.0, MOST_TIMES)
_MANY = 10  # times a heap: no size that anyone would set


@dataclass(frozen=True, slots=True)
class LongerRun:
    """The bytes that runs of one length need, as the heap's setting counts them."""

    name: str  # "10 x as long", "10 runs", or the horizon that was asked for
    times: float  # as long as the recording; of a job: runs; 0: the recording has no clock
    is_asked: bool  # a horizon was asked for
    usual: int | None  # 9 of 10 runs run in it; None: not known
    needed: int | None  # 99 of 100 do
    reason: str = ""  # why not; "": it is known


@dataclass(frozen=True, slots=True)
class LongerRuns:
    """The bytes that runs of each length need, by length."""

    rows: tuple[LongerRun, ...]  # empty where nothing is told
    refusal: UnknownRuns | None  # why not
    is_growing: bool  # the bytes hold what grows, if it goes on so

    @property
    def asked(self) -> LongerRun | None:
        """The row of the horizon that was asked for."""
        return next((row for row in self.rows if row.is_asked), None)

    @property
    def told(self) -> LongerRun | None:
        """The row asked for; of a horizon beyond what is told, the longest that is."""
        return self.rows[-2] if self.asked and self.asked.times > MOST_TIMES else self.asked

    def beyond(self, setting: int) -> int | None:
        """What the horizon asked for needs as far as it is told, where more than a setting."""
        needed = None if self.told is None else self.told.needed
        return None if needed is None or needed <= setting else needed

    def lasts(self, setting: int) -> str:
        """The run that a setting is for; "": no horizon was asked for, or it needs more."""
        asked, told = self.asked, self.told
        if asked is None or told is None or told.needed is None or told.needed > setting:
            return ""
        far = f"{MOST_TIMES:,.0f} times the recording (as far as it tells; {asked.name} is longer)"
        return (asked.name if told is asked else far) + " at this growth" * self.is_growing

    def heading(self) -> str:
        """What stands above the rows, or why there are none."""
        if self.refusal is not None:
            return self.refusal.sentence()
        return f"Bytes that a run needs{', if it grows on as it did' if self.is_growing else ''}:"

    def sentence(self, setting: int) -> str:
        """What runs need that are too long for a setting, or why no one can say."""
        if self.refusal is not None:
            return self.refusal.sentence()
        # What may be a cache tells nothing of a hundred times its length.
        known = [
            (row.name, row.needed)
            for row in self.rows
            if row.needed and row.times > 1
            if row.is_asked or not self.is_growing or row.times < MOST_TIMES
        ]
        texts = [
            f"{name} " + (f"up to {needed:,} B" if needed <= _MANY * setting else "many times this")
            for name, needed in known
            if needed > setting
        ]
        grows = ", if it grows on as it did" if self.is_growing else ""
        untold = "".join(f" {row.name}: {row.reason}." for row in self.rows if row.reason)
        more = f"Longer runs need more: {', '.join(texts)}"
        return f"{more if texts else f'It is enough for {known[-1][0]}, too'}{grows}.{untold}"


def tell_longer_runs(
    size: HeapSize,
    known: MarginBasis,
    kind: RecordingKind,
    *,
    horizon: Horizon | None,
    set_to: Callable[[int], int] = int,
) -> LongerRuns:
    """Runs as long as the recordings, 10 and 100 times as long, and of the horizon's length.

    `kind`: of the recording whose length counts; `set_to`: how the heap counts its region.
    """
    load, growth, least = known.load, 0, 0
    if load.is_start:
        return LongerRuns((), _refuse_start(load.events), False)
    if load.bursts:
        return LongerRuns((), _refuse_bursts(load.bursts, size), False)
    if kind.is_growing:
        # In bytes of the heap; at its highest load, as it is said when the heap is full.
        rise, most = kind.rate.slope * kind.profile.events, float(kind.grown_peaks.max())
        growth, least = (
            ceil(max(0.0, one) * size.r_safe / max(size.u_max, 1) / UNIT) * UNIT
            for one in (rise, most)
        )

    def make_row(name: str, times: float | UnknownRuns, *, is_asked: bool = False) -> LongerRun:
        if isinstance(times, UnknownRuns):
            return LongerRun(name, 0.0, is_asked, None, None, f"{times.reason}; {times.advice}")
        if times > MOST_TIMES:
            far = (
                f"{times:,.0f} times the recording, and {MOST_TIMES:,.0f} times are as far as it "
                f"tells; record {times / MOST_TIMES:,.1f} times as long"
            )
            return LongerRun(name, times, is_asked, None, None, far)
        more = ceil(growth * max(0.0, times - 1) / UNIT) * UNIT
        usual, needed = (
            set_to(max(size.region_with(margin_for(known, times, one)), least * bool(more)) + more)
            for one in (USUAL, RARE)
        )
        return LongerRun(name, times, is_asked, usual, needed)

    rows = [make_row(_name(times, is_job=kind.kind is Kind.JOB), times) for times in _TIMES]
    if horizon is not None:
        times = horizon.times(kind.profile.events, kind.microseconds)
        asked = make_row(horizon.text, times, is_asked=True)
        rows = [row for row in rows if row.times != asked.times] + [asked]
        rows.sort(key=lambda row: row.times)
    return LongerRuns(tuple(rows), None, kind.is_growing)


def _name(times: float, *, is_job: bool) -> str:
    if is_job:
        return "1 run" if times == 1 else f"{times:,.0f} runs"
    return "as long" if times == 1 else f"{times:,.0f} x as long"


def _refuse_start(events: int) -> UnknownRuns:
    return UnknownRuns(
        f"{format_count(events, 'event')} are a start", f"record {FEWEST_FOR_SIZE} at least"
    )


def _refuse_bursts(bursts: int, size: HeapSize) -> UnknownRuns:
    room = size.region - size.region_with(0)
    return UnknownRuns(
        f"{format_count(bursts, 'burst')} stand{'s' if bursts == 1 else ''} out, up to a need of "
        f"{size.r_safe:,} B, which the size holds with {room:,} B to spare; how large they get is "
        f"not known before some {ENOUGH_BURSTS}",
        f"record until it shows {ENOUGH_BURSTS} bursts",
    )
