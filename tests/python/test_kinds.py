# SPDX-License-Identifier: Apache-2.0
"""Kinds of recordings, as judged by eye and on synthetic loads; windows that a heap keeps."""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from generated_code import HERE, compile_objects, plan_file
from loads import LEAK_SITE, make_columns, write_load
from small_traces import heapfit

from heapfit.cli.printing.console import print_text
from heapfit.comparison.longer import LongerRun, LongerRuns
from heapfit.comparison.margin import HeapSize
from heapfit.design.effort import Effort
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.longer_runs import find_kinds
from heapfit.fitting.options import FitOptions
from heapfit.forecast.filling import describe_filling, describe_growth
from heapfit.forecast.growth import BlockGroup, find_growth, find_joint_trend
from heapfit.forecast.horizon import parse_horizon
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.forecast.load import find_level
from heapfit.forecast.log.outlook import Finding, find_outlook
from heapfit.forecast.log.reading import read_log
from heapfit.forecast.log.states import Clock
from heapfit.forecast.period import find_lag
from heapfit.generate import GenerateOptions, generate
from heapfit.importers import ImportOptions, open_any
from heapfit.importers.record import record
from heapfit.plan.plan import Plan
from heapfit.results.fit_page import write_report
from heapfit.results.screen import first_screen
from heapfit.trace.boots import find_starts, split_starts
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).resolve().parents[2]
CORPUS = os.environ.get("HEAPFIT_CORPUS")
SEED = 11
MOST_WRONG = 4  # of the 40 recordings that were judged by eye; three of these are of the repository

CLEAN = ("steady", "walk", "heavy", "bursts", "cycle", "fill", "slotbuf")  # of loads.py: level


