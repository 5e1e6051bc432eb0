#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plan and region that a fit names with each effort, and what it replays for them.

With HEAPFIT_CORPUS set the recordings are the corpus's, else the product's examples. Each is cut to
its first `--events`; `--only WORD` keeps those in whose name the word occurs. With each `--effort`
(all three by default) it says what `fit` replayed, over the recording's events, and what to set a
heap to, in bytes, margin included.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from events import cut, sources
from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.design.effort import Effort
from heapfit.fitting.choosing import choose
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
    choice = choose([loaded], [name], options=FitOptions(effort=effort))
    over = f"{choice.comparison.work.events / max(trace.info.events, 1):,.0f}"
    return [name, effort, over, f"{choice.answer.size.region:,}", choice.winner.name]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=STANDARD_EVENTS)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--effort", nargs="+", type=Effort, default=list(Effort))
    add_option(parser)
    asked = parser.parse_args()
    wanted = [one for one in sources(None) if any(word in one.name for word in asked.only)]
    table = [row for one in wanted for row in lines(one, asked.events, asked.effort)]
    heads = ("recording", "effort", "over n", "bytes to set", "plan")
    console.print_table(heads, table, width=console.WIDE)
    if asked.write:
        columns = ("recording", "effort", "events replayed over the recording's", "bytes to set")
        rows = [[cell.replace(",", "") for cell in row[:4]] for row in table]
        write_result("efforts", columns, rows, keys=2)


if __name__ == "__main__":
    main()
