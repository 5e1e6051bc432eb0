# SPDX-License-Identifier: Apache-2.0
"""Synthetic loads of any length, for what is said about longer runs: services, cycles, growth.

    columns = make_columns("steady", events=40_000, seed=1)   op, object, size, time, site
    trace = write_load("leak_site", 40_000, 1, path)          the same, as a recording

A load is a list of blocks, each with its birth, death, size and call site. Time is counted in
requests, one of them a millisecond. Some 200 blocks are live at a time. Lengths that a load has of
its own (a period, the time it fills) are parts of STANDARD events, however long a run is. These
loads have call sites, which the workloads of the package do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.operations import ALLOC, FREE
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace, TraceInfo, write_trace

Numbers: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = dict[str, NDArray[Any]]

STANDARD = 40_000  # events of a recording; what lasts longer is called 10 and 100 times as long
LIVE = 200.0  # blocks, in the mean
SMALLEST, LARGEST = 16, 1024  # bytes; the sizes are multiples of 16
LEAK_SITE = 99
LEAK = 100  # bytes each thousand events
FOREVER = np.inf
TICK = 1000  # us of a request


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks in the order of their births."""

    births: Numbers
    deaths: Numbers
    sizes: NDArray[np.int64]
    sites: NDArray[np.int64]


Make: TypeAlias = Callable[[np.random.Generator, int], Blocks]


