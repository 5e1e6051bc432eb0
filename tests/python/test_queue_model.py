# SPDX-License-Identifier: Apache-2.0
"""Queue models against slow, obvious ones written with lists."""

import math

import numpy as np
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError

ALLOC, FREE = 0, 4
HOUR = 3_600_000_000
Event = tuple[int, int, int, int]  # op, object, size, time


def events_of(queue: str, times, sizes=None, batch: int = 1 << 20) -> list[Event]:
    model = _engine.QueueModel(queue)
    time = np.array(times, np.uint64)
    size = np.full(len(time), 100, np.uint32) if sizes is None else np.array(sizes, np.uint32)
    starts = range(0, len(time), batch)
    parts = [model.feed(time[at : at + batch], size[at : at + batch]) for at in starts]
    parts.append(model.finish())
    columns = [np.concatenate([part[i] for part in parts]).tolist() for i in range(4)]
    return list(zip(*columns, strict=True))


def releases_of(events: list[Event]) -> dict[int, int]:
    return {event[1]: event[3] for event in events if event[0] == FREE}


def arrivals(count: int, mean_us: float = 100.0) -> list[int]:
    gaps = np.random.default_rng(1).exponential(mean_us, count)
    return np.floor(np.cumsum(gaps)).astype(np.int64).tolist()


