# SPDX-License-Identifier: Apache-2.0
"""A scheme: a plan in a region of so many bytes, overhead included."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, read_plan
from heapfit.plan.serving_region import one_request
from heapfit.plan.toml_table import Table

_FEW = 4  # requests
_MOST_REGION = 128 << 20  # bytes, of which each worker holds one


@dataclass(frozen=True, slots=True)
class Scheme:
    """A plan in a region, to which traffic is offered."""

    name: str
    plan: Plan
    region: int  # bytes

    def capacity(self) -> int:
        """Bytes that an empty heap can allocate: the sum of its free blocks."""
        idle = _engine.SlotWorkload(slots=1, least=1, most=1, seed=0)
        free = _engine.SlotBuffer(self.plan.engine(), self.region, idle).free_sizes()
        return int(free.sum(dtype="uint64"))

    def serves(self, size: int) -> bool:
        """True if the empty heap serves a request of `size` bytes.

        If it does with room for a few, it does with more; else it is asked in its own region,
        which some heaps write to from end to end as they begin.
        """
        plan = self.plan.engine()
        few = min(plan.smallest_region + _FEW * size, self.region)
        return any(
            bool(_engine.Replay(plan, region).feed(one_request(size)))
            for region in sorted({few, self.region})
        )


def read_scheme(name: str, table: Table) -> Scheme:
    """Reads a `[schemes.NAME]` table. The standard region is the least in which its plan starts."""
    plan = read_plan(table.table("plan"))
    try:
        smallest = plan.engine().smallest_region
    except HeapfitError as error:
        table.reject("plan", str(error))
    if smallest == 0:
        table.reject("plan", "no region is large enough for it")
    region = smallest
    if table.has("region"):
        region = table.whole("region", 1, _MOST_REGION)
        if region < smallest:
            table.reject("region", f"{region} is below the {smallest} bytes this plan needs")
    table.finish()
    return Scheme(name, plan, region)
