#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a fit names one plan and one least region, with and without its design space.

With HEAPFIT_CORPUS set the recordings are the corpus's, else the product's examples. Each is cut to
its first `--events`; `--only WORD` keeps those in whose name the word occurs. With each `--effort`
(all three by default) `fit` also says what it replayed, over the recording's events. Regions are
what to set a heap to, in bytes, margin included; `further`: the least that the whole space has
beyond the answer, which is told apart. Nothing fails: rows that differ say so.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

from events import cut, sources
from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import list_extended_search
from heapfit.design.effort import Effort
from heapfit.fitting.choice import choose_for_one
from heapfit.fitting.options import FitOptions
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

STANDARD_EVENTS = 10_000


def lines(source: Path, events: int, efforts: list[Effort]) -> list[list[str]]:
    """What both name for one recording, with each effort."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        name = source.name.split(".")[0]
        trace = open_any(source, ImportOptions(), Path(folder))
        if trace.info.events > events:
            trace = cut(trace, events, Path(folder) / "cut.parquet")
        return [line(trace, name, one) for one in efforts]


def line(trace: Trace, name: str, effort: Effort) -> list[str]:
    loaded = load_trace(trace)
    choice = choose_for_one(loaded, name, FitOptions(effort=effort))
    space = choose_for_one(loaded, name, FitOptions(effort=effort, front=True))
    named = [choice.winner, space.winner]
    further = list_extended_search(space.comparison)
    over = f"{choice.comparison.work.events / max(trace.info.events, 1):,.0f}"
    return [name, effort, over, *map(told, named), least(further), verdict(named)]


def told(row: Row) -> str:
    return f"{row.heap_size.region:,}" if row.heap_size is not None else "none"


def least(rows: Iterable[Row]) -> str:
    found = [row.heap_size.region for row in rows if row.heap_size is not None]
    return f"{min(found):,}" if found else "-"


def verdict(named: list[Row]) -> str:
    plans = {(row.name, row.r_safe) for row in named}
    return named[0].name if len(plans) == 1 else "DIFFER: " + ", ".join(row.name for row in named)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=STANDARD_EVENTS)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--effort", nargs="+", type=Effort, default=list(Effort))
    add_option(parser)
    asked = parser.parse_args()
    wanted = [one for one in sources(None) if any(word in one.name for word in asked.only)]
    table = [row for one in wanted for row in lines(one, asked.events, asked.effort)]
    heads = ("recording", "effort", "over n", "fit", "fit --front", "further", "named by both")
    console.print_table(heads, table, width=console.WIDE)
    if asked.write:
        columns = ("recording", "effort", "events replayed over the recording's", "bytes to set")
        rows = [[cell.replace(",", "") for cell in row[:4]] for row in table]
        write_result("efforts", columns, rows, keys=2)


if __name__ == "__main__":
    main()
