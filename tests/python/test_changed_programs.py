# SPDX-License-Identifier: Apache-2.0
"""Plans on changed programs: what holds, what is needed beyond the margin, and what counts."""

from dataclasses import replace

import pytest

from heapfit import _engine
from heapfit.comparison.change_results import ChangeResult, ChangeTest
from heapfit.comparison.changed_programs import MOST_GROWTH, ChangedPrograms
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import (
    TRACE_SPECIFIC,
    HeapSize,
    MarginBasis,
    MarginKind,
    heap_size,
    margin_for,
)
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import REPLAYED
from heapfit.workloads.changes import Change
from heapfit.workloads.synthetic import generate_workload, parse_workload

SIZES = (528, 1040, 1978, 2952)
POOLS = Heap("pools", Plan("class_pools", {}, tuple(Pool(size, 20, True) for size in SIZES)))
TAILORED = Heap("tailored", Plan("tailored"))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedTrace:
    path = tmp_path_factory.mktemp("changed") / "run.parquet"
    return load_trace(generate_workload(parse_workload("t2_w4:events=3000,limit=20", 1), path))


def need_of(loaded: LoadedTrace, heap: Heap) -> int:
    r_safe = measure(heap, [loaded]).most
    assert r_safe is not None
    return r_safe


def try_plan(loaded: LoadedTrace, heap: Heap, kind: MarginKind) -> tuple[ChangeTest, MarginBasis]:
    known = MarginBasis(1, loaded.profile.u_max, kind)
    programs = ChangedPrograms.from_recordings([loaded])
    return programs.test(heap, need_of(loaded, heap), known), known


def test_pools_of_exact_sizes_do_not_survive_a_larger_request(loaded: LoadedTrace) -> None:
    found, known = try_plan(loaded, POOLS, MarginKind.PLACED)
    assert found.needed > TRACE_SPECIFIC
    assert replace(known, changes=found.needed).is_trace_specific
    assert found.broken[0].needed == found.needed
    assert "8 B more a request" in {one.name for one in found.broken}


@pytest.mark.parametrize(
    ("kind", "is_specific"), [(MarginKind.PLACED, True), (MarginKind.UNKNOWN, True),
                              (MarginKind.PLAIN, False), (MarginKind.BY_ADDRESS, False)],
)  # fmt: skip
def test_only_what_may_have_learned_from_a_trace_is_specific_to_it(
    kind: MarginKind, is_specific: bool
) -> None:
    assert MarginBasis(1, 1800, kind, TRACE_SPECIFIC + 0.1).is_trace_specific == is_specific
    assert not MarginBasis(1, 1800, kind, TRACE_SPECIFIC).is_trace_specific


def test_a_plain_heap_survives_them(loaded: LoadedTrace) -> None:
    found, known = try_plan(loaded, TAILORED, MarginKind.PLAIN)
    assert (found.needed, found.broken) == (0.0, ())
    assert margin_for(replace(known, changes=found.needed)) == margin_for(known)
    assert found.events >= len(found.counted) * loaded.trace.info.events


def test_sizes_always_count_and_more_blocks_up_to_a_growth_of_the_peak(loaded: LoadedTrace) -> None:
    found, _ = try_plan(loaded, TAILORED, MarginKind.PLAIN)
    changes = {one.name: one for one in ChangedPrograms.from_recordings([loaded]).changes}
    assert max(one.growth for one in found.results) > MOST_GROWTH
    assert all(
        one.is_counted == (changes[one.name].is_of_sizes or one.growth <= MOST_GROWTH)
        for one in found.results
    )


def test_steps_are_what_the_changes_tried_so_far_need(loaded: LoadedTrace) -> None:
    known = MarginBasis(1, loaded.profile.u_max, MarginKind.PLACED)
    programs, need = ChangedPrograms.from_recordings([loaded]), need_of(loaded, POOLS)
    *steps, whole = programs.test_in_steps(POOLS, need, known)
    assert whole == programs.test(POOLS, need, known)
    assert [one.is_complete for one in (*steps, whole)] == [False] * len(steps) + [True]
    assert [one.results for one in steps] == [whole.results[: i + 1] for i in range(len(steps))]
    assert [one.needed for one in steps] == sorted(one.needed for one in steps)


