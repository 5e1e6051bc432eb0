# SPDX-License-Identifier: Apache-2.0
"""The region that a heap needs in runs longer than the recording, or why no one can say.

windows of the recording --> region needed in each --> laws of extremes --> level of as many
windows as the longer run has. Windows are samples only of a service: no trend, no cycle longer than
a window, neighbours that depend little on each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.forecast.extent import PlacedRun, measure_extents
from heapfit.forecast.extremes import MaximaSample, find_chance_interval, sample_maxima
from heapfit.forecast.kind import Kind, RecordingKind
from heapfit.forecast.trend import find_dependence, rank_correlation

MOST_TIMES = 100.0  # as long as the recording
CHANCE = 0.01  # that a run needs more than the region that is told
_TIMES = (1.0, 10.0, MOST_TIMES)
FEWEST_WINDOWS = 20
FEWEST_RUNS = 8  # of a job
_ALIKE = 2.0  # times as long, at most, are recordings whose windows are joined
MOST_DEPENDENT = 0.5  # rank correlation of neighbouring windows


_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
_HORIZON: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(x|events|s|min|h|d|w|y)")


@dataclass(frozen=True, slots=True)
class Horizon:
    """How long a heap is to last."""

    text: str  # as it was given
    amount: float
    unit: str  # x: times the recording (of a job: runs); events; or a unit of time

    def times(self, events: int, microseconds: float) -> float | Refusal:
        """How many times as long as a recording of so many events, each so long, it is."""
        if self.unit == "x":
            return self.amount
        if self.unit == "events":
            return self.amount / events
        if microseconds <= 0:
            return Refusal("the recording has no clock", "record with times, or give --horizon 10x")
        return self.amount * _SECONDS[self.unit] * 1e6 / (events * microseconds)


def parse_horizon(text: str) -> Horizon:
    """A horizon such as 30d, 12h, 10x (times the recording) or 100000 events.

    >>> parse_horizon("30d").times(1_000_000, 2_592_000.0)
    1.0
    """
    found = _HORIZON.fullmatch(text.strip().replace(",", ""))
    if found is None or float(found[1]) <= 0:
        raise HeapfitError(
            f"--horizon {text}: is no length of time (30d, 12h, 5min), 10x or 100000 events"
        )
    return Horizon(text.strip(), float(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing is said about longer runs, and what to record."""

    reason: str
    advice: str
    is_of_runs: ClassVar[bool] = False  # no figure of the JSON

    def sentence(self) -> str:
        """Why longer runs are unknown, and what to do."""
        further = f" {self.advice[:1].upper()}{self.advice[1:]}." if self.advice else ""
        return f"Longer runs: unknown, as {self.reason}.{further}"


class FewRuns(Refusal):
    """Whole runs are too few."""

    is_of_runs = True


def refuse_growth(kind: RecordingKind) -> Refusal:
    """Why nothing is said about longer runs of what grows, and how to find that."""
    known = "find what grows: heapfit sites RUN --view later --program PROGRAM"
    unknown = "record its call sites: they show what grows"
    return Refusal("the recording grows", known if any(kind.sites) else unknown)


