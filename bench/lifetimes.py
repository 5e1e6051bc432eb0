#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What heapfit says about longer runs, judged by longer runs; docs/lasting.md has the results.

`--of` says what is judged, all of it if it does not:

    regions   the region forecast for runs 10 and 100 times as long as a recording of a synthetic
              service, against what such runs need: 20 recordings and 100 runs of each load
    kinds     the kinds found in recordings of all loads, whether the site or size that leaks is
              found, and which recordings get a region: those of a load that grows, or whose cycle
              they do not cover, should not
    programs  real programs, recorded at 1, 10 and 100 times the work in the folder --programs
    again     runs of one program and length in the folder --again: one known, the others judged
    margins   the forecast for 1 % as a margin, beside that of docs/margin.md, and what other runs
              of the program needed beyond the growth of their load: NAME-1, NAME-2, ... of the
              folders --margins (examples/second-runs/record.py makes them)

Runs and recordings have different seeds. What a run needs is the least region that serves it, by
exact replay; needs are kept in build/lifetimes, so that a judge who comes again waits less.
Programs are recorded by

    examples/second-runs/record.py --programs examples/second-runs/lengths.toml -o FOLDER

`--recordings` and `--runs` make it shorter, `--only WORD` keeps the loads and programs in whose
names the word occurs. With `--write` tables in bench/results are renewed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loads import (
    CLEAN,
    HOLD_OUT,
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
from heapfit.comparison.margin import MarginBasis, margin_for, margin_kind
from heapfit.forecast.extent import ReplayedRun
from heapfit.forecast.horizon import Forecast, LongerRuns, Refusal, expect_longer_runs
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build/lifetimes"
PLANS = {name: Plan(name, {"alignment": 8}) for name in ("tailored", "best_fit")}
JUDGED = "tailored"  # the heap of synthetic loads
TIMES = (10, 100)  # as long as the recording
CHANCES = (0.01, 0.1)  # that a run runs out of memory, as asked
LEVEL = 0.9  # the share of the runs that stay below the level a region is compared with
WILD = "wild"  # apart: no recording shows its largest block
SUMS = {
    "all but wild": SERVICES,
    "unbounded": UNBOUNDED,
    "hold-out": HOLD_OUT,
    "bounded, heavy": tuple({*SERVICES} - {*UNBOUNDED, *HOLD_OUT, WILD}),
}
FIRST_RUN = 1000  # seeds of runs; recordings have those below


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is judged."""

    recordings: int
    runs: dict[int, int]  # by how many times as long they are
    only: str
    programs: Path
    again: Path
    margins: Sequence[Path]
    write: bool

    def keep(self, names: Iterable[str]) -> list[str]:
        """The names that are judged."""
        return [name for name in names if self.only in name]


def measure_needs(load: str, times: int, count: int) -> list[int]:
    """The least region for each of `count` runs so many times as long, kept for the next time."""
    path = KEPT / f"{load}-{times}-{JUDGED}.csv"
    known = [int(line) for line in path.read_text().split()] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for run in range(len(known), count):
            events = make_events(load, times * STANDARD, FIRST_RUN + run)
            found = _engine.Trial(PLANS[JUDGED].engine(), events, 0).scan().r_safe
            assert found is not None, (load, times, run)
            known.append(found)
            print(found, file=file, flush=True)
    return known[:count]


def record(load: str, seed: int, folder: Path) -> LoadedTrace:
    """A recording of a load, of the standard length."""
    return load_trace(write_load(load, STANDARD, seed, folder / f"{load}-{seed}.parquet"))


def ask_longer_runs(loaded: LoadedTrace, kind: RecordingKind, plan: str) -> LongerRuns | Refusal:
    """What a recording says about longer runs in this heap."""
    found = loaded.trial(PLANS[plan]).scan().r_safe
    assert found is not None, (loaded.trace.path, plan)
    made = PLANS[plan]
    base = loaded.trace.base_alignment_for(made.alignment)
    run = ReplayedRun(loaded.events, loaded.events_for(made), made, base)
    return expect_longer_runs(run, found, kind)


def find_level(needs: Sequence[int]) -> int:
    """The level that 90 % of the runs stay below."""
    return sorted(needs)[max(0, round(LEVEL * len(needs)) - 1)]


@dataclass(frozen=True, slots=True)
class Regions:
    """What was forecast from recordings of a load, against what runs needed."""

    load: str
    times: int
    chance: float
    recordings: int
    regions: list[int]  # of the recordings that got one
    needs: list[int]  # of the runs

    @property
    def pairs(self) -> int:
        """A run in the region of a recording, each of each."""
        return len(self.regions) * len(self.needs)

    @property
    def out(self) -> int:
        """Pairs in which the run needs more."""
        return sum(need > region for region in self.regions for need in self.needs)

    @property
    def over_level(self) -> list[float]:
        """Regions over the level that 90 % of the runs stay below."""
        level = find_level(self.needs)
        return [region / level for region in self.regions]


REGIONS = ("load", "times as long", "recordings with a region", "runs",
           *(f"{chance:.0%} asked: out of memory, %".replace("%", " %", 1) for chance in CHANCES),
           "10 %: region over the 90 % level, median", "90th percentile")  # fmt: skip


def judge_regions(settings: Settings) -> None:
    """The region forecast for longer runs of services, against what such runs need."""
    found: list[Regions] = []
    rows = []
    for load in settings.keep(SERVICES):
        of_load = forecast_load(load, settings)
        rows += [region_row(load, [one for one in of_load if one.times == n]) for n in TIMES]
        print_table(REGIONS, rows[-len(TIMES) :])
        found += of_load if load != WILD else []
    for times in TIMES:
        for name, loads in SUMS.items():
            chosen = [one for one in found if one.times == times and one.load in loads]
            rows += [region_row(name, chosen)] if chosen else []
    print_table(REGIONS, rows)
    if settings.write:
        write_result("lifetimes-regions", REGIONS, rows, keys=2)


def region_row(name: str, found: Sequence[Regions]) -> tuple[object, ...]:
    """A row for all loads in `found`, of one length of runs."""
    outs = []
    for chance in CHANCES:
        asked = [one for one in found if one.chance == chance]
        pairs = sum(one.pairs for one in asked)
        outs.append(f"{100 * sum(one.out for one in asked) / max(pairs, 1):.1f}")
    over = sorted(over for one in asked for over in one.over_level) or [0.0]
    given = sum(len(one.regions) for one in asked)
    return (
        *(name, found[0].times, f"{given} of {sum(one.recordings for one in asked)}"),
        *(sum(len(one.needs) for one in asked), *outs),
        *(f"{statistics.median(over):.3f}", f"{over[round(0.9 * (len(over) - 1))]:.3f}"),
    )


def forecast_load(load: str, settings: Settings) -> list[Regions]:
    """All lengths and chances for recordings of one load."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = [record(load, seed, Path(folder)) for seed in range(settings.recordings)]
        found = [ask_longer_runs(one, find_kind(one.trace, one.profile), JUDGED) for one in loaded]
    expected = [longer for longer in found if isinstance(longer, LongerRuns)]
    return [
        Regions(
            *(load, times, chance, settings.recordings),
            [region_of(one.forecast(times, chance)) for one in expected],
            measure_needs(load, times, settings.runs[times]),
        )
        for times in TIMES
        for chance in CHANCES
    ]


def region_of(forecast: Forecast | Refusal) -> int:
    assert isinstance(forecast, Forecast), forecast
    return forecast.region


KINDS = ("load", "recordings", *(kind.value for kind in Kind), "its part found", "regions")


def judge_kinds(settings: Settings) -> None:
    """Kinds of recordings of loads, the part that grows, and whether longer runs get a region."""
    rows = []
    for load in settings.keep((*SERVICES, *NOT_STEADY)):
        with tempfile.TemporaryDirectory() as folder:
            found = [judge_kind(load, seed, Path(folder)) for seed in range(settings.recordings)]
        kinds = Counter(kind.kind for kind, _ in found)
        parts = sum(has_part(load, kind) for kind, _ in found) if load in LEAKS else "-"
        regions = sum(is_named for _, is_named in found)
        rows.append((load, len(found), *(kinds[kind] for kind in Kind), parts, regions))
        print_table(KINDS, rows[-1:])
        if load in CLEAN:
            print(f"falsely growing: {kinds[Kind.GROWING]} of {len(found)}")
    if settings.write:
        write_result("lifetimes-kinds", KINDS, rows)


LEAKS = {"leak_site": ("site", LEAK_SITE), "leak_size": ("size", 50)}  # family and name


def judge_kind(load: str, seed: int, folder: Path) -> tuple[RecordingKind, bool]:
    """The kind of a recording, and whether longer runs get a region."""
    loaded = record(load, seed, folder)
    kind = find_kind(loaded.trace, loaded.profile)
    expected = ask_longer_runs(loaded, kind, "tailored")
    loaded.trace.path.unlink()
    return kind, isinstance(expected, LongerRuns)


def has_part(load: str, kind: RecordingKind) -> bool:
    """True if the site or size that leaks is among the parts that grow."""
    return LEAKS[load] in {(part.family, part.name) for part in kind.growth}


PROGRAMS = ("program", "work", "events", "kind", "10 x: region for 10 %", "needed by 10 x",
            "100 x: region for 10 %", "needed by 100 x")  # fmt: skip


def judge_programs(settings: Settings) -> None:
    """Real programs: the region forecast from the shorter runs against what longer ones need."""
    rows: list[tuple[object, ...]] = []
    for first in sorted(settings.programs.glob("*-1.parquet")):
        if settings.only in first.stem:
            rows += forecast_program(first)
            print_table(PROGRAMS, rows[-2:])
    if settings.write:
        write_result("lifetimes-programs", PROGRAMS, rows, keys=2)


def forecast_program(first: Path) -> Iterator[tuple[object, ...]]:
    """A row of each recording that another one is 10 times, or 100 times as long as."""
    name = first.stem.removesuffix("-1")
    runs = [load_trace(Trace.open(first.with_name(f"{name}-{i}.parquet"))) for i in (1, 2, 3)]
    needs = [run.trial(PLANS["tailored"]).scan().r_safe or 0 for run in runs]
    for number, run in enumerate(runs[:-1]):
        kind = find_kind(run.trace, run.profile)
        expected = ask_longer_runs(run, kind, "tailored")
        cells = [
            (region_of(expected.forecast(times, CHANCES[1])), need)
            if isinstance(expected, LongerRuns)
            else ("-", need)
            for times, need in zip(TIMES, needs[number + 1 :], strict=False)
        ]
        cells += [("", "")] * (len(TIMES) - len(cells))
        work = 10**number
        yield name, work, run.trace.info.events, kind.kind.value, *cells[0], *cells[1]


AGAIN = ("heap", "runs", "recordings with a region", "pairs out of memory", "pairs",
         "1 %: region over the most needed: median", "worst", "out of memory with the margin",
         "with it, over the most needed")  # fmt: skip


def judge_again(settings: Settings) -> None:
    """Runs of one program and length: the region for 1 % from each alone against the others."""
    runs = [load_trace(Trace.open(path)) for path in sorted(settings.again.glob("*.parquet"))]
    rows = [again_row(heap, runs) for heap in settings.keep(PLANS)]
    print_table(AGAIN, rows)
    if settings.write:
        write_result("lifetimes-again", AGAIN, rows)


def again_row(heap: str, runs: Sequence[LoadedTrace]) -> tuple[object, ...]:
    """What became of each run in the regions forecast from the others."""
    needs = [run.trial(PLANS[heap]).scan().r_safe or 0 for run in runs]
    kind = margin_kind(PLANS[heap], is_trained=False)
    regions, with_margin = {}, {}
    for number, run in enumerate(runs):
        expected = ask_longer_runs(run, find_kind(run.trace, run.profile), heap)
        if isinstance(expected, LongerRuns):
            regions[number] = region_of(expected.forecast(1, CHANCES[0]))
        margin = margin_for(MarginBasis(1, run.profile.u_max, kind))
        with_margin[number] = round(needs[number] * (1 + margin / 100))
    over = sorted(region / max(needs) for region in regions.values()) or [0]
    pairs = len(regions) * (len(runs) - 1)
    return (
        heap,
        len(runs),
        len(regions),
        count_out(needs, regions),
        pairs,
        f"{statistics.median(over):.3f}",
        f"{over[-1]:.3f}",
        count_out(needs, with_margin),
        f"{statistics.median(with_margin.values()) / max(needs):.3f}",
    )


def count_out(needs: Sequence[int], regions: Mapping[int, int]) -> int:
    """How often one run needs more than the region that another one names."""
    return sum(
        need > region
        for number, region in regions.items()
        for other, need in enumerate(needs)
        if other != number
    )


MARGINS = (
    "program, heap",
    "recordings",
    "with a region",
    "live bytes: most",
    "margin of the table, %",
    "forecast for 1 %: least, %",
    "most, %",
    "needed beyond growth: most, %",
    "pairs",
    "above the forecast",
    "above the table",
)


def judge_margins(settings: Settings) -> None:
    """The forecast of one recording as its margin, judged by the program's other runs."""
    found = []
    for folder in settings.margins:
        names = sorted({path.stem.rpartition("-")[0] for path in folder.glob("*-[0-9].parquet")})
        for name in settings.keep(names):
            paths = sorted(folder.glob(f"{name}-[0-9].parquet"))
            runs = [load_trace(Trace.open(path)) for path in paths]
            found += [row for heap in PLANS if (row := margin_row(name, heap, runs))]
    print_table(MARGINS, found)
    if settings.write:
        write_result("lifetimes-margins", MARGINS, found)


def margin_row(name: str, heap: str, runs: Sequence[LoadedTrace]) -> tuple[object, ...] | None:
    """What the forecasts of a program's recordings are as margins; None if there is no forecast."""
    needs = [run.trial(PLANS[heap]).scan().r_safe or 0 for run in runs]
    kind = margin_kind(PLANS[heap], is_trained=False)
    margins, tables, needed, over = [], [], [], []
    for run, need in zip(runs, needs, strict=True):
        expected = ask_longer_runs(run, find_kind(run.trace, run.profile), heap)
        if isinstance(expected, Refusal):
            continue
        margins.append(100 * (region_of(expected.forecast(1, CHANCES[0])) / need - 1))
        tables.append(margin_for(MarginBasis(1, run.profile.u_max, kind)))
        for other, its_need in zip(runs, needs, strict=True):
            if other is not run:
                growth = max(1, other.profile.u_max / run.profile.u_max)
                needed.append(100 * (its_need / need / growth - 1))
                over.append((needed[-1] > margins[-1], needed[-1] > tables[-1]))
    if not margins or not needed:
        return None
    return (
        f"{name}, {heap}",
        len(runs),
        len(margins),
        max(run.profile.u_max for run in runs),
        max(tables),
        *(f"{figure:.1f}" for figure in (min(margins), max(margins), max(needed))),
        len(needed),
        *(sum(column) for column in zip(*over, strict=True)),
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    console.print_table(columns, [[str(cell) for cell in row] for row in rows], width=console.WIDE)


PARTS = {
    "regions": judge_regions,
    "kinds": judge_kinds,
    "programs": judge_programs,
    "again": judge_again,
    "margins": judge_margins,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", nargs="+", choices=PARTS, default=[*PARTS], help="what to judge")
    parser.add_argument("--recordings", type=int, default=20, help="of each load")
    parser.add_argument(
        "--runs", type=int, nargs=2, default=[100, 100], help="of each load, 10 and 100 x as long"
    )
    parser.add_argument("--programs", type=Path, default=KEPT / "programs", help="a folder")
    parser.add_argument("--again", type=Path, default=KEPT / "again", help="likewise")
    parser.add_argument(
        "--margins", type=Path, nargs="+", default=[KEPT / "margins"], help="folders"
    )
    parser.add_argument("--only", default="", help="names in which this word occurs")
    add_option(parser)
    asked = parser.parse_args()
    runs = dict(zip(TIMES, asked.runs, strict=True))
    settings = Settings(
        asked.recordings,
        runs,
        asked.only,
        asked.programs,
        asked.again,
        asked.margins,
        asked.write,
    )
    for part in asked.of:
        PARTS[part](settings)


if __name__ == "__main__":
    main()
