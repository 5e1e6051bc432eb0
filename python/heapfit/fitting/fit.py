# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a page.

sources --> workload --> selection --> assessment --> result --> plan.toml, code/, report.html

Each stage makes one record, which holds the one before; none changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.fitting.folder import FitPaths, stage_results, start_writing_code
from heapfit.fitting.longer_runs import extend_to_horizon
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit, make_result
from heapfit.fitting.selection import foretell, select_for_all
from heapfit.fitting.workload import Place, Request
from heapfit.importers.many import estimate_events
from heapfit.outputs.ours import mark_ours
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.store_file import StoreFile
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import source_name

# Writes the page of a fit to a path: the fit, the recording that it shows, and what waits for the
# folder of its code; None where there is none. The share of the page that is done goes last.
WritePage: TypeAlias = Callable[[Path, Fit, LoadedTrace, Progress], None]

_WRITE = "write plan, code and report"
_PAGE = {"draw the heap map": 0.35, "pack the heap map": 0.25, "write the page": 0.4}


def watch_fit(sources: Sequence[Path], progress: Progress) -> WeightedProgress:
    """The progress of a fit, foretold from the sizes of its files until these are read."""
    return WeightedProgress(progress, foretell([estimate_events(path) for path in sources]))


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
    Recordings with equal requests count as one. Those of a store that a cluster fits are read by
    its workers alone.
    """
    options = options or FitOptions()
    with stage_results(folder) as staging:
        is_in_store = all(isinstance(one, StoreFile) for one in sources)
        if not (is_in_store and sweep and sweep.cluster):
            place = Place(folder, staging)
            return _fit_into(
                place, sources, options=options, sweep=sweep, page=write_page, progress=progress
            )
        asked = [(sources, folder, options, sweep.cluster, write_page)]
        ((fitted, files),) = sweep.map("fit by workers", _fit_there, asked, progress)
        for name, content in files.items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_bytes(content)
            if (staging / name).parent == staging:
                mark_ours(staging / name)
    return fitted


def _fit_there(
    asked: tuple[Sequence[Path], Path, FitOptions, str, WritePage | None],
) -> tuple[Fit, dict[str, bytes]]:
    """The fit by a worker, whose cluster does its jobs, and the content of the files it wrote."""
    sources, folder, options, cluster, page = asked
    with scratch_folder() as staging, Sweep(cluster=cluster) as sweep:
        place = Place(folder, staging)
        fitted = _fit_into(place, sources, options=options, sweep=sweep, page=page)
        written = [path for path in sorted(staging.rglob("*")) if path.is_file()]
        return fitted, {one.relative_to(staging).as_posix(): one.read_bytes() for one in written}


def _fit_into(
    place: Place,
    sources: Sequence[Path],
    *,
    options: FitOptions,
    sweep: Sweep | None,
    page: WritePage | None,
    progress: Progress = ignore_progress,
) -> Fit:
    stages = watch_fit(sources, progress)
    request = Request(place, options, sweep, stages)
    fitted, shown = find_fit(sources, request, has_page=page is not None)
    write_fit(
        fitted,
        place.staging,
        shown=shown,
        write_page=page,
        stages=stages,
        threads=request.threads,
    )
    return fitted


def find_fit(
    sources: Sequence[Path], request: Request, *, has_page: bool = False
) -> tuple[Fit, LoadedTrace]:
    """A fit of which only the imported traces are written, into the staging folder.

    Its paths are those that all will have in the place's folder. Then the recording that it shows.
    """
    if request.options.now is not None:  # what does not exist is rejected before any work
        find_heap(request.options.now, request.options.alignment)
    selection, kinds, longer = extend_to_horizon(select_for_all(sources, request))
    fitted = make_result(selection, request, kinds=kinds, longer=longer, has_page=has_page)
    return fitted, selection.choice.shown


def folder_for(sources: Sequence[Path], output: Path | None) -> Path:
    """Where one fit of all sources goes: the folder that is asked for, or out/NAME.

    >>> folder_for([Path("echo.pcap")], None).as_posix()
    'out/echo'
    >>> folder_for([Path("a.heap"), Path("b.heap")], None).as_posix()
    'out/a-and-1-more'
    """
    more = f"-and-{len(sources) - 1}-more" if len(sources) > 1 else ""
    return output or Path("out") / f"{source_name(sources[0])}{more}"


def write_fit(
    fitted: Fit,
    folder: Path,
    *,
    shown: LoadedTrace,
    write_page: WritePage | None,
    stages: WeightedProgress,
    threads: int,
) -> None:
    """Writes plan, code and page into an existing folder; `shown` is the run they show."""
    has_code, has_page = fitted.paths.code is not None, write_page is not None
    paths = FitPaths.in_folder(folder, has_code=has_code, has_page=has_page)
    writing, coding = stages.part("write", _PAGE), stages.part_beside("code")
    if not has_code:
        stages.foretell({"code": 0.0})
    with start_writing_code(fitted.plan_file, paths, threads, coding) as wait_for_code:
        if write_page is not None and paths.report is not None:
            write_page(paths.report, fitted, shown, writing)
        wait_for_code()  # which one thread begins here, and whose error is raised here
    stages.part("code")(_WRITE, 1.0)
