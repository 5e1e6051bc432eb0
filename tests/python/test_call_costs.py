# SPDX-License-Identifier: Apache-2.0
"""What each call of a replay cost: the tally adds up to what the replay counts as a whole."""

import numpy as np
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError

ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)
REGION = 1 << 16
TLSF = _engine.Plan("tlsf", {})


def events(*rows: tuple[int, int, int]) -> _engine.EventArray:
    """From (op, object, size)."""
    table = np.array(rows, np.uint64).reshape(-1, 3)
    made = _engine.EventArray()
    alignments = np.where(table[:, 0] == ALIGNED, 16, 0).astype(np.uint32)
    made.append(
        table[:, 0].astype(np.uint8), table[:, 1].astype(np.uint32), table[:, 2], alignments
    )
    return made


def random_events(seed: int) -> _engine.EventArray:
    draw = np.random.default_rng(seed)
    rows: list[tuple[int, int, int]] = []
    live: list[int] = []
    allocated = 0
    for _ in range(2000):
        chance = draw.random()
        if live and chance < 0.45:
            rows.append((FREE, live.pop(int(draw.integers(len(live)))), 0))
        elif live and chance < 0.6:
            rows.append((RESIZE, live[int(draw.integers(len(live)))], int(draw.integers(1, 300))))
        else:
            op = int(draw.choice([ALLOC, ZEROED, ALIGNED]))
            rows.append((op, allocated, int(draw.integers(1, 300))))
            live.append(allocated)
            allocated += 1
    return events(*rows)


@pytest.mark.parametrize("allocator", ["tlsf", "best_fit", "first_fit"])
def test_the_tally_adds_up_to_what_one_replay_counts(allocator: str) -> None:
    plan, done = _engine.Plan(allocator, {}), random_events(5)
    costs = _engine.call_costs(plan, done, REGION)
    replay = _engine.Replay(plan, REGION)
    assert replay.feed(done)
    whole = replay.result()
    calls = costs["calls"]
    assert int(calls.sum()) == whole.events
    assert int((costs["loads"] * calls).sum()) == whole.loads
    assert int((costs["stores"] * calls).sum()) == whole.stores
    of = {op: int(calls[costs["op"] == op].sum()) for op in range(5)}
    assert of[ALLOC] + of[ALIGNED] == whole.allocations
    assert of[ZEROED] == 0
    assert (of[RESIZE], of[FREE]) == (whole.resizes, whole.frees)


def test_a_resize_to_nothing_is_a_free() -> None:
    costs = _engine.call_costs(TLSF, events((ALLOC, 0, 40), (RESIZE, 0, 0)), REGION)
    assert costs["op"].tolist() == [ALLOC, FREE]


def test_copied_bytes_are_told_together_and_of_the_largest_copy() -> None:
    grows = [(ALLOC, 0, 40), (ALLOC, 1, 40), (RESIZE, 0, 80), (ALLOC, 2, 8), (RESIZE, 1, 64)]
    costs = _engine.call_costs(TLSF, events(*grows), REGION)
    copied = costs["payload"][costs["op"] == RESIZE]
    largest = costs["largest_payload"][costs["op"] == RESIZE]
    assert int(copied.sum()) >= 40
    assert int(largest.max()) <= int(copied.sum())
    assert int(costs["payload"][costs["op"] != RESIZE].sum()) == 0


def test_the_tally_ends_before_a_refused_request() -> None:
    done = events((ALLOC, 0, 40), (ALLOC, 1, 1 << 20), (FREE, 0, 0))
    assert _engine.call_costs(TLSF, done, 1024)["calls"].sum() == 1


def test_a_trace_that_frees_what_is_not_live_is_refused() -> None:
    with pytest.raises(HeapfitError, match="event 0"):
        _engine.call_costs(TLSF, events((FREE, 0, 0)), REGION)
