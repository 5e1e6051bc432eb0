# SPDX-License-Identifier: Apache-2.0
"""Where a plan lies in the space of designs, along the axes of the literature.

The letters are those of Mamagkakis et al., section 4: A blocks, B splitting and coalescing, C
pools, D fit. The order of free blocks is named as in Wilson et al. 1995, section 3; growth is ours.
What an allocator's values are, its descriptor says.
"""

from __future__ import annotations

from typing import Final

from heapfit import _engine
from heapfit.plan.allocators import UNKNOWN, find_allocators, scalars_of
from heapfit.plan.plan import Plan

# In the order of hfit_axes (hfit/descriptor.h).
AXES: Final = (
    "A block sizes",
    "B splitting",
    "B coalescing",
    "C pools",
    "D fit among pools",
    "D fit in a pool",
    "order of free blocks",
    "growth",
)
NONE: Final = "-"  # the axis is none for the allocator: what its descriptor says then


def design_axes(plan: Plan) -> dict[str, str]:
    """The plan's value along each axis, and behind it that of its shared allocator.

    >>> from heapfit.plan.plan import Plan
    >>> design_axes(Plan("first_fit"))["B coalescing"]
    'at once'
    """
    own = _own_values(plan)
    if plan.shared is None:
        return own
    behind = design_axes(plan.shared)
    return {axis: _join_values(own[axis], behind[axis]) for axis in AXES}


def _join_values(own: str, behind: str) -> str:
    return own if behind in (own, NONE) else f"{own}; behind: {behind}"


def _own_values(plan: Plan) -> dict[str, str]:
    (info,) = find_allocators([plan.allocator])
    scalars = scalars_of(plan)
    return {
        name: _text(axis, scalars.get(axis.tunable or "", 0))
        for name, axis in zip(AXES, info.axes, strict=True)
    }


def _text(axis: _engine.Axis, value: int) -> str:
    text = axis.texts[value] if value < len(axis.texts) else None
    return text or axis.text or UNKNOWN
