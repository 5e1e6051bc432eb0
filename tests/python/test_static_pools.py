# SPDX-License-Identifier: Apache-2.0
"""Every size set aside for its own worst case."""

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.pools.static_pools import ALLOCATOR, block_sizes, worst_case_plan
from heapfit.plan.plan import Pool
from heapfit.trace.loaded import load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload


def test_each_size_has_a_pool_of_its_worst_case_and_no_search_is_needed(tmp_path) -> None:
    spec = parse_workload("t2_w4:limit=3,events=2000")
    loaded = load_trace(generate_workload(spec, tmp_path / "w"), alignment=8)
    classes = block_sizes(loaded.profile, 8)
    plan = worst_case_plan(ALLOCATOR, loaded.events, classes, 8)
    # 1978 B are rounded up to a multiple of 8.
    assert plan.pools == tuple(Pool(size, 3, True) for size in (528, 1040, 1984, 2952))
    (row,) = compare(
        loaded, Portfolio((Candidate("static", Heap("static", plan), "", True),), ())
    ).rows
    assert row.step == 0
    assert row.r_safe is not None
    assert 3 * (528 + 1040 + 1984 + 2952) <= row.r_safe <= 3 * (528 + 1040 + 1984 + 2952) + 128


def test_sizes_that_need_equal_blocks_are_one_class(tmp_path) -> None:
    spec = parse_workload("t2_w4:size_1=521,size_2=528,size_3=527,size_4=1,events=500")
    loaded = load_trace(generate_workload(spec, tmp_path / "w"), alignment=8)
    assert block_sizes(loaded.profile, 8) == [8, 528]
    assert block_sizes(loaded.profile, 4) == [4, 524, 528]
    plan = worst_case_plan(ALLOCATOR, loaded.events, [8, 528], 8)
    peaks = _engine.pool_peaks(loaded.events, [(528, True)], 8, ALLOCATOR)
    assert [pool.count for pool in plan.pools if pool.size == 528] == list(peaks.counts)