def draw_blocks(random: np.random.Generator, births: Numbers) -> Blocks:
    """Blocks of uniform sizes with exponential lives; a block's site follows from its size."""
    sizes = 16 * random.integers(SMALLEST // 16, LARGEST // 16 + 1, len(births))
    lives = random.exponential(LIVE, len(births))
    return Blocks(births, births + lives, sizes, 1 + sizes // 129)


def draw_arrivals(random: np.random.Generator, rates: Numbers) -> Numbers:
    """Times of arrivals: one after another with these rates, 1 in the mean."""
    return np.cumsum(random.exponential(1.0, len(rates)) / rates)


def steady(random: np.random.Generator, count: int) -> Blocks:
    """Poisson arrivals."""
    return draw_blocks(random, draw_arrivals(random, np.ones(count)))


def walk(random: np.random.Generator, count: int) -> Blocks:
    """Poisson arrivals whose rate wanders at random between 0.6 and 1.4."""
    wander = np.cumsum(random.normal(0, 0.03, count)) + 0.4
    return draw_blocks(random, draw_arrivals(random, 0.6 + np.abs((wander % 1.6) - 0.8)))


def heavy(random: np.random.Generator, count: int, shape: float, largest: int) -> Blocks:
    """Pareto's sizes from 32 B, the largest cut, and log-normal lives (sigma 1.5)."""
    births = draw_arrivals(random, np.ones(count))
    sizes = np.minimum(32 * random.random(count) ** (-1 / shape), largest).astype(np.int64)
    lives = LIVE * random.lognormal(-(1.5**2) / 2, 1.5, count)
    return Blocks(births, births + lives, sizes, 1 + np.minimum(sizes // 64, 7))


def bursts(random: np.random.Generator, count: int) -> Blocks:
    """Half of the blocks arrive alone, half of them in bursts of 30 in the mean."""
    births = draw_arrivals(random, np.ones(count))
    starts = random.random(count) < 1 / 31  # of a burst
    part = np.cumsum(starts)
    is_burst = random.random(part[-1] + 1) < 0.5
    first = births[np.flatnonzero(starts)]
    joined = np.concatenate([births[:1], first])[part]
    return draw_blocks(random, np.where(is_burst[part], joined, births))


def cycle(random: np.random.Generator, count: int, period: float, depth: float = 0.5) -> Blocks:
    """A rate that swings with a period, of so many STANDARD lengths, by a part of its mean."""
    requests = period * STANDARD / 2
    start = random.random()
    swing = np.sin(2 * np.pi * (np.arange(count) / requests + start))
    return draw_blocks(random, draw_arrivals(random, 1 + depth * swing))


def sessions(random: np.random.Generator, count: int) -> Blocks:
    """Sessions of nine blocks in the mean, born within 50 requests and freed together."""
    first = draw_arrivals(random, np.ones(count))
    is_first = random.random(count) < 1 / 9
    is_first[0] = True
    part = np.cumsum(is_first) - 1
    starts = first[is_first]
    ends = starts + 50 + random.exponential(LIVE, len(starts))
    births = starts[part] + 50 * random.random(count)
    order = np.argsort(births, kind="stable")
    return replace(draw_blocks(random, births[order]), deaths=ends[part[order]])


def waves(random: np.random.Generator, count: int) -> Blocks:
    """A rate whose logarithm returns to its mean within some 1,000 requests (deviation 0.3)."""
    step, keeps = 50, np.exp(-50 / 1000)
    shocks = random.normal(0, 0.3 * np.sqrt(1 - keeps**2), count // step + 1)
    levels = list(accumulate(shocks, lambda level, shock: keeps * level + shock))
    return draw_blocks(random, draw_arrivals(random, np.exp(np.repeat(levels, step)[:count])))


def two_lives(random: np.random.Generator, count: int) -> Blocks:
    """One block in ten lives five times as long as the mean, the others 5/9 of it."""
    blocks = steady(random, count)
    lives = (blocks.deaths - blocks.births) * np.where(random.random(count) < 0.1, 5, 5 / 9)
    return replace(blocks, deaths=blocks.births + lives)


def fill(random: np.random.Generator, count: int, part: float) -> Blocks:
    """Some 150 blocks of the first part of a STANDARD length are kept, then it is steady."""
    blocks = steady(random, count)
    until = part * STANDARD / 2
    is_kept = (np.arange(count) < until) & (random.random(count) < 150 / until)
    return replace(blocks, deaths=np.where(is_kept, FOREVER, blocks.deaths))


def leak_apart(random: np.random.Generator, count: int, size: int, site: int | None) -> Blocks:
    """Steady, and one block of `size` is never freed each time it is due: LEAK.

    From a site of its own; with `site` None from those of the others, of a size of its own.
    """
    blocks = steady(random, count)
    every = size * 1000 / LEAK / 2  # requests
    births = every * np.arange(1, int(blocks.births[-1] / every), dtype=np.float64)
    sites = np.full(len(births), site) if site else random.choice(blocks.sites, len(births))
    lost = Blocks(births, np.full(len(births), FOREVER), np.full(len(births), size), sites)
    return join_blocks(blocks, lost)


def leak_shared(random: np.random.Generator, count: int, growth: float) -> Blocks:
    """Steady, and some of all blocks are never freed: so many bytes each thousand events."""
    blocks = steady(random, count)
    is_lost = random.random(count) < growth / 500 / blocks.sizes.mean()
    return replace(blocks, deaths=np.where(is_lost, FOREVER, blocks.deaths))


def join_blocks(one: Blocks, other: Blocks) -> Blocks:
    """The blocks of both by their births."""
    births = np.concatenate([one.births, other.births])
    order = np.argsort(births, kind="stable")
    both = zip(
        (one.deaths, one.sizes, one.sites), (other.deaths, other.sizes, other.sites), strict=True
    )
    return Blocks(births[order], *(np.concatenate(pair)[order] for pair in both))


# Bytes: standard deviation of a steady load's least live bytes in 50 windows, the mean of 10 seeds.
TROUGH_DEVIATION = 7_000
LOADS: dict[str, Make] = {
    "steady": steady,
    "walk": walk,
    "heavy": partial(heavy, shape=2.0, largest=4096),
    "wild": partial(heavy, shape=1.5, largest=65536),
    "bursts": bursts,
    "cycle": partial(cycle, period=1 / 30),
    "fill": partial(fill, part=0.08),
    "sessions": sessions,
    "waves": waves,
    "two_lives": two_lives,
    "cycle_long": partial(cycle, period=1.2),
    "fill_long": partial(fill, part=1.0),
    "leak_site": partial(leak_apart, size=48, site=LEAK_SITE),
    "leak_size": partial(leak_apart, size=50, site=None),
    "leak_shared": partial(leak_shared, growth=6 * TROUGH_DEVIATION / (0.9 * STANDARD / 1000)),
}
WORKLOADS = ("slotbuf", "poisson_500")  # of the package, without sites
UNBOUNDED = ("steady", "bursts", "cycle", "fill", "poisson_500")  # by any law of theirs
HOLD_OUT = ("sessions", "waves", "two_lives")  # the forecast was not made by them; unbounded, too
# Of "wild" one block may be as large as all others together: no recording shows its largest.
SERVICES = (*UNBOUNDED, *HOLD_OUT, "walk", "slotbuf", "heavy", "wild")
NOT_STEADY = ("cycle_long", "fill_long", "leak_site", "leak_size", "leak_shared")


def make_columns(name: str, events: int, seed: int) -> Columns:
    """Exactly so many events of a load, or of a workload of the package, as columns of a trace."""
    if name in WORKLOADS:
        taken = WorkloadSpec(name, seed, {"events": events}).source().take(events)
        return dict(taken)
    random = np.random.default_rng([seed, *name.encode()])
    blocks = LOADS[name](random, int(0.56 * events) + 4000)
    return order_events(blocks, events)


def order_events(blocks: Blocks, events: int) -> Columns:
    """The first births and frees of blocks in the order of time."""
    count = len(blocks.births)
    ends = np.flatnonzero(blocks.deaths < blocks.births[-1])
    times = np.concatenate([blocks.births, blocks.deaths[ends]])
    order = np.argsort(times, kind="stable")[:events]
    assert len(order) == events, "more blocks are needed"
    owner = np.concatenate([np.arange(count), ends])[order]
    is_birth = order < count
    return {
        "op": np.where(is_birth, ALLOC, FREE).astype(np.uint8),
        "object": owner.astype(np.uint32),
        "size": np.where(is_birth, blocks.sizes[owner], 0).astype(np.uint64),
        "time": (times[order] * TICK).astype(np.uint64),
        "site": np.where(is_birth, blocks.sites[owner], 0).astype(np.uint32),
    }


def make_events(name: str, events: int, seed: int) -> _engine.EventArray:
    """The events of a load in memory."""
    columns = make_columns(name, events, seed)
    made = _engine.EventArray()
    made.append(columns["op"], columns["object"], columns["size"])
    return made


def write_load(name: str, events: int, seed: int, path: Path) -> Trace:
    """A recording of a load, stored at `path`."""
    info = TraceInfo(program=name, source=f"load {name}, seed {seed}", pointer_bits=32)
    return write_trace(path, [make_columns(name, events, seed)], info)
