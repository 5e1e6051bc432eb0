# SPDX-License-Identifier: Apache-2.0
"""Labels of plans that are the same machine code, so that a measurement of one holds for all.

A build of core is made for its plan (docs/decisions/0011): tunables that choose an algorithm choose
code, those that set an amount only change constants in it. Which is which, the descriptor says.
"""

from __future__ import annotations

from heapfit import _engine
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan


def code_label(plan: Plan) -> str:
    """The plan's code in one line: what chooses an algorithm, where it is not the standard.

    >>> from heapfit.plan.plan import Plan
    >>> code_label(Plan("tlsf", {"alignment": 4, "probes": 8}))
    'tlsf'
    >>> code_label(Plan("tlsf", {"probes": 0}))
    'tlsf:probes=0'
    """
    (info,) = find_allocators([plan.allocator])
    parts = (_tunable_label(tunable, plan) for tunable in info.tunables if tunable.kind == "scalar")
    chosen = ",".join(part for part in parts if part)
    label = f"{plan.allocator}:{chosen}" if chosen else plan.allocator
    label += "" if _finds_pools_at_once(plan) else " (pools searched)"
    return label if plan.shared is None else f"{label} > {code_label(plan.shared)}"


def _finds_pools_at_once(plan: Plan) -> bool:
    """True if a table gives a request's pool; if it were too large, pools are searched instead."""
    index = plan.engine().pool_index if plan.pools else None
    return index is None or len(index.table) > 0


def _tunable_label(tunable: _engine.Tunable, plan: Plan) -> str:
    value = plan.scalars.get(tunable.name, tunable.standard)
    if tunable.effect == "amount" or value == tunable.standard:
        return ""
    if tunable.effect == "choice":
        return f"{tunable.name}={value}"
    if (value > 0) == (tunable.standard > 0):
        return ""
    return f"{tunable.name}>0" if value > 0 else f"{tunable.name}=0"
