# SPDX-License-Identifier: Apache-2.0
"""What is known of a system: its settings from captures of packets, and that of its heap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from heapfit.comparison.incumbents.heap import Heap
from heapfit.progress import Progress
from heapfit.sizing.buffers import BufferPool, Layout, least_memory, one_unit, size_buffers
from heapfit.sizing.demand import Demand, Integers, measure_demands
from heapfit.sizing.run_out import RunOut, least_count
from heapfit.sizing.settings import Assumption, BufferChoice, Form, Setting, SettingsOptions
from heapfit.trace.stored import Trace

Values: TypeAlias = Mapping[str, int]  # of assumptions, by name
SENT = Assumption("sent", 0, "1: the captured packets are sent, not received", "received")


@dataclass(frozen=True, slots=True)
class SizedSettings:
    """Settings, the bytes of RAM that they cost, and what is to be said of them."""

    settings: tuple[Setting, ...]
    memory: int
    choices: tuple[BufferChoice, ...] = ()  # buffer sizes compared
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Captures:
    """Captures of packets, and how their buffers are to be sized."""

    traces: Sequence[Trace]
    options: SettingsOptions
    progress: Progress

    def size_buffers(self, layouts: Sequence[Layout]) -> tuple[BufferPool, ...]:
        """The least count of buffers of each layout."""
        return size_buffers(self.traces, layouts, self.options.admission, self.progress)

    def size_packets(self) -> RunOut:
        """The least count of a structure of which each packet takes one, whatever its size."""
        return self.size_cells(lambda sizes: one_unit(sizes)[1])

    def size_cells(self, cells: Callable[[Integers], Integers]) -> RunOut:
        """The least count of cells, of which a packet takes as many as its size tells."""
        return least_count(self._demand(cells), self.options.admission)

    def peak_cells(self, cells: Callable[[Integers], Integers]) -> int:
        """The most cells that are taken at once."""
        return self._demand(cells).peak

    def largest(self) -> int:
        """Bytes of the largest packet."""
        batches = (batch["size"] for trace in self.traces for batch in trace.batches(("size",)))
        return max((int(sizes.max(initial=0)) for sizes in batches), default=0)

    def _demand(self, cells: Callable[[Integers], Integers]) -> Demand:
        def assign(sizes: Integers) -> tuple[Integers, Integers]:
            return one_unit(sizes)[0], cells(sizes)

        (demand,) = measure_demands(self.traces, 1, assign, self.progress)
        return demand


@dataclass(frozen=True, slots=True)
class PacketSettings:
    """How a system's settings follow from packets."""

    assumptions: tuple[Assumption, ...]
    size: Callable[[Captures, Values], SizedSettings]


@dataclass(frozen=True, slots=True)
class HeapSetting:
    """The setting of a system's heap."""

    name: str
    standard: str  # the system's own, in words
    why: str  # what else its user has to know
    assumptions: tuple[Assumption, ...]
    make: Callable[[Values], Heap]
    beside_pools: tuple[Setting, ...] = ()  # without which pools with names have no memory


@dataclass(frozen=True, slots=True)
class ObjectPools:
    """Pools of objects, each class of which is a size of a recording's requests."""

    standards: Mapping[str, str]  # by the name of the setting, in words
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """An embedded system whose settings can be printed."""

    title: str
    form: Form
    packets: PacketSettings | None
    heap: HeapSetting | ObjectPools | None = None


def size_cheapest(
    pools: Sequence[BufferPool], names: tuple[str, str], standards: tuple[str, str], holds: str
) -> tuple[BufferPool, tuple[Setting, Setting], tuple[BufferChoice, ...]]:
    """The pool that costs least, the settings of its buffers' size and count, and all compared."""
    best, found = least_memory(pools), least_memory(pools).run_out
    size_why = f"Needs the least RAM of the sizes compared, for whole {holds}."
    settings = (
        Setting(names[0], best.layout.buffer_size, standards[0], None, size_why),
        Setting(names[1], found.count, standards[1], found, f"Buffers of all {holds} at once."),
    )
    choices = (BufferChoice(one.layout.buffer_size, one.run_out.count, one.memory) for one in pools)
    return best, settings, tuple(choices)
