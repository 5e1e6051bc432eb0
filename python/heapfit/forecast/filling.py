# SPDX-License-Identifier: Apache-2.0
"""What growth means for a heap, in sentences: how fast, held by what, and when it is full.

It says "grew", of what was recorded: a cache that still fills grows as what is never freed does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

import numpy as np

from heapfit.forecast.growth import BlockGroup, find_joint_trend, own_frames
from heapfit.forecast.kind import RecordingKind
from heapfit.forecast.time_units import MICROSECONDS, find_unit, format_number
from heapfit.forecast.trend import Trend
from heapfit.plan.quantities import format_count, format_share
from heapfit.programs.site_names import find_recorded_program, is_of_library
from heapfit.programs.source_lines import SourcePlace, frames_in
from heapfit.trace.stored import Trace

_ALIKE = 0.8  # of the bytes of a call site that blocks of one size hold, and the other way
_HIGHER = 1.0  # deviations of the peaks by which a run may exceed the highest that was recorded
_USUAL = 0.1  # quantile of the windows' peaks that a run has at least


def describe_growth(kind: RecordingKind, names: Mapping[int, str]) -> str:
    """How fast live bytes grew, and what holds them; `names` are those of call sites."""
    # A leak's own: in the trend of all a cache that fills may lie beside it.
    pace = find_joint_trend(kind.growth) if kind.is_leak else kind.trend
    rate, (holder, blocks) = _describe_rate(kind, pace), _find_holder(kind.growth, names)
    if kind.is_leak:
        return f"Leak: {holder} keeps {blocks}: {rate}."
    held = f"; held by {blocks} of {holder.rstrip(',')}" if kind.growth else ""
    return f"Live bytes grew by {rate}, as a cache does that fills{held}."


def name_growing_sites(
    kind: RecordingKind, trace: Trace, programs: Sequence[Path]
) -> dict[int, str]:
    """Names each growing site by its first caller that the others do not share, inlined or not.

    Without a program those that the log itself names.
    """
    growing = {part.name for part in kind.growth if part.family == "site"}
    programs = programs or (find_recorded_program(trace) if growing else ())
    if not growing or not programs:
        return {site: name for site, name in trace.info.names.items() if site in growing}
    callers = {site: trace.chains.get(site, (site,)) for site in kind.sites}
    known = frames_in(programs, {one for chain in callers.values() for one in chain})
    texts = {caller: _describe_callers(places) for caller, places in known.items()}
    frames = {
        site: tuple(text for one in chain for text in texts.get(one, (f"call site {one:08x}",)))
        for site, chain in callers.items()
    }
    return own_frames(growing, frames)


def _describe_callers(places: Sequence[SourcePlace]) -> tuple[str, ...]:
    """An address's place and those that it is inlined into; of C++'s library only if all are."""
    return tuple(
        place.description for place in [one for one in places if not is_of_library(one)] or places
    )


def describe_filling(kind: RecordingKind, heap: str, region: int, *, peak: int, need: int) -> str:
    """When a heap's region is full, of which `peak` live bytes need so much, in a run like it.

    The allocator's overhead is taken to grow with the live bytes. Where the region served the
    recording, it is not full before its end. In time where the recording has a clock, else in
    events.
    """
    ran = float(kind.profile.events if need <= region else 0)
    soonest, at, latest = (
        max(ran, one) for one in _find_filling(kind, region * peak / max(need, 1))
    )
    unit, scale = "events", 1.0
    if kind.microseconds:
        length, unit, _ = find_unit(at * kind.microseconds / MICROSECONDS)
        scale = length * MICROSECONDS / kind.microseconds
    first, middle, last = (format_number(one / scale) for one in (soonest, at, latest))
    end = f"to {last}" if latest < inf else "or more"  # growth may as well stop
    span = "" if first == middle == last else f" ({first} {end})"
    return (
        f"A heap of {region:,} B ({heap}) is full about {middle} {unit}{span} into a run: at its "
        f"highest load, {format_share(max(0.0, need / max(peak, 1) - 1))} for the allocator."
    )


def _find_filling(kind: RecordingKind, room: float) -> tuple[float, float, float]:
    """The events until live bytes exceed a room: soonest, about, latest (infinite: never).

    The peaks of the windows are moved along the growth to the end of the recording. A run fills the
    room as soon as one like the highest comes, or as late as all are like those of the lowest
    tenth.
    """
    windows, trend, peaks = kind.windows, kind.trend, kind.grown_peaks
    end, highest = int(windows.starts[-1]) + windows.events, float(peaks.max())

    def cross(level: float, rate: float) -> float:
        return max(0.0, end + windows.events * (room - level) / rate) if rate > 0 else inf

    over = highest + _HIGHER * float(peaks.std())
    latest = cross(float(np.quantile(peaks, _USUAL)), trend.low)
    return (
        cross(over, trend.high if room > over else trend.slope),
        cross(highest, trend.slope),
        max(float(end), latest),
    )


def _describe_rate(kind: RecordingKind, trend: Trend) -> str:
    """Growth by events, and by the largest unit of time of which the recording has two."""
    slope = trend.slope / kind.windows.events
    rate = f"{format_number(1000 * slope)} B per 1,000 events"
    if not kind.microseconds:
        return rate
    unit = find_unit(kind.profile.events * kind.microseconds / MICROSECONDS)
    of_time = format_number(slope * unit.seconds * MICROSECONDS / kind.microseconds)
    return f"{rate} ({of_time} B {unit.each})"


def _find_holder(growth: tuple[BlockGroup, ...], names: Mapping[int, str]) -> tuple[str, str]:
    """The call site, thread or program that holds most, and the blocks; of one size if most are."""
    site, size, thread = (
        next((part for part in growth if part.family == family), None)
        for family in ("site", "size", "thread")
    )
    sites = [part for part in growth if part.family == "site"]
    places = {part.name: names.get(part.name, f"call site {part.frame:08x}") for part in sites}
    held = sum(
        part.held
        for part in sites or growth
        if part.family == "size" or (site and places.get(part.name) == places[site.name])
    )
    is_alike = size and min(size.held, held) >= _ALIKE * max(size.held, held)
    of_size = f"{size.name:,} B blocks" if size and is_alike else "blocks"
    if site is None:
        return ("the program" if thread is None or size else f"task {thread.name}"), of_size
    others = len(set(places.values())) - 1
    more = f", with {format_count(others, 'other')}," if others else ""
    return f"{places[site.name]}{more}", of_size
