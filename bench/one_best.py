#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether fit, design and front name one plan and one least region for a recording.

With HEAPFIT_CORPUS set the recordings are the corpus's, else the product's examples. Each is cut to
its first `--events`; `--only WORD` keeps those in whose name the word occurs. `further`: the least
that design and front found beyond the verdict, which they tell apart. Nothing fails: rows that
differ say so.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

from events import cut, sources

from heapfit.cli.printing import console
from heapfit.compare.comparison import Row
from heapfit.compare.verdict import chosen_row, searched_further
from heapfit.design.plan_files import design
from heapfit.fit_result import FitOptions
from heapfit.fitting.choice import choose_for_one
from heapfit.front.design_front import compare_all
from heapfit.front.space import configurations
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

STANDARD_EVENTS = 10_000


def line(source: Path, events: int) -> list[str]:
    """What the three commands name for one recording."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        name = source.name.split(".")[0]
        trace = open_any(source, ImportOptions(), Path(folder))
        if trace.info.events > events:
            trace = cut(trace, events, Path(folder) / "cut.parquet")
        fitted = choose_for_one(trace, name, FitOptions()).winner
        designed = design(trace, name, Path(folder) / "plans").comparison
        loaded = load_trace(trace)
        front = compare_all(loaded, configurations(loaded))
        named = [fitted, chosen_row(designed), chosen_row(front)]
        further = [*searched_further(designed), *searched_further(front)]
        return [name, *map(told, named), least(further), verdict(named)]


def told(row: Row) -> str:
    return f"{row.r_safe:,}" if row.r_safe is not None else "none"


def least(rows: Iterable[Row]) -> str:
    found = [row.r_safe for row in rows if row.r_safe is not None]
    return f"{min(found):,}" if found else "-"


def verdict(named: list[Row]) -> str:
    plans = {(row.name, row.r_safe) for row in named}
    return named[0].name if len(plans) == 1 else "DIFFER: " + ", ".join(row.name for row in named)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=STANDARD_EVENTS)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    table = [line(one, asked.events) for one in sources(None) if asked.only in one.name]
    heads = ("recording", "fit", "design", "front", "further", "named by all")
    console.out_table(heads, table, width=console.WIDE)


if __name__ == "__main__":
    main()
