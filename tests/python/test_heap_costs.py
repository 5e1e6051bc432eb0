# SPDX-License-Identifier: Apache-2.0
"""What any heap costs a recording: one function for plans and for heaps as systems bring them."""

from dataclasses import replace

import numpy as np
import pytest

from heapfit.comparison.costs.chunk_walks import count_walks
from heapfit.comparison.costs.code_table import read_system_codes
from heapfit.comparison.costs.heap_costs import UNKNOWN, count_calls, estimate_costs
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.comparison.incumbents.requests import Requests
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import ALLOC, FREE, RESIZE
from heapfit.trace.stored import REPLAYED, TraceInfo, write_trace

MEMORY = 65_536
MEASURED = ("heap_4", "lwip-mem", "mattconte-tlsf", "newlib-nano", "sys_heap")


def holes(count):
    """Blocks of which every other one is freed, then as many requests for more than a hole."""
    rows = [(ALLOC, number, 32) for number in range(count)]
    rows += [(FREE, number, 0) for number in range(0, count, 2)]
    rows += [(ALLOC, count + number, 64) for number in range(count // 2)]
    return rows


def recording(folder, rows):
    columns = [np.array(column, np.uint64) for column in zip(*rows, strict=True)]
    columns.append(np.zeros(len(rows), np.uint64))
    trace = write_trace(
        folder / "run.parquet", [dict(zip(REPLAYED, columns, strict=True))], TraceInfo()
    )
    return load_trace(trace)


@pytest.mark.parametrize("name", MEASURED)
def test_a_heap_of_a_system_costs_more_the_more_holes_there_are(tmp_path, name):
    heap = find_heap(name, 8)
    few, many = (
        estimate_costs(heap, recording(tmp_path, holes(count)), MEMORY) for count in (8, 200)
    )
    walks = name not in {"mattconte-tlsf", "sys_heap"}
    assert (many.longest > 2 * few.longest) == walks
    assert many.flash == few.flash == read_system_codes()[name].size
    assert not many.has_checks


def test_a_plan_and_the_allocator_of_that_name_cost_the_same(tmp_path):
    loaded = recording(tmp_path, holes(20))
    plan = estimate_costs(Heap("tlsf", Plan("tlsf", {"alignment": 8})), loaded, MEMORY)
    assert plan == estimate_costs(find_heap("tlsf", 8), loaded, MEMORY)
    assert plan.has_checks and plan.mean is not None and plan.flash is not None


def test_what_was_not_measured_has_no_figure(tmp_path):
    assert estimate_costs(find_heap("lea", 8), recording(tmp_path, holes(8)), MEMORY) == UNKNOWN


def test_a_heap_that_serves_in_no_region_has_flash_alone(tmp_path):
    costs = estimate_costs(find_heap("heap_4", 8), recording(tmp_path, holes(8)), None)
    assert (costs.mean, costs.longest) == (None, None)
    assert costs.flash == read_system_codes()["heap_4"].size


def test_measured_heaps_are_names_that_users_type():
    assert set(read_system_codes()) == set(MEASURED) <= set(SYSTEM_HEAPS)


def test_a_walk_passes_used_chunks_from_the_lowest_free_one_on():
    rows = [(ALLOC, 0), (ALLOC, 1), (ALLOC, 2), (FREE, 0), (ALLOC, 3), (RESIZE, 3)]
    sizes = [32, 32, 32, 0, 64, 48]  # the hole is too small: two used chunks and it are passed
    requests = Requests(
        np.array([op for op, _ in rows], np.uint8),
        np.array([named for _, named in rows], np.uint32),
        np.array(sizes, np.uint64),
        np.zeros(len(rows), np.uint32),
    )
    walks = count_walks(find_heap("lwip-mem", 8).plan, requests, 4096, 16)
    calls = {
        (int(op), int(passed), int(on)): int(count)
        for op, passed, on, count in zip(
            *(walks[name] for name in ("op", "loads", "stores", "calls")), strict=True
        )
    }
    assert calls == {(ALLOC, 1, 1): 3, (FREE, 0, 0): 1, (ALLOC, 4, 0): 1, (RESIZE, 0, 0): 1}


def test_the_calls_of_a_heap_are_counted_once_for_each_memory(tmp_path):
    loaded, heap = recording(tmp_path, holes(8)), find_heap("heap_4", 8)
    counted = count_calls(heap, loaded, MEMORY)
    assert count_calls(find_heap("heap_4", 8), replace(loaded, threads=2), MEMORY) is counted
    assert count_calls(heap, loaded, MEMORY + 8) is not counted
