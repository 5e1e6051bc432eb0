# SPDX-License-Identifier: Apache-2.0
"""What is begun ahead changes nothing of what is asked for, nor of what that took."""

import threading
from dataclasses import replace

import pytest

from heapfit import _engine
from heapfit.design.placement import remembered
from heapfit.design.placement.learned import learn_placement
from heapfit.design.placement.tailored_plans import layouts
from heapfit.sweep.lookahead import Ahead, with_following
from heapfit.trace.loaded import load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload


@pytest.fixture
def two():
    ahead = Ahead(2)
    yield ahead
    ahead.close()


def never():
    raise AssertionError("done when it was asked for")


def test_what_is_expected_is_begun_and_done_once(two):
    begun = threading.Event()
    two.expect({"a": lambda: begun.set() or 1, "b": lambda: 2})
    assert begun.wait(60)
    assert (two.result("a", never), two.result("b", never)) == (1, 2)
    assert two.result("a", lambda: 3) == 3  # it was asked for once


def test_what_is_no_longer_expected_is_not_begun(two):
    may_end, done = threading.Event(), []
    waiting = {name: lambda: may_end.wait(60) for name in "ab"}  # both threads
    two.expect({**waiting, "c": lambda: done.append("c")})
    two.expect({**waiting, "d": lambda: done.append("d")})
    may_end.set()
    two.result("d", never)
    assert done == ["d"]


def test_an_error_is_raised_where_its_result_is_asked_for(two):
    def fails():
        raise ValueError("a")

    two.expect({"a": fails, "b": lambda: 2})
    assert two.result("b", never) == 2
    with pytest.raises(ValueError, match="a"):
        two.result("a", never)


def test_one_thread_begins_nothing():
    alone = Ahead(1)
    assert alone.following == 0
    alone.expect({"a": never})
    assert alone.result("a", lambda: 1) == 1
    alone.close()


@pytest.mark.parametrize("count", range(4))
def test_each_item_comes_with_those_that_follow(count):
    found = list(with_following(range(10), count))
    assert found == [list(range(i, min(i + count + 1, 10))) for i in range(10)]


@pytest.mark.parametrize("name", ["phases_x16:limit=10", "zg_time:phase=500", "djgpp_test"])
@pytest.mark.parametrize("alignment", [4, 8])
def test_any_number_of_threads_learns_the_same(tmp_path, monkeypatch, name, alignment):
    monkeypatch.setattr(remembered, "_WORTH_THREADS", 0)
    spec = parse_workload(f"{name}{',' if ':' in name else ':'}events=4000", seed=3)
    loaded = load_trace(generate_workload(spec, tmp_path / "w.parquet"), alignment)
    tried = list(layouts(alignment).values())
    events = 300 * len(loaded.events)
    first, *others = (
        learn_placement(replace(loaded, threads=threads), tried, events) for threads in (1, 2, 5)
    )
    assert first is not None
    assert others == [first, first]  # with the plans tried and the events replayed
    assert first.climbed.region < first.plain.region
    assert _engine.Trial(first.climbed.plan.engine(), loaded.events).run(first.climbed.region).runs
