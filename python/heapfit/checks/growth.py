# SPDX-License-Identifier: Apache-2.0
"""Growth of what a program's sizes, call sites and tasks hold, from one recording to another.

A block that is resized ends there, and one of the new size begins. Two figures say what grew: the
bytes live at the peak, and those live on average, which also tell of blocks that live longer where
the peak is what it was. Sizes are taken together as size classes do, four to an octave, since of
sizes that come by chance each recording has others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.programs.site_names import site_places
from heapfit.trace.blocks import blocks_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.table_file import arrow_array

Name: TypeAlias = int | str  # the largest size of a class in bytes, a call site, or a task

MOST = 8  # most changes of sizes, and of call sites, in a result
_COMMON = 0.5  # share of the bytes whose call sites both recordings know, else builds differ


@dataclass(frozen=True, slots=True)
class LiveBytes:
    """Live bytes of one class of sizes or call site."""

    at_peak: int  # when those of the whole recording are the most
    mean: float  # on average over the recording's events


@dataclass(frozen=True, slots=True)
class Holdings:
    """The live bytes of a recording, by size class, by call site and by task."""

    sizes: Mapping[Name, LiveBytes]  # by class
    sites: Mapping[Name, LiveBytes]  # by function, or the recorder's hash; empty: none are recorded
    tasks: Mapping[Name, LiveBytes] = field(default_factory=dict)  # empty: one alone, or unknown


@dataclass(frozen=True, slots=True)
class GroupGrowth:
    """The live bytes of one size class, call site or task, before and now."""

    name: Name
    before: LiveBytes | None  # None: there is nothing to compare with
    now: LiveBytes

    @property
    def growth(self) -> float:
        """The growth in bytes, at the peak or on average, whichever is larger."""
        before = self.before or NOTHING
        return max(self.now.at_peak - before.at_peak, self.now.mean - before.mean)


@dataclass(frozen=True, slots=True)
class Changes:
    """The largest changes first; without a recording to compare with, the largest holdings."""

    sizes: tuple[GroupGrowth, ...]
    sites: tuple[GroupGrowth, ...]
    are_builds_different: bool  # hashes of call sites name those of one build only
    tasks: tuple[GroupGrowth, ...] = ()

    def by_kind(self) -> list[tuple[str, tuple[GroupGrowth, ...]]]:
        """The sizes, call sites and tasks that grew, or hold most; what is unknown is left out."""
        kinds = (("size", self.sizes), ("call site", self.sites), ("task", self.tasks))
        return [(what, changed) for what, changed in kinds if changed]


NOTHING = LiveBytes(0, 0.0)


def holdings_of(
    loaded: LoadedTrace, programs: Sequence[Path] = (), *, by_function: bool = False
) -> Holdings:
    """The holdings of a recording; call sites by function and line where a program knows them.

    `by_function`: without lines, which move from one build to another.
    """
    blocks = blocks_of(loaded)
    at_peak = blocks.sizes * blocks.are_live_at(blocks.peak)
    mean = blocks.sizes * ((blocks.ends - blocks.starts) / len(loaded.events))
    sizes = _hold(size_classes(blocks.sizes), {}, at_peak, mean)
    threads = np.concatenate([one["thread"] for one in loaded.trace.batches(("thread",))])
    by_task = _hold(threads[blocks.starts], loaded.trace.info.names, at_peak, mean)
    tasks = by_task if len(by_task) > 1 else {}
    if len(loaded.sites) == 0:
        return Holdings(sizes, {}, tasks)
    names = name_sites(loaded, programs, by_function=by_function)
    return Holdings(sizes, _hold(loaded.sites[blocks.starts], names, at_peak, mean), tasks)


def changes(now: Holdings, before: Holdings | None) -> Changes:
    """The growth from one recording to another; call sites of another build have none."""
    is_other = before is not None and _share_known(now.sites, before.sites) < _COMMON
    return Changes(
        _find_growth(now.sizes, None if before is None else before.sizes),
        _find_growth(now.sites, None if before is None or is_other else before.sites),
        is_other,
        _find_growth(now.tasks, None if before is None else before.tasks),
    )


def size_classes(sizes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The largest size of each size's class.

    >>> size_classes(np.array([0, 8, 9, 64, 65, 80, 5000], np.uint64)).tolist()
    [0, 8, 10, 64, 80, 80, 5120]
    """
    octaves = np.floor(np.log2(np.maximum(sizes, 2) - 1)).astype(np.uint64)
    steps = np.uint64(1) << np.maximum(octaves, 2) - np.uint64(2)
    return np.asarray((sizes + steps - np.uint64(1)) // steps * steps)


def sum_by_name(
    keys: NDArray[Any], names: Mapping[int, str], *weights: NDArray[Any]
) -> dict[Name, NDArray[np.float64]]:
    """The sums of the weights of each key; of those that share a name together.

    >>> sum_by_name(np.array([9, 4, 9]), {4: "f"}, np.array([1, 2, 3]))
    {9: array([4.]), 'f': array([2.])}
    """
    encoded = arrow_array(keys).dictionary_encode()  # np.unique sorts, which takes longer
    which = np.frombuffer(encoded.indices.buffers()[1], np.int32)
    sums = np.array([np.bincount(which, one) for one in weights]).T
    held: dict[Name, NDArray[np.float64]] = {}
    for key, own in zip(encoded.dictionary.to_pylist(), sums, strict=True):
        name = names.get(key, key)
        held[name] = held.get(name, 0.0) + own
    return held


def _hold(
    keys: NDArray[Any], names: Mapping[int, str], at_peak: NDArray[Any], mean: NDArray[Any]
) -> dict[Name, LiveBytes]:
    sums = sum_by_name(keys, names, at_peak, mean)
    return {name: LiveBytes(round(own[0]), float(own[1])) for name, own in sums.items()}


def name_sites(
    loaded: LoadedTrace, programs: Sequence[Path], *, by_function: bool = False
) -> dict[int, str]:
    """Each call site by function and line; unknown ones by their direct caller's hash."""
    chains, places = loaded.trace.chains, site_places(loaded, programs)
    return {
        site: f"{chains.get(site, (site,))[0]:08x}"
        if (place := places.get(site)) is None
        else (by_function and place.functions) or place.description
        for site in np.unique(loaded.sites).tolist()
    }


def _find_growth(
    now: Mapping[Name, LiveBytes], before: Mapping[Name, LiveBytes] | None
) -> tuple[GroupGrowth, ...]:
    known = before or {}
    of_all = [
        GroupGrowth(name, None if before is None else known.get(name, NOTHING), held)
        for name, held in now.items()
    ]
    grown = [one for one in of_all if one.growth > 0]
    return tuple(sorted(grown, key=lambda one: (-one.growth, str(one.name)))[:MOST])


def _share_known(now: Mapping[Name, LiveBytes], before: Mapping[Name, LiveBytes]) -> float:
    """The share of the peak's live bytes whose call sites both recordings know; 1 if none."""
    total = sum(held.at_peak for held in now.values())
    known = sum(held.at_peak for name, held in now.items() if name in before)
    return known / total if total and before else 1.0
