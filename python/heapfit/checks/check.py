# SPDX-License-Identifier: Apache-2.0
"""Recordings checked against a plan: does each run in its region, and what of it grew?

    new recording --> one replay in the region --> runs? -----> its peak beside the base's
                                                   no: R, and what sizes and call sites hold

The base is the recording of `CheckOptions.base` with the highest peak, since a plan serves all of
them; without any, the peak that the plan has of its own recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from heapfit import _engine
from heapfit.checks.growth import Changes, Holdings, changes, holdings_of
from heapfit.checks.margin import margin_eaten
from heapfit.checks.run import Run, refuse_other_kind, run_on
from heapfit.importers import ImportOptions, opened_trace
from heapfit.importers.source_lines import places_of
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, WeightedProgress, no_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import different_names, source_name
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular, arrow_table

Source: TypeAlias = Trace | Path

_BYTES_AN_EVENT = 4  # of a file, about


class Finding(StrEnum):
    """What may be wrong with a recording."""

    RAN_OUT = "ran_out"  # a request was refused in the plan's region
    MISALIGNED = "misaligned"  # it asks for more alignment than the region's start has
    GREW = "grew"  # its peak is higher above the base's than is allowed
    MARGIN = "margin_eaten"  # it runs, on bytes set aside for what no recording has shown


WARNINGS = {Finding.MARGIN}  # failures of a strict check only


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a check compares with, and what it asks for beside running."""

    base: tuple[Source, ...] = ()  # earlier recordings
    growth: float | None = None  # percent by which a peak may be above the base's; None: any
    is_strict: bool = False  # a warning is a failure
    measure: bool = False  # search R of recordings that run, too
    programs: tuple[Path, ...] = ()  # recorded ones and their libraries: call sites by function
    base_programs: tuple[Path, ...] = ()  # those of the base; none: the same
    importing: ImportOptions = field(default_factory=ImportOptions)


@dataclass(frozen=True, slots=True)
class Base:
    """What new recordings are compared with."""

    name: str  # the recording's; "" where the plan alone tells the peak
    peak: int  # most live bytes


@dataclass(frozen=True, slots=True)
class Needed:
    """The smallest regions found in which a recording runs on the plan, in bytes."""

    r_min: int | None  # None: none below 4 GiB that was tried
    r_safe: int | None  # smallest from which every larger one tried works
    events: int  # that the search replayed


@dataclass(frozen=True, slots=True)
class Checked:
    """One recording, and what was found of it."""

    run: Run
    growth: float | None  # percent of its peak above the base's; None: no peak to compare with
    needed: Needed | None  # None: not searched
    margin_eaten: float | None  # percent of the margin; None: the plan does not say enough
    findings: tuple[Finding, ...]
    changes: Changes | None  # None: nothing has failed


@dataclass(frozen=True, slots=True, repr=False)
class Check(Tabular):
    """All recordings on one plan."""

    plan: PlanFile
    base: Base | None
    recordings: tuple[Checked, ...]
    options: CheckOptions

    def __str__(self) -> str:
        failed = [one.run.name for one in self.recordings if not self._allows(one)]
        if not failed:
            return f"check: {len(self.recordings)} of {len(self.recordings)} recordings pass"
        return f"check: {len(failed)} of {len(self.recordings)} recordings fail, first {failed[0]}"

    def to_arrow(self) -> pa.Table:
        """A row for each recording; the `refused` columns are of its first refused request."""
        return arrow_table(
            self.recordings,
            {
                "name": lambda one: one.run.name,
                "holds": self._allows,
                "peak": lambda one: one.run.peak,
                "growth": lambda one: one.growth,
                "refused_event": lambda one: one.run.refusal and one.run.refusal.event,
                "refused_size": lambda one: one.run.refusal and one.run.refusal.size,
                "needed": lambda one: one.needed and one.needed.r_safe,
                "findings": lambda one: [str(finding) for finding in one.findings],
            },
        )

    @property
    def holds(self) -> bool:
        """Whether nothing was found that fails it."""
        return all(map(self._allows, self.recordings))

    def _allows(self, one: Checked) -> bool:
        allowed = set() if self.options.is_strict else WARNINGS
        return set(one.findings) <= allowed

    @property
    def events_replayed(self) -> int:
        """In the plan's region; searches of R aside."""
        return sum(one.run.replayed for one in self.recordings)

    @property
    def events_of_searches(self) -> int:
        """Replayed for R, of recordings that failed or were to be measured."""
        return sum(one.needed.events for one in self.recordings if one.needed)


def check_recordings(
    sources: Sequence[Source],
    plan: PlanFile,
    options: CheckOptions | None = None,
    progress: Progress = no_progress,
    sweep: Sweep | None = None,
) -> Check:
    """Replays each recording once in the plan's region, and tells what fails and what grew.

    A recording that fails is gone over again: for R, some 150 replays, and for what it holds.
    `sweep`: where several recordings are replayed; None: one after the other here. HeapfitError if
    the plan sets no region or was made for recordings of another kind.
    """
    options = options or CheckOptions()
    for program in (*options.programs, *options.base_programs):
        places_of(program, ())  # an unreadable one is told now, not once a recording has failed
    work = _Work([*options.base, *sources], options, progress)
    with ExitStack() as opened:
        bases = [
            opened.enter_context(opened_trace(source, options.importing, work.of(i)))
            for i, source in enumerate(options.base)
        ]
        asked = _Asked(plan, options, _highest(bases, work))
        named = list(zip(sources, _names(sources), strict=True))
        if sweep is not None and len(named) > 1:
            checked = sweep.run("check", [_job(*one, asked) for one in named], progress)
            return Check(plan, asked.base, tuple(checked), options)
        checked = []
        for i, (source, name) in enumerate(named, len(bases)):
            with opened_trace(source, options.importing, work.of(i)) as trace:
                checked.append(_checked(trace, name, asked, work.of(i)))
        return Check(plan, asked.base, tuple(checked), options)


