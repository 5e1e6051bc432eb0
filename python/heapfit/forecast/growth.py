# SPDX-License-Identifier: Apache-2.0
"""What grows in a recording, by size, call site and thread, where the total may hide it.

The troughs of each group of blocks are tested in windows after the start-up. Two tests look at a
series: Kendall's sees a trend in noise, the mean step from window to window sees what only rises.
Either counts if the second half of the series rises, too: what fills and then stays does not grow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import erfc, inf, sqrt
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.forecast.trend import NORMAL_95, Trend, find_trend
from heapfit.forecast.windows import Windows
from heapfit.grouping import group
from heapfit.trace.chains import Chains
from heapfit.trace.operations import FREE
from heapfit.trace.stored import Trace

Family: TypeAlias = Literal["size", "site", "thread"]
Frame = TypeVar("Frame")
Troughs: TypeAlias = NDArray[Any]  # bytes

FAMILIES: tuple[Family, ...] = ("site", "size", "thread")
MOST_GROUPS = 4096  # of a family; what comes later is one group together
FEWEST_LEVELS = 6  # different values of a series that can be said to grow
FALSE_ALARMS = 0.01  # chance of "grows" for the total without growth, and for all groups together
STEEP = 3.0  # deviations of the values around the line that a trend of the total rises by, at least
STEEP_OF_GROUPS = 4.5  # of one group of many: what lives long makes slow trends by chance
_MAKES_UP = 0.5  # of the slope of all live bytes, for a group that has as much of it
SHORTEST_CLOCK = 1_000_000  # us; a program that runs shorter does not wait for a world with a clock
_LARGER = 0.1  # by as much at least do sizes rise that grow
_LASTS = 0.5  # of the pace of its first half, that growth has in its second
_KEPT = 0.8  # of what a group rose by in half of the windows, that it never frees if it leaks
_FILLS = 0.3  # of the pace of the whole, that what still fills has at least in its second half
_STILL_RISES = 0.3  # likewise of the second half of a series that rises


@dataclass(frozen=True, slots=True)
class BlockGroup:
    """A group of blocks, and what it holds."""

    family: Family
    name: int  # the size in bytes, the call site or the thread
    troughs: Troughs = field(repr=False, compare=False)  # live bytes, of each window
    held: int  # bytes born after the start-up and live at the end
    blocks: int  # likewise
    old: int  # of the bytes held, those born in the first half of the windows
    frame: int = 0  # of a call site: its innermost caller that no site beside the growing ones has

    @property
    def trend(self) -> Trend:
        """The trend of its growth, in bytes from one window to the next."""
        return trend_of_growth(self.troughs)

    @property
    def is_kept(self) -> bool:
        """True if nearly all that it rose by in the first half of the windows is live at the end.

        Blocks that live long gather, too, in a short recording, before the first of them are freed.
        """
        return self.old >= _KEPT * find_trend(self.troughs).slope * (len(self.troughs) // 2)


def find_joint_trend(growth: Sequence[BlockGroup]) -> Trend:
    """The trend of what grows, of the parts of one family together.

    Of the call sites, as it is named by them, unless another family holds twice as much; but rather
    of one whose growth goes on at its pace: a thread also holds what filled up and stays, such as a
    cache.
    """
    together = [
        (lasts(troughs), sum(one.held for one in parts), troughs)
        for parts in group((one.family, one) for one in growth).values()
        for troughs in [np.sum([one.troughs for one in parts], axis=0)]
    ]
    most = max(held for _, held, _ in together)
    return trend_of_growth(max(together, key=lambda one: (one[0], 2 * one[1] >= most))[2])


def find_growth(
    series: Sequence[BlockGroup],
    sites: Sequence[int],
    chains: Chains,
    total: Trend | None,
    newest: float,
) -> tuple[BlockGroup, ...]:
    """The groups that grow, of each family those that hold most first.

    `total` is the trend of all live bytes where these grow, `newest` the slope of their second
    half. Where those that are seen to grow by themselves make up less than half of that together,
    the ones that have half of `total` alone are added. What filled before is none of them.
    """
    held = [
        one for one in series if _is_held(one) and (total is None or _goes_on(one.troughs, _FILLS))
    ]
    found = [
        one for one in held if one.is_kept and grows(one.troughs, len(series), STEEP_OF_GROUPS)
    ]
    if total is not None and not (found and find_joint_trend(found).slope >= _MAKES_UP * newest):
        found += [
            one
            for one in held
            if one not in found and find_trend(one.troughs).slope >= _MAKES_UP * total.slope
        ]
    growing = {one.name for one in found if one.family == "site"}
    frames = own_frames(growing, {site: chains.get(site, (site,)) for site in sites})
    parts = [replace(one, frame=frames[one.name] if one.family == "site" else 0) for one in found]
    return tuple(sorted(parts, key=lambda one: (FAMILIES.index(one.family), -one.held, one.name)))


def own_frames(
    growing: Collection[int], chains: Mapping[int, tuple[Frame, ...]]
) -> dict[int, Frame]:
    """The innermost frame of each growing site's chain up to which no other site has the same.

    A wrapper that all call is shared; the caller of it that grows is not.

    >>> own_frames({1}, {1: ("allocated", "accept"), 2: ("allocated", "report")})
    {1: 'accept'}
    """
    others = (chain for site, chain in chains.items() if site not in growing)
    shared = {chain[:length] for chain in others for length in range(1, len(chain) + 1)}
    return {
        site: next((one for i, one in enumerate(chain, 1) if chain[:i] not in shared), chain[-1])
        for site in sorted(growing)
        for chain in [chains[site]]
    }


def _is_held(series: BlockGroup) -> bool:
    """True if half of what a series rose by is live at the end, born after the start-up."""
    return series.held > 0 and 2 * series.held >= int(series.troughs[-1]) - int(series.troughs[0])


def grows(troughs: Troughs, tests: int = 1, steep: float = STEEP) -> bool:
    """True if the series rises, to its end, more than by chance in one of so many tests."""
    if len(np.unique(troughs)) < FEWEST_LEVELS:
        return False
    is_trend = _chance_of_trend(troughs) * tests < FALSE_ALARMS and _steepness(troughs) >= steep
    if not is_trend and _chance_of_steps(troughs) * tests >= FALSE_ALARMS:
        return False
    half = troughs[len(troughs) // 2 :]
    return min(_chance_of_trend(half), _chance_of_steps(half)) < _STILL_RISES


def lasts(troughs: Troughs) -> bool:
    """True if growth goes on at its pace; a cache takes fewer bytes the fuller it is.

    At that of its first half, and of the whole: one step between the halves is in neither.
    """
    return _goes_on(troughs, _LASTS, find_trend(troughs[: len(troughs) // 2]).slope)


def _goes_on(troughs: Troughs, share: float, pace: float = 0.0) -> bool:
    """True if the second half has a share of a pace, and of that of the whole."""
    return find_trend(troughs[len(troughs) // 2 :]).slope >= share * max(
        pace, find_trend(troughs).slope
    )


def trend_of_growth(troughs: Troughs) -> Trend:
    """The trend by the test that shows it more clearly: the line in noise, or the mean step."""
    trend, chance = find_trend(troughs), _chance_of_steps(troughs)
    if 2 * chance >= trend.p:
        return trend
    steps = np.diff(troughs)
    mean, spread = float(steps.mean()), NORMAL_95 * float(steps.std(ddof=1)) / sqrt(len(steps))
    return Trend(mean, mean - spread, mean + spread, 2 * chance)


def _chance_of_trend(troughs: Troughs) -> float:
    """The chance of so clear a rise in noise, by Kendall's test."""
    trend = find_trend(troughs)
    return trend.p / 2 if trend.slope > 0 else 1.0