def in_order(times: list[int], releases_ns: list[int]) -> list[Event]:
    """The events of packets of 100 bytes: releases due at an arrival come before it."""
    tagged = [(time * 1000, 1, i, (ALLOC, i, 100, time)) for i, time in enumerate(times)]
    tagged += [(ns, 0, i, (FREE, i, 0, ns // 1000)) for i, ns in enumerate(releases_ns)]
    return [event for *_, event in sorted(tagged)]


def test_fill_and_drain_frees_every_n_packets_in_order_at_the_last_arrival():
    assert events_of("fill-drain:2", [0, 5, 9], [40, 1500, 60]) == [
        (ALLOC, 0, 40, 0),
        (ALLOC, 1, 1500, 5),
        (FREE, 0, 0, 5),
        (FREE, 1, 0, 5),
        (ALLOC, 2, 60, 9),
    ]


def test_fill_and_drain_of_one_frees_each_packet_at_once():
    ops = [event[0] for event in events_of("fill-drain:1", [0, 1, 2])]
    assert ops == [ALLOC, FREE] * 3


def test_fill_and_drain_leaves_an_unfilled_batch_live():
    ops = [event[0] for event in events_of("fill-drain:1000", range(2999))]
    assert (ops.count(ALLOC), ops.count(FREE)) == (2999, 2000)


@pytest.mark.parametrize("rate", [5000, 10_000, 12_000, 1_000_000])
def test_a_server_takes_packets_in_order_at_its_rate(rate):
    times = arrivals(2000)
    service = round(1e9 / rate)
    releases, free_at = [], 0
    for time in times:
        free_at = max(free_at, time * 1000) + service
        releases.append(free_at)
    assert events_of(f"fifo:{rate}", times) == in_order(times, releases)


def test_a_server_sees_a_gap_above_one_hour_as_one_second():
    times = [0, 0, 0, HOUR + 1, HOUR + 1]
    assert releases_of(events_of("fifo:1.25", times)) == {
        0: 800_000,
        1: HOUR + 1 + 600_000,
        2: HOUR + 1 + 1_400_000,
        3: HOUR + 1 + 2_200_000,
        4: HOUR + 1 + 3_000_000,
    }


def test_a_server_serves_through_a_gap_of_one_hour():
    assert releases_of(events_of("fifo:0.001", [0, 0, 0, HOUR])) == {
        0: 1000 * 10**6,
        1: 2000 * 10**6,
        2: 3000 * 10**6,
        3: 4600 * 10**6,
    }


@pytest.mark.parametrize("rate", [10**6, 8 * 10**7, 10**9])
def test_a_link_sends_packets_in_order_byte_by_byte(rate):
    times = arrivals(2000)
    sizes = np.random.default_rng(2).integers(40, 1500, len(times)).tolist()
    releases, idle_at = {}, 0
    for i, (time, size) in enumerate(zip(times, sizes, strict=True)):
        idle_at = max(idle_at, time * 1000) + round(size * 8e9 / rate)
        releases[i] = idle_at // 1000
    events = events_of(f"link:{rate}", times, sizes, batch=64)
    assert releases_of(events) == releases
    order = [event[3] for event in events]
    assert order == sorted(order)


def test_a_fixed_holding_time_releases_each_packet_that_much_later():
    times = arrivals(2000)
    releases = [1000 * (time + 730) for time in times]
    assert events_of("hold:fixed:730", times) == in_order(times, releases)


def test_no_holding_time_releases_each_packet_before_the_next():
    ops = [event[0] for event in events_of("hold:fixed:0", [0, 0, 3])]
    assert ops == [ALLOC, FREE] * 3


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_exponential_holding_times_are_those_of_numpys_philox(seed):
    mean = 10**9
    times = arrivals(1000)
    uniform = np.random.Generator(np.random.Philox(key=seed)).random(len(times))
    expected = [-mean * math.log1p(-u) for u in uniform]
    events = events_of(f"hold:exp:{mean}:{seed}", times)
    releases = releases_of(events)
    held = [releases[i] - time for i, time in enumerate(times)]
    assert held == pytest.approx(expected, abs=0.51)
    assert events == in_order(times, [1000 * releases[i] for i in range(len(times))])


def test_the_seed_is_0_unless_told():
    times = arrivals(50)
    assert events_of("hold:exp:1000", times) == events_of("hold:exp:1000:0", times)
    assert events_of("hold:exp:1000", times) != events_of("hold:exp:1000:1", times)


@pytest.mark.parametrize(
    "queue", ["fill-drain:7", "fifo:9000", "link:9e6", "hold:fixed:450", "hold:exp:300:3"]
)
def test_batches_of_any_size_give_the_same_events(queue):
    times = arrivals(500)
    whole = events_of(queue, times)
    assert events_of(queue, times, batch=1) == events_of(queue, times, batch=13) == whole


@pytest.mark.parametrize(
    "queue", ["fill-drain:7", "fifo:0.001", "link:1e3", "hold:fixed:1000000000000000"]
)
def test_times_at_the_limit_do_not_wrap(queue):
    times = [0, 2**63 - 1, 2**63 - 1]
    told = [event[3] for event in events_of(queue, times)]
    assert told == sorted(told)


@pytest.mark.parametrize(
    "queue",
    [
        "",
        "fifo",
        "fill-drain:",
        "fill-drain:0",
        "fill-drain:-1",
        "fill-drain:4294967296",
        "fill-drain:1_000",
        "fill-drain:٣",
        "fill-drain: 5",
        "fill-drain:5 ",
        "fifo:0",
        "fifo:-5",
        "fifo:nan",
        "fifo:inf",
        "fifo:1e10",
        "fifo:1e-4",
        "fifo:1e999",
        "hold:5",
        "link:999",
        "link:1e13",
        "hold:fixed:1.5",
        "hold:fixed:1000000000000001",
        "hold:exp:",
        "hold:exp:5:",
        "hold:exp:5:-1",
        "hold:exp:5:6:7",
        "x" * 10_000,
    ],
)
def test_an_unknown_model_is_refused_with_the_known_ones(queue):
    with pytest.raises(HeapfitError, match=r'^queue model: ".*use fill-drain:N, fifo:RATE') as told:
        _engine.QueueModel(queue)
    assert len(str(told.value)) < 300


def test_packets_whose_times_decrease_are_refused():
    with pytest.raises(HeapfitError, match=r"^queue model: packet 2: its time decreases"):
        events_of("fifo:100", [5, 4])
    with pytest.raises(HeapfitError, match=r"^queue model: packet 1: .*reaches 2\^63"):
        events_of("fifo:100", [2**63])


def test_columns_of_different_lengths_are_refused():
    model = _engine.QueueModel("fifo:100")
    with pytest.raises(HeapfitError, match=r"^queue model: 2 times for 1 sizes"):
        model.feed(np.zeros(2, np.uint64), np.zeros(1, np.uint32))
