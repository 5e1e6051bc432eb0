# SPDX-License-Identifier: Apache-2.0
"""Memory without headers: R_safe over U_max of recorded programs, plain and trained, beside rivals.

Each program takes the layout that serves it best: chunk bounds in a map at 4 or 8 B, or a 4 B
header; with a limit to the holes that requests are cut from, where that saves much. Trained, the
same with two ends, as `heapfit fit` learns them from the very trace. Stacks it learns from
several runs only: here the trace stands for two, which one run cannot vouch for, so "best" leaves
them out. Control structures, map, headers and rounding all count. Then synthetic traces: with two
ends, and the best of all that `design` tries. The recordings need HEAPFIT_CORPUS. `--only WORD`
keeps the names in which the word occurs. Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory import measured, opened, recordings
from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.placement.tailored_plans import (
    BY_LIFETIME,
    TWO_ENDS,
    layouts,
    make_tailored_candidates,
)
from heapfit.design.portfolio import standard_portfolio
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

ALIGNMENT = 4  # of blocks, at least

# Ours, of the kind of espressif's TLSF, dlmalloc and FreeRTOS heap_4, aligned as these are.
RIVALS = (("tlsf", 4), ("best_fit", 8), ("first_fit", 8))

UNTRAINED = 1.055  # median
TRAINED = 1.040
BELOW_RIVALS = 27  # of 29
SMALL = {"cjson32-telemetry": 1.10, "lwip32-ram-b": 1.12, "lwip32-pool": 1.05}
SYNTHETIC = {
    "phase_shift": 1.02,
    "phase_shift_small": 1.06,
    **{f"t2_w{i}": 1.015 for i in range(1, 6)},
}


@dataclass(frozen=True)
class Program:
    name: str
    untrained: dict[str, float]  # by layout
    trained: dict[str, float]  # by what was learned; empty where nothing was
    rivals: tuple[float, ...]

    @property
    def plain(self) -> float:
        return min(self.untrained.values())

    @property
    def best(self) -> float:
        return min([self.plain, *self.trained.values()])


def ratio(loaded: LoadedTrace, allocator: str) -> float:
    """R_safe over U_max; infinite where there is none."""
    over = measured(loaded, allocator).over_u_max
    return float("inf") if over is None else over


def ratios(loaded: LoadedTrace, candidates: list[Candidate]) -> dict[str, float]:
    rows = compare(loaded, Portfolio(tuple(candidates), ())).rows if candidates else ()
    return {row.name: row.over_u_max or float("inf") for row in rows}


def learned(
    loaded: LoadedTrace, names: tuple[str, ...] = (BY_LIFETIME, TWO_ENDS)
) -> list[Candidate]:
    """The candidates of these names."""
    print("  learn placement", file=sys.stderr, flush=True)
    candidates = make_tailored_candidates(loaded)
    return [one for one in candidates if isinstance(one, Candidate) and one.name in names]


def program(name: str) -> Program:
    print(name, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        stored = opened(name, Path(folder))
        by_alignment = {alignment: load_trace(stored, alignment) for alignment in (ALIGNMENT, 8)}
        loaded = by_alignment[ALIGNMENT]
        plain = [
            Candidate(key, Heap(key, plan), "", False) for key, plan in layouts(ALIGNMENT).items()
        ]
        trained = ratios(loaded, learned(loaded))
        measured = Program(
            name.removesuffix(".heap.gz"),
            ratios(loaded, plain),
            trained,
            tuple(ratio(by_alignment[alignment], one) for one, alignment in RIVALS),
        )
    print(f"  plain {measured.plain:.4f}, trained {measured.best:.4f}", file=sys.stderr, flush=True)
    return measured


def verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "not reached"


def figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def print_programs(programs: list[Program]) -> None:
    plain = list(programs[0].untrained)
    rivals = [f"{name} {alignment}" for name, alignment in RIVALS]
    columns = (*plain, "by lifetime", "two ends", "best", *rivals, "the best rival")
    rows = [
        (
            one.name,
            *(figure(one.untrained[key]) for key in plain),
            *(figure(one.trained.get(key)) for key in (BY_LIFETIME, TWO_ENDS)),
            figure(one.best),
            *(figure(value) for value in one.rivals),
            "below" if one.best < min(one.rivals) else "not below",
        )
        for one in programs
    ]
    console.print_table(("program", *columns), rows, width=console.WIDE)


def print_aims(programs: list[Program]) -> None:
    plain = statistics.median(one.plain for one in programs)
    best = statistics.median(one.best for one in programs)
    below = sum(one.best < min(one.rivals) for one in programs)
    below_plain = sum(one.plain < min(one.rivals) for one in programs)
    rows = [
        ("median untrained", figure(plain), figure(UNTRAINED), verdict(plain <= UNTRAINED)),
        ("median trained", figure(best), figure(TRAINED), verdict(best <= TRAINED)),
        ("below the best rival untrained", str(below_plain), "-", ""),
        ("below it trained", str(below), str(BELOW_RIVALS), verdict(below >= BELOW_RIVALS)),
    ]
    rows += [
        (one.name, figure(one.best), figure(SMALL[one.name]), verdict(one.best <= SMALL[one.name]))
        for one in programs
        if one.name in SMALL
    ]
    console.print_table(("aim", "found", "at most, or at least", ""), rows, width=console.WIDE)


def print_synthetic(names: list[str]) -> None:
    rows = []
    for name in names:
        print(name, file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            stored = generate_workload(parse_workload(name), Path(folder) / "t.parquet")
            loaded = load_trace(stored, ALIGNMENT)
            learned_ratios = ratios(loaded, learned(loaded))
            whole = compare(loaded, standard_portfolio(loaded)).rows[0]
        best = whole.over_u_max or float("inf")
        most = SYNTHETIC[name]
        two_ends = min(learned_ratios.values(), default=None)
        rows.append(
            (name, figure(two_ends), figure(best), whole.name, figure(most), verdict(best <= most))
        )
    console.print_table(
        ("workload", "two ends", "best", "which", "at most", ""), rows, width=console.WIDE
    )


def page_rows(programs: Sequence[Program]) -> Iterator[tuple[str, ...]]:
    """The columns of ours in docs/evidence/peers.md."""
    for one in programs:
        yield one.name, figure(one.plain), figure(one.best)
    for name, summary in (("median", statistics.median), ("worst", max)):
        ours = ([one.plain for one in programs], [one.best for one in programs])
        yield name, *(figure(summary(values)) for values in ours)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="names in which this word occurs")
    add_option(arguments)
    asked = arguments.parse_args()
    word = asked.only
    programs = [program(name) for name in recordings() if word in name]
    if programs:
        print_programs(programs)
        print_aims(programs)
        if asked.write and not word:
            columns = ("program", "`tailored`, plain", "`tailored`, learned")
            write_result("tailored", columns, list(page_rows(programs)))
    else:
        print("no recorded program (set HEAPFIT_CORPUS)", file=sys.stderr)
    synthetic = [name for name in SYNTHETIC if word in name]
    if synthetic:
        print_synthetic(synthetic)


if __name__ == "__main__":
    main()
