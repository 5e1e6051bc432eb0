# SPDX-License-Identifier: Apache-2.0
"""Settings from captures of packets: the formulas that facts.toml names, one for a part.

chains   packets in chains of equal buffers; of the sizes tried the one that costs least RAM, unless
         an assumption of the setting's name gives one
           first  | of each buffer | of the first | before the packet | packet ... |
           later  | of each buffer | packet ...                                    |
packets  structures of which each packet takes one, whatever its size
window   bytes that the chains carry, in whole segments
whole    buffers of the largest packet, and how many
bytes    the bytes of all packets at once
cells    cells of one array, in which each packet's parts lie where they first fit
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.sizing.buffers import BufferPool, Layout, least_memory, size_buffers
from heapfit.sizing.demand import Demand, measure_units
from heapfit.sizing.run_out import RunOut, least_count
from heapfit.sizing.settings import BufferChoice, Setting, SizedSettings
from heapfit.sizing.systems.facts import Facts, Values, add_terms
from heapfit.trace.operations import Integers
from heapfit.trace.stored import Trace

_LEAST = 8  # bytes of a packet that its first buffer has to hold
_LARGEST = 1 << 31  # bytes of a region to replay in


def size_packets(
    facts: Facts, traces: Sequence[Trace], *, admission: float, known: Values, progress: Progress
) -> SizedSettings:
    """The settings of a system's parts for all captures; `known` are its assumptions."""
    words = {word: ways[bool(known.get("sent"))] for word, ways in facts.get("words", {}).items()}
    sizing = _Sizing(traces, admission, known, words, progress)
    for part in facts["parts"]:
        _FORMULAS[part["by"]](sizing, part)
    remarks = [one.format(**words) for one in facts["remarks"]] + sizing.remarks
    return SizedSettings(tuple(sizing.settings), sizing.memory, sizing.choices, tuple(remarks))