@dataclass(frozen=True, slots=True)
class LongerRuns:
    """What longer runs need of a heap's region, by the windows of a recording or by whole runs."""

    region: int  # bytes that serve the recording
    maxima: NDArray[np.int64]  # of the region needed in each window, or of each run; bytes
    windows: float  # as many as a run as long as the recording has
    is_of_runs: bool = False  # the maxima are needs of whole runs, whose law may be no extreme's
    basis: str = ""  # what they are, in words

    @property
    def sample(self) -> MaximaSample:
        """The windows' extents as a sample of their law."""
        return sample_maxima(self.maxima, find_dependence(self.maxima))

    def forecast(self, times: float, chance: float) -> Forecast | Refusal:
        """The region that a run `times` as long as the recording exceeds with this chance."""
        if times > MOST_TIMES:
            return Refusal(
                f"the horizon is {times:,.0f} times the recording; {MOST_TIMES:,.0f} times are "
                "as far as a forecast holds",
                f"record {times / MOST_TIMES:,.1f} times as long",
            )
        windows = times * self.windows
        low, high = self.sample.interval(windows, chance)
        region = self.sample.level(windows, chance)
        return Forecast(self._round(region), self._round(low), self._round(high))

    def chance(self, region: int, times: float) -> float:
        """The chance that a run `times` as long as the recording runs out of a region."""
        return self.sample.chance(region, times * self.windows)

    def chance_interval(self, region: int, times: float) -> tuple[float, float]:
        """Holds that chance 9 times of 10 (docs/chances.md), and the one stated."""
        low, high = self.sample.chance_interval(region, times * self.windows)
        if self.is_of_runs:
            ends = [1 - (1 - end) ** times for end in find_chance_interval(self.maxima, region)]
            low, high = min(low, *ends), max(high, *ends)
        return low, high

    def widen(self, more: int) -> LongerRuns:
        """The same where every region is larger by `more` bytes."""
        return replace(self, region=self.region + more, maxima=self.maxima + more)

    def _round(self, level: float) -> int:
        """Never below what the recording needed, whose length every run has."""
        units = -(-max(int(level) + 1, self.region) // _engine.REGION_UNIT)
        return units * _engine.REGION_UNIT


@dataclass(frozen=True, slots=True)
class Forecast:
    """A region, and the interval that holds the true one 9 times of 10 (docs/chances.md)."""

    region: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class LongerRun:
    """A run of one length: its chance to run out of memory, and the region that makes it small."""

    name: str  # "10 x as long", "10 runs", or the horizon that was asked for
    times: float  # as long as the recording; of a job: runs
    is_asked: bool  # a horizon was asked for
    chance: float | None  # in the region that is set; None: not known
    interval: tuple[float, float] | None  # holds the chance 9 times of 10
    needed: Forecast | None  # for CHANCE; None: not known, or as long as the recording
    reason: str  # why not; "": it is known


@dataclass(frozen=True, slots=True)
class LongerRunTable:
    """What recordings say of longer runs in a region that is set."""

    rows: tuple[LongerRun, ...]  # by length; empty where no length can be forecast
    refusal: Refusal | None  # of all lengths
    basis: str  # what the forecast rests on; "": there is none
    events: int  # replayed for it

    def region_beyond(self, region: int) -> int | None:
        """What the horizon asked for needs, where that is known and more than a region."""
        needed = next((row.needed for row in self.rows if row.is_asked), None)
        return None if needed is None or needed.region <= region else needed.region


def tabulate(
    runs: LongerRuns | Refusal,
    region: int,
    *,
    horizon: Horizon | None,
    kind: RecordingKind,
    events: int = 0,
) -> LongerRunTable:
    """A row for runs as long as the recording, 10 and 100 times as long, and a horizon's.

    The region is for runs as long as the recording: for these no other is told. `kind` is that of
    the recording whose length counts; `events` were replayed for it.
    """
    if isinstance(runs, Refusal):
        return LongerRunTable((), runs, "", events)
    names = [(_name(times, is_job=runs.is_of_runs), times) for times in _TIMES]
    first, *longer = (_make_row(name, times, runs, region) for name, times in names)
    rows = [replace(first, needed=None), *longer]
    if horizon is not None:
        times = horizon.times(kind.profile.events, kind.microseconds)
        asked = _make_row(horizon.text, times, runs, region, is_asked=True)
        rows = [asked if row.times == times else row for row in rows]
        rows += [] if asked in rows else [asked]
    return LongerRunTable(tuple(rows), None, runs.basis, events)


def _make_row(
    name: str, times: float | Refusal, runs: LongerRuns, region: int, *, is_asked: bool = False
) -> LongerRun:
    """The row of one length."""
    needed = times if isinstance(times, Refusal) else runs.forecast(times, CHANCE)
    if isinstance(needed, Refusal):
        reason = f"{needed.reason}; {needed.advice}"
        known = 0.0 if isinstance(times, Refusal) else times
        return LongerRun(name, known, is_asked, None, None, None, reason)
    assert not isinstance(times, Refusal)
    chance, interval = runs.chance(region, times), runs.chance_interval(region, times)
    return LongerRun(name, times, is_asked, chance, interval, needed, "")


def _name(times: float, *, is_job: bool) -> str:
    if is_job:
        return "1 run" if times == 1 else f"{times:,.0f} runs"
    return "as long" if times == 1 else f"{times:,.0f} x as long"


def expect_longer_runs(run: PlacedRun, region: int, kind: RecordingKind) -> LongerRuns | Refusal:
    """What a recording says about longer runs of a heap that serves it in `region` bytes."""
    if kind.kind not in (Kind.SERVICE, Kind.CYCLE):
        return _refuse_kind(kind)
    windows = kind.windows.scale(len(run.events) / kind.profile.events)
    extents = measure_extents(run, region, windows)
    if extents is None:
        return Refusal("the heap does not place blocks in a larger region as in this one", "")
    together = -(-(kind.period or 1) // kind.windows.events)
    while rank_correlation(join_windows(kind.windows.peaks, together)) > MOST_DEPENDENT:
        together += 1
    maxima = join_windows(extents, together)
    if len(maxima) < FEWEST_WINDOWS:
        return _refuse_windows(kind, together)
    count = len(run.events) / (windows.events * together)
    return LongerRuns(region, maxima, count)


def join_runs(each: Sequence[LongerRuns]) -> LongerRuns:
    """What several recordings of one program, of about the same length, say together."""
    if len(each) == 1:
        return each[0]
    maxima = np.concatenate([one.maxima for one in each])
    windows = float(np.mean([one.windows for one in each]))
    return LongerRuns(max(one.region for one in each), maxima, windows)


def expect_of_services(
    events: Sequence[int], shown: int, expect: Callable[[int], LongerRuns | Refusal]
) -> LongerRuns | Refusal:
    """What the windows of all services say that are about as long as the one shown.

    `events` are those of each recording; `expect` is asked by a recording's number.
    """
    found: list[LongerRuns] = []
    for number, count in enumerate(events):
        if 1 / _ALIKE <= count / events[shown] <= _ALIKE:
            one = expect(number)
            if isinstance(one, LongerRuns):
                found.append(one)
            elif number == shown:
                return one
    longer = join_runs(found)
    left_out = f" of {len(events)}" if len(found) < len(events) else ""
    runs = "" if len(events) == 1 else f" of {len(found)}{left_out} runs"
    return replace(longer, basis=f"{len(longer.maxima)} windows{runs}")


def expect_further_runs(needs: Sequence[float]) -> LongerRuns | Refusal:
    """What further runs need of a heap's region, by the bytes that each recorded one needed."""
    if len(needs) < FEWEST_RUNS:
        runs = "1 run is" if len(needs) == 1 else f"{len(needs)} runs are"
        reason = f"the unit of a job is a run, and {runs} recorded"
        return FewRuns(reason, f"a chance takes {FEWEST_RUNS} runs")
    maxima, basis = np.array(needs, np.int64), f"{len(needs)} runs"
    return LongerRuns(int(maxima.max()), maxima, 1.0, is_of_runs=True, basis=basis)


def join_windows(maxima: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The maxima of windows that are so many times as long; the first ones may be left out.

    >>> join_windows(np.array([9, 1, 2, 4, 3]), 2).tolist()
    [2, 4]
    """
    whole = len(maxima) // count * count
    return np.asarray(maxima[len(maxima) - whole :].reshape(-1, count).max(axis=1))


def _refuse_kind(kind: RecordingKind) -> Refusal:
    advice = {
        Kind.GROWING: "find what grows, or record until it stays level",
        Kind.JOB: "record further runs: the unit is a run",
    }
    reason = "the recording is too short" if kind.kind is Kind.TOO_SHORT else f"it is {kind.kind}"
    return Refusal(reason, advice.get(kind.kind, "record 10 times as long"))


def _refuse_windows(kind: RecordingKind, together: int) -> Refusal:
    needed = FEWEST_WINDOWS * together * kind.windows.events
    cause = (
        "neighbouring windows depend on each other"
        if kind.period is None
        else f"its cycle takes {kind.period:,} events"
    )
    return Refusal(
        f"{cause}; {FEWEST_WINDOWS} windows of their own are needed",
        f"record {needed:,} events after the start-up",
    )
