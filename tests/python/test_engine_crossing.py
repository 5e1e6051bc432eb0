# SPDX-License-Identifier: Apache-2.0
"""What crosses between Python and the engine: arrays, plans, errors, interruptions."""

import threading
from pathlib import Path

import numpy as np
import pytest
from small_traces import bimodal, event_array

from heapfit import _engine
from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.trace.profile import follow_sizes, profile_trace
from heapfit.trace.stored import Trace

RESIZE, FREE = 3, 4


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return open_any(bimodal(tmp_path / "bimodal.heap"), ImportOptions(), tmp_path)


def test_columns_become_16_bytes_an_event() -> None:
    events = event_array([(0, 0, 8), (FREE, 0, 0)])
    assert (len(events), events.nbytes) == (2, 32)


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("op", 5, "event 101: operation 5 is not one of 0 to 4"),
        ("size", 2**63, "event 101: size 9223372036854775808 is above 2^47 bytes"),
        ("alignment", 24, "event 101: alignment 24 is not a power of two"),
    ],
)
def test_a_bad_row_is_told_by_its_event_and_nothing_is_appended(
    column: str, value: int, told: str
) -> None:
    columns = {
        "op": np.array([2, 2], "u1"),
        "object": np.array([0, 1], "u4"),
        "size": np.array([8, 8], "u8"),
        "alignment": np.array([8, 8], "u4"),
    }
    columns[column][1] = value
    events = _engine.EventArray(100)
    with pytest.raises(HeapfitError, match=told.replace("^", r"\^")):
        events.append(**columns)
    assert len(events) == 0


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(HeapfitError, match="differ in length"):
        _engine.EventArray().append(np.zeros(2, "u1"), np.zeros(1, "u4"), np.zeros(2, "u8"))


def test_every_allocator_describes_itself() -> None:
    known = {info.name: info for info in _engine.allocators()}
    assert {"first_fit", "tlsf", "class_pools", "budgeted"} <= set(known)
    for info in known.values():
        assert info.title and info.origin
        alignment = info.tunables[0]
        assert (alignment.name, alignment.kind, alignment.standard) == ("alignment", "scalar", 8)
    assert [tunable.kind for tunable in known["budgeted"].tunables] == ["scalar", "pools", "shared"]


def test_a_plan_holds_what_it_was_given_and_the_standard_for_the_rest() -> None:
    shared = _engine.Plan("tlsf", {"second_level": 4})
    plan = _engine.Plan("budgeted", {}, [(64, 3, True), (8, 2, True)], shared)
    assert plan.allocator == "budgeted"
    assert plan.scalars == {"alignment": 8}
    assert [(size, count, exact) for size, count, exact, _ in plan.pools] == [
        (8, 2, True),
        (64, 3, True),
    ]
    bases = [base for *_, base in plan.pools]
    assert bases[1] == bases[0] + 2 * 8
    assert plan.smallest_region == bases[1] + 3 * 64
    assert plan.shared is not None
    assert plan.shared.scalars == {"alignment": 8, "second_level": 4, "probes": 2}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nothing",), "plan: no allocator is named 'nothing' (there are first_fit, "),
        (("tlsf", {"x": 1}), "plan: tlsf: no tunable is named 'x' (it has alignment, second"),
        (("tlsf", {"second_level": 6}), "plan: tlsf: second_level 6 is out of range (0 to 5)"),
        (
            ("tlsf", {"alignment": 12}),
            "plan: tlsf: a plan with alignment 12, second_level 0, probes 2 is",
        ),
        (("first_fit", {"alignment": 12}), "plan: first_fit: a plan with alignment 12, coalesce"),
        (("tlsf", {}, [(8, 1, True)]), "plan: tlsf: this allocator takes no pools"),
        (("class_pools", {}, [(0, 1, True)]), "plan: class_pools: a pool of 1 blocks of 0 bytes"),
        (
            ("class_pools", {}, [(8, 1, True), (8, 1, False)]),
            "plan: class_pools: two pools have the size 8",
        ),
        (
            ("class_pools", {}, [(2**20, 2**20, True)]),
            "plan: class_pools: 1 pools cannot be laid out at alignment 8",
        ),
        (
            ("budgeted", {}, [], _engine.Plan("tlsf", {"alignment": 4})),
            "plan: budgeted: alignment 8 differs from 4 of the shared tlsf",
        ),
        (
            ("budgeted", {}, [], _engine.Plan("chained_pool")),
            "plan: budgeted: chained_pool cannot be shared: its blocks lie in piec",
        ),
    ],
)
def test_a_wrong_plan_is_told_in_one_line(arguments: tuple, told: str) -> None:
    with pytest.raises(HeapfitError) as raised:
        _engine.Plan(*arguments)
    assert str(raised.value).startswith(told)
    assert "\n" not in str(raised.value)


def test_blocks_in_pieces_replay_like_any_other() -> None:
    plan = _engine.Plan("chained_pool", {"partition_size": 64, "partitions": 8})
    replay = _engine.Replay(plan, plan.smallest_region, samples=8)
    block_0, block_1, block_2 = 0, 1, 2
    scattered = [(0, block_0, 64), (0, block_1, 64 * 3), (0, block_2, 64), (FREE, block_0, 0)]
    grown = (RESIZE, block_2, 64 * 5)  # in partitions 4, 0, 5, 6 and 7: of no use to one run
    assert replay.feed(event_array([*scattered, grown]))
    result = replay.result()
    assert (result.refusals, result.payload_bytes, result.external_peak) == (0, 0, 0)


