# SPDX-License-Identifier: Apache-2.0
"""What one `fit` replays: events over those of the recording, by what they were replayed for.

With HEAPFIT_CORPUS set the recordings are five of its own, else the product's examples. Each is
cut to its first `--events`; `--only WORD` keeps those in whose name the word occurs. Counts are
equal on every machine. `every 8 B`: the trial of each region of the few rows that may win, told
apart. `--plans` prints each row's regions as well, to be compared with another version's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.cli.printing import console
from heapfit.comparison.work import BLOCKS_AN_EVENT
from heapfit.fitting.fit import fit
from heapfit.fitting.result import Fit
from heapfit.importers import ImportOptions, open_any
from heapfit.results.fit_page import write_report
from heapfit.trace.stored import COLUMNS, Trace, write_trace
from heapfit.trace.table_file import Columns

STANDARD_EVENTS = 100_000
RECORDINGS = ("redis-bench", "lua-words-b", "lwip32-ram-b", "mosquitto-broker", "gcc-cc1-O2")
EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Fitted:
    """One recording's answer and what it took."""

    name: str
    events: int
    fit: Fit

    def over(self, events: int) -> float:
        return round(events / max(self.events, 1), 1)


def sources(names: list[str] | None) -> list[Path]:
    """The recordings asked for, of the corpus; else the examples."""
    corpus = os.environ.get("HEAPFIT_CORPUS")
    if corpus is None:
        return sorted(EXAMPLES.glob("*/*.parquet"))
    folder = Path(corpus) / "heap"
    wanted = names or [path.name.removesuffix(".heap.gz") for path in folder.glob("*.heap.gz")]
    return [folder / f"{name}.heap.gz" for name in sorted(wanted)]


def cut(trace: Trace, events: int, path: Path) -> Trace:
    """The first events of a trace as one of its own."""

    def columns() -> Iterator[Columns]:
        left = events
        for batch in trace.batches(list(COLUMNS)):
            part = {name: values[:left] for name, values in batch.items()}
            left -= len(part["op"])
            yield part

    return write_trace(path, columns(), trace.info)


def fitted(source: Path, events: int) -> Fitted:
    """As `heapfit fit` does it."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        name = source.name.split(".")[0]
        trace = open_any(source, ImportOptions(), Path(folder))
        if trace.info.events > events:
            trace = cut(trace, events, Path(folder) / "cut.parquet")
        return Fitted(
            name,
            trace.info.events,
            fit([trace.path], Path(folder) / "out", write_page=write_report),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=STANDARD_EVENTS)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="every recording of the corpus")
    parser.add_argument("--plans", action="store_true")
    asked = parser.parse_args()
    wanted = sources(None if asked.all else list(RECORDINGS))
    table = []
    for source in wanted:
        if asked.only not in source.name:
            continue
        one = fitted(source, asked.events)
        work = one.fit.work
        parts = [work.plans, work.regions, work.beside, work.judged, work.metered]
        parts.append(work.walked // BLOCKS_AN_EVENT)
        shown = [f"{one.over(part):,.1f}" for part in (*parts, work.every_size, work.events)]
        table.append([one.name, f"{one.events:,}", *shown, one.fit.winner.name])
        for row in one.fit.comparison.rows if asked.plans else ():
            print(one.name, row.name, row.r_safe, one.over(row.work.events), sep="\t", flush=True)
    parts_told = ("plans", "regions", "beside", "judged", "metered", "walks", "every 8 B", "all")
    heads = ("recording", "events", *parts_told, "winner")
    console.print_table(heads, table, width=console.WIDE)


if __name__ == "__main__":
    main()