def judged() -> list[tuple[str, str]]:
    """The kind and the name of each recording that is there."""
    lines = Path(__file__).with_name("kinds.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    return [(kind, name) for kind, name, _ in rows if CORPUS or not name.startswith("corpus:")]


def open_judged(name: str, folder: Path) -> Trace:
    place, _, rest = name.partition(":")
    if place == "workload":
        return generate_workload(parse_workload(rest, SEED), folder / "made.parquet")
    source = Path(CORPUS or "") / rest if place == "corpus" else ROOT / name
    return open_any(source, ImportOptions(), folder)


def kind_of(trace: Trace) -> RecordingKind:
    return find_kind(trace, profile_trace(trace))


def test_kinds_are_those_that_an_eye_sees(tmp_path_factory) -> None:
    found = {
        name: (kind, kind_of(open_judged(name, tmp_path_factory.mktemp("judged"))).kind)
        for kind, name in judged()
    }
    wrong = {name: pair for name, pair in found.items() if pair[0] not in pair[1].value}
    assert len(wrong) <= MOST_WRONG, wrong
    assert not [name for name, pair in wrong.items() if pair == ("growing", Kind.SERVICE)]


@pytest.mark.parametrize("load", CLEAN)
def test_a_steady_load_does_not_grow(load: str, tmp_path: Path) -> None:
    expected = {Kind.CYCLE if load == "cycle" else Kind.SERVICE, Kind.TOO_SHORT}
    for seed in range(3):
        assert kind_of(write_load(load, 40_000, seed, tmp_path / "load.parquet")).kind in expected


def test_blocks_that_live_long_in_a_short_recording_are_no_leak(tmp_path: Path) -> None:
    """Some 200 are live of 2,500 requests; of these 36 recordings 7 were called a leak."""
    called = [
        (load, seed)
        for load in ("steady", "heavy", "wild")
        for seed in range(12)
        if kind_of(write_load(load, 5_000, seed, tmp_path / "load.parquet")).is_leak
    ]
    assert len(called) <= 1, called


@pytest.mark.parametrize(("name", "sites"), [("gawk-1", 2), ("nasm-2", 1)])
def test_the_pace_of_all_is_not_told_of_a_site_with_a_small_part_of_it(
    name: str, sites: int
) -> None:
    """One site leaks some 5 % of what live bytes grow by; another has most, in steps.

    In nasm-2 that is one step, of a table that doubles: the leak is told with its own pace.
    """
    kind = kind_of(Trace.open(ROOT / f"examples/recordings/traces/{name}.parquet"))
    parts = [one for one in kind.growth if one.family == "site"]
    assert len(parts) == sites and kind.is_leak == (sites == 1)
    assert kind.trend.slope > 3 * parts[-1].trend.slope > 0
    leak = f"keeps blocks: {1000 * parts[-1].trend.slope / kind.windows.events:.0f} B per 1,000"
    assert (leak in describe_growth(kind, {})) == kind.is_leak


def test_a_leak_is_named_beside_a_cache_that_fills_half_of_the_recording(tmp_path: Path) -> None:
    """140 blocks of 180 to 416 B, then replaced; each 13th request keeps 72 B for ever."""
    random, lines, cached = np.random.default_rng(6), [], []
    for number in range(520):
        at = 10 * number
        for i in range(4):
            lines += [f"a {at + i} {random.integers(16, 900)} 300 1 aa", f"f {at + i} 300 1"]
        if random.random() < 0.55:
            lines.append(f"a {at + 5} {random.integers(180, 417)} 300 1 cc")
            cached.append(at + 5)
        if len(cached) > 140:
            lines.append(f"f {cached.pop(int(random.integers(140)))} 300 1")
        if number % 13 == 0:
            lines.append(f"a {at + 6} 72 300 1 ee")
    (tmp_path / "run.heap").write_text("\n".join(lines) + "\n")
    kind = kind_of(open_any(tmp_path / "run.heap", ImportOptions(), tmp_path))
    pace = re.search(
        r"Leak: leak keeps 72 B blocks: ([\d,]+) B", describe_growth(kind, {0xEE: "leak"})
    )
    assert pace is not None
    assert float(pace[1]) == pytest.approx(40 * 72 / len(lines) * 1000, rel=0.05)


@pytest.mark.parametrize(
    ("load", "family", "name"), [("leak_site", "site", LEAK_SITE), ("leak_size", "size", 50)]
)
def test_a_leak_is_found_in_its_own_series(
    load: str, family: str, name: int, tmp_path: Path
) -> None:
    for seed in range(3):
        found = kind_of(write_load(load, 40_000, seed, tmp_path / "load.parquet"))
        assert found.kind is Kind.GROWING
        part = next(one for one in found.growth if one.family == family)
        assert part.name == name
        assert found.rate.low * 1000 < 100 < found.rate.high * 1000 + 5


def lines_of(path: Path, released: bool) -> Trace:
    """1,500 blocks of 10 B that gather, and as many of 24 B that are freed at once."""
    held = np.arange(1500, dtype=np.uint32) * 2
    steps = np.stack([np.zeros(1500), np.zeros(1500), np.full(1500, 4)], axis=1).ravel()
    objects = np.stack([held, held + 1, held + 1], axis=1).ravel()
    sizes = np.tile([10, 24, 0], 1500)
    if released:
        steps, objects = np.append(steps, np.full(1500, 4)), np.append(objects, held)
        sizes = np.append(sizes, np.zeros(1500))
    columns = {
        "op": steps.astype(np.uint8),
        "object": objects.astype(np.uint32),
        "size": sizes.astype(np.uint64),
        "time": np.arange(len(steps), dtype=np.uint64) * 1000,
    }
    return write_trace(path, [columns], TraceInfo())


def test_growth_has_its_rate_its_clock_and_what_holds_it(tmp_path: Path) -> None:
    found = kind_of(lines_of(tmp_path / "t.parquet", released=False))
    assert found.kind is Kind.GROWING
    assert [(one.family, one.name) for one in found.growth] == [("size", 10)]
    behind = 10 * int((4500 - found.windows.starts[0]) / 3)
    assert found.growth[0].held == pytest.approx(behind, abs=10)
    assert found.rate.slope * 1000 == pytest.approx(10_000 / 3, rel=0.01)
    assert found.microseconds == pytest.approx(1000, rel=0.001)


def test_the_pace_of_a_leak_is_without_a_cache_that_filled_beside_it(tmp_path: Path) -> None:
    """Of 12,000 requests every 30th leaks 100 B, and one of 60 is kept up to 100 of 92 B."""
    rows = []
    for i in range(12_000):
        size = 100 if i % 30 == 0 else 92 if i % 60 == 1 and i < 6000 else 24
        rows += [(1, i, size)] if size != 24 else [(1, i, 24), (4, i, 0)]
    op, objects, sizes = (np.array(one) for one in zip(*rows, strict=True))
    columns = {
        "op": op.astype(np.uint8),
        "object": objects.astype(np.uint32),
        "size": sizes.astype(np.uint64),
        "time": np.arange(len(rows), dtype=np.uint64),
    }
    kind = kind_of(write_trace(tmp_path / "t.parquet", [columns], TraceInfo()))
    assert kind.is_leak and [one.name for one in kind.growth] == [100]
    assert kind.rate.slope == pytest.approx(100 * 400 / len(rows), rel=0.03)


def test_what_is_gathered_and_freed_at_the_end_is_a_job(tmp_path: Path) -> None:
    lines = [
        f"a {i} {100 if i % 60 == 0 else 24}\n" + f"f {i}\n" * (i % 60 > 0) for i in range(12_000)
    ]
    ended = "".join([*lines, *(f"f {i}\n" for i in range(0, 12_000, 60))])  # by 1 % of its events
    (tmp_path / "quick.heap").write_text(ended)
    lost = [f"a {i} {64 if i % 5 == 0 else 100}\n" for i in range(3_000)]
    lost += [  # some half of its events
        f"f {i}\n" if i % 5 > 0 else f"a {3_000 + i} 64\n" for i in range(3_000)
    ]
    (tmp_path / "lost.heap").write_text("".join(lost))
    for trace, kept in (
        (lines_of(tmp_path / "t.parquet", released=True), []),
        (open_any(tmp_path / "quick.heap", ImportOptions(), tmp_path), []),
        (open_any(tmp_path / "lost.heap", ImportOptions(), tmp_path), [64]),
    ):
        found = kind_of(trace)
        assert found.kind is Kind.JOB
        assert [one.name for one in found.growth] == kept


def test_requests_that_grow_by_a_third_grow_and_a_batch_does_not(tmp_path: Path) -> None:
    found = []
    for seed, more in [(1, 0.35), (2, 0.35), (3, 0.35), (1, 0.0), (2, 0.0), (3, 0.0)]:
        made = make_columns("steady", 40_000, seed)
        made["size"] = (made["size"] * np.linspace(1, 1 + more, len(made["size"]))).astype(
            np.uint64
        )
        found.append(kind_of(write_trace(tmp_path / "t.parquet", [made], TraceInfo())).kind)
    assert found[:3] == [Kind.GROWING] * 3 and Kind.GROWING not in found[3:]
    kept = {name: one[made["op"] == ALLOC] for name, one in made.items()}
    assert kind_of(write_trace(tmp_path / "t.parquet", [kept], TraceInfo())).kind is Kind.JOB


WRAPPED = """
#include <stdlib.h>
static inline __attribute__((always_inline)) char *allocated(size_t size) {
    char *volatile block = malloc(size);
    return block;
}
__attribute__((noinline)) void gather(void) {
    (void)allocated(48);
}
__attribute__((noinline)) void work(int size) {
    free(allocated(16 + size % 500));
}
int main(void) {
    for (int i = 0; i < 3000; i++) {
        work(i * 37);
        if (i % 10 == 0) {
            gather();
        }
    }
}
"""


def test_what_grows_is_named_by_the_caller_of_a_wrapper(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "wrapped.c").write_text(WRAPPED)
    build = ["cc", "-g", "-O1", "wrapped.c", "-o", "wrapped"]
    subprocess.run(build, cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    trace = record(["./wrapped"], tmp_path / "wrapped.parquet").trace
    profile = profile_trace(trace)
    size = HeapSize(r_safe=2 * profile.u_max, u_max=profile.u_max, peak=profile.u_max, margin=100)
    found = find_kinds([(trace, profile)], trace, "tlsf", size, [tmp_path / "wrapped"])
    growth, filling = found.growth
    assert growth.startswith("Leak: gather, wrapped.c:8 keeps 48 B blocks: ")
    assert " a day" not in growth  # it ran for some milliseconds
    assert filling.startswith(f"A heap of {size.region:,} B (tlsf) is full about 12,")
    shown = heapfit("profile", "wrapped.parquet", folder=tmp_path).stdout
    assert "Leak: gather, wrapped.c:8 keeps 48 B blocks: " in shown


def test_other_runs_fill_the_heap_within_the_time_that_is_told(tmp_path: Path) -> None:
    kind = kind_of(write_load("leak_site", 40_000, 1, tmp_path / "load.parquet"))
    peak = kind.profile.u_max
    told = describe_filling(
        replace(kind, microseconds=0), "tlsf", peak * 6 // 5, peak=peak, need=peak
    )
    _, about, soonest, latest = (
        int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", told)[:4]
    )
    assert soonest < about < latest < 5 * soonest
    inside = 0
    for seed in range(2, 6):
        made = make_columns("leak_site", 600_000, seed)
        sizes = np.zeros(len(made["op"]), np.int64)
        np.maximum.at(sizes, made["object"], made["size"].astype(np.int64))
        live = np.cumsum(np.where(made["op"] == ALLOC, 1, -1) * sizes[made["object"]])
        inside += soonest <= int(np.argmax(live > peak * 6 // 5)) <= latest
    assert inside >= 3


def test_a_horizon_holds_what_grows_with_its_headers_and_is_not_full_before(tmp_path: Path) -> None:
    """Of every 20 requests one stays, of 20 B: 400 of them, and 19 x 400 more."""

    def write(requests: int) -> Trace:
        random, events = np.random.default_rng(1), []
        for name in range(requests):
            size = 20 if name % 20 == 0 else 16 * int(random.integers(1, 33))
            events.append((ALLOC, name, size, 2 * name))
            if name >= 30 and (name - 30) % 20:
                events.append((FREE, name - 30, 0, 2 * name + 1))
        columns = dict(zip(("op", "object", "size", "time"), np.array(events).T, strict=True))
        return write_trace(tmp_path / f"{requests}.parquet", [columns], TraceInfo(pointer_bits=32))

    options = FitOptions(horizon=parse_horizon("20x"), now="heap_4", effort=Effort.QUICK)
    fitted = fit([write(8_000).path], tmp_path / "out", options)
    size = fitted.answer.size
    live = size.u_max + 19 * 400 * 20
    assert fitted.longer.asked.needed >= live * size.r_safe / size.u_max > 1.3 * live
    full = re.search(r"is full about ([\d,]+)", fitted.kinds.growth[1])
    events = fitted.longer.asked.times * fitted.profile.events
    assert int(full[1].replace(",", "")) >= 0.995 * events  # three digits
    assert fitted.sized.startswith("For a run of 20x at this growth ")


def test_a_need_of_many_heaps_has_no_figure() -> None:
    needs = ((10, 41_000), (100, 295_884))
    rows = tuple(LongerRun(f"{n} x as long", n, False, need, need) for n, need in needs)
    told = LongerRuns(rows, None, False).sentence(17_276)
    growing = LongerRuns(rows, None, True).sentence(17_276)
    assert (
        told == "Longer runs need more: 10 x as long up to 41,000 B, 100 x as long many times this."
    )
    assert growing == (
        "Longer runs need more: 10 x as long up to 41,000 B, if it grows on as it did."
    )


def test_a_kind_says_how_many_events_it_takes(tmp_path: Path) -> None:
    (tmp_path / "few.heap").write_text("a 1 40\nf 1\n")
    shown = " ".join(heapfit("profile", "few.heap", folder=tmp_path).stdout.split())
    assert "2 events; the kind takes 1,067 at least, a heap's size by fit 300." in shown
    for events, is_told in ((1_066, False), (1_067, True)):
        lines = [f"f {i - 1}" if i > 500 and i % 2 else f"a {i} 40" for i in range(events)]
        (tmp_path / "some.heap").write_text("\n".join(lines) + "\n")
        kind = kind_of(open_any(tmp_path / "some.heap", ImportOptions(), tmp_path))
        assert (kind.kind is not Kind.TOO_SHORT) == is_told
    fitted = " ".join(heapfit("fit", "few.heap", folder=tmp_path).stdout.split())
    assert "300 at least" in fitted


def test_a_heap_that_served_a_recording_is_not_full_before_its_end(tmp_path: Path) -> None:
    kind = kind_of(write_load("leak_site", 40_000, 1, tmp_path / "load.parquet"))
    served = replace(kind, microseconds=0)
    peak = kind.profile.u_max
    told = describe_filling(served, "tlsf", peak, peak=peak, need=peak)
    _, *events = (int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", told)[:4])
    assert min(events) >= 40_000


def test_a_leak_has_the_pace_of_the_call_site_that_it_is_named_by() -> None:
    """Blocks of its size gather elsewhere, too, and hold more."""
    steps = np.arange(48)
    site = BlockGroup("site", 0xEE, 84 * steps, 1200, 40, 600)
    sizes = BlockGroup("size", 28, 80 * steps + 100, 1300, 44, 650)
    assert find_joint_trend([site, sizes]).slope == pytest.approx(84)
    all_of_size = replace(sizes, held=3000)
    assert find_joint_trend([site, all_of_size]).slope == pytest.approx(80)


def test_what_grows_by_itself_and_has_half_of_all_is_one_group() -> None:
    """All that is live rises faster at last, by what no group has."""
    leak = BlockGroup("size", 28, 84 * np.arange(48), 84 * 47, 141, 84 * 24)
    total = find_joint_trend([replace(leak, troughs=126 * np.arange(48))])
    assert find_growth([leak], [], {}, total, newest=252) == (leak,)


def test_a_leak_has_its_own_pace_beside_a_cache_that_is_full(tmp_path: Path) -> None:
    """Both of one thread, which holds the cache, too: its growth is not the leak's."""
    lines = []
    for number in range(0, 40_000, 2):
        kept = ("a", 256, "cc") if number < 20_000 and number % 100 == 0 else None
        kept = ("a", 64, "ee") if number % 200 == 50 else kept
        op, size, site = kept or ("a", 40, "aa")
        lines.append(f"{op} {number} {size} 1 1 {site}")
        lines.append(f"f {number if kept is None else number + 1} 1 1")
        if kept is not None:
            lines[-1:] = [f"a {number + 1} 40 1 1 aa", f"f {number + 1} 1 1"]
    (tmp_path / "run.heap").write_text("\n".join(lines) + "\n")
    kind = kind_of(open_any(tmp_path / "run.heap", ImportOptions(), tmp_path))
    pace = 64 * 200 / (len(lines) / 1000)  # bytes per 1,000 events
    assert kind.is_leak and [one.name for one in kind.growth if one.family == "site"] == [0xEE]
    assert 1000 * kind.rate.slope == pytest.approx(pace, rel=0.1)


def test_a_check_that_passes_says_growth_too(tmp_path: Path) -> None:
    source = lines_of(tmp_path / "grows.parquet", released=False).path
    told = {}
    measured = ("--measure", "--report", "page.html")
    for options in ((), measured):
        done = heapfit("check", source, "--heap", "tlsf:40000", *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        told[options] = " ".join(done.stdout.split())
        assert "Leak: the program keeps 10 B blocks: 3,330 B per 1,000" in told[options]
    assert "--measure tells when the heap is full." in told[()]
    profiled = heapfit("profile", source, folder=tmp_path).stdout
    assert "held, born after start-up  blocks" in profiled
    assert re.search(r"^blocks of 10\s+B +3,333\.3", profiled, re.MULTILINE), "10 B in 3 events"
    assert "A heap of 40,000 B (tlsf) is full about " in told[measured]
    page = (tmp_path / "page.html").read_text()
    assert ">Growing<" in page and ">Fits<" not in page
    steady = lines_of(tmp_path / "steady.parquet", released=True).path
    done = heapfit("check", steady, "--heap", "tlsf:40000", folder=tmp_path)
    assert "Leak" not in done.stdout


@pytest.mark.usefixtures("unmeasured")
def test_growth_is_said_before_the_size_on_screen_and_page(tmp_path: Path, capsys) -> None:
    source = lines_of(tmp_path / "grows.parquet", released=False).path
    fitted = fit(
        [source], tmp_path / "out", FitOptions(effort=Effort.QUICK), write_page=write_report
    )
    print_text(first_screen(fitted, is_whole=False))
    screen = " ".join(capsys.readouterr().out.split())
    assert screen.startswith("Leak: the program keeps 10 B blocks: 3,330 B per 1,000 events")
    assert "et the heap to" not in screen
    assert fitted.paths.report is not None
    page = fitted.paths.report.read_text()
    assert "Kind of recording: growing" in page
    assert '<span class="badge">Leak</span>' in page
    assert "too few" not in page
    assert '"chart-kind"' in page
    told = re.sub(r"<[^>]*>|&nbsp;|\s", " ", page).replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"What grew while recorded\..* blocks of 10 +B +3,333", told)


# ---- windows that a heap keeps

REGION = 40_000
COUNTED = GenerateOptions(counts=True)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("windows"), Plan("tailored"), REGION)


def build(folder: Path, plan: Plan, region: int) -> Path:
    generate(plan_file(plan, region), folder / "code", options=COUNTED)
    flags = ["-DAPP_HEAP_WINDOWS", "-fsanitize=undefined"]
    objects = compile_objects(folder / "code", folder / "made", *flags)
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags, f"-I{folder / 'code'}"]
    source = [str(HERE / "generated_windows.c"), *map(str, objects)]
    subprocess.run([*command, *source, "-o", str(folder / "windows")], check=True)
    return folder / "windows"


def run(program: Path, *words: str) -> str:
    return subprocess.run(
        [program, *words], check=True, timeout=300, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("calls", ["1", "47", "48", "49", "95", "96", "97", "20000"])
def test_windows_hold_what_a_list_of_all_calls_has(program, calls):
    assert run(program, calls).startswith("heap windows 40000 1 ")


def test_the_forecast_from_windows_is_that_from_events(program, tmp_path):
    printed = run(program, "100000", "live")
    (tmp_path / "device.log").write_text(printed.partition("\n")[0])
    outlook = find_outlook(read_log(tmp_path / "device.log"))
    live = np.array(printed.splitlines()[1:], np.int64)
    settled = live[len(live) // 10 :]
    peaks = settled[len(settled) % 48 :].reshape(48, -1).max(axis=1)
    reserve = outlook.reserves[10]
    assert outlook.finding is Finding.STEADY
    assert REGION - reserve == pytest.approx(find_level(peaks, 480, 0.1), rel=0.1)
    assert outlook.log.clock is Clock.CALLS


def test_windows_that_grow_get_a_number_of_calls(tmp_path):
    pairs = " ".join(f"{10_000 + 100 * i}-{8_000 + 100 * i}" for i in range(48))
    (tmp_path / "device.log").write_text(f"boot\nheap windows 40000 1 40 3 10: {pairs}\n")
    outlook = find_outlook(read_log(tmp_path / "device.log"))
    assert outlook.finding is Finding.FALLS
    assert outlook.decline is not None
    assert outlook.run_out is not None
    assert outlook.decline.rate * 1024 == pytest.approx(100)
    assert outlook.run_out.after == pytest.approx((40_000 - 1024 - 13_900) / 100 * 1024, rel=0.01)


@pytest.mark.parametrize(
    ("dump", "why"),
    [
        ("40000 1 3 0 0: 5-4 5-4", "3 are full, and 2 are here (print all)"),
        ("40000 1 0 0 0: 5-4", "0 are full"),
        ("40000 0 1 0 0: 5-4", "make no sense"),
        ("40000 1 1 0 32: 5-4", "make no sense"),
        ("9999999999 1 1 0 0: 5-4", "make no sense"),
        ("40000 1 1 0 0: 4-5", "window 1 has more live bytes than the region"),
        ("400 1 1 0 0: 500-4", "window 1 has more live bytes than the region"),
    ],
)
def test_a_broken_dump_is_rejected_with_its_line(tmp_path, dump, why):
    (tmp_path / "device.log").write_text(f"boot\nheap windows {dump}\n")
    with pytest.raises(HeapfitError, match=r"device\.log: line 2: heap windows") as error:
        read_log(tmp_path / "device.log")
    assert why in str(error.value)


# ---- starts inside one recording

HELD = [(ALLOC, number, 8 + number) for number in range(400)]


def starting(folder: Path, *seeds: int, forget: bool = True) -> LoadedTrace:
    """A program that starts, holds blocks and works, once for each seed; none frees the last's."""
    folder.mkdir(exist_ok=True)
    columns = {name: list[int]() for name in ("op", "object", "size")}
    for seed in seeds:
        born = sum(op == ALLOC for op in columns["op"])
        work = make_columns("steady", 4000, seed)
        last = [(FREE, 0, 0)] if not forget and born else []
        rows = [(op, number + born, size) for op, number, size in HELD] + last
        numbers = work["object"].astype(int) + born + len(HELD)
        rows += zip(work["op"].tolist(), numbers.tolist(), work["size"].tolist(), strict=True)
        for name, values in zip(columns, zip(*rows, strict=True), strict=True):
            columns[name] += values
    kinds = {"op": np.uint8, "object": np.uint32, "size": np.uint64}
    made = {name: np.array(values, kinds[name]) for name, values in columns.items()}
    return load_trace(write_trace(folder / "runs.parquet", [made], TraceInfo()))


def test_a_start_up_that_comes_again_is_another_recording(tmp_path: Path) -> None:
    loaded = starting(tmp_path, 1, 2, 3)
    each = len(HELD) + 4000
    starts = find_starts(loaded)
    assert starts == (each, 2 * each)
    parts = split_starts(loaded.trace, starts, tmp_path)
    for part, seed in zip(parts, (1, 2, 3), strict=True):
        assert load_trace(part).content == starting(tmp_path / str(seed), seed).content
        assert "starts 3 times" in part.info.notes[-1]


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_what_goes_on_with_its_blocks_did_not_start_anew(seeds, tmp_path: Path) -> None:
    assert find_starts(starting(tmp_path, *seeds, forget=False)) == ()


def test_a_fit_takes_each_start_as_a_recording(tmp_path: Path) -> None:
    loaded = starting(tmp_path, 1, 2)
    fitted = fit([loaded.trace.path], tmp_path / "out", FitOptions(effort=Effort.QUICK))
    assert [run.name for run in fitted.runs] == ["runs, start 1", "runs, start 2"]
    assert any("starts 2 times" in one for one in fitted.warnings)
    each = [starting(tmp_path / str(seed), seed) for seed in (1, 2)]
    assert fitted.answer.size.u_max == max(one.profile.u_max for one in each)


def humps(random, count: int, period: float):
    """A series of a few humps of drawn heights and places that come again each `period`."""
    places, heights = random.random(4), random.uniform(0.5, 1, 4)
    apart = np.abs((np.arange(count) / period)[:, None] % 1 - places)
    return (heights * np.exp(-((np.minimum(apart, 1 - apart) / 0.05) ** 2))).sum(axis=1)


@pytest.mark.parametrize("periods", [2.2, 2.6, 2.9, 3.3, 5, 12])
def test_a_period_is_that_of_the_load_or_is_not_told(periods):
    """What comes again once, as one hump after another, is no period: 0.5 of it was told."""
    found = [
        find_lag(humps(np.random.default_rng(seed), round(periods * 150), 150))
        for seed in range(50)
    ]
    told = [one for one in found if one is not None]
    assert all(abs(one / 150 - 1) < 0.03 for one in told)
    assert len(told) >= (40 if periods > 3 else 0)


def test_what_only_swings_has_no_period():
    """Levels of drawn lengths and heights, and a smoothed noise, each of 60 draws."""
    told = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        lengths = 2 + random.exponential(60, 100).astype(int)
        levels = np.repeat(random.random(100), lengths)[:1500]
        noise = np.convolve(random.standard_normal(1600), np.ones(100), "valid")
        told += sum(find_lag(one) is not None for one in (levels, noise))
    assert told <= 1
