# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, rows 1 to 9: the packets, the choice of pools, the queue.

The captures of Dartmouth are not to be had. A mix with the published shares, fitted to the
published totals, stands for them (packets/mix.py), so what a row finds of the mix itself is what
was put in: such rows are echoes, or circular.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heapfit.design.pools.special_pools import pool_sizes, special_sizes
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.profile import profile_trace
from heapfit_papers.packets.mix import ACK, MTU, TRACES, draw_packets, queue_sizes, write_queue
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.reproduce.small_heap import refusals

MOST_PACKETS = 1_000_000  # of a trace, by the caption of figure 1
_SAMPLES = (1000, 10_000, 100_000)  # "samples from 1000 to 100000"
_PUT_IN = "The captures are not to be had; our mix has this put in."
_IP_HEADERS = 40  # bytes, as the paper counts
_DATAGRAM = 65_535


@dataclass(frozen=True, slots=True)
class Mix:
    """The packets of one seed."""

    ack: tuple[float, ...]  # share of 40 B in the first 1,000, 10,000 ... packets
    mtu: tuple[float, ...]
    sizes: int  # different ones


def packets_of(seed: int) -> Mix:
    """Draws as many packets as figure 1 has."""
    drawn = draw_packets(seed, MOST_PACKETS)
    return Mix(
        tuple(float((drawn[:count] == ACK).mean()) for count in _SAMPLES),
        tuple(float((drawn[:count] == MTU).mean()) for count in _SAMPLES),
        len(np.unique(drawn)),
    )


def mixes(laboratory: Laboratory) -> list[Mix]:
    """One for each of the traces."""
    seeds = range(1, (6 if laboratory.is_small else TRACES) + 1)
    return laboratory.map("packets", packets_of, list(seeds))


def packet_sizes(drawn: Sequence[Mix]) -> list[Finding]:
    count = len(drawn)
    ack = sum(one.ack[-1] for one in drawn) / count
    mtu = sum(one.mtu[-1] for one in drawn) / count
    other = figure("001-1", "other")
    rest = 1 - figure("001-1", "ack").number - figure("001-1", "mtu").number
    each = rest / (figure("001-1", "sizes").least or 1)
    return [
        near("001-1", "ack", ack, _PUT_IN),
        near("001-1", "mtu", mtu, _PUT_IN),
        near(
            "001-1",
            "sizes",
            float(min(one.sizes for one in drawn)),
            "One in a hundred of the other packets is drawn from all sizes for this.",
        ),
        holds(
            "001-1",
            "other",
            other.agrees(rest / (MTU - ACK - 1)),
            f"{rest / (MTU - ACK - 1):.3%} if every size from 41 to 1499 B occurs, {each:.3%} for "
            "1,200 sizes: the published numbers agree with each other",
        ),
    ]


def stability(drawn: Sequence[Mix]) -> list[Finding]:
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


def payloads(_: Laboratory) -> float:
    """How many payloads of a packet a datagram is."""
    return _DATAGRAM / (MTU - _IP_HEADERS)


def fragments(exact: float) -> list[Finding]:
    packets = math.ceil(exact)
    return [near("001-3", "packets", float(packets), facts=f"{exact:.3f}, so {packets}")]


