# SPDX-License-Identifier: Apache-2.0
"""`heapfit slotbuf`: what it prints, writes and refuses, and the page of a run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from page_reader import Page
from small_traces import heapfit

from heapfit import _engine
from heapfit.drawing.html import render
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.trace.stored import Trace
from heapfit_papers.pages import slotbuf_charts
from heapfit_papers.pages.slotbuf_page import slotbuf_page
from heapfit_papers.slotbuf.benchmark import SlotbufSpec, report_version, run_slotbuf
from program import run_heapfit


def slotbuf(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_heapfit("slotbuf", *words, folder=cwd, environment=os.environ)


def test_the_four_outputs_are_printed_and_written(tmp_path):
    done = slotbuf(300, 20_000, cwd=tmp_path)
    run = run_slotbuf(SlotbufSpec(300, 20_000, report_version(2)))
    assert (done.returncode, done.stderr) == (0, "")
    told = dict(re.split(r" {2,}", line, maxsplit=1) for line in done.stdout.splitlines()[1:6])
    assert told == {
        "loops": "20,000",
        "palloc calls": f"{run.counts.alloc.calls:,}",
        "pree calls": f"{run.counts.free.calls:,}",
        "free list length": f"{run.free_blocks:,}",
        "total free space": f"{run.free_bytes:,} B, {run.mean_free:,.0f} B a block",
    }
    lines = (tmp_path / "out/slotbuf/dist.dat").read_text().splitlines()
    assert lines == ["# bytes blocks", *(f"{size} {n}" for size, n in run.distribution())]
    assert Page((tmp_path / "out/slotbuf/slotbuf.html").read_text()).figures


def test_running_out_of_memory_is_a_result_and_told(tmp_path):
    done = slotbuf(50, 100_000, "first_fit:coalesce=0", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^loops +1,\d{3}, then out of memory: 2\d\d B refused$", done.stdout, re.M)


def test_json_tells_the_run_with_its_options_and_the_free_list_in_order(tmp_path):
    tunables = "segregated_fit:header_size=8,exact_lists=5"
    options = [tunables, "--sizes", "16,300", "--region", "40000"]
    words = [200, 10_000, *options, "--seed", 7, "-o", "here", "--json"]
    done = slotbuf(*map(str, words), cwd=tmp_path)
    told = json.loads(done.stdout)
    plan = Plan("segregated_fit", {"header_size": 8, "exact_lists": 5})
    run = run_slotbuf(SlotbufSpec(200, 10_000, plan, 16, 300, 40_000, 7))
    assert told["schema"] == 1
    assert told["plan"] == {"allocator": "segregated_fit", "header_size": 8, "exact_lists": 5}
    assert [told[key] for key in ("buffer", "min", "max", "region", "seed")] == [
        *(200, 16, 300, 40_000, 7)
    ]
    assert told["palloc"]["calls"] + told["pree"]["calls"] == told["loops"] == 10_000
    assert told["free_sizes"] == run.free_sizes.tolist()
    assert told["free_bytes"] == sum(told["free_sizes"])
    assert told["paths"] == {"distribution": "here/dist.dat", "page": "here/slotbuf.html"}


def test_any_allocator_may_be_run_and_pools_by_a_plan_file(tmp_path):
    pools = plan_file("class_pools", tmp_path)
    for chosen in (["tlsf"], ["--plan", pools]):
        done = slotbuf(20, 3000, *chosen, "--sizes", "8,64", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["loops"] == 3000


def plan_file(allocator: str, folder: Path) -> Path:
    from heapfit.plan.plan import Pool

    pools = (Pool(32, 20, False), Pool(64, 20, False))
    trained_on = TrainingRecord("none", "sha256:" + "0" * 64, 0)
    path = folder / "plan.toml"
    save_plan(
        path,
        PlanFile("made", Plan(allocator, pools=pools), 4096, 4096, 16, 1, 32, trained_on, "0"),
    )
    return path


def test_the_workload_of_that_name_is_what_the_run_asks_for(tmp_path):
    workload = "slotbuf:slots=300,events=20000,smallest=8,largest=350"
    words = ["workload", workload, "--seed", "3", "-o", "walk.parquet"]
    assert heapfit(*words, folder=tmp_path).returncode == 0
    spec = SlotbufSpec(300, 20_000, report_version(2), seed=3)
    run = run_slotbuf(spec)
    replay = _engine.Replay(spec.plan.engine(), spec.region)
    replay.feed(Trace.open(tmp_path / "walk.parquet").events())
    replayed = replay.result()
    counts = run.counts
    assert (replayed.allocations, replayed.frees) == (counts.alloc.calls, counts.free.calls)
    assert replayed.loads + replayed.stores == counts.alloc.accesses + counts.free.accesses
    assert (replayed.live_peak, replayed.footprint) == (counts.live_peak, run.footprint)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["palloc"], "palloc: no such allocator (one of first_fit, "),
        (["class_pools"], "class_pools: nothing without pools (give a plan file"),
        (["tlsf:header_size=24"], "no such tunable as 'header_size'"),
        (["first_fit:coalesce=no"], "coalesce=no is not TUNABLE=NUMBER"),
        (["--sizes", "8,7"], "sizes: 8 to 7 is no range"),
        (["--sizes", "8"], "--sizes 8: give the smallest and the largest, as 8,350"),
        (["--region", "70"], "region: 70 bytes do not make a heap of segregated_fit"),
        (["--plan", "none.toml"], "none.toml: no such file"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(words, told, tmp_path):
    done = slotbuf(20, 100, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def page_of(run) -> Page:
    return Page(render(slotbuf_page(run, "heapfit slotbuf 300 20000")))


def test_the_page_shows_the_run_and_names_nothing_outside_itself():
    run = run_slotbuf(SlotbufSpec(300, 20_000, report_version(2)))
    page = page_of(run)
    text = plain(page.text)
    for words in (
        "20,000 loops done, none refused.",
        f"free list {run.free_blocks:,}",
        f"total free space {run.free_bytes:,} B",
        f"worst palloc {run.counts.alloc.worst}",
        "segregated_fit:header_size=24",
        "300 slots, requests of 8 to 350 B, region 65,536 B, seed 1",
    ):
        assert words in text
    assert set(page.figures) == {"chart-free", "chart-course", "chart-requests"}
    assert all(reference.startswith("#") for reference in page.attributes("href"))
    assert {reference[1:] for reference in page.attributes("href")} <= set(page.attributes("id"))
    assert page.attributes("src") == []


def test_the_histogram_and_what_it_leaves_out_are_all_free_blocks():
    run = run_slotbuf(SlotbufSpec(300, 20_000, report_version(2)))
    [bars] = page_of(run).figures["chart-free"]["data"]
    count, bytes_left = slotbuf_charts.count_large_blocks(run)
    assert count > 0
    assert sum(bars["y"]) + count == run.free_blocks
    shown = sum(size * n for size, n in zip(bars["x"], bars["y"], strict=True))
    assert shown + bytes_left == run.free_bytes
    assert max(bars["x"]) <= slotbuf_charts.MOST_SHOWN
