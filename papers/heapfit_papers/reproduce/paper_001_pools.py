# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, rows 1 to 9: the packets, the choice of pools, the queue.

The captures of Dartmouth are not to be had. A seeded mix with the published shares stands for
them, so what a row finds of the mix itself is what was put in, and says so.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.pools.special_pools import pool_sizes, special_sizes
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.profile import profile_trace
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row
from heapfit_papers.reproduce.small_heap import refusals

TRACES = 18
MOST_PACKETS = 100_000  # "samples from 1000 to 100000"
ACK, MTU = 40, 1500
NOT_TO_BE_HAD = "The captures are not to be had; our mix has this put in."
_IP_HEADERS = 40  # bytes, as the paper counts
_DATAGRAM = 65_535


@dataclass(frozen=True, slots=True)
class Mix:
    """The packets of one seed."""

    ack: tuple[float, ...]  # share of 40 B in the first 1,000, 10,000 ... packets
    mtu: tuple[float, ...]
    sizes: int  # different ones


def packets_of(seed: int) -> Mix:
    """Draws as many packets as the longest sample has."""
    drawn = drawn_sizes(seed, MOST_PACKETS)
    counts = [10**power for power in range(3, int(math.log10(MOST_PACKETS)) + 1)]
    return Mix(
        tuple(float((drawn[:count] == ACK).mean()) for count in counts),
        tuple(float((drawn[:count] == MTU).mean()) for count in counts),
        len(np.unique(drawn)),
    )


def drawn_sizes(seed: int, packets: int) -> NDArray[np.uint64]:
    """The sizes of so many packets of the mix."""
    source = _engine.WorkloadSource("queue_fill", {"packets": packets}, seed)
    columns = source.take(2 * packets)
    sizes: NDArray[np.uint64] = columns["size"][columns["op"] == 0]
    return sizes


def mixes(laboratory: Laboratory) -> list[Mix]:
    """One for each of the traces."""
    seeds = range(1, (6 if laboratory.is_small else TRACES) + 1)
    return laboratory.map("packets", packets_of, list(seeds))


def packet_sizes(laboratory: Laboratory) -> list[Finding]:
    """Row 1."""
    drawn = laboratory.once(mixes)
    count = len(drawn)
    ack = sum(one.ack[-1] for one in drawn) / count
    mtu = sum(one.mtu[-1] for one in drawn) / count
    fewest = min(one.sizes for one in drawn)
    other = figure("001-1", "other")
    rest = 1 - figure("001-1", "ack").number - figure("001-1", "mtu").number
    each = rest / (figure("001-1", "sizes").least or 1)
    return [
        unknown("001-1", "ack", NOT_TO_BE_HAD, f"{ack:.1%}"),
        unknown("001-1", "mtu", NOT_TO_BE_HAD, f"{mtu:.1%}"),
        unknown("001-1", "sizes", NOT_TO_BE_HAD, f"{fewest:,} at least"),
        holds(
            "001-1",
            "other",
            other.agrees(rest / (MTU - ACK - 1)),
            f"{rest / (MTU - ACK - 1):.3%} if every size from 41 to 1499 B occurs, {each:.3%} for "
            "1,200 sizes: the published numbers agree with each other",
        ),
    ]


def stability(laboratory: Laboratory) -> list[Finding]:
    """Row 2."""
    drawn = laboratory.once(mixes)
    moved = [
        max(means) - min(means)
        for shares in ([one.ack for one in drawn], [one.mtu for one in drawn])
        for means in [[sum(column) / len(drawn) for column in zip(*shares, strict=True)]]
    ]
    facts = f"{moved[0]:.2%} and {moved[1]:.2%}"
    why = (
        f"Independent draws, so sampling alone: 1,000 packets of {len(drawn)} traces cannot be "
        "further off. Real traffic comes in flows; the captures are not to be had."
    )
    return [near("001-2", "change", max(moved), why, facts)]


def fragments(_: Laboratory) -> list[Finding]:
    """Row 3."""
    exact = _DATAGRAM / (MTU - _IP_HEADERS)
    return [near("001-3", "packets", float(math.ceil(exact)), facts=f"{exact:.3f}, so 45")]


def selection(_: Laboratory) -> list[Finding]:
    """Row 4: the rule on a trace of the mix."""
    sizes = tuple(float(size) for size, _ in _pools(1, 10_000))
    return [near("001-4", "sizes", sizes)]


