# SPDX-License-Identifier: Apache-2.0
"""Changes of a program, on recordings small enough to be followed by hand."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_traces import bimodal

from heapfit.importers import import_file
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE, RESIZE, is_allocation, is_end
from heapfit.trace.stored import REPLAYED
from heapfit.workloads.changes import (
    Columns,
    delay_frees,
    double_blocks,
    find_next_class,
    grow_requests,
    heaviest_sizes,
    list_changes,
    replace_size,
    reverse_lasting,
)


def columns_of(*events: tuple[int, int, int]) -> Columns:
    """Columns of (op, object, size); each event has its number as call site."""
    op, block, size = (np.array(column) for column in zip(*events, strict=True))
    return {
        "op": op.astype(np.uint8),
        "object": block.astype(np.uint32),
        "size": size.astype(np.uint64),
        "alignment": np.zeros(len(op), np.uint32),
        "site": np.arange(len(op), dtype=np.uint32),
    }


def events_of(columns: Columns) -> list[tuple[int, int, int]]:
    names = ("op", "object", "size")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


SMALL = columns_of((ALLOC, 0, 16), (ALLOC, 1, 0), (RESIZE, 0, 24), (RESIZE, 1, 0), (FREE, 0, 0))


def test_every_request_grows_and_no_free_does():
    assert events_of(grow_requests(SMALL, 8)) == [
        (ALLOC, 0, 24),
        (ALLOC, 1, 8),
        (RESIZE, 0, 32),
        (RESIZE, 1, 0),
        (FREE, 0, 0),
    ]


def test_one_size_is_replaced_in_resizes_too():
    assert replace_size(SMALL, 24, 32)["size"].tolist() == [16, 0, 32, 0, 0]
    assert replace_size(SMALL, 16, 20)["size"].tolist() == [20, 0, 24, 0, 0]


@given(st.integers(1, 1 << 40))
def test_the_find_next_class_is_the_least_of_four_a_power_of_two_that_is_larger(size):
    power = 1 << (size.bit_length() - 1)
    classes = [power * quarters // 4 for quarters in range(4, 9)]
    assert find_next_class(size) == min(one for one in classes if one > size)


def test_each_tenth_block_of_a_size_is_doubled_with_its_life():
    requests = [(ALLOC, i, 40 if i else 8) for i in range(22)]
    ends = [(RESIZE, 10, 48), (FREE, 10, 0), (FREE, 11, 0), (FREE, 20, 0)]
    doubled = double_blocks(columns_of(*requests, *ends), 40)
    # Blocks 10 and 20 are the tenth and the twentieth of 40 B; the others move up.
    assert events_of(doubled) == [
        *((ALLOC, i, 40 if i else 8) for i in range(24)),
        *((RESIZE, 10, 48), (RESIZE, 11, 48), (FREE, 10, 0), (FREE, 11, 0), (FREE, 12, 0)),
        *((FREE, 21, 0), (FREE, 22, 0)),
    ]
    assert doubled["site"].tolist()[9:14] == [9, 10, 10, 11, 12]


def test_fewer_than_ten_blocks_are_not_doubled():
    nine = columns_of(*((ALLOC, i, 40) for i in range(9)))
    assert events_of(double_blocks(nine, 40)) == events_of(nine)


def test_lasting_requests_of_the_first_tenth_are_reversed_with_their_sites():
    first = [(ALLOC, 0, 10), (ALLOC, 1, 20), (ALLOC, 2, 30), (ALLOC, 3, 40), (ALLOC, 4, 50)]
    rest = [(FREE, 1, 0), (RESIZE, 3, 44), *((ALLOC, i, 60) for i in range(5, 48))]
    changed = reverse_lasting(columns_of(*first, *rest))
    assert changed["size"].tolist()[:7] == [50, 20, 30, 40, 10, 0, 44]
    assert changed["site"].tolist()[:7] == [4, 1, 2, 3, 0, 5, 6]
    assert events_of(changed)[5:] == rest


def test_frees_are_three_events_late_and_stay_in_order():
    early = [(ALLOC, 0, 1), (ALLOC, 1, 1), (FREE, 0, 0), (FREE, 1, 0), (ALLOC, 2, 1)]
    later = [(ALLOC, 3, 1), (ALLOC, 4, 1), (ALLOC, 5, 1)]
    assert events_of(delay_frees(columns_of(*early, *later))) == [
        *early[:2],
        *(early[4], later[0], (FREE, 0, 0), later[1], (FREE, 1, 0), later[2]),
    ]


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedTrace:
    return load_trace(import_file(bimodal(tmp_path / "run.heap"), tmp_path / "run.parquet"))


def test_the_heaviest_sizes_are_those_with_most_bytes_at_the_peak(loaded):
    live: dict[int, int] = {}
    peak, heaviest = 0, {}
    (columns,) = loaded.batches(REPLAYED)
    for op, block, size in events_of(columns):
        if op == FREE:
            del live[block]
        else:
            live[block] = size
        if sum(live.values()) > peak:
            peak = sum(live.values())
            heaviest = {one: sum(v for v in live.values() if v == one) for one in live.values()}
    assert heaviest_sizes(loaded)[0] == 1500
    found = [heaviest[size] for size in heaviest_sizes(loaded)]
    assert found == sorted(heaviest.values(), reverse=True)[:3]


def test_thirteen_changes_keep_a_recording_valid_and_change_it(loaded):
    (before,) = loaded.batches(REPLAYED)
    changes = list_changes(loaded)
    assert [one.is_of_sizes for one in changes] == [True] * 8 + [False] * 5
    assert len({one.name for one in changes}) == 13
    for change in changes:
        after = change.apply(before)
        assert {len(column) for column in after.values()} == {len(after["op"])}
        assert all(after[name].dtype == before[name].dtype for name in REPLAYED)
        births = after["object"][is_allocation(after["op"])]
        assert births.tolist() == list(range(len(births)))
        ends = after["object"][is_end(after["op"], after["size"])]
        assert len(np.unique(ends)) == len(ends)
        if change.is_of_sizes:
            assert (after["object"] == before["object"]).all()
            assert (after["op"] == before["op"]).all()
            assert after["size"].sum() > before["size"].sum()
    assert (before["size"] == loaded.events.sizes()).all()


def test_two_changes_that_agree_are_one(tmp_path: Path) -> None:
    source = tmp_path / "equal.heap"
    source.write_text("".join(f"a {i} 32\n" for i in range(9)))
    changes = list_changes(load_trace(import_file(source, tmp_path / "equal.parquet")))
    assert [one.name for one in changes if one.name.startswith("requests of")] == [
        "requests of 32 B as 40 B"
    ]
