# SPDX-License-Identifier: Apache-2.0
"""The kind of a recording: as judged by eye, and with the stated errors on synthetic loads."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loads import CLEAN, LEAK_SITE, write_load
from small_traces import heapfit

from heapfit.cli.printing.console import print_text
from heapfit.comparison.margin import HeapSize
from heapfit.design.effort import Effort
from heapfit.fitting.fit import fit
from heapfit.fitting.longer_runs import find_kinds
from heapfit.fitting.options import FitOptions
from heapfit.forecast.filling import describe_growth
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.importers import ImportOptions, open_any
from heapfit.importers.record import record
from heapfit.results.heap.fit import write_report
from heapfit.results.screen import first_screen
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

ROOT = Path(__file__).resolve().parents[2]
CORPUS = os.environ.get("HEAPFIT_CORPUS")
SEED = 11
MOST_WRONG = 4  # of the 40 recordings that were judged by eye; three of these are of the repository


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


def test_what_is_gathered_and_freed_at_the_end_is_a_job(tmp_path: Path) -> None:
    found = kind_of(lines_of(tmp_path / "t.parquet", released=True))
    assert found.kind is Kind.JOB
    assert found.growth == ()


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
    found = find_kinds([(trace, profile)], trace, size, [tmp_path / "wrapped"])
    growth, filling = found.growth
    assert "held by 48 B blocks of gather, wrapped.c:8; no size lasts if that goes on." in growth
    assert " a day" not in growth  # it ran for some milliseconds
    assert filling.startswith(f"{size.region:,} B are full some 12,")


def test_a_clock_tells_growth_by_the_longest_unit_that_was_recorded(tmp_path: Path) -> None:
    trace = lines_of(tmp_path / "t.parquet", released=False)
    profile = profile_trace(trace)
    size = HeapSize(r_safe=20_000, u_max=15_000, peak=15_000, margin=10)
    found = find_kinds([(trace, profile)], trace, size, [])
    assert found.growth == (
        "Live bytes grew by 3,333 B per 1,000 events (3,334 B a second) while recorded, held by 10 "
        "B blocks; no size lasts if that goes on.",
        "22,000 B are full some 4.9 s from the start.",
    )
    kind = find_kind(trace, profile)
    for seconds, rate in [
        (59.9, "250 B a second"),
        (60, "15,000 B a minute"),
        (3599, "250 B a minute"),
        (3601, "14,996 B an hour"),
        (86_401, "15,000 B a day"),
        (10 * 86_400, "1,500 B a day"),
    ]:
        slower = replace(kind, microseconds=seconds * 1e6 / profile.events)
        assert f" ({rate}) " in describe_growth(slower, {}), seconds


def test_a_check_that_passes_says_growth_too(tmp_path: Path) -> None:
    source = lines_of(tmp_path / "grows.parquet", released=False).path
    told = {}
    measured = ("--measure", "--report", "page.html")
    for options in ((), measured):
        done = heapfit("check", source, "--heap", "tlsf:40000", *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        told[options] = " ".join(done.stdout.split())
        assert "grows: Live bytes grew by 3,333 B per 1,000 events" in told[options]
    assert "no size lasts if that goes on. --measure tells when the heap is full." in told[()]
    assert "40,000 B are full some " in told[measured]
    page = (tmp_path / "page.html").read_text()
    assert ">Growing<" in page and ">Holds<" not in page
    steady = lines_of(tmp_path / "steady.parquet", released=True).path
    done = heapfit("check", steady, "--heap", "tlsf:40000", folder=tmp_path)
    assert "Live bytes grew" not in done.stdout


@pytest.mark.usefixtures("unmeasured")
def test_growth_is_said_before_the_size_on_screen_and_page(tmp_path: Path, capsys) -> None:
    source = lines_of(tmp_path / "grows.parquet", released=False).path
    fitted = fit(
        [source], tmp_path / "out", FitOptions(effort=Effort.QUICK), write_page=write_report
    )
    print_text(first_screen(fitted, is_whole=False))
    screen = " ".join(capsys.readouterr().out.split())
    assert "Growing: " in screen
    assert screen.index("Live bytes grew by 3,333 B") < screen.index("set the heap to")
    assert "For a run no longer than this: set the heap to" in screen
    assert fitted.paths.report is not None
    page = fitted.paths.report.read_text()
    assert "Kind of recording: growing" in page
    assert '<span class="badge">Growing</span>' in page
    assert "too few" not in page
    assert '"chart-kind"' in page