def neither_split_nor_joined(_: Laboratory) -> list[Finding]:
    """Row 5: two small requests do not fit one large block, a large one not many small."""
    large = Plan("class_pools", pools=(Pool(1024, 1, False),))
    small = Plan("class_pools", pools=(Pool(64, 16, False),))
    split = refusals(large, [100, 100]) == 0
    joined = refusals(small, [1000], 1 << 14) == 0
    facts = "a block of 1024 B serves one request of 100 B; 16 blocks of 64 B serve none of 1000 B"
    return [holds("001-5", "reused", not split and not joined, facts)]


def pools(_: Laboratory) -> list[Finding]:
    """Row 6: as many pools as sizes; what it takes to find one."""
    count = len(_pools(1, 10_000))
    return [
        near("001-6", "pools", float(count)),
        unknown(
            "001-6",
            "accesses",
            "What an access is, is not told. The pools' sizes are constants of the plan here, "
            "found by an index; a search in order would read 7 sizes and the pool: 8.",
            "none to metadata: sizes lie in ROM",
        ),
    ]


def fits(_: Laboratory) -> list[Finding]:
    """Row 7: which pool each size from 1 to 1500 B goes to, by the allocator and by the text."""
    sizes = np.arange(1, MTU + 1, dtype=np.uint64)
    chosen = _plan({}).engine()
    chosen_sizes = [chosen.pools[int(pool)][0] for pool in chosen.pools_for(sizes)]
    by_text = [_by_the_text(int(size)) for size in sizes]
    same = sum(one == other for one, other in zip(chosen_sizes, by_text, strict=True))
    return [holds("001-7", "fits", same == len(by_text), f"{same:,} of {len(by_text):,} sizes")]


def example(_: Laboratory) -> list[Finding]:
    """Row 8: two blocks of 1024 B are used; how many requests of 1000 B the pool then serves."""
    plan = _plan({1024: 3, 1500: 0})
    calls = [1024, 1024, 1000]
    third = 3.0 if refusals(plan, calls) == 0 and refusals(plan, [*calls, 1000]) == 1 else 0.0
    over = _plan({1500: 1})
    is_mtu = refusals(over, [1200]) == 0 and refusals(over, [1200, 1500]) == 1
    return [
        near("001-8", "example", third),
        near("001-8", "overflow", 1500.0 if is_mtu else 0.0),
    ]


def queue(_: Laboratory) -> list[Finding]:
    """Row 9."""
    source = _engine.WorkloadSource("queue_fill", {"packets": 1000}, 1)
    ops = np.asarray(source.take(1 << 12)["op"])
    allocations, frees = int((ops == 0).sum()), int((ops == 4).sum())
    facts = f"{allocations:,} and {frees:,}"
    return [near("001-9", "calls", float(allocations if allocations == frees else 0), facts=facts)]


ROWS = {
    "001-1": Row(packet_sizes, "size is the IP packet's; other sizes alike"),
    "001-2": Row(stability, "packets are drawn independently"),
    "001-3": Row(fragments),
    "001-4": Row(selection, "powers of two from 64 B; requests below it without a pool go there"),
    "001-5": Row(neither_split_nor_joined),
    "001-6": Row(pools, "an access is a load or store of the allocator's own data"),
    "001-7": Row(fits, "pools are traversed (tunable search=0); a stack is search=1"),
    "001-8": Row(example, "a full pool hands on to the next larger (tunable overflow=0)"),
    "001-9": Row(queue, "released in order of arrival, once"),
}


def _pools(seed: int, packets: int) -> list[tuple[int, bool]]:
    """(size, is_exact) of the pools that the rule chooses for the mix."""
    spec = WorkloadSpec("queue_fill", seed, {"packets": packets})
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        profile = profile_trace(generate_workload(spec, Path(folder) / "queue.parquet"))
    return pool_sizes(special_sizes(profile), MTU)


def _plan(counts: dict[int, int]) -> Plan:
    """The paper's seven pools with a block each, or as many as `counts` says; 0 leaves one out."""
    sizes = (int(size) for size in figure("001-4", "sizes").numbers)
    return Plan(
        "class_pools",
        pools=tuple(
            Pool(size, counts.get(size, 1), size in (ACK, MTU))
            for size in sizes
            if counts.get(size, 1) > 0
        ),
    )


def _by_the_text(size: int) -> int:
    """Section 4, D: exact among specials, the first that fits among the others, 1500 last."""
    powers = [int(one) for one in figure("001-4", "sizes").numbers if one not in (ACK, MTU)]
    if size in (ACK, MTU):
        return size
    return next((power for power in powers if power >= size), MTU)