def test_a_region_serves_the_named_changes_alone(loaded: LoadedTrace) -> None:
    found, known = try_plan(loaded, POOLS, MarginKind.PLACED)
    programs = ChangedPrograms.from_recordings([loaded])
    region = heap_size(need_of(loaded, POOLS), known).region
    for one in found.counted:
        is_served, events = programs.serve_in(POOLS, region, [one.name])
        assert is_served == one.holds
        assert events > 0
    assert programs.serve_in(POOLS, 8, []) == (True, 0)


def serves(loaded: LoadedTrace, change: Change, size: HeapSize) -> bool:
    """True if a plain heap of this margin for the changed peak serves the changed recording."""
    (columns,) = loaded.batches(REPLAYED)
    changed = change.apply(columns)
    events, profile = _engine.EventArray(), _engine.Profile(1)
    events.append(changed["op"], changed["object"], changed["size"])
    profile.feed(events)
    region = replace(size, peak=max(size.u_max, int(profile.result().u_max))).region
    return _engine.Trial(TAILORED.plan.engine(), events).run(region).runs


def test_the_margin_found_is_the_least_that_serves_all_that_counts(loaded: LoadedTrace) -> None:
    """An R_safe that is 6 % too small stands for a plan that every change breaks."""
    r_safe = need_of(loaded, TAILORED) * 100 // 106 // 8 * 8
    known = MarginBasis(1, loaded.profile.u_max, MarginKind.PLAIN)
    size = heap_size(r_safe, known)
    programs = ChangedPrograms.from_recordings([loaded])
    found = programs.test(TAILORED, r_safe, known)
    assert size.margin < found.needed <= TRACE_SPECIFIC
    names = {one.name for one in found.counted}
    counted = [one for one in programs.changes if one.name in names]
    assert all(serves(loaded, one, replace(size, margin=found.needed)) for one in counted)
    less = replace(size, margin=round(found.needed - 0.1, 1))
    assert not all(serves(loaded, one, less) for one in counted)
    assert {one.name for one in found.broken} == {
        one.name for one in counted if not serves(loaded, one, size)
    }


def test_changes_are_those_of_the_recording_with_most_live_bytes(loaded: LoadedTrace) -> None:
    less = replace(loaded, profile=replace(loaded.profile, u_max=1, u_max_event=0))
    programs = ChangedPrograms.from_recordings([less, loaded])
    alone = ChangedPrograms.from_recordings([loaded])
    assert [one.name for one in programs.changes] == [one.name for one in alone.changes]
    assert programs.u_max == loaded.profile.u_max


def test_a_systems_heap_is_tried_in_its_memory(loaded: LoadedTrace) -> None:
    heap = find_heap("heap_4", 8)
    memory = measure(heap, [loaded]).most
    assert memory is not None
    known = MarginBasis(1, loaded.profile.u_max, MarginKind.BY_ADDRESS)
    programs = ChangedPrograms.from_recordings([loaded])
    found, plan = programs.test(heap, memory, known), programs.test
    assert found.broken == ()
    assert [one.growth for one in found.results] == [
        one.growth for one in plan(TAILORED, need_of(loaded, TAILORED), known).results
    ]
    too_little = programs.test(heap, memory * 9 // 10 // 8 * 8, known)
    assert len(too_little.broken) == len(too_little.counted)
    assert margin_for(known) < too_little.needed


def test_the_sentence_names_the_worst_and_the_margin_that_is_set() -> None:
    names = ("8 B more a request", "4 B more a request", "frees 3 events late")
    held = ChangeTest(tuple(ChangeResult(one, 1.0, True, True) for one in names), margin=5)
    holds = "with 8 B more a request and 2 other changes."
    assert held.sentence(5) == f"Next build: it holds {holds}"
    assert held.sentence(2) == f"Next build: 5 % margin holds {holds}"
    worse = replace(held.results[1], holds=False, needed=8.1)
    broken = replace(held, results=(held.results[0], worse, held.results[2]))
    begins = "Next build: with 4 B more a request it needs 8.1 % more, "
    assert broken.sentence(8.1) == (
        f"{begins}which the margin covers; 2 of 2 other changes hold without it."
    )
    assert broken.sentence(5).startswith(f"{begins}more than the margin of 5 %; ")
    assert ChangeTest().sentence(5) == "Next build: no change of the program was tried."
