# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a report.

sources -> import -> profile -> candidates -> comparison -> plan.toml, code/, report.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.compare.verdict import pools_warning
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit, FitOptions, FitPaths, Run
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.firmer import firmer
from heapfit.generate import generate
from heapfit.importers import open_any
from heapfit.plan.plan_file import pointer_size_warning, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.report.fit.page import write_report
from heapfit.trace.content import content_hash
from heapfit.trace.names import different_names, source_name
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be fitted."""

    source: Path
    reason: str  # one line


@dataclass(frozen=True, slots=True)
class _Recording:
    """A source under its name, as a trace."""

    name: str
    source: Path
    trace: Trace


def fit(
    sources: Sequence[Path],
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit:
    """Fits one heap to all sources and writes everything into `folder`.

    HeapfitError if it cannot be done. Recordings with equal requests count as one.
    """
    options = options or FitOptions()
    recordings = _opened(sources, folder, options, progress)
    different, repeats = _different(recordings)
    if len(different) == 1:
        choice = choose_for_one(different[0].trace, different[0].name, options, progress)
    else:
        traces, names = [one.trace for one in different], [one.name for one in different]
        choice = choose_for_several(traces, names, options, progress)
    fitted = Fit(
        name=source_name(sources[0]),
        runs=_runs(different, choice),
        trace=choice.shown.trace,
        profile=choice.shown.profile,
        comparison=choice.comparison,
        winner=choice.winner,
        answer=choice.answer,
        plan_file=choice.plan_file,
        verdict=choice.verdict,
        firmer=firmer(choice, options, progress),
        warnings=(*repeats, *_warnings(different, choice)),
        paths=_paths(folder, different),
        options=options,
    )
    _write(fitted, choice.shown.events, progress)
    return fitted


def try_fit(
    source: Path,
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit | Failure:
    """As `fit`, for one of many sources apart: a failure must not stop the others."""
    try:
        return fit([source], folder, options, progress)
    except HeapfitError as error:
        return Failure(source, str(error))


def folder_for(sources: Sequence[Path], output: Path | None) -> Path:
    """Where one fit of all sources goes: the folder that is asked for, or out/NAME.

    >>> folder_for([Path("echo.pcap")], None).as_posix()
    'out/echo'
    >>> folder_for([Path("a.heap"), Path("b.heap")], None).as_posix()
    'out/a-and-1-more'
    """
    more = f"-and-{len(sources) - 1}-more" if len(sources) > 1 else ""
    return output or Path("out") / f"{source_name(sources[0])}{more}"


def folders_apart(sources: Sequence[Path], output: Path | None) -> list[Path]:
    """Where each source's own fit goes: a folder of its name.

    >>> [folder.as_posix() for folder in folders_apart([Path("a/x.heap"), Path("b/x.heap")], None)]
    ['out/x', 'out/x-2']
    """
    return [(output or Path("out")) / name for name in different_names(sources)]


def _opened(
    sources: Sequence[Path], folder: Path, options: FitOptions, progress: Progress
) -> list[_Recording]:
    """Every source as a trace; what was imported into `folder` is gone again if one is no trace."""
    recordings: list[_Recording] = []
    try:
        for name, source in zip(different_names(sources), sources, strict=True):
            trace = open_any(source, options.importing, folder, progress, name)
            recordings.append(_Recording(name, source, trace))
    except BaseException:
        for one in recordings:
            if one.trace.path != one.source:
                one.trace.path.unlink()
        raise
    return recordings


def _different(recordings: Sequence[_Recording]) -> tuple[list[_Recording], list[str]]:
    """Those whose requests differ from all before, and a sentence for each of the others."""
    if len(recordings) == 1:
        return list(recordings), []
    first: dict[str, _Recording] = {}
    repeats = []
    for recording in recordings:
        earlier = first.setdefault(content_hash(recording.trace), recording)
        if earlier is not recording:
            repeats.append(f"{recording.name} asks for the same as {earlier.name}: one recording")
    return list(first.values()), repeats


def _runs(recordings: Sequence[_Recording], choice: Choice) -> tuple[Run, ...]:
    return tuple(
        Run(one.name, one.source, u_max, r_safe)
        for one, u_max, r_safe in zip(recordings, choice.u_max, choice.r_safe, strict=True)
    )


def _paths(folder: Path, recordings: Sequence[_Recording]) -> FitPaths:
    traces = tuple(one.trace.path for one in recordings)
    return FitPaths(folder, traces, folder / "plan.toml", folder / "code", folder / "report.html")


def _write(fitted: Fit, events: _engine.EventArray, progress: Progress) -> None:
    progress("write plan, code and report", 0.0)
    save_plan(fitted.paths.plan, fitted.plan_file)
    generate(fitted.plan_file, fitted.paths.code)
    progress("write plan, code and report", 0.3)
    write_report(fitted.paths.report, fitted, events)
    progress("write plan, code and report", 1.0)


def _warnings(recordings: Sequence[_Recording], choice: Choice) -> list[str]:
    infos = [one.trace.info for one in recordings]
    warnings = [note for info in infos for note in info.notes]
    warnings += [
        warning
        for info in infos
        if (warning := pointer_size_warning(info.kind, info.pointer_bits)) is not None
    ]
    warnings += [one for one in [pools_warning(choice.winner, choice.comparison)] if one]
    return list(dict.fromkeys(warnings))
