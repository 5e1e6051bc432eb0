#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sizes to set, now and for longer runs, judged by such runs; docs/evidence/margin.md has it.

`--of` says what is judged, all of it if it does not:

    loads     recordings of synthetic services, alone and eight together, against runs as long, 10
              and 100 times as long: in the bytes told for 99 of 100 and 9 of 10 how many run out
    short     the same of one recording alone, of fewer events, against runs as long
    kinds     the kinds found in recordings of all loads, and whether what leaks is found
    programs  real programs, recorded at 1, 10 and 100 times the work in the folder --programs
    pairs     two runs of each program in the folder --pairs, NAME-1.parquet and NAME-2.parquet: the
              size from one against the other, with and without the growth of its peak
    again     runs of examples/firmware, in its three systems: the size from some of them against 30
              others, in tailored and in heap_4; what is missing in the folder --again is recorded

Runs and recordings have different seeds. What a run needs is the least region that serves it in
`tailored`, by exact replay; needs are kept in build/reserves, so that a judge who comes again waits
less. Programs are recorded by

    examples/second-runs/record.py --programs examples/second-runs/lengths.toml -o FOLDER

`--recordings` and `--runs` make it shorter, `--only WORD` keeps the loads and programs in whose
names the word occurs. With `--write` tables in bench/results are renewed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from board_region import PLENTY, SYSTEMS, make
from firmware import COUNTED, SECONDS
from loads import LEAK_SITE, NOT_STEADY, SERVICES, STANDARD, make_events, write_load
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import (
    SMALL_PEAK,
    MarginBasis,
    MarginKind,
    heap_size,
    margin_for,
    margin_kind,
)
from heapfit.forecast.kind import Kind, find_kind
from heapfit.forecast.load import OWN_RUNS, RARE, USUAL, Load
from heapfit.importers.target_log import Emulation, record_emulated
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build/reserves"
ALIGNMENT = 8
PLAN = Plan("tailored", {"alignment": ALIGNMENT})
TIMES = (1, 10, 100)  # as long as the recording
CHANCES = {RARE: 1.0, USUAL: 0.9}  # and the share of the runs whose level the bytes are told over
APART = ("waves", "wild")  # a level that wanders; one block as large as all others together
FIRST_RUN = 1000  # seeds of runs; recordings have those below


@dataclass(frozen=True, slots=True)
class Settings:
    """How much is judged."""

    recordings: int
    runs: dict[int, int]  # by how many times as long they are
    only: str
    programs: Path
    pairs: Path
    again: Path
    seeds: range  # of the firmware's runs
    write: bool

    def keep(self, names: Iterable[str]) -> list[str]:
        """The names that are judged."""
        return [name for name in names if self.only in name]


@dataclass(frozen=True, slots=True)
class Judged:
    """The bytes told for runs of one length, against what such runs needed."""

    out: int = 0
    pairs: int = 0
    over: list[float] = field(default_factory=list)  # bytes over the level of their share of runs

    def __add__(self, other: Judged) -> Judged:
        return Judged(self.out + other.out, self.pairs + other.pairs, self.over + other.over)

    def cells(self) -> tuple[str, ...]:
        """How many ran out, and the bytes over the level in the median and the 90th percentile."""
        ordered = sorted(self.over)
        high = ordered[round(0.9 * (len(ordered) - 1))]
        return f"{self.out} of {self.pairs}", f"{statistics.median(ordered):.3f}", f"{high:.3f}"


def judge(told: int, needs: Sequence[int], share: float) -> Judged:
    """One answer, by all runs."""
    level = sorted(needs)[max(0, round(share * len(needs)) - 1)]
    return Judged(sum(need > told for need in needs), len(needs), [told / level])


def measure_needs(load: str, events: int, count: int) -> list[int]:
    """The least region for each of `count` runs of so many events, kept for the next time."""
    path = KEPT / f"{load}-{events}.csv"
    known = [int(line) for line in path.read_text().split()] if path.exists() else []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for run in range(len(known), count):
            found = need_of(make_events(load, events, FIRST_RUN + run))
            known.append(found)
            print(found, file=file, flush=True)
    return known[:count]


