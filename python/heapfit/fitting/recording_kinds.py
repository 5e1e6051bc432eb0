# SPDX-License-Identifier: Apache-2.0
"""The kinds of the recordings of a fit, and what growth means for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.margin import HeapSize
from heapfit.forecast.filling import (
    describe_filling,
    describe_growth,
    find_filling,
    name_growing_sites,
)
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class FitKinds:
    """The kind of each recording, and the one to be said first."""

    each: tuple[RecordingKind, ...]
    shown: RecordingKind  # one that grows; else that of the run that is shown
    growth: tuple[str, ...]  # sentences; empty where nothing grows
    names: Mapping[int, str]  # of the call sites that grow, where a program knows them


def find_kinds(
    read: Sequence[tuple[Trace, Profile]], shown: Trace, size: HeapSize, programs: Sequence[Path]
) -> FitKinds:
    """The kinds of recordings, one read of each."""
    kinds = [find_kind(trace, profile) for trace, profile in read]
    grown = next((i for i, kind in enumerate(kinds) if kind.is_growing), None)
    if grown is None:
        paths = [trace.path for trace, _ in read]
        place = paths.index(shown.path) if shown.path in paths else 0
        return FitKinds(tuple(kinds), kinds[place], (), {})
    kind = kinds[grown]
    names = name_growing_sites(kind, read[grown][0].chains, programs)
    return FitKinds(tuple(kinds), kind, _describe(kind, size, names), names)


def _describe(kind: RecordingKind, size: HeapSize, names: Mapping[int, str]) -> tuple[str, ...]:
    """Sentences on growth. The allocator's overhead is taken to grow with the live bytes."""
    live = size.region * size.u_max / max(size.r_safe, 1) - kind.profile.u_max
    filling = find_filling(kind, size.region, max(live, 0.0), kind.profile.u_max_event)
    return describe_growth(kind, names), describe_filling(filling, kind.microseconds)