def _job(source: Source, name: str, asked: _Asked) -> Job:
    """One recording as a job: its file, then that of the base's highest, if there is a base."""
    path = _file(source)
    highest = () if asked.highest is None else (asked.highest[0].path,)
    # A file that is not there is told by the job, as any other that cannot be read.
    events = path.stat().st_size // _BYTES_AN_EVENT if path.exists() else 0
    return Job(name, _checked_by_job, (name, asked), (path, *highest), events)


def _checked_by_job(argument: tuple[str, _Asked], path: Path, *base: Path) -> Checked:
    name, asked = argument
    if asked.highest is not None:
        asked = replace(asked, highest=(Trace.open(base[0]), asked.highest[1]))
    with opened_trace(path, asked.options.importing) as trace:
        return _checked(trace, name, asked, no_progress)


# What takes how much of a recording's time; a search takes some 30 replays at once.
_ONE = {"import": 0.3, "profile": 0.9, "replay": 0.9}
_MEASURED = {"import": 0.05, "replay": 0.05, "read events": 0.05, "search R": 0.85}


class _Work:
    """The base, then the recordings, each as much of the work as its file has bytes."""

    def __init__(
        self, sources: Sequence[Source], options: CheckOptions, progress: Progress
    ) -> None:
        sizes = [_file(one).stat().st_size if _file(one).exists() else 0 for one in sources]
        bases, steps = len(options.base), _MEASURED if options.measure else _ONE
        whole = WeightedProgress(progress, {str(i): max(size, 1) for i, size in enumerate(sizes)})
        self._parts = [
            whole.part(str(i), _ONE if i < bases else steps) for i in range(len(sources))
        ]

    def of(self, number: int) -> Progress:
        """What one of them tells its progress to."""
        return self._parts[number]


def _file(source: Source) -> Path:
    return source.path if isinstance(source, Trace) else source


def _names(sources: Sequence[Source]) -> list[str]:
    return different_names(list(map(_file, sources)))


@dataclass(frozen=True)
class _Asked:
    """The same for all recordings."""

    plan: PlanFile
    options: CheckOptions
    highest: tuple[Trace, int] | None  # of the base, and its peak

    @cached_property
    def base(self) -> Base | None:
        """What peaks are compared with."""
        if self.highest is None:
            return Base("", self.plan.u_max) if self.plan.u_max else None
        trace, peak = self.highest
        return Base(source_name(trace.path), peak)

    @cached_property
    def holdings(self) -> Holdings | None:
        """Of the base, unless it is too long; only where something has failed."""
        if self.highest is None or not self.highest[0].fits_in_memory:
            return None
        programs = self.options.base_programs or self.options.programs
        return holdings_of(load_trace(self.highest[0]), programs)


def _highest(traces: Sequence[Trace], work: _Work) -> tuple[Trace, int] | None:
    peaks = [(one, profile_trace(one, work.of(i)).u_max) for i, one in enumerate(traces)]
    return max(peaks, key=lambda one: one[1], default=None)


def _checked(trace: Trace, name: str, asked: _Asked, progress: Progress) -> Checked:
    plan, base, options = asked.plan, asked.base, asked.options
    refuse_other_kind(trace, plan, name)
    run = run_on(trace, plan, name, progress)
    growth = 100 * (run.peak - base.peak) / base.peak if base and base.peak else None
    failures = _failures(run, growth, asked)
    is_searched = options.measure or (bool(failures) and trace.fits_in_memory)
    loaded = load_trace(trace, progress=progress) if is_searched else None
    needed = _needed(loaded, plan, run, progress) if loaded else None
    eaten = margin_eaten(plan, run.peak, needed.r_safe if needed else None)
    return Checked(
        run,
        growth,
        needed,
        eaten,
        findings=failures or ((Finding.MARGIN,) if eaten is not None and eaten > 0 else ()),
        changes=_changes(loaded, asked) if loaded and failures else None,
    )


def _failures(run: Run, growth: float | None, asked: _Asked) -> tuple[Finding, ...]:
    limit = asked.options.growth
    found = {
        Finding.RAN_OUT: run.refusal is not None,
        Finding.MISALIGNED: run.is_misaligned(asked.plan),
        Finding.GREW: limit is not None and growth is not None and growth > limit,
    }
    return tuple(finding for finding, is_found in found.items() if is_found)


def _needed(loaded: LoadedTrace, plan: PlanFile, run: Run, progress: Progress) -> Needed:
    """By a search that knows of the plan's region, if that was too small."""
    base_alignment = loaded.trace.base_alignment_for(plan.base_alignment)
    trial = _engine.Trial(plan.plan.engine(), loaded.events_for(plan.plan), base_alignment)
    search = trial.scan(
        progress=lambda done, total: progress("search R", done / max(total, 1)),
        also=plan.region if run.refusal is not None and plan.region is not None else 0,
    )
    progress("search R", 1.0)
    return Needed(search.r_min, search.r_safe, search.events)


def _changes(loaded: LoadedTrace, asked: _Asked) -> Changes:
    return changes(holdings_of(loaded, asked.options.programs), asked.holdings)
