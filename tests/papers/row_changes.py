# SPDX-License-Identifier: Apache-2.0
"""Changes of what a row measured that may turn its verdict.

As changes.py has them; where one cannot do it, as for what has to hold on several workloads of
several models, the change is told here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from changes import changed

from heapfit_papers.reproduce.code_sizes import Weighed
from heapfit_papers.reproduce.paper_001_costs import Models
from heapfit_papers.reproduce.paper_003_memory import Figure5
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.table_2 import BUDGETED, LEA, TLSF, Measured
from heapfit_papers.slotbuf.measures import ReportRuns

OwnChange = Callable[[Any], Any]


def buffers_last(runs: ReportRuns) -> ReportRuns:
    """Nothing refused at any buffer but the largest."""
    limits = {
        slots: [replace(run, counts=nothing_refused(run.counts)) for run in some]
        for slots, some in runs.limits.items()
        if slots < max(runs.limits)
    }
    return replace(runs, limits={**runs.limits, **limits})


def nothing_refused(counts: Any) -> Any:
    return SimpleNamespace(**{**vars(counts), "refused": None})


def on_one_board(weighed: Mapping[str, Weighed]) -> dict[str, Weighed]:
    first = next(iter(weighed))
    return {board: one if board == first else Weighed({}) for board, one in weighed.items()}


def as_much_as_published(found: Models) -> Models:
    more = 1 + figure("001-10", "described").number
    described = [{**one, "footprint": round(more * one["requested"])} for one in found.described]
    return replace(found, described=described)


def others_larger(weighed: Weighed) -> Weighed:
    own = (BUDGETED, TLSF)
    sizes = {n: size if n in own else 4 * size for n, size in weighed.sizes.items()}
    return replace(weighed, sizes=sizes)


def regions(name: str, of: Callable[[Measured], float]) -> OwnChange:
    """An allocator needs so much in every model."""

    def change(found: Figure5) -> Figure5:
        walk = [with_region(one, name, of(one)) for one in found.walk]
        models = [with_region(one, name, of(one)) for one in found.models]
        return replace(found, walk=walk, models=models)

    return change


def with_region(one: Measured, name: str, region: float) -> Measured:
    need = replace(one.needs[name], region=round(region))
    return replace(one, needs={**one.needs, name: need})


def best_only_in(name: str, *workloads: int) -> OwnChange:
    return regions(
        name,
        lambda one: one.region(BUDGETED) * (0.5 if one.case.workload in workloads else 2),
    )


def saved(row: str, name: str) -> OwnChange:
    """Lea's allocator needs as much more than budgeted as the paper tells."""
    share = figure(row, name).number
    return regions(LEA, lambda one: one.region(BUDGETED) / (1 - share))


OWN_CHANGES: Mapping[str, OwnChange] = {
    "000-16.limit": buffers_last,
    "001-10.described": as_much_as_published,
    "002-12.portable": on_one_board,
    "003-14.lea_least": saved("003-14", "lea_least"),
    "003-14.lea_most": saved("003-14", "lea_most"),
    "003-14.test1": best_only_in("djgpp_test1", 2, 5),
    "003-14.test3": best_only_in("djgpp_test3", 2, 3),
    "003-14.test4": best_only_in("djgpp_test4", 1),
    "003-14.test6": best_only_in("djgpp_test6", 2, 4),
    "003-14.tlsf": best_only_in(TLSF, 2, 4),
    "003-15.large": others_larger,
    "003-17.saving": saved("003-17", "saving"),
}


def changes_of(name: str, measured: Any) -> Iterator[Any]:
    """For a figure such as 003-8.infeasible."""
    if name in OWN_CHANGES:
        yield OWN_CHANGES[name](measured)
    else:
        yield from changed(measured)
