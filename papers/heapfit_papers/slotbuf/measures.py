# SPDX-License-Identifier: Apache-2.0
"""The runs that the claims of Cebeci 2019 are judged by: its two versions, over buffers and seeds.

The report does not tell the sizes it asked for; STANDARD_LEAST and STANDARD_MOST are calibrated,
and OTHER_SIZES come out alike. One run is a draw of lots, so every figure is of several seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev

from heapfit.progress import Progress, ignore_progress
from heapfit_papers.slotbuf import REPORT_REGION, STANDARD_LEAST, STANDARD_MOST
from heapfit_papers.slotbuf.benchmark import (
    Slotbuf,
    SlotbufSpec,
    report_version,
    run_slotbuf,
)

SEEDS = tuple(range(1, 11))
BUFFERS = (50, 100, 200, 300)  # "several benchmarks with different sizes"
REPORT_SLOTS = 300  # of the run in section 4
REPORT_ITERATIONS = 1_000_000  # likewise
SIZES = (STANDARD_LEAST, STANDARD_MOST)
OTHER_SIZES = (16, 300)
LIMIT_BUFFERS = (300, 600, 700, 800, 1000, 2000)
LIMIT_SEEDS = SEEDS[:3]
GROWTH_BUFFERS = (75, 300, 1200, 2400, 4800)
REGION_STEP = 4096  # bytes, in the search for the smallest region


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of one figure over runs that differ in their seed."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class ReportRuns:
    """Every run that a claim is judged by."""

    version_1: Mapping[int, Sequence[Slotbuf]]  # by buffer, each to its refusal
    version_2: Mapping[tuple[int, int], Sequence[Slotbuf]]  # by range of sizes
    limits: Mapping[int, Sequence[Slotbuf]]  # version 2 by buffer, in the report's region
    growth: Mapping[int, Slotbuf]  # version 2 by buffer, in a region that grows with it
    smallest: Slotbuf  # version 2 in the smallest region in which it lasts
    narrow_header: Slotbuf  # version 2 with a header of 4 bytes


def spread(values: Sequence[float]) -> Spread:
    """Mean and deviation of two values or more.

    >>> spread([1, 2, 3])
    Spread(mean=2.0, deviation=1.0)
    """
    numbers = [float(value) for value in values]
    return Spread(mean(numbers), stdev(numbers))


def measure_report(progress: Progress = ignore_progress) -> ReportRuns:
    """Does all the runs; some ten seconds."""
    return ReportRuns(
        version_1={slots: _seeds(_version(1, slots), SEEDS, progress) for slots in BUFFERS},
        version_2={
            (least, most): _seeds(
                replace(_version(2, REPORT_SLOTS), least=least, most=most), SEEDS, progress
            )
            for least, most in (SIZES, OTHER_SIZES)
        },
        limits={
            slots: _seeds(_version(2, slots), LIMIT_SEEDS, progress) for slots in LIMIT_BUFFERS
        },
        growth={
            slots: run_slotbuf(
                replace(_version(2, slots), region=REPORT_REGION * slots // REPORT_SLOTS), progress
            )
            for slots in GROWTH_BUFFERS
        },
        smallest=_smallest_that_lasts(_version(2, REPORT_SLOTS), progress),
        narrow_header=run_slotbuf(
            replace(_version(2, REPORT_SLOTS), plan=report_version(2, {"header_size": 4})),
            progress,
        ),
    )


def _version(number: int, slots: int) -> SlotbufSpec:
    return SlotbufSpec(slots, REPORT_ITERATIONS, report_version(number))


def _seeds(spec: SlotbufSpec, seeds: Sequence[int], progress: Progress) -> tuple[Slotbuf, ...]:
    return tuple(run_slotbuf(replace(spec, seed=seed), progress) for seed in seeds)


def _smallest_that_lasts(spec: SlotbufSpec, progress: Progress) -> Slotbuf:
    """The run in the smallest region from which on every larger one tried lasts."""
    lasting = run_slotbuf(spec, progress)
    while True:
        smaller = replace(lasting.spec, region=lasting.spec.region - REGION_STEP)
        run = run_slotbuf(smaller, progress)
        if run.counts.refused is not None:
            return lasting
        lasting = run
