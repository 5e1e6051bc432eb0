# SPDX-License-Identifier: Apache-2.0
"""`check --heap HEAP:BYTES`: a system's heap is held in its own size, without a plan."""

import json

import pytest
from small_traces import bimodal, heapfit

from heapfit import _engine
from heapfit.checks.check import check_recordings
from heapfit.checks.refusals import count_refusals
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, make_heap_plan, parse_heap_size
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.errors import HeapfitError
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("check-heap")
    bimodal(made / "run.heap", events=600)
    with (made / "run.heap").open("a") as file:
        file.write("a 900000 40\nr 900000 4000\nr 900000 30\nf 900000\n")
    assert heapfit("import", "run.heap", folder=made).returncode == 0
    return made


@pytest.mark.parametrize("name", [*SYSTEM_HEAPS, "tlsf"])
def test_a_heap_is_held_in_what_it_needs_and_in_no_less(folder, name):
    trace = Trace.open(folder / "run.parquet")
    needs = measure(find_heap(name, 8), [trace])
    heap, memory = needs.heap, needs.most
    plan = make_heap_plan(heap, heap.set_to(memory))
    assert heap_of_plan(plan) == heap
    assert check_recordings([trace], plan).holds
    below = check_recordings([trace], make_heap_plan(heap, heap.set_to(memory) - 8))
    (one,) = below.recordings
    assert one.run.refusal is not None
    assert one.needed.r_safe == heap.set_to(memory)
    assert one.refusals.refused >= 1


def test_what_a_smaller_heap_refuses_is_counted_one_by_one(folder):
    """Beside a replay that drops refused objects from the requests and asks again."""
    trace = Trace.open(folder / "run.parquet")
    loaded = load_trace(trace)
    plan = parse_heap_size("newlib-nano:40K")
    counted = count_refusals(loaded, plan, ())
    assert 0 < counted.refused < counted.requests / 2
    assert sum(group.refused for group in counted.sizes) == counted.refused
    assert all(group.refused <= group.requests for group in counted.sizes)
    heap, asked = heap_of_plan(plan), requests_of(trace)
    replay = loaded_replay(heap, asked, heap.region(heap.memory_of(plan.region)))
    assert counted.refused == replay.refusals


def test_the_bar_of_a_failed_check_has_a_stage_for_all_that_comes(folder):
    log = []
    plan, source = parse_heap_size("newlib-nano:40K"), folder / "run.parquet"
    check_recordings([source], plan, progress=lambda *told: log.append(told))
    steps = dict.fromkeys(step for step, _ in log)
    last = ["compare newlib-nano", "count refusals", "find what grew", "check"]
    assert [*steps][-4:] == last
    shares = [share for _, share in log]
    assert shares == sorted(shares)
    assert [share == 1 for share in shares].index(True) == len(log) - 1, "at the end alone"


def loaded_replay(heap, requests, region):
    replay = _engine.Replay(heap.plan.engine(), region, keep_going=True)
    replay.feed(requests.engine())
    return replay.result()


def test_a_failed_check_says_what_would_be_refused(folder):
    done = heapfit("check", "run.parquet", "--heap", "heap_4:40K", folder=folder)
    assert done.returncode == 3
    shown = " ".join(done.stdout.split())
    assert "heap_4, configTOTAL_HEAP_SIZE: 40,960 bytes." in shown
    assert "out of memory in the 40,960 bytes of heap_4, at event" in shown
    assert "Run on past it, the heap refuses" in shown
    done = heapfit("check", "run.parquet", "--heap", "heap_4:40K", "--json", folder=folder)
    (one,) = json.loads(done.stdout)["recordings"]
    assert one["refusals"]["refused"] >= 1
    assert heapfit("check", "run.parquet", "--heap", "heap_4:1M", folder=folder).returncode == 0


@pytest.mark.parametrize(
    ("text", "named", "size"),
    [
        ("heap_4:64K", "heap_4", 65536),
        ("tlsf:probes=0:8K", "tlsf:probes=0", 8192),
        ("lwip-mem:64001", "lwip-mem", 64001),
    ],
)
def test_a_size_follows_the_last_colon(text, named, size):
    plan = parse_heap_size(text)
    assert (plan.heap, plan.region) == (named, size)
    assert heap_of_plan(plan).plan == plan.plan


@pytest.mark.parametrize("text", ["heap_4:4G", "tlsf:4294967296", "newlib:4294967295"])
def test_a_heap_of_4_gib_with_its_own_statics_is_rejected_by_its_name(text: str) -> None:
    with pytest.raises(HeapfitError, match=f"^{text}: a heap is smaller than 4 GiB"):
        parse_heap_size(text)
    assert parse_heap_size("heap_4:4294967295").region == 4_294_967_295


@pytest.mark.parametrize("text", ["heap_4", "tlsf:probes=0", "heap_9:8K", "heap_4:x"])
def test_a_heap_without_its_size_is_rejected(text):
    with pytest.raises(HeapfitError, match=r"HEAP:BYTES|no such heap|x"):
        parse_heap_size(text)


def test_one_of_plan_and_heap_is_given(folder):
    (folder / "tlsf.toml").write_text('region = 65536\n[plan]\nallocator = "tlsf"\n')
    for words in ((), ("--plan", "tlsf.toml", "--heap", "heap_4:8K")):
        assert heapfit("check", "run.parquet", *words, folder=folder).returncode == 2