def need_of(events: _engine.EventArray) -> int:
    """R_safe of a run."""
    found = _engine.Trial(PLAN.engine(), events, 0).scan().r_safe
    assert found is not None, "some region serves every load"
    return found


def record(load: str, seed: int, folder: Path, events: int = STANDARD) -> LoadedTrace:
    """A recording of a load."""
    return load_trace(write_load(load, events, seed, folder / f"{load}-{seed}.parquet"))


def tell(
    runs: Sequence[LoadedTrace],
    needs: Sequence[int],
    times: int,
    chance: float,
    kind: MarginKind = MarginKind.PLAIN,
) -> int:
    """The bytes told for runs `times` as long, from these recordings."""
    known = MarginBasis(Load.of([one.profile for one in runs]), kind)
    return heap_size(max(needs), known, margin=margin_for(known, times, chance)).region


LOADS = (
    "recordings",
    "runs",
    *("ran out of the bytes for 99 of 100", "over the most needed, median", "90th percentile"),
    *("for 9 of 10", "over the level of 90 %, median", "90th percentile"),
)


def judge_loads(settings: Settings) -> None:
    """The size that is set, and those told for longer runs, by one recording and by eight."""
    rows: list[tuple[object, ...]] = []
    sums: dict[tuple[int, int], list[Judged]] = {}
    for load in settings.keep(SERVICES):
        for (known, times), found in judge_load(load, settings).items():
            rows.append(row_of(f"{load}, {known} known", times, found))
            if load not in APART:
                before = sums.setdefault((known, times), [Judged(), Judged()])
                sums[known, times] = [a + b for a, b in zip(before, found, strict=True)]
        print_table(LOADS, rows[-2 * len(TIMES) :])
    name = f"all but {' and '.join(APART)}"
    rows += [row_of(f"{name}, {known} known", times, one) for (known, times), one in sums.items()]
    print_table(LOADS, rows)
    if settings.write:
        write_result("reserves-loads", LOADS, rows, keys=2)