def choose_pools(_: Laboratory) -> list[int]:
    """Sizes of the pools that the rule chooses for a queue of 10,000 packets."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        profile = profile_trace(write_queue(Path(folder) / "q.parquet", queue_sizes(1, 10_000)))
    return [size for size, _ in pool_sizes(special_sizes(profile), MTU)]


def selection(sizes: Sequence[int]) -> list[Finding]:
    return [near("001-4", "sizes", tuple(float(size) for size in sizes))]


def count_refusals(_: Laboratory) -> dict[str, int]:
    """Counts refusals of blocks that would have to be cut for two requests, or joined for one."""
    large = Plan("class_pools", pools=(Pool(1024, 1, False),))
    small = Plan("class_pools", pools=(Pool(64, 16, False),))
    return {
        "of_two_small": refusals(large, [100, 100]),
        "of_one_large": refusals(small, [1000], 1 << 14),
    }


def neither_split_nor_joined(refused: Mapping[str, int]) -> list[Finding]:
    facts = (
        f"a block of 1024 B serves {2 - refused['of_two_small']} of two requests of 100 B; "
        f"16 blocks of 64 B serve {1 - refused['of_one_large']} of one of 1000 B"
    )
    is_so = set(refused.values()) == {1}
    return [holds("001-5", "reused", is_so, facts)]


def pools(sizes: Sequence[int]) -> list[Finding]:
    """Row 6: as many pools as sizes; what it takes to find one."""
    return [
        near("001-6", "pools", float(len(sizes)), "It follows from row 4."),
        unknown(
            "001-6",
            "accesses",
            "What an access is, is not told. The pools' sizes are constants of the plan here, "
            "found by an index; a search in order would read 7 sizes and the pool: 8.",
            "none to metadata: sizes lie in ROM",
        ),
    ]


def pools_by_size(_: Laboratory) -> NDArray[np.int64]:
    """The block size of the pool that the allocator takes for each size from 1 to 1500 B."""
    chosen = _plan({}).engine()
    sizes = np.arange(1, MTU + 1, dtype=np.uint64)
    return np.array([chosen.pools[int(pool)][0] for pool in chosen.pools_for(sizes)], np.int64)


def fits(chosen: NDArray[np.int64]) -> list[Finding]:
    """Row 7: by the allocator and by the text."""
    by_text = [_pool_by_rule(size) for size in range(1, MTU + 1)]
    same = int((chosen == by_text).sum())
    return [holds("001-7", "fits", same == len(by_text), f"{same:,} of {len(by_text):,} sizes")]


@dataclass(frozen=True, slots=True)
class Example:
    """What figure 2's calls show."""

    served: int  # requests of 1000 B by a pool of 1024 B whose first two blocks are used
    refused_by_mtu: tuple[int, int]  # of 1200 B alone, and of 1200 and 1500 B, by a block of 1500 B


def example_calls(_: Laboratory) -> Example:
    """Two blocks of 1024 B are used; how many requests of 1000 B the pool then serves."""
    plan = _plan({1024: 3, 1500: 0})
    calls = [1024, 1024, *[1000] * 8]
    over = _plan({1500: 1})
    return Example(
        len(calls) - refusals(plan, calls) - 2,
        (refusals(over, [1200]), refusals(over, [1200, 1500])),
    )


def example(calls: Example) -> list[Finding]:
    third = 2.0 + calls.served
    is_mtu = calls.refused_by_mtu == (0, 1)
    return [
        near("001-8", "example", third),
        near("001-8", "overflow", float(MTU) if is_mtu else 0.0),
    ]


def queue_calls(_: Laboratory) -> dict[str, int]:
    """Counts the calls of a queue that is filled and emptied."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        trace = write_queue(Path(folder) / "q.parquet", queue_sizes(1))
        ops = np.concatenate([columns["op"] for columns in trace.batches(("op",))])
    return {"allocations": int((ops == 0).sum()), "frees": int((ops == 4).sum())}


def queue(calls: Mapping[str, int]) -> list[Finding]:
    allocations, frees = calls["allocations"], calls["frees"]
    both = float(allocations if allocations == frees else 0)
    facts = f"{allocations:,} and {frees:,}"
    return [near("001-9", "calls", both, facts=facts)]


ROWS: Rows = {
    "001-1": Row(mixes, packet_sizes, "size is the IP packet's; the fitted mix"),
    "001-2": Row(mixes, stability, "packets are drawn independently"),
    "001-3": Row(payloads, fragments),
    "001-4": Row(
        choose_pools,
        selection,
        "powers of two from 64 B; requests below it without a pool go there",
    ),
    "001-5": Row(count_refusals, neither_split_nor_joined),
    "001-6": Row(choose_pools, pools, "an access is a load or store of the allocator's own data"),
    "001-7": Row(
        pools_by_size, fits, "pools are traversed (tunable search=0); a stack is search=1"
    ),
    "001-8": Row(
        example_calls, example, "a full pool hands on to the next larger (tunable overflow=0)"
    ),
    "001-9": Row(queue_calls, queue, "released in order of arrival, once"),
}


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


def _pool_by_rule(size: int) -> int:
    """Section 4, D: exact among specials, the first that fits among the others, 1500 last."""
    powers = [int(one) for one in figure("001-4", "sizes").numbers if one not in (ACK, MTU)]
    if size in (ACK, MTU):
        return size
    return next((power for power in powers if power >= size), MTU)
