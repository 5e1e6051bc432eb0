# SPDX-License-Identifier: Apache-2.0
"""Excerpts of recordings that are too long to search: a trace of what decides the region.

trace --one read--> profile, content hash, peaks --> windows --two reads--> excerpt

A window is a run of events around a peak. The excerpt has all events of its windows, and between
them the blocks that a window begins with, in their order (engine/include/heapfit/trace/excerpt.hpp
draws it). So it reaches the same peak of live bytes, and never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.content import ContentHash
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import REPLAYED, is_allocation
from heapfit.trace.profile import SAMPLES, Profile, profile_events, profile_of
from heapfit.trace.stored import Trace, prefix_errors, write_trace
from heapfit.trace.table_file import Columns

Window: TypeAlias = tuple[int, int]  # first event, and that after the last

MOST_WINDOWS: Final = 8
_LIVES: Final = 16  # a window has as many events, at least, for each block that is live at once
_STRETCH: Final = 1024  # events; peaks are found by stretches of this length
_BEFORE: Final = 3  # quarters of a window that lie before the end of its peak's stretch
_READ, _KEEP = "look for peaks", "read the excerpt"
_EXCERPT: Final = "excerpt"  # of what was found of a recording


@dataclass(frozen=True, slots=True)
class Survey:
    """The results of one read of a long recording."""

    profile: Profile  # of the whole
    content: str  # hash of what decides a replay
    live_highest: NDArray[np.uint64]  # most live bytes of each stretch
    octave_peaks: tuple[int, ...]  # of each octave of sizes: the stretch where its bytes are most


def survey(trace: Trace, progress: Progress = ignore_progress) -> Survey:
    """Reads a trace once, in memory that follows its live blocks."""
    profile, content = _engine.Profile(SAMPLES), ContentHash()
    peaks = _engine.StretchPeaks(_STRETCH)
    for events, batch in trace.walk("alignment", step=_READ, progress=progress):
        content.take(batch)
        with prefix_errors(trace.given):
            profile.feed(events)
            peaks.feed(events)
    return Survey(
        profile_of(profile), content.digest(), peaks.live_highest, tuple(peaks.octave_peaks)
    )


def windows_of(found: Survey, events: int, more: Sequence[int] = ()) -> list[Window]:
    """Where to look: around the peak, around `more` events, the octaves' peaks, and other peaks.

    An excerpt of them has about `events`, half of them in the windows. Holes take long to form:
    where many blocks live at once windows are few and long.

    >>> from heapfit.trace.excerpt import merge_windows
    >>> merge_windows([(40, 60), (0, 10), (10, 20), (50, 70)])
    [(0, 20), (40, 70)]
    """
    half, least = events // 2, max(_LIVES * found.profile.live_blocks_max, 2 * _STRETCH)
    most = max(1, min(MOST_WINDOWS, half // least))
    length = max(half // most, 2 * _STRETCH)
    peaks = _peaks(found, most, length)
    focused = [_window_around(peak, length, found.profile.events) for peak in (*more, *peaks)]
    return merge_windows(focused)


def _peaks(found: Survey, most: int, length: int) -> list[int]:
    """The events of at most `most` peaks, no two within one window, in order of their worth."""
    highest = found.live_highest.astype(np.int64)
    apart = -(-length // _STRETCH)
    chosen: list[int] = []

    def choose(stretch: int) -> None:
        if highest[stretch] >= 0 and len(chosen) < most:
            chosen.append((stretch + 1) * _STRETCH - 1)
            highest[max(stretch - apart, 0) : stretch + apart + 1] = -1

    choose(found.profile.u_max_event // _STRETCH)
    for stretch in sorted(found.octave_peaks, key=lambda one: -int(found.live_highest[one])):
        choose(stretch)
    while len(chosen) < most and highest.max() >= 0:
        choose(int(highest.argmax()))
    return chosen


def _window_around(event: int, length: int, events: int) -> Window:
    first = max(event - _BEFORE * length // 4, 0)
    return first, min(first + length, events)


def merge_windows(windows: Sequence[Window]) -> list[Window]:
    """Sorts windows; overlapping and touching ones are merged."""
    apart: list[Window] = []
    for first, end in sorted(windows):
        if apart and first <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((first, end))
    return apart


def save_excerpt(
    path: Path, trace: Trace, windows: Sequence[Window], progress: Progress = ignore_progress
) -> Trace:
    """Writes the excerpt of these windows at `path`, which appears whole or not at all.

    Reads the trace twice; memory follows its live blocks and the excerpt. Times, threads and call
    sites are those of the trace.
    """
    excerpt = _engine.Excerpt(list(windows))
    trace.feed(excerpt.feed, _KEEP, lambda step, share: progress(step, share / 2))
    rows, sizes = excerpt.finish()
    batches = _tell_reading(trace.batches(trace.columns), trace.info.events, progress)
    kept = _read_rows(batches, rows, sizes)
    note = f"{len(rows):,} of {trace.info.events:,} events: an excerpt of {trace.path.name}."
    info = replace(trace.info, notes=(*trace.info.notes, note))
    return write_trace(path, kept, info, lambda: trace.chains, trace.origin)


def shorten(loaded: LoadedTrace, events: int) -> LoadedTrace | None:
    """An excerpt in memory of about so many events, made once; None: it is no less than half.

    None, too, where so many blocks are live at once that holes need more events to form.
    """
    profile = loaded.profile
    if profile.events < 2 * events or events < 2 * _LIVES * profile.live_blocks_max:
        return None
    found = loaded.once((_EXCERPT, events), lambda: _shorten(loaded, events))
    return replace(found, alignment=loaded.alignment)


def _shorten(loaded: LoadedTrace, events: int) -> LoadedTrace:
    profile, peaks = loaded.profile, _engine.StretchPeaks(_STRETCH)
    peaks.feed(loaded.events)
    found = Survey(profile, loaded.content, peaks.live_highest, tuple(peaks.octave_peaks))
    excerpt, kept = _engine.Excerpt(windows_of(found, events)), _engine.EventArray()
    excerpt.feed(loaded.events)
    rows, sizes = excerpt.finish()
    for columns in _read_rows(loaded.batches(REPLAYED), rows, sizes):
        kept.append(columns["op"], columns["object"], columns["size"], columns["alignment"])
    sites = loaded.sites[rows] if len(loaded.sites) else loaded.sites
    return replace(loaded, events=kept, sites=sites, profile=profile_events(kept), found={})


def _read_rows(
    batches: Iterable[Columns], rows: NDArray[np.uint64], sizes: NDArray[np.uint64]
) -> Iterator[dict[str, NDArray[Any]]]:
    """The columns of these rows, with other sizes and with objects renumbered."""
    born = np.zeros(0, np.uint32)  # the trace's numbers of the excerpt's objects, which ascend
    first = done = 0
    for batch in batches:
        end = first + len(batch["op"])
        until = int(np.searchsorted(rows, end))
        picked = rows[done:until].astype(np.int64) - first
        columns = {name: values[picked] for name, values in batch.items()}
        born = np.append(born, columns["object"][is_allocation(columns["op"])])
        columns["object"] = np.searchsorted(born, columns["object"]).astype(np.uint32)
        columns["size"] = sizes[done:until]
        if until > done:
            yield columns
        first, done = end, until


def _tell_reading(batches: Iterable[Columns], events: int, progress: Progress) -> Iterator[Columns]:
    """The batches, each of which is told once it was read: the second half of the progress."""
    first = 0
    for batch in batches:
        yield batch
        first += len(batch["op"])
        progress(_KEEP, (1 + first / events) / 2)
