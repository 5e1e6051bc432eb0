#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many heaps that `fit` advises another row of its table dominates, on recorded programs.

Each recording is fitted for memory, time and flash. Counted are answers beside which another row,
of the comparison or of a heap that many have, is nowhere worse and somewhere better in bytes to
set, mean, worst and flash (design/offers.py). Recordings need HEAPFIT_CORPUS;
`--only WORD` keeps those in whose names the word occurs, `--write` renews the table of
docs/evidence/front.md. Nothing fails: what is found is printed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from memory import opened, recordings
from page_tables import add_option, write_result

from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.costs.measures import Measures, measures_of
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import HeapSize
from heapfit.design.offers import Offer, is_dominated
from heapfit.design.preference import Preference
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.plan.energy import load_sram
from heapfit.trace.loaded import LoadedTrace, load_trace

PREFERENCES = (Preference.RAM, Preference.TIME, Preference.FLASH)
COLUMNS = ("recording", *(f"--prefer {one}" for one in PREFERENCES), "dominated")


def find_dominating(fitted: Fit) -> Offer | None:
    """A row that dominates the answer; None where there is none."""
    loaded = load_trace(fitted.searched, fitted.options.alignment)
    answer = _make_offer("the answer", fitted.answer.heap, fitted.answer.size, loaded)
    rows = [*_list_rows(fitted, loaded), *_list_references(fitted)]
    return next((one for one in rows if is_dominated(answer, [one])), None)


def _make_offer(name: str, heap: Heap, size: HeapSize, loaded: LoadedTrace) -> Offer:
    costs = estimate_costs(heap, loaded, size.r_safe)
    return Offer(
        name, size.region, Measures(size.r_safe, None, None, costs.mean, costs.longest, costs.flash)
    )


def _list_rows(fitted: Fit, loaded: LoadedTrace) -> Iterator[Offer]:
    """The rows of the comparison that hold on other runs."""
    sram = load_sram()
    for row in fitted.comparison.rows:
        size = row.heap_size
        if size is not None and not row.is_cut_to_trace and row.lasts is not False:
            yield Offer(row.name, size.region, measures_of(row, loaded, sram))


def _list_references(fitted: Fit) -> Iterator[Offer]:
    for one in fitted.references:
        if one.size is not None and one.size.margin:
            costs = Measures(
                one.size.r_safe, None, None, one.costs.mean, one.costs.longest, one.costs.flash
            )
            yield Offer(one.title, one.size.region, costs)


def fit_each(source: str, made: Path) -> list[str]:
    """A row of the table: the answer for each preference, and by what one is dominated."""
    trace, cells, dominating = opened(source, made), [], []
    for preference in PREFERENCES:
        fitted = fit([trace.path], made / "out", FitOptions(prefer=preference))
        found = find_dominating(fitted)
        kept = fitted.answer.heap.title
        title = kept if fitted.answer.is_kept else f"`{fitted.winner.name}`"
        cells.append(f"{title} {fitted.answer.size.region:,}")
        dominating += [] if found is None else [f"{preference}: by {found.name}"]
    return [source.removesuffix(".heap.gz"), *cells, "; ".join(dominating) or "none"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD")
    add_option(parser)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as made:
        for source in (one for one in recordings() if asked.only in one):
            rows.append(fit_each(source, Path(made)))
            print(*rows[-1], sep="; ", flush=True)
    dominated = sum(row[-1] != "none" for row in rows)
    print(f"{dominated} of {len(rows)} recordings have a dominated answer")
    if asked.write:
        write_result("dominated", COLUMNS, rows)


if __name__ == "__main__":
    main()
