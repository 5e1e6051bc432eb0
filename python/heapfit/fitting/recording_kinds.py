# SPDX-License-Identifier: Apache-2.0
"""The kinds of the recordings of a fit, and what growth means for its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.margin import HeapSize
from heapfit.forecast.filling import describe_filling, describe_growth, find_filling
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.importers.source_lines import places_in
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class FitKinds:
    """The kind of each recording, and the one to be said first."""

    each: tuple[RecordingKind, ...]  # resampled runs are none
    shown: RecordingKind  # one that grows; else that of the run that is shown
    growth: tuple[str, ...]  # sentences; empty where nothing grows


def find_kinds(
    read: Sequence[tuple[Trace, Profile]], shown: Trace, size: HeapSize, programs: Sequence[Path]
) -> FitKinds:
    """The kinds of recordings, one read of each."""
    recorded = [one for one in read if one[0].origin is None or one[0].origin.maker != "resampling"]
    kinds = [find_kind(trace, profile) for trace, profile in recorded or read[:1]]
    first = next((i for i, kind in enumerate(kinds) if kind.is_growing), None)
    if first is None:
        places = [i for i, (trace, _) in enumerate(recorded) if trace.path == shown.path]
        return FitKinds(tuple(kinds), kinds[places[0] if places else 0], ())
    profile, kind = (recorded or read)[first][1], kinds[first]
    return FitKinds(tuple(kinds), kind, _describe(kind, profile, size, programs))


def _describe(
    kind: RecordingKind, profile: Profile, size: HeapSize, programs: Sequence[Path]
) -> tuple[str, ...]:
    """Sentences on growth. The allocator's overhead is taken to grow with the live bytes."""
    frames = {part.frame for part in kind.growth if part.frame}
    names = {site: place.description for site, place in places_in(programs, frames).items()}
    live = size.region * size.u_max / max(size.r_safe, 1) - profile.u_max
    filling = find_filling(kind, size.region, max(live, 0.0), profile.u_max_event)
    return describe_growth(kind, names), describe_filling(filling, kind.microseconds)
