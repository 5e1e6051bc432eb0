# SPDX-License-Identifier: Apache-2.0
"""A scheme: a plan in a region of so many bytes, overhead included."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit import _engine
from heapfit.comparison.incumbents.heap_plans import (
    heap_of_plan,
    parse_heap_size,
    region_of_plan,
)
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, read_plan
from heapfit.plan.serving_region import one_request
from heapfit.plan.toml_table import TomlTable

_FEW = 4  # requests
_TO_SHARED = 1  # overflow, of pools that have it
_MOST_REGION = 128 << 20  # bytes, of which each worker holds one


@dataclass(frozen=True, slots=True)
class Scheme:
    """A plan in a region, to which traffic is offered."""

    name: str
    plan: Plan
    region: int  # bytes; of a system's heap what its setting gives it
    placed: int = 0  # bytes of the plan's own region where that differs

    @property
    def plan_region(self) -> int:
        """Bytes of the region that the plan manages."""
        return self.placed or self.region

    @property
    def lacks_shared_heap(self) -> bool:
        """True if requests of full pools go to the plan's shared heap, and there is none."""
        return self.plan.scalars.get("overflow") == _TO_SHARED and self.plan.shared is None

    def capacity(self) -> int:
        """Bytes that an empty heap can allocate: the sum of its free blocks."""
        idle = _engine.SlotWorkload(slots=1, least=1, most=1, seed=0)
        free = _engine.SlotBuffer(self.plan.engine(), self.plan_region, idle).free_sizes()
        return int(free.sum(dtype="uint64"))

    def serves(self, size: int) -> bool:
        """True if the empty heap serves a request of `size` bytes.

        If it does with room for a few, it does with more; else it is asked in its own region,
        which some heaps write to from end to end as they begin.
        """
        plan = self.plan.engine()
        few = min(plan.smallest_region + _FEW * size, self.plan_region)
        return any(
            bool(_engine.Replay(plan, region).feed(one_request(size)))
            for region in sorted({few, self.plan_region})
        )


def read_scheme(name: str, table: TomlTable) -> Scheme:
    """Reads a `[schemes.NAME]` table: a plan and its region, or a heap and its setting.

    The standard region is the least in which the plan starts.
    """
    if table.has("heap"):
        return _read_heap(name, table.text("heap"), table)
    plan = read_plan(table.table("plan"))
    try:
        smallest = plan.engine().smallest_region
    except HeapfitError as error:
        table.reject("plan", str(error))
    if smallest == 0:
        table.reject("plan", "no region is large enough for it")
    region = table.whole("region", 1, _MOST_REGION) if table.has("region") else smallest
    if region < smallest:
        table.reject("region", f"{region} is below the {smallest} bytes this plan needs")
    table.finish()
    return Scheme(name, plan, region)


def _read_heap(name: str, typed: str, table: TomlTable) -> Scheme:
    """A heap of heapfit's or of a system as HEAP:BYTES, in its own setting."""
    try:
        given = parse_heap_size(typed)
    except HeapfitError as error:
        table.reject("heap", str(error))
    heap, region = heap_of_plan(given), region_of_plan(given)
    if heap.least > 1 or not given.plan.engine().smallest_region <= region <= _MOST_REGION:
        table.reject(
            "heap",
            f"{given.heap}: give one that serves small requests as they are, and a size in which "
            "it starts, of at most 128 MiB",
        )
    table.finish()
    return Scheme(name, given.plan, heap.memory_of(given.region or 0), region)