def _steepness(troughs: Troughs) -> float:
    """How many deviations of the values around their line it rises by."""
    line = find_trend(troughs).slope * np.arange(len(troughs))
    deviation = float((troughs - line).std())
    return float(line[-1]) / deviation if deviation else inf


def _chance_of_steps(troughs: Troughs) -> float:
    """The chance of so high a mean step if steps up and down are alike: a walk without drift."""
    steps = np.diff(troughs)
    error = float(steps.std(ddof=1)) / sqrt(len(steps)) or 1e-9  # B: steps that are all alike
    return erfc(float(steps.mean()) / error / sqrt(2)) / 2


def sizes_grow(sizes: NDArray[np.float64], windows: Windows) -> bool:
    """True if requests grow clearly from window to window, and the live bytes with them.

    Live bytes of many short lives scatter by more than a third; the mean request does not.
    """
    rise, *live = (
        find_trend(one).slope * len(one) / max(1.0, float(one.mean()))
        for one in (sizes, windows.troughs, windows.peaks)
    )
    return rise >= _LARGER and max(live) >= rise / 5 and grows(sizes, steep=STEEP_OF_GROUPS)


def follow_groups(
    trace: Trace, windows: Windows
) -> tuple[list[BlockGroup], tuple[int, ...], float, NDArray[np.float64]]:
    """All sizes, known call sites and known threads that change, in one read of the trace.

    With all sites, also those that never change, the microseconds from an event to the next (0
    where the recording has no clock), and the mean request of each window in bytes.
    """
    cut = int(windows.starts[0]), windows.events, len(windows)
    numbers: dict[Family, dict[int, int]] = {family: {0: 0} for family in FAMILIES}
    troughs = {family: _engine.GroupTroughs(*cut) for family in FAMILIES}
    counts, sums, first = *np.zeros((2, len(windows) + 1)), -cut[0]
    for events, batch in trace.walk("time", "site", "thread"):
        is_request = batch["op"] < FREE
        window = (first + np.flatnonzero(is_request)) // windows.events
        window = np.where((window < 0) | (window >= len(windows)), len(windows), window)
        counts += np.bincount(window, minlength=len(windows) + 1)
        sums += np.bincount(window, batch["size"][is_request], len(windows) + 1)
        first += len(is_request)
        for family in FAMILIES:
            names = (batch[family] * is_request).astype(np.uint64)
            troughs[family].feed(events, _number(names, numbers[family]))
    series = [
        one
        for family in FAMILIES
        for one in _series_of(family, list(numbers[family]), troughs[family].result())
    ]
    end = int(batch["time"][-1])
    return (
        series,
        tuple(numbers["site"]),
        end / trace.info.events if end >= SHORTEST_CLOCK else 0.0,
        (sums / np.maximum(1, counts))[:-1],
    )


def _series_of(
    family: Family, names: list[int], found: _engine.GroupTroughsResult
) -> Iterator[BlockGroup]:
    """The series of groups that have a name and change."""
    rows = found.troughs.reshape(-1, found.windows).astype(np.int64)
    for number in np.flatnonzero(rows.max(axis=1) > rows.min(axis=1)).tolist():
        if number < len(names) and names[number]:
            yield BlockGroup(
                family,
                names[number],
                rows[number],
                *(int(one[number]) for one in (found.held, found.held_blocks, found.held_long)),
            )


def _number(names: NDArray[np.uint64], numbers: dict[int, int]) -> NDArray[np.uint32]:
    """Numbers names as they come; those beyond the limit have the last number."""
    distinct, which = np.unique(names, return_inverse=True)
    for name in distinct.tolist():
        if len(numbers) < MOST_GROUPS:
            numbers.setdefault(name, len(numbers))
    return np.array([numbers.get(one, MOST_GROUPS) for one in distinct.tolist()], np.uint32)[which]
