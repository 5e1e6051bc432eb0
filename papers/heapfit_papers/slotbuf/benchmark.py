# SPDX-License-Identifier: Apache-2.0
"""The slot-buffer benchmark of Cebeci 2019, section 1, on any allocator (docs/evidence/slotbuf.md).

A buffer of slots is walked at random. A drawn slot that holds a block is freed; one that holds none
is filled with a block of MOST / e^r bytes, r uniform from 0 to ln(MOST / LEAST). What a run leaves
is its free list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.outputs.file import stage_file
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan
from heapfit.plan.values import parse_values
from heapfit.progress import Progress, ignore_progress
from heapfit_papers.slotbuf import REPORT_REGION, STANDARD_LEAST, STANDARD_MOST

Sizes: TypeAlias = NDArray[np.uint32]

REPORT_HEADER = 24  # bytes before each block, in the report

_DENSITY = 100  # points of the series for each time that the loops grow e-fold


@dataclass(frozen=True, slots=True)
class SlotbufSpec:
    """What to run. Sizes in bytes."""

    slots: int
    iterations: int
    plan: Plan
    least: int = STANDARD_LEAST  # of a request
    most: int = STANDARD_MOST
    region: int = REPORT_REGION
    seed: int = 1

    def workload(self) -> _engine.SlotWorkload:
        """Whose walk it is."""
        return _engine.SlotWorkload(self.slots, self.least, self.most, self.seed)


@dataclass(frozen=True, slots=True)
class SlotbufSeries:
    """The free list over the run."""

    loops: tuple[int, ...]
    free_blocks: tuple[int, ...]
    free_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slotbuf:
    """What a run did and left. Sizes in bytes."""

    spec: SlotbufSpec
    counts: _engine.SlotCounts
    free_sizes: Sizes  # of free blocks, headers apart, in the order of the allocator's search
    usable: int  # bytes that the live blocks could hold
    footprint: int
    series: SlotbufSeries

    @property
    def free_blocks(self) -> int:
        """Length of the free list, or of all lists together."""
        return len(self.free_sizes)

    @property
    def free_bytes(self) -> int:
        """Total free space, headers apart."""
        return int(self.free_sizes.sum())

    @property
    def mean_free(self) -> float:
        """Mean bytes of a free block."""
        return self.free_bytes / max(self.free_blocks, 1)

    @property
    def share_unused(self) -> float:
        """Length of the free list over the number of frees."""
        return self.free_blocks / max(self.counts.free.calls, 1)

    def distribution(self) -> list[tuple[int, int]]:
        """How many free blocks there are of each size, ascending."""
        sizes, counts = np.unique(self.free_sizes, return_counts=True)
        return list(zip(sizes.tolist(), counts.tolist(), strict=True))


def report_version(number: int, tunables: Mapping[str, int] | None = None) -> Plan:
    """The allocator of the report's first or second version, with its header.

    >>> report_version(1).scalars
    {'header_size': 24, 'coalesce': 0}
    """
    return plan_of("first_fit:coalesce=0" if number == 1 else "segregated_fit", tunables)


def plan_of(typed: str, tunables: Mapping[str, int] | None = None) -> Plan:
    """The plan of NAME or NAME:TUNABLE=VALUE,...; `tunables` are added to it.

    An allocator that has a header to tune gets the report's where none is given.

    >>> plan_of("segregated_fit:upward=1", {"exact_lists": 8}).scalars
    {'header_size': 24, 'upward': 1, 'exact_lists': 8}
    >>> plan_of("tlsf").scalars
    {}
    """
    name, _, settings = typed.partition(":")
    (info,) = find_allocators([name])
    kinds = {tunable.name: tunable.kind for tunable in info.tunables}
    if "pools" in kinds.values():
        raise HeapfitError(f"{name}: nothing without pools (give a plan file that has them)")
    scalars = {"header_size": REPORT_HEADER} if "header_size" in kinds else {}
    scalars.update(parse_values(typed, settings, "TUNABLE"))
    scalars.update(tunables or {})
    return Plan(info.name, scalars)


def run_slotbuf(spec: SlotbufSpec, progress: Progress = ignore_progress) -> Slotbuf:
    """Runs the benchmark to its end or to the first request that is refused."""
    step = f"{spec.slots:,} slots on {spec.plan.allocator}"
    buffer = _engine.SlotBuffer(spec.plan.engine(), spec.region, spec.workload())
    points: list[tuple[int, int, int]] = []
    done = 0
    is_going = True
    while is_going and done < spec.iterations:
        is_going = buffer.run(min(max(done // _DENSITY, 1), spec.iterations - done))
        done = buffer.counts.loops
        sizes = buffer.free_sizes()
        points.append((done, len(sizes), int(sizes.sum())))
        progress(step, done / spec.iterations)
    progress(step, 1.0)
    loops, blocks, free = zip(*points, strict=True) if points else ((), (), ())
    return Slotbuf(
        spec=spec,
        counts=buffer.counts,
        free_sizes=buffer.free_sizes(),
        usable=buffer.usable,
        footprint=buffer.footprint,
        series=SlotbufSeries(loops, blocks, free),
    )


def draw_sizes(spec: SlotbufSpec, count: int) -> NDArray[np.uint64]:
    """So many requests by the size law of a run."""
    return _engine.draw_sizes(spec.workload(), count)


def write_distribution(path: Path, run: Slotbuf) -> None:
    """The report's dist.dat: a line for each size of free block, ascending, with their number."""
    lines = [f"{size} {count}\n" for size, count in run.distribution()]
    with stage_file(path) as staging:
        staging.write_text("# bytes blocks\n" + "".join(lines), encoding="utf-8")