def test_a_shared_plan_outlives_the_python_object_it_came_from() -> None:
    plan = _engine.Plan("budgeted", {}, [], _engine.Plan("tlsf"))
    replay = _engine.Replay(plan, 4096)
    assert replay.feed(event_array([(0, 0, 100), (FREE, 0, 0)]))


def test_a_replay_and_its_series_come_as_numbers_and_arrays(trace: Trace) -> None:
    result = replay_trace(trace, Plan("tlsf", {}, (), None), 1 << 20)
    assert result.events == trace.info.events
    assert result.failed_event is None
    assert result.failed_size is None
    assert set(result.series) == {"event", "live", "footprint", "internal", "external"}
    for values in result.series.values():
        assert values.dtype == np.uint64
        assert 1000 <= len(values) < 2000
    assert int(result.series["live"].max()) <= result.live_peak
    assert int(result.series["internal"].max()) == result.internal_peak


def test_a_trace_runs_from_its_file_where_it_runs_in_memory(trace: Trace) -> None:
    plan = Plan("tlsf", {}, (), None)
    search = _engine.Trial(plan.engine(), trace.events()).scan()
    assert search.r_min is not None
    for region in (4096, search.r_min - 8, *search.sizes[::16].tolist()):
        runs = replay_trace(trace, plan, region).refusals == 0
        assert runs == _engine.Trial(plan.engine(), trace.events()).run(region).runs
    assert runs


def test_the_first_refusal_is_told(trace: Trace) -> None:
    plan = Plan("tlsf", {}, (), None)
    stopped = replay_trace(trace, plan, 4096)
    assert stopped.refusals == 1
    assert stopped.failed_event == stopped.events
    assert stopped.failed_size in {40, 1500} or stopped.failed_size > 40
    kept = replay_trace(trace, plan, 4096, keep_going=True)
    assert kept.refusals > 1
    assert kept.events == trace.info.events
    assert kept.failed_event == stopped.failed_event


def test_a_region_too_small_is_one_line() -> None:
    with pytest.raises(HeapfitError, match="region: 10 bytes do not make a heap of tlsf"):
        _engine.Replay(_engine.Plan("tlsf"), 10)


def test_the_search_reports_whole_progress(trace: Trace) -> None:
    told: list[tuple[int, int]] = []
    search = _engine.Trial(_engine.Plan("tlsf"), trace.events()).scan(
        progress=lambda done, total: told.append((done, total))
    )
    assert search.searched
    assert search.r_min is not None
    assert search.r_safe is not None
    assert search.u_max < search.r_min <= search.r_safe
    assert len(search.sizes) == len(search.succeeded)
    assert np.diff(search.sizes).max() == search.step > 8
    assert search.events_left > 0
    assert search.events_left > 50 * trace.info.events
    assert all(done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]


def test_what_is_left_above_r_safe_is_the_same_if_it_alone_is_asked_for(trace: Trace) -> None:
    trial = _engine.Trial(_engine.Plan("tlsf"), trace.events())
    for most in (0, 20_000, 10_000_000):
        both, less = (trial.scan(is_safe_alone=one, most_events=most) for one in (False, True))
        assert (both.r_safe, both.events_left) == (less.r_safe, less.events_left)
        assert both.events > less.events
    assert both.events_left == 0


def test_the_search_needs_no_lock_of_the_caller(trace: Trace) -> None:
    """Another Python thread runs while the search does, and the answer is that of one thread."""
    plan, events = _engine.Plan("tlsf"), trace.events()
    found: list[_engine.RegionSearch] = []
    threads = [
        threading.Thread(target=lambda: found.append(_engine.Trial(plan, events).scan()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = _engine.Trial(plan, events).scan(threads=1)
    assert [(one.r_min, one.r_safe) for one in found] == 2 * [(alone.r_min, alone.r_safe)]


def test_an_exception_of_the_callback_stops_the_search(trace: Trace) -> None:
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _engine.Trial(_engine.Plan("tlsf"), trace.events()).scan(progress=interrupt)


def test_no_region_is_none_not_zero() -> None:
    plan = _engine.Plan("class_pools", {}, [(8, 1, True)])
    search = _engine.Trial(plan, event_array([(0, 0, 9)])).scan()
    assert (search.r_min, search.r_safe, search.searched) == (None, None, False)


def test_the_series_of_a_size_peaks_at_its_peak(trace: Trace) -> None:
    profile = profile_trace(trace)
    chosen = [1500, 40]
    for series in follow_sizes(trace, chosen):
        peak = profile.peaks[profile.sizes.tolist().index(series.size)]
        assert series.highest.max() == peak
        assert len(series.lowest) == len(series.highest) == len(profile.live_lowest)


def test_a_size_cannot_be_followed_twice() -> None:
    with pytest.raises(HeapfitError, match="series: the size 40 is given twice"):
        _engine.SizeSeries([40, 40])


def test_tags_for_other_than_all_events_are_refused(trace: Trace) -> None:
    events = trace.events()
    assert len(events.tagged(np.zeros(len(events), np.uint16))) == len(events)
    with pytest.raises(HeapfitError, match="as many tags as events"):
        events.tagged(np.zeros(len(events) - 1, np.uint16))
