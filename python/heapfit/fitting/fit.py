# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a page.

sources --> workload --> selection --> assessment --> result --> plan.toml, code/, report.html

Each stage makes one record, which holds the one before; none changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.fitting.choosing import foretell_choice
from heapfit.fitting.folder import FitPaths, stage_results, start_writing_code
from heapfit.fitting.incumbent import find_own_heap
from heapfit.fitting.longer_runs import extend_to_horizon
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit, make_result, plan_to_write
from heapfit.fitting.selection import Selection, select_plan
from heapfit.fitting.workload import Place, Request, read_workload
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep, usable_cores
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import source_name

# Writes the page of a fit to a path: the fit, the recording that it shows, and what waits for the
# folder of its code; None where there is none. The share of the page that is done goes last.
WritePage: TypeAlias = Callable[[Path, Fit, LoadedTrace, Callable[[], Path | None], Progress], None]

_WRITE = "write plan, code and report"
_BYTES_AN_EVENT = 5  # of a source, about: before it is read
_REPLACED = 0.25  # of the heaps that programs have, about
_PAGE = {"draw the heap map": 0.35, "pack the heap map": 0.25, "write the page": 0.4}


def foretell(events: Sequence[int]) -> dict[str, float]:
    """The stages of a fit with about the seconds of each, for so many events a recording.

    Measured with 5,000 to 2,000,000 events; the compilers, which work beside the last stages, take
    no more for more.
    """
    total, runs = sum(events), len(events)
    size = total / 100_000
    return {
        "import": 0.01 + 0.05 * size,
        "read": 0.01 + 0.03 * size,
        "now": 0.04 + 0.12 * size,
        "choose": sum(foretell_choice(total, runs).values()),
        "judge": 0.02 + 0.05 * size,
        "suggest": 0.01,
        "reference": 0.05 + 0.12 * size,
        "hold": 0.02 + 0.01 * size,
        "write": 0.2 + 0.15 * size,
        "code": 0.95,
    }


def watch_fit(sources: Sequence[Path], progress: Progress) -> WeightedProgress:
    """The progress of a fit, foretold from the sizes of its files until these are read."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in sources]
    return WeightedProgress(progress, foretell([size // _BYTES_AN_EVENT for size in sizes]))


def fit(
    sources: Sequence[Path],
    folder: Path,
    options: FitOptions | None = None,
    *,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
    write_page: WritePage | None = None,
) -> Fit:
    """Fits one heap to all sources and writes everything into `folder`; a page, if that is given.

    Without a sweep the work is done on all cores of this machine. HeapfitError if it cannot be
    done, at once if the folder's plan or code was edited; then, as on Ctrl-C, nothing is written.
    Recordings with equal requests count as one.
    """
    stages = watch_fit(sources, progress)
    with stage_results(folder) as staging:
        place, has_page = Place(folder, staging), write_page is not None
        request = Request(place, options or FitOptions(), sweep, stages)
        selection = _select(sources, request)
        paths = FitPaths.in_folder(staging, has_code=selection.writes_code, has_page=has_page)
        writing, coding = stages.part("write", _PAGE), stages.part_beside("code")
        if paths.code is None:
            stages.foretell({"code": 0.0})
        plan_file = plan_to_write(selection)
        with start_writing_code(plan_file, paths, request.threads, coding) as wait_for_code:
            fitted = make_result(selection, request, has_page=has_page)
            if write_page is not None and paths.report is not None:
                shown = selection.choice.shown
                write_page(paths.report, fitted, shown, wait_for_code, writing)
        stages.part("code")(_WRITE, 1.0)
    return fitted


def fit_in_memory(sources: Sequence[Path], request: Request, *, has_page: bool = False) -> Fit:
    """A fit of which only the imported traces are written, into the staging folder.

    Its paths are those that all will have in the place's folder.
    """
    selection = _select(sources, request)
    return make_result(selection, request, has_page=has_page)


def _select(sources: Sequence[Path], request: Request) -> Selection:
    """The selection, with the margin that a horizon asks for."""
    named = request.incumbent()  # a heap that does not exist is rejected before any work
    options = request.options
    workload = read_workload(sources, request)
    own = named or find_own_heap(workload, options)
    seconds = foretell([one.trace.info.events for one in workload.recordings])
    if own is not None:
        seconds["code"] *= _REPLACED
    request.stages.foretell(seconds)
    selection = select_plan(workload, request, own)
    return extend_to_horizon(selection)


def folder_for(sources: Sequence[Path], output: Path | None) -> Path:
    """Where one fit of all sources goes: the folder that is asked for, or out/NAME.

    >>> folder_for([Path("echo.pcap")], None).as_posix()
    'out/echo'
    >>> folder_for([Path("a.heap"), Path("b.heap")], None).as_posix()
    'out/a-and-1-more'
    """
    more = f"-and-{len(sources) - 1}-more" if len(sources) > 1 else ""
    return output or Path("out") / f"{source_name(sources[0])}{more}"


def write(
    fitted: Fit, folder: Path, shown: LoadedTrace, write_page: WritePage | None, progress: Progress
) -> None:
    """Writes plan, code and page into an existing folder; `shown` is the run they show."""
    has_code, has_page = fitted.paths.code is not None, write_page is not None
    paths = FitPaths.in_folder(folder, has_code=has_code, has_page=has_page)
    with start_writing_code(fitted.plan_file, paths, usable_cores(), progress) as wait_for_code:
        if write_page is not None and paths.report is not None:
            write_page(paths.report, fitted, shown, wait_for_code, ignore_progress)
    progress(_WRITE, 1.0)
