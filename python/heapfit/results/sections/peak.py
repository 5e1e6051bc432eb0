# SPDX-License-Identifier: Apache-2.0
"""The moment of the peak: the use of each heap's bytes, and who holds the live ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.results.case import ReportCase
from heapfit.results.chart import Chart, Trace, row_axis, row_title
from heapfit.results.heap_map.packed import site_label
from heapfit.results.heap_map.replays import (
    PeakUse,
    ReplaySubject,
    measure_peak_use,
    subject_from_row,
)
from heapfit.results.number_text import size
from heapfit.trace.loaded import LoadedTrace

_MOST_HEAPS = 6
_MOST_HOLDERS = 12
_MOST_SIZES = 6
_PARTS = (  # field, name, colour
    ("payload", "requested", "var(--live)"),
    ("rounding", "rounding", "var(--other-2)"),
    ("control", "headers and tables", "var(--other-1)"),
    ("holes", "holes and idle blocks", "var(--other-4)"),
    ("largest_free", "largest free piece", "var(--accent-fill)"),
)


@dataclass(frozen=True, slots=True)
class Holder:
    """The live bytes of one call site, or of one size."""

    name: str
    bytes: int
    blocks: int
    parts: tuple[Holder, ...] = ()  # of a call site: its sizes


@dataclass(frozen=True, slots=True)
class Peak:
    """A moment of a recording, mostly its peak. Sizes in bytes."""

    title: str
    moment: str  # a sentence: which it is, and in which regions the heaps are
    event: int  # after it
    live: int
    heaps: tuple[PeakUse, ...]
    chart: Chart | None  # None where there are no heaps
    holders: tuple[Holder, ...]
    whose: str  # a sentence: what holders are

    @property
    def charts(self) -> list[Chart]:
        """The chart of the heaps, if there are any."""
        return [] if self.chart is None else [self.chart]


_AT_PEAK = "Each heap in the region that it needs, at the peak of live bytes."


def peak_of(case: ReportCase, subjects: Sequence[ReplaySubject]) -> Peak:
    """The peak in the incumbent, the winner, and the best plans that are not trace-specific."""
    base = case.comparison.base_alignment
    others = [
        subject
        for row in case.comparison.rows
        if row is not case.winner
        and row is not case.fitted
        and not row.is_cut_to_trace
        and not row.is_in_pieces
        if (subject := subject_from_row(row, case.shown, base)) is not None
    ]
    compared = [*subjects, *others][:_MOST_HEAPS]
    event = case.shown.profile.u_max_event
    return moment_of(case.shown, compared, case.sites, ("The peak", _AT_PEAK, event))


def moment_of(
    shown: LoadedTrace,
    compared: Sequence[ReplaySubject],
    sites: Mapping[int, str],
    caption: tuple[str, str, int],
) -> Peak:
    """A moment of a recording; `caption` has its title, a sentence and the event it follows."""
    title, sentence, event = caption
    heaps = tuple(measure_peak_use(one, event) for one in compared)
    found = find_holders(shown, event, sites)
    live = sum(one.bytes for one in found)
    chart = peak_chart(heaps) if heaps else None
    return Peak(title, sentence, event, live, heaps, chart, found, _describe_holders(shown, sites))


def _describe_holders(shown: LoadedTrace, sites: Mapping[int, str]) -> str:
    if len(shown.sites) == 0:
        return "By size: the recording has no call sites."
    if sites:
        return "Call sites by function and line, and the sizes that each asks for."
    return (
        "Call sites, by the recorder's hash (--program names them), and the sizes that each "
        "asks for."
    )


def peak_chart(heaps: Sequence[PeakUse]) -> Chart:
    """One bar for each heap, as long as its region."""
    longest = max(one.region for one in heaps)
    return Chart(
        identity="chart-peak",
        meaning="Bytes of each heap's region at the peak, by use.",
        data=[_bar_part(heaps, *part) for part in _PARTS],
        layout={
            "barmode": "stack",
            "bargap": 0.6,
            "hovermode": False,
            "xaxis": {"title": {"text": "bytes"}, "range": [0, longest * 1.02], "tickformat": "~s"},
            "yaxis": row_axis("heap", [one.name for one in heaps], 0.7),
            "annotations": [
                row_title(one.name, size(one.region), i - 0.26) for i, one in enumerate(heaps)
            ],
        },
        height=70 + 48 * len(heaps),
    )


def _bar_part(heaps: Sequence[PeakUse], field: str, name: str, colour: str) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": [getattr(one, field) for one in heaps],
        "y": list(range(len(heaps))),
        "marker": {"color": colour},
    }


def find_holders(
    shown: LoadedTrace, peak: int, names: Mapping[int, str] | None = None
) -> tuple[Holder, ...]:
    """The holders of the bytes live after event `peak`: call sites if known, else sizes."""
    lifetimes = _engine.Lifetimes(shown.events)
    is_live = (lifetimes.starts <= peak) & (lifetimes.ends > peak)
    sizes = lifetimes.sizes[is_live]
    if len(shown.sites) == 0:
        return _group_by_size(sizes, _MOST_HOLDERS)
    sites = shown.sites[lifetimes.starts[is_live].astype(np.int64)]
    known = names or {}
    labels = {site: site_label(site, known) for site in np.unique(sites).tolist()}
    found = []
    for name in sorted(set(labels.values())):  # two sites may be one line of one function
        its = [site for site, label in labels.items() if label == name]
        own = sizes[np.isin(sites, its)]
        found.append(Holder(name, int(own.sum()), len(own), _group_by_size(own, _MOST_SIZES)))
    return _select_largest(found, _MOST_HOLDERS)


def _group_by_size(sizes: NDArray[np.uint64], most: int) -> tuple[Holder, ...]:
    values, counts = np.unique(sizes, return_counts=True)
    found = [
        Holder(size(value), value * count, count)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    ]
    return _select_largest(found, most)


def _select_largest(found: Sequence[Holder], most: int) -> tuple[Holder, ...]:
    """The holders with the most bytes, and all others as one."""
    ranked = sorted(found, key=lambda one: (-one.bytes, one.name))
    kept, rest = ranked[:most], ranked[most:]
    if rest:
        total, blocks = sum(one.bytes for one in rest), sum(one.blocks for one in rest)
        kept.append(Holder(f"{len(rest):,} others", total, blocks))
    return tuple(kept)
