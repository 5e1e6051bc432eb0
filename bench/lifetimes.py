#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What heapfit says about longer runs, judged by longer runs; docs/lasting.md has the results.

`--of` says what is judged, all of it if it does not:

    regions   the region forecast for runs 10 and 100 times as long as a recording of a synthetic
              service, against what such runs need: 20 recordings and 100 runs of each load
    answers   which recordings get a number: steady ones should, ones with growth or a cycle that
              the recording does not cover should not
    growth    leaks found, and clean recordings called growing
    kinds     tests/python/kinds.tsv: the kind found for recordings judged by eye
    programs  real programs, recorded at 1, 10 and 100 times the work

Runs and recordings have different seeds. What a run needs is the least region that serves it, by
exact replay; needs are kept in build/lifetimes, so that a judge who comes again waits less.
`--recordings` and `--runs` make it shorter, `--only WORD` keeps the loads and programs in whose
names the word occurs. With `--write` tables in bench/results are renewed.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loads import (
    CLEAN,
    LEAK_SITE,
    NOT_STEADY,
    SERVICES,
    STANDARD,
    UNBOUNDED,
    make_events,
    write_load,
)
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build/lifetimes"
PLANS = {name: Plan(name, {"alignment": 8}) for name in ("tailored", "best_fit")}
TIMES = (10, 100)  # as long as a recording
CHANCES = (0.01, 0.1)  # that a run runs out of memory, as asked
LEVEL = 0.9  # the share of the runs that stay below the level a region is compared with
FIRST_RUN = 1000  # seeds of runs; recordings have those below


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is judged."""

    recordings: int
    runs: int
    only: str
    write: bool

    def keep(self, names: Iterable[str]) -> list[str]:
        """The names that are judged."""
        return [name for name in names if self.only in name]


def measure_needs(load: str, times: int, plan: str, count: int) -> list[int]:
    """The least region for each of `count` runs so many times as long, kept for the next time."""
    path = KEPT / f"{load}-{times}-{plan}.csv"
    known = [int(line) for line in path.read_text().split()] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for run in range(len(known), count):
            events = make_events(load, times * STANDARD, FIRST_RUN + run)
            found = _engine.Trial(PLANS[plan].engine(), events, 0).scan().r_safe
            assert found is not None, (load, times, plan, run)
            known.append(found)
            print(found, file=file, flush=True)
    return known[:count]


def record(load: str, seed: int, folder: Path) -> LoadedTrace:
    """A recording of a load, of the standard length."""
    return load_trace(write_load(load, STANDARD, seed, folder / f"{load}-{seed}.parquet"))


def find_level(needs: Sequence[int]) -> int:
    """The level that 90 % of the runs stay below."""
    return sorted(needs)[max(0, round(LEVEL * len(needs)) - 1)]
