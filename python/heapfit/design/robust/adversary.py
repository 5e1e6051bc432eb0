# SPDX-License-Identifier: Apache-2.0
"""The adversary: a sequence of requests within a trace's limits that a plan serves worst.

    U_max  <=  R on the trace  <=  the worst found  <=  the proven worst case

A program that keeps to the limits may do what was found, and none can do more than what is proven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from heapfit import _engine
from heapfit.bounds.worst_cases import Limits, WorstCase, least_of_any, worst_case
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio
from heapfit.comparison.comparison import Comparison, measure_portfolio, reject_empty_portfolio
from heapfit.comparison.incumbents.heaps import SIMULATED, is_simulated
from heapfit.comparison.jobs import ComparisonRequest
from heapfit.comparison.measuring import Precision
from heapfit.comparison.row import Row
from heapfit.design.plan_files import plan_file_of, training_record
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import require_our_entry, save_plan
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Columns, Trace, TraceInfo, write_trace

STANDARD_EVENTS = 20_000_000  # replayed for each plan


@dataclass(frozen=True, slots=True)
class AdversaryOptions:
    """How hard to search, for which region, and where to store what is found."""

    folder: Path
    region: int | None = None  # to be broken; None: the plan file's, else R_safe on the trace
    events: int = STANDARD_EVENTS
    seed: int = 1
    trace_name: str = "a trace"  # for people


@dataclass(frozen=True, slots=True)
class BadSequence:
    """A stored trace within the limits that runs a plan out of memory. Sizes in bytes."""

    trace: Path
    plan: Path  # `compare trace --plan plan` prints r_safe
    events: int
    refused_in: int  # the largest region found that refuses its last request
    is_refused_in_any: bool  # no region there can be serves it
    r_min: int | None
    r_safe: int | None  # above `refused_in`; None: no region that was tried is safe


@dataclass(frozen=True, slots=True)
class Attack:
    """The result of the attack on one plan."""

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
    """The attacks on all plans, in the order of R_safe on the trace."""

    u_max: int
    least_of_any: int  # no allocator promises less for sizes from the smallest to the largest
    attacks: tuple[Attack, ...]
    not_applicable: tuple[NotApplicable, ...]
    is_stopped: bool = False  # by an interrupt: some are missing, or were not searched to the end


def attack_plans(
    trace: Trace,
    attacked: ComparisonRequest,
    options: AdversaryOptions,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> Attacks:
    """Attacks each named plan; a sequence that breaks one is stored, with the plan.

    Plans are shared among the workers of `sweep`, which find the same. An interrupt keeps what was
    found: of this process the worst so far, of others what they had finished.
    """
    own = [one.heap for one in attacked.plan_files if one.heap]
    for name in [*filter(is_simulated, attacked.allocators), *own]:
        raise HeapfitError(f"{name}: is {SIMULATED}, which takes requests of its own")
    loaded = load_trace(trace, attacked.alignment, progress)
    portfolio = build_portfolio(loaded, attacked.allocators, attacked.plan_files)
    if not portfolio.candidates:
        reject_empty_portfolio(portfolio.not_applicable)
    comparison = measure_portfolio(
        loaded, portfolio, count_steps(progress, "compare", len(portfolio.candidates))
    )
    candidates = {candidate.name: candidate for candidate in portfolio.candidates}
    regions = {file.name: file.region for file in attacked.plan_files}
    limits = Limits.from_profile(loaded.profile)
    targets = []
    for row in comparison.rows:
        region = options.region or regions.get(row.name) or row.r_safe
        if region is None:
            raise HeapfitError(f"{row.name}: no region serves the trace itself (give --region)")
        about = (loaded, comparison, row, candidates[row.name], options.trace_name)
        targets.append(_Target(*about, region, worst_case(row.plan, limits)))
    with stage_folder(options.folder, require_our_entry) as staging:
        found = _search_targets(targets, limits, options, (sweep or Sweep(1), progress))
        attacks = [
            _move_files(_attack(target, result, staging, progress), options.folder)
            for target, result in zip(targets, found, strict=False)
            if target.is_proven or result is not None
        ]
    is_stopped = len(attacks) < len(targets) or any(attack.is_stopped for attack in attacks)
    return Attacks(
        limits.live, least_of_any(limits), tuple(attacks), portfolio.not_applicable, is_stopped
    )


def _move_files(attack: Attack, folder: Path) -> Attack:
    """The attack with its files in the folder where they are in the end."""
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
    region: int  # to be broken
    proven: WorstCase | None

    @property
    def is_proven(self) -> bool:
        """True if the region provably serves all that keeps to the limits: nothing to search."""
        return self.proven is not None and self.proven.size <= self.region

    def job(self, limits: Limits, options: AdversaryOptions) -> _SearchJob:
        """The arguments of the search that attacks this target."""
        base = self.comparison.base_alignment
        return _SearchJob(self.row.plan, limits, self.region, base, options.seed, options.events)


@dataclass(frozen=True, slots=True)
class _SearchJob:
    """The arguments of one search, which a worker gets."""

    plan: Plan
    limits: Limits
    region: int
    base_alignment: int
    seed: int
    events: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The worst sequence that a search found; empty if none breaks the region."""

    columns: Columns
    region: int
    breaks_any: bool
    plays: int
    replayed: int
    is_stopped: bool


