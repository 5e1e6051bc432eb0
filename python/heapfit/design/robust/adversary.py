# SPDX-License-Identifier: Apache-2.0
"""The adversary: a sequence of requests within a trace's limits that a plan serves worst.

    U_max  <=  R on the trace  <=  the worst found  <=  the proven worst case

A program that keeps to the limits may do what was found, and none can do more than what is proven.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from heapfit import _engine
from heapfit.bounds.worst_cases import Limits, WorstCase, least_of_any, worst_case
from heapfit.compare.candidate import Candidate, NotApplicable, Portfolio
from heapfit.compare.comparison import Comparison, Precision, Row, measure, refuse_nothing
from heapfit.compare.jobs import Contestants
from heapfit.design.plan_files import plan_file_of, trained_on_trace
from heapfit.design.portfolio import named_portfolio
from heapfit.errors import HeapfitError
from heapfit.outputs.folder import folder_aside
from heapfit.plan.plan_file import require_our_entry, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Columns, Trace, TraceInfo, write_trace

STANDARD_EVENTS = 20_000_000  # replayed for each plan


@dataclass(frozen=True, slots=True)
class AdversaryOptions:
    """How hard to search, and for what."""

    region: int | None = None  # to be broken; None: the plan file's, else R_safe on the trace
    events: int = STANDARD_EVENTS
    seed: int = 1
    trace_name: str = "a trace"  # for people


@dataclass(frozen=True, slots=True)
class BadSequence:
    """A sequence within the limits that is refused, as a stored trace. Sizes in bytes."""

    trace: Path
    plan: Path  # `compare trace --plan plan` tells r_safe
    events: int
    refused_in: int  # the largest region found that refuses its last request
    is_refused_in_any: bool  # no region there can be serves it
    r_min: int | None
    r_safe: int | None  # above `refused_in`; None: no region that was tried is safe


@dataclass(frozen=True, slots=True)
class Attack:
    """What became of one plan."""

    name: str
    on_trace: Row
    region: int  # that was to be broken
    proven: WorstCase | None
    worst: BadSequence | None  # None: nothing found
    plays: int  # sequences tried; 0: none, as the region is proven to serve all
    events: int  # of all of them
    is_stopped: bool  # by an interrupt


@dataclass(frozen=True, slots=True)
class Attacks:
    """Every plan attacked, in the order of R_safe on the trace."""

    u_max: int
    least_of_any: int  # no allocator promises less for sizes from the smallest to the largest
    attacks: tuple[Attack, ...]
    not_applicable: tuple[NotApplicable, ...]


def attack_plans(
    trace: Trace,
    attacked: Contestants,
    folder: Path,
    options: AdversaryOptions,
    progress: Progress = no_progress,
) -> Attacks:
    """Attacks each plan named; what breaks one is stored in `folder`, with the plan beside it."""
    loaded = load_trace(trace, attacked.alignment, progress)
    portfolio = named_portfolio(loaded, attacked.allocators, attacked.plan_files)
    if not portfolio.candidates:
        refuse_nothing(portfolio.not_applicable)
    comparison = measure(loaded, portfolio, progress)
    candidates = {one.name: one for one in portfolio.candidates}
    regions = {file.name: file.region for file in attacked.plan_files}
    limits = Limits.of(loaded.profile)
    attacks: list[Attack] = []
    with folder_aside(folder, require_our_entry) as aside:
        for row in comparison.rows:
            target = _Target(loaded, comparison, row, candidates[row.name], options.trace_name)
            wanted = replace(options, region=options.region or regions.get(row.name))
            attacks.append(_attack(target, limits, wanted, aside, progress))
            if attacks[-1].is_stopped:
                break
    attacks = [_placed(one, folder) for one in attacks]
    return Attacks(limits.live, least_of_any(limits), tuple(attacks), portfolio.not_applicable)


def _placed(attack: Attack, folder: Path) -> Attack:
    """With its files where they lie at the end."""
    worst = attack.worst
    if worst is None:
        return attack
    trace, plan = folder / worst.trace.name, folder / worst.plan.name
    return replace(attack, worst=replace(worst, trace=trace, plan=plan))


@dataclass(frozen=True, slots=True)
class _Target:
    loaded: LoadedTrace
    comparison: Comparison
    row: Row
    candidate: Candidate
    trace_name: str


def _attack(
    target: _Target, limits: Limits, options: AdversaryOptions, folder: Path, progress: Progress
) -> Attack:
    row = target.row
    region = options.region or row.r_safe
    if region is None:
        raise HeapfitError(f"{row.name}: no region serves the trace itself (give --region)")
    proven = worst_case(row.plan, limits)
    if proven is not None and proven.size <= region:
        return Attack(row.name, row, region, proven, None, 0, 0, is_stopped=False)
    step = f"attack {row.name}"
    sequence = _engine.find_adversary(
        row.plan.engine(),
        limits.sizes.astype(np.uint64),
        limits.peaks.astype(np.uint64),
        limits.live,
        region,
        seed=options.seed,
        events=options.events,
        base_alignment=target.comparison.base_alignment,
        progress=lambda done: progress(step, done),
    )
    progress(step, 1.0)
    worst = _stored(target, sequence, folder, progress) if len(sequence.ops) else None
    return Attack(
        row.name, row, region, proven, worst, sequence.plays, sequence.replayed, sequence.is_stopped
    )


def _stored(
    target: _Target, sequence: _engine.Adversary, folder: Path, progress: Progress
) -> BadSequence:
    """The sequence and its plan as files, measured as `compare` does."""
    info = target.loaded.trace.info
    row = target.row
    name = re.sub("[^A-Za-z0-9_-]", "-", row.name)  # tlsf:probes=0
    trace = write_trace(
        folder / f"{name}.parquet",
        [_columns(sequence)],
        TraceInfo(
            program=f"adversary of {row.name}",
            source=f"searched within the limits of {target.trace_name}",
            pointer_bits=info.pointer_bits,
        ),
    )
    plan_path = folder / f"{name}.toml"
    trained_on = trained_on_trace(target.loaded, target.trace_name)
    plan_file = plan_file_of(row, target.comparison, trained_on)
    save_plan(plan_path, replace(plan_file, name=name))
    loaded = load_trace(trace, target.loaded.alignment, progress)
    portfolio, broken = Portfolio((target.candidate,), ()), Precision(also=sequence.region)
    (measured,) = measure(loaded, portfolio, progress, broken).rows
    return BadSequence(
        trace=trace.path,
        plan=plan_path,
        events=trace.info.events,
        refused_in=sequence.region,
        is_refused_in_any=sequence.breaks_any,
        r_min=measured.r_min,
        r_safe=measured.r_safe,
    )


def _columns(sequence: _engine.Adversary) -> Columns:
    """An event each microsecond, so that tools that draw by time show the order."""
    time = np.arange(len(sequence.ops))
    return {"op": sequence.ops, "object": sequence.objects, "size": sequence.sizes, "time": time}