@dataclass(slots=True)
class _Sizing:
    """Captures and what is known of their system; then what its parts have added."""

    traces: Sequence[Trace]
    admission: float
    known: Values
    words: dict[str, str]
    progress: Progress
    settings: list[Setting] = field(default_factory=list)
    memory: int = 0
    choices: tuple[BufferChoice, ...] = ()
    remarks: list[str] = field(default_factory=list)
    chains: BufferPool | None = None  # the buffers that cost least

    def add(
        self, name: str, default: str, why: str, *, value: int, run_out: RunOut | None = None
    ) -> None:
        """The next setting."""
        self.settings.append(Setting(name.format(**self.words), value, default, run_out, why))

    def total(self, terms: Iterable[str | int]) -> int:
        """The sum of numbers and of assumptions by their names."""
        return add_terms(terms, self.known)

    def round_up(self, size: int, unit: str | int) -> int:
        """A size in whole units, which may be an assumption."""
        whole = max(self.total([unit]), 1)
        return -(-size // whole) * whole

    def demand(self, cells: Callable[[Integers], Integers]) -> Demand:
        """The demand for cells, of which a packet takes as many as its size tells."""
        return measure_units(self.traces, cells, self.progress)

    def least(self, cells: Callable[[Integers], Integers] = np.ones_like) -> RunOut:
        """The least count of such cells; of one for each packet if nothing else is told."""
        return least_count(self.demand(cells), self.admission)

    def largest(self) -> int:
        """Bytes of the largest packet."""
        return max(int(trace.whole("size")[0].max(initial=0)) for trace in self.traces)

    def room(self, part: Facts, layout: Layout) -> int:
        """Bytes of payload that a stack takes a buffer to carry."""
        return max(layout.buffer_size - self.total(part["headers"]), 1)


def _layout(sizing: _Sizing, part: Facts, size: int) -> Layout:
    """How a packet lies in buffers of a size."""
    unit, total = part.get("unit", 1), sizing.total
    whole = sizing.round_up(size, unit)
    later = (whole if part.get("is_padding_used") else size) - total(part.get("inside", ()))
    mask = -(-sizing.known[part["mask"]] // 32) * 4 if "mask" in part else 0
    header = sizing.round_up(total(part.get("outside", ())), part.get("outside_unit", unit))
    return Layout(
        buffer_size=size,
        first=later - total(part.get("first", ())) - mask,
        later=later,
        extra=total(part.get("extra", ())),
        memory=header + whole,
    )


def _add_chains(sizing: _Sizing, part: Facts) -> None:
    (size_name, name), (size_default, default) = part["names"], part["defaults"]
    given, tried = sizing.known[size_name], part["tried"]
    if given:
        tried = [given]
    elif "largest" in part:
        whole = sizing.round_up(sizing.total(part["largest"]), part["unit"])
        tried = sorted({*(size for size in tried if size < whole), whole})
    layouts = (_layout(sizing, part, size) for size in tried)
    roomy = [one for one in layouts if one.first >= _LEAST]
    if not roomy:
        raise HeapfitError(
            f"assume: what is assumed leaves no room in a buffer of {tried[-1]} bytes"
        )
    sized = size_buffers(sizing.traces, roomy, sizing.admission, sizing.progress)
    pools = [_settle_count(sizing, part, pool) for pool in sized]
    best, holds = least_memory(pools), part["holds"]
    count, why = best.run_out.count, f"Buffers of all {holds} at once."
    if part.get("counts_bytes"):
        count, why = best.memory, f"{count} packets at once, each with its own header."
    size_why = "As given" if given else "Needs the least RAM of the sizes compared"
    sizing.add(
        size_name,
        size_default,
        f"{size_why}, for whole {holds}.",
        value=best.layout.buffer_size,
    )
    sizing.add(name, default, why, value=count, run_out=best.run_out)
    sizing.choices = tuple(
        BufferChoice(
            one.layout.buffer_size,
            one.run_out.count,
            one.memory,
            one.run_out.peak,
            one.run_out.is_beyond and one.run_out.count > one.run_out.peak,
        )
        for one in pools
    )
    sizing.remarks.append(
        "RAM of buffers x bytes, headers included (*: extrapolated): "
        + "; ".join(map(str, sizing.choices))
    )
    sizing.memory += best.memory
    sizing.chains = best


def _settle_count(sizing: _Sizing, part: Facts, pool: BufferPool) -> BufferPool:
    """The pool with what no capture holds, and at least as much as carries one segment."""
    known, layout, found = sizing.known, pool.layout, pool.run_out
    beside = part.get("beside", {}).items()
    more = sum(
        known[count] * int(layout.buffers(np.array([known[size]]))[0]) for count, size in beside
    )
    least = -(-known[part["segment"]] // sizing.room(part, layout)) if "segment" in part else 0
    return replace(pool, run_out=replace(found, count=max(found.count + more, least)))


def _add_packets(sizing: _Sizing, part: Facts) -> None:
    found = sizing.least()
    sizing.add(part["name"], part["default"], part["why"], value=found.count, run_out=found)
    sizing.memory += sizing.total(part.get("outside", ())) * found.count


def _add_window(sizing: _Sizing, part: Facts) -> None:
    segment, pool = sizing.known[part["segment"]], sizing.chains
    if segment == 0 or pool is None:
        return
    carried = pool.run_out.count * sizing.room(part, pool.layout) // segment * segment
    headers = sizing.known["headers"]
    sizes = (trace.whole("size")[0] for trace in sizing.traces)
    if larger := sum(int(np.count_nonzero(one > segment + headers)) for one in sizes):
        sizing.remarks.append(
            f"{larger:,} packets are larger than TCP_MSS {segment} allows: if they are TCP, add "
            f"--assume tcp_mss={sizing.largest() - headers} (your TCP_MSS)"
        )
    window = min(sizing.known[part["wanted"]] or 4 * segment, carried)
    sizing.add(part["name"], part["default"], part["why"], value=window)


def _add_whole(sizing: _Sizing, part: Facts) -> None:
    packet = sizing.largest() + sizing.total(part.get("inside", ()))
    size = max(sizing.round_up(packet, part.get("unit", 1)), sizing.known[part["least_size"]])
    found, spare = sizing.least(), part.get("spare", 0)
    count = max(found.count - spare, sizing.total([part.get("least_count", 0)]))
    (size_name, name), (size_default, default) = part["names"], part["defaults"]
    size_why, why = part["whys"]
    sizing.add(size_name, size_default, size_why, value=size)
    sizing.add(name, default, why, value=count, run_out=found)
    own = sizing.total(part.get("outside", ()))
    sizing.memory += (count + spare) * (own + sizing.round_up(size, part.get("memory_unit", 1)))


def _add_bytes(sizing: _Sizing, part: Facts) -> None:
    found = sizing.least(lambda sizes: sizes)
    needed = max(found.count, sizing.known[part["least"]])
    value = min(needed, part["most"])
    sizing.add(part["name"], part["default"], part["why"], value=value, run_out=found)
    sizing.remarks += [part["beyond"]] if needed > value else []


def _add_cells(sizing: _Sizing, part: Facts) -> None:
    cell = part["cell"]
    counted = zip(part["counts"], part["sizes"], strict=True)
    own = -(-sizing.total(part["outside"]) // cell) + sum(
        sizing.known[count] * -(-sizing.known[size] // cell) for count, size in counted
    )
    found = sizing.least(lambda sizes: own + -(-sizes // cell))
    percent = _measure_holes(sizing, cell, part["header_size"])
    size = -(-found.count * cell * (100 + percent) // (100 * cell)) * cell
    why = part["why"].format(percent=percent)
    sizing.add(part["name"], part["default"], why, value=size, run_out=found)
    sizing.memory += size


def _measure_holes(sizing: _Sizing, cell: int, header_size: int) -> int:
    """What first fit needs above the most that is live of these packets, in whole percent."""
    plan = Plan("first_fit", {"header_size": header_size})
    live = sizing.demand(lambda sizes: -(-(sizes + header_size) // cell)).peak * cell
    needed = max(replay_trace(trace, plan, _LARGEST).footprint for trace in sizing.traces)
    return max(0, -(-100 * (needed - live) // max(live, 1)))


_FORMULAS: dict[str, Callable[[_Sizing, Facts], None]] = {
    "chains": _add_chains,
    "packets": _add_packets,
    "window": _add_window,
    "whole": _add_whole,
    "bytes": _add_bytes,
    "cells": _add_cells,
}