def _search(job: _SearchJob, report: Callable[[float], None] | None = None) -> _Outcome:
    limits = job.limits
    found = _engine.find_adversary(
        job.plan.engine(),
        limits.sizes.astype(np.uint64),
        limits.peaks.astype(np.uint64),
        limits.live,
        job.region,
        seed=job.seed,
        events=job.events,
        base_alignment=job.base_alignment,
        progress=report,
    )
    effort = (found.plays, found.replayed, found.is_stopped)
    return _Outcome(_columns(found), found.region, found.breaks_any, *effort)


def _search_targets(
    targets: Sequence[_Target],
    limits: Limits,
    options: AdversaryOptions,
    where: tuple[Sweep, Progress],
) -> list[_Outcome | None]:
    """The result for each target; None if not searched, or interrupted before its end."""
    sweep, progress = where
    wanted = {i: one.job(limits, options) for i, one in enumerate(targets) if not one.is_proven}
    found: dict[int, _Outcome] = {}
    if len(wanted) < 2 or (sweep.threads == 1 and sweep.is_on_this_machine):
        for place, (i, job) in enumerate(wanted.items()):
            found[i] = _search(job, partial(_report_progress, progress, place, len(wanted)))
            if found[i].is_stopped:
                return [found.get(k) for k in range(i + 1)]
        return [found.get(i) for i in range(len(targets))]

    def take(number: int, result: _Outcome) -> tuple[Job, ...]:
        found[[*wanted][number]] = result
        return ()

    jobs = [
        Job(f"attack {targets[i].row.name}", _search, job, events=job.events)
        for i, job in wanted.items()
    ]
    with suppress(KeyboardInterrupt):
        sweep.run("attack", jobs, progress, take)
    return [found.get(i) for i in range(len(targets))]


def _report_progress(progress: Progress, place: int, count: int, share: float) -> None:
    """Reports the progress of consecutive searches as one step."""
    progress("attack", (place + share) / count)


def _attack(target: _Target, found: _Outcome | None, folder: Path, progress: Progress) -> Attack:
    row, region, proven = target.row, target.region, target.proven
    if found is None:
        return Attack(row.name, row, region, proven, None, 0, 0, is_stopped=False)
    worst = _store(target, found, folder, progress) if len(found.columns["op"]) else None
    effort = (found.plays, found.replayed, found.is_stopped)
    return Attack(row.name, row, region, proven, worst, *effort)


def _store(target: _Target, found: _Outcome, folder: Path, progress: Progress) -> BadSequence:
    """The sequence and its plan as files, measured as by `compare`."""
    info = target.loaded.trace.info
    row = target.row
    name = re.sub("[^A-Za-z0-9_-]", "-", row.name)  # tlsf:probes=0
    trace = write_trace(
        folder / f"{name}.parquet",
        [found.columns],
        TraceInfo(
            program=f"adversary of {row.name}",
            source=f"searched within the limits of {target.trace_name}",
            pointer_bits=info.pointer_bits,
        ),
    )
    plan_path = folder / f"{name}.toml"
    trained_on = training_record(target.loaded, target.trace_name)
    plan_file = plan_file_of(row, target.comparison, trained_on)
    save_plan(plan_path, replace(plan_file, name=name))
    loaded = load_trace(trace, target.loaded.alignment, progress)
    portfolio, broken = Portfolio((target.candidate,), ()), Precision(also=found.region)
    (measured,) = measure_portfolio(loaded, portfolio, progress, broken).rows
    return BadSequence(
        trace=trace.path,
        plan=plan_path,
        events=trace.info.events,
        refused_in=found.region,
        is_refused_in_any=found.breaks_any,
        r_min=measured.r_min,
        r_safe=measured.r_safe,
    )


def _columns(sequence: _engine.Adversary) -> Columns:
    """The sequence's columns, an event each microsecond, so that drawings show the order."""
    time = np.arange(len(sequence.ops))
    return {"op": sequence.ops, "object": sequence.objects, "size": sequence.sizes, "time": time}