def judge_load(load: str, settings: Settings) -> dict[tuple[int, int], list[Judged]]:
    """By the number of known recordings and the length of runs: the bytes told for each chance."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = [record(load, seed, Path(folder)) for seed in range(settings.recordings)]
    own = [need_of(one.events) for one in loaded]
    judged = {}
    for known in (1, OWN_RUNS):
        starts = range(0, len(loaded) - known + 1, known)
        for times in TIMES:
            needs = measure_needs(load, times * STANDARD, settings.runs[times])
            parts = [(loaded[i : i + known], own[i : i + known]) for i in starts]
            judged[known, times] = [
                sum((judge(tell(*part, times, chance), needs, share) for part in parts), Judged())
                for chance, share in CHANCES.items()
            ]
    return judged


SHORT = ("events", *LOADS[2:5], "most of a load", " and ".join(APART))


def judge_short(settings: Settings) -> None:
    """The size set by one recording of fewer events, against runs as long."""
    rows: list[tuple[object, ...]] = []
    for events in (STANDARD // 16, STANDARD // 8, STANDARD // 4, STANDARD // 2, STANDARD):
        found = {one: judge_length(one, events, settings) for one in SERVICES}
        apart = sum((found.pop(one) for one in APART), Judged())
        most, load = max((one.out / one.pairs, load) for load, one in found.items())
        told = sum(found.values(), Judged()).cells()
        rows.append((f"{events:,}", *told, f"{load}, {most:.1%}", apart.cells()[0]))
        print_table(SHORT, rows[-1:])
    if settings.write:
        write_result("reserves-short", SHORT, rows)


def judge_length(load: str, events: int, settings: Settings) -> Judged:
    """Each recording of so many events, known alone, by all runs as long."""
    with tempfile.TemporaryDirectory() as folder:
        known = [record(load, seed, Path(folder), events) for seed in range(settings.recordings)]
    needs = measure_needs(load, events, settings.runs[1])
    told = (tell([one], [need_of(one.events)], 1, RARE) for one in known)
    return sum((judge(one, needs, CHANCES[RARE]) for one in told), Judged())


def row_of(name: str, times: int, found: Sequence[Judged]) -> tuple[object, ...]:
    return (name, f"{times} x as long", *(cell for one in found for cell in one.cells()))


KINDS = ("load", "recordings", *(kind.value for kind in Kind), "its part found")
LEAKS = {"leak_site": ("site", LEAK_SITE), "leak_size": ("size", 50)}  # family and name


def judge_kinds(settings: Settings) -> None:
    """Kinds of recordings of loads, and the part that grows."""
    rows = []
    for load in settings.keep((*SERVICES, *NOT_STEADY)):
        with tempfile.TemporaryDirectory() as folder:
            found = [
                find_kind(one.trace, one.profile)
                for one in (record(load, seed, Path(folder)) for seed in range(settings.recordings))
            ]
        kinds = Counter(one.kind for one in found)
        parts = [{(part.family, part.name) for part in one.growth} for one in found]
        hits = sum(LEAKS[load] in one for one in parts) if load in LEAKS else "-"
        rows.append((load, len(found), *(kinds[kind] for kind in Kind), hits))
        print_table(KINDS, rows[-1:])
    if settings.write:
        write_result("reserves-kinds", KINDS, rows)


PROGRAMS = ("program", "work", "events", "kind", "10 x: told for 99 of 100", "needed by 10 x",
            "100 x: told for 99 of 100", "needed by 100 x")  # fmt: skip


def judge_programs(settings: Settings) -> None:
    """Real programs: the bytes told from the shorter runs against what longer ones need."""
    rows: list[tuple[object, ...]] = []
    for first in sorted(settings.programs.glob("*-1.parquet")):
        if settings.only in first.stem:
            rows += judge_program(first)
            print_table(PROGRAMS, rows[-2:])
    if settings.write:
        write_result("reserves-programs", PROGRAMS, rows, keys=2)


def judge_program(first: Path) -> Iterator[tuple[object, ...]]:
    """A row of each recording that another one is 10 times, or 100 times as long as."""
    name = first.stem.removesuffix("-1")
    runs = [load_trace(Trace.open(first.with_name(f"{name}-{i}.parquet"))) for i in (1, 2, 3)]
    needs = [need_of(run.events) for run in runs]
    for number, run in enumerate(runs[:-1]):
        kind = find_kind(run.trace, run.profile).kind
        cells: list[tuple[object, object]] = [
            (tell([run], [needs[number]], times, RARE), need)
            for times, need in zip(TIMES[1:], needs[number + 1 :], strict=False)
        ]
        cells += [("", "")] * (2 - len(cells))
        yield name, 10**number, run.trace.info.events, kind.value, *cells[0], *cells[1]


PAIRS = ("size from one of two runs", "pairs", "ran out beyond the growth of the peak",
         "size over the need of both, median", "worst", "by")  # fmt: skip


def judge_pairs(settings: Settings) -> None:
    """Two runs of each program, each known once: jobs and services whose inputs differ."""
    found: dict[str, list[tuple[bool, float, str]]] = {"small": [], "large": []}
    for first in sorted(settings.pairs.glob("*-1.parquet")):
        name = first.stem.removesuffix("-1")
        paths = (first, first.with_name(f"{name}-2.parquet")) if settings.only in name else ()
        runs = [load_trace(Trace.open(path)) for path in paths]
        needs = [need_of(run.events) for run in runs]
        for known, other in ((0, 1), (1, 0)) if runs else ():
            basis = MarginBasis(Load.of([runs[known].profile]), MarginKind.PLAIN)
            size = heap_size(needs[known], basis)
            grown = heap_size(needs[known], basis, runs[other].profile.u_max)
            group = found["small" if basis.load.u_max < SMALL_PEAK else "large"]
            group.append((needs[other] > grown.region, size.region / max(needs), name))
    rows = [
        (f"peak {'below' if group == 'small' else 'from'} 64 KiB", len(pairs),
         sum(is_out for is_out, _, _ in pairs),
         f"{statistics.median(over for _, over, _ in pairs):.3f}",
         *max((f"{over:.3f}", name) for _, over, name in pairs))
        for group, pairs in found.items() if pairs
    ]  # fmt: skip
    print_table(PAIRS, rows)
    if settings.write:
        write_result("reserves-pairs", PAIRS, rows)


AGAIN = ("system", "heap", "known", "draws", *LOADS[2:5], "within 1.08, at most 1 out")
AGAIN_KNOWN = (1, 4, OWN_RUNS, 10)
MOST_OVER, OTHERS = 1.08, 30  # of the most that so many others need


def judge_again(settings: Settings) -> None:
    """Firmware: the size from each choice of some runs against the runs that come next."""
    rows: list[tuple[object, ...]] = []
    for system in settings.keep(SYSTEMS):
        runs = [*record_firmware(system, settings)]
        for name in ("tailored", "heap_4"):
            heap = find_heap(name, ALIGNMENT)
            needs = [measure(heap, [run]).require_most() for run in runs]
            rows += [(system, name, *judge_draws(runs, needs, heap, one)) for one in AGAIN_KNOWN]
            print_table(AGAIN, rows[-len(AGAIN_KNOWN) :])
    if settings.write:
        write_result("reserves-again", AGAIN, rows, keys=3)


def record_firmware(system: str, settings: Settings) -> Iterator[LoadedTrace]:
    """Its runs, over its own heap in more than it needs; kept for the next time."""
    settings.again.mkdir(parents=True, exist_ok=True)
    paths = {seed: settings.again / f"{system}-{seed}.parquet" for seed in settings.seeds}
    with tempfile.TemporaryDirectory() as folder:
        if any(not path.exists() for path in paths.values()):
            image = make(Path(folder), system, PLENTY)
        for seed, path in paths.items():
            if not path.exists():
                how = Emulation(image, (str(seed), SECONDS), machine=COUNTED, is_heard=False)
                record_emulated(how, path)
            yield load_trace(Trace.open(path))


def judge_draws(
    runs: Sequence[LoadedTrace], needs: Sequence[int], heap: Heap, known: int
) -> tuple[object, ...]:
    """Known runs that follow one another, from each on, and the OTHERS behind them."""
    judged, within = Judged(), 0
    for first in range(len(runs)):
        turn = [(first + i) % len(runs) for i in range(len(runs))]
        chosen, others = turn[:known], turn[known : known + OTHERS]
        kind = margin_kind(heap.plan, False)
        told = tell([runs[i] for i in chosen], [needs[i] for i in chosen], 1, RARE, kind)
        one = judge(told, [needs[i] for i in others], 1.0)
        within += one.out <= 1 and one.over[0] <= MOST_OVER
        judged += one
    return known, len(runs), *judged.cells(), within


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    console.print_table(columns, [[str(cell) for cell in row] for row in rows], width=console.WIDE)


PARTS = {
    "loads": judge_loads,
    "short": judge_short,
    "kinds": judge_kinds,
    "programs": judge_programs,
    "pairs": judge_pairs,
    "again": judge_again,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", nargs="+", choices=PARTS, default=[*PARTS], help="what to judge")
    parser.add_argument("--recordings", type=int, default=16, help="of each load")
    parser.add_argument(
        "--runs", type=int, nargs=3, default=[40, 20, 4], help="of each load and length"
    )
    parser.add_argument("--programs", type=Path, default=KEPT / "programs", help="a folder")
    parser.add_argument("--pairs", type=Path, default=KEPT / "pairs", help="likewise")
    parser.add_argument("--again", type=Path, default=KEPT / "again", help="likewise")
    parser.add_argument("--seeds", type=int, default=40, help="of the firmware's runs")
    parser.add_argument("--only", default="", help="names in which this word occurs")
    add_option(parser)
    asked = parser.parse_args()
    runs = dict(zip(TIMES, asked.runs, strict=True))
    folders = (asked.programs, asked.pairs, asked.again)
    seeds = range(FIRST_RUN, FIRST_RUN + asked.seeds)
    settings = Settings(asked.recordings, runs, asked.only, *folders, seeds, asked.write)
    for part in asked.of:
        PARTS[part](settings)


if __name__ == "__main__":
    main()
