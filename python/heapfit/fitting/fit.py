# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a page.

sources --> workload --> selection --> assessment --> result --> plan.toml, code/, report.html

Each stage makes one record, which holds the one before; none changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from heapfit.design.robust.objective import LARGEST
from heapfit.errors import HeapfitError
from heapfit.fitting.assessment import assess, extend_to_horizon
from heapfit.fitting.folder import place_parts, stage_results, start_writing_code
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit, make_result, plan_to_write, writes_code
from heapfit.fitting.selection import Selection, select_plan
from heapfit.fitting.workload import Place, Request, read_workload
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep, usable_cores
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import distinct_source_names, source_name

# Writes the page of a fit to a path: the fit, the recording that it shows, and what waits for the
# folder of its code; None where there is none. The share of the page that is done goes last.
WritePage: TypeAlias = Callable[[Path, Fit, LoadedTrace, Callable[[], Path | None], Progress], None]

_WRITE = "write plan, code and report"
_BYTES_AN_EVENT = 5  # of a source, about: before it is read


def weigh_parts(events: int, runs: int) -> dict[str, float]:
    """The parts of a fit with about the seconds of each, measured on recordings of 5,000 to 250,000
    events: all grow with the events but the compilers, which make the code beside them.
    """
    size = min(events / 100_000, 10.0 * runs)
    return {
        "import": 0.01 + 0.05 * size,
        "read": 0.01 + 0.05 * size,
        "now": 0.05 + 0.2 * size,
        "choose": 0.2 + 1.5 * size + 0.5 * (runs - 1) * (1 + size),
        "suggest": 0.01,
        "reference": 0.1 + 0.3 * size,
        "hold": 0.1 + 0.1 * size,
        "write": 0.2 + 1.1 * size,
        "code": 2.2,
    }


def weigh_sources(sources: Sequence[Path]) -> dict[str, float]:
    """The parts by the sizes of files, before they are read; a missing file counts as empty."""
    sizes = [path.stat().st_size for path in sources if path.is_file()]
    return weigh_parts(sum(sizes) // _BYTES_AN_EVENT, len(sources))


@dataclass(frozen=True, slots=True)
class Resources:
    """The workers of a fit, and the function that writes its page."""

    sweep: Sweep | None = None  # None: all cores of this machine
    write_page: WritePage | None = None  # None: no page is written


LOCAL = Resources()


def fit(
    sources: Sequence[Path],
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = ignore_progress,
    resources: Resources = LOCAL,
) -> Fit:
    """Fits one heap to all sources and writes everything into `folder`.

    HeapfitError if it cannot be done, at once if the folder's plan or code was edited; then, as on
    Ctrl-C, nothing is written. Recordings with equal requests count as one.
    """
    whole, write_page = WeightedProgress(progress, weigh_sources(sources)), resources.write_page
    with stage_results(folder) as staging:
        request = Request(Place(folder, staging), options or FitOptions(), resources.sweep)
        selection, request = _select(sources, request, whole)
        has_page = write_page is not None
        paths = place_parts(
            staging, (), has_code=writes_code(selection.choice, request.options), has_page=has_page
        )
        writing, coding = whole.part("write"), whole.part_beside("code")
        if paths.code is None:
            coding(_WRITE, 1.0)
        plan_file = plan_to_write(selection.choice, request.options)
        with start_writing_code(plan_file, paths, request.threads, coding) as wait_for_code:
            fitted = make_result(assess(selection, request, whole), request, has_page=has_page)
            if write_page is not None and paths.report is not None:
                shown = selection.choice.shown
                write_page(paths.report, fitted, shown, wait_for_code, writing)
        writing(_WRITE, 1.0)
        coding(_WRITE, 1.0)
    return fitted


def fit_in_memory(
    sources: Sequence[Path],
    request: Request,
    progress: WeightedProgress,
    *,
    has_page: bool = False,
) -> Fit:
    """A fit of which only the imported traces are written, into the staging folder.

    Its paths are those that all will have in the place's folder.
    """
    selection, request = _select(sources, request, progress)
    return make_result(assess(selection, request, progress), request, has_page=has_page)


def _select(
    sources: Sequence[Path], request: Request, progress: WeightedProgress
) -> tuple[Selection, Request]:
    """The selection, and the request with the margin that a horizon asks for."""
    incumbent = request.incumbent()  # a heap that does not exist is rejected before any work
    options = request.options
    if incumbent is not None and options.objective != LARGEST:
        raise HeapfitError(f"--now {options.now}: needs --objective max")
    importing, reading = progress.part("import"), progress.part("read", steps=2)
    workload = read_workload(sources, request, importing, reading)
    events = sum(one.trace.info.events for one in workload.recordings)
    progress.reweigh(weigh_parts(events, len(workload.recordings)))
    return extend_to_horizon(select_plan(workload, request, incumbent, progress), request)


def folder_for(sources: Sequence[Path], output: Path | None) -> Path:
    """Where one fit of all sources goes: the folder that is asked for, or out/NAME.

    >>> folder_for([Path("echo.pcap")], None).as_posix()
    'out/echo'
    >>> folder_for([Path("a.heap"), Path("b.heap")], None).as_posix()
    'out/a-and-1-more'
    """
    more = f"-and-{len(sources) - 1}-more" if len(sources) > 1 else ""
    return output or Path("out") / f"{source_name(sources[0])}{more}"


def source_folders(sources: Sequence[Path], output: Path | None) -> list[Path]:
    """Where each source's own fit goes: a folder of its name.

    >>> [folder.as_posix() for folder in source_folders([Path("a/x.heap"), Path("b/x.heap")], None)]
    ['out/x', 'out/x-2']
    """
    return [(output or Path("out")) / name for name in distinct_source_names(sources)]


def write(
    fitted: Fit, folder: Path, shown: LoadedTrace, write_page: WritePage | None, progress: Progress
) -> None:
    """Writes plan, code and page into an existing folder; `shown` is the run they show."""
    has_code, has_page = fitted.paths.code is not None, write_page is not None
    paths = place_parts(folder, (), has_code=has_code, has_page=has_page)
    with start_writing_code(fitted.plan_file, paths, usable_cores(), progress) as wait_for_code:
        if write_page is not None and paths.report is not None:
            write_page(paths.report, fitted, shown, wait_for_code, ignore_progress)
    progress(_WRITE, 1.0)
