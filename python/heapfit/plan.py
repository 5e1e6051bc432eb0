# SPDX-License-Identifier: Apache-2.0
"""A plan: which allocator, with which tunables, pools and shared allocator; and the file that keeps one.

The file is TOML, meant to be read and edited by hand; docs/plan-schema.md describes every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapfit import _engine

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal blocks set aside together."""

    size: int  # bytes a request may have to be served here
    count: int  # blocks
    is_exact: bool  # for requests of just this size; otherwise for any that fits


@dataclass(frozen=True, slots=True)
class Plan:
    """One allocator and everything that is decided about it; what it leaves out has its standard value."""

    allocator: str
    scalars: Mapping[str, int] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shared: Plan | None = None  # serves what the pools do not

    def engine(self) -> _engine.Plan:
        """The engine's form of this plan; HeapfitError on unknown names and values out of range."""
        from heapfit import _engine

        pools = [(pool.size, pool.count, pool.is_exact) for pool in self.pools]
        shared = None if self.shared is None else self.shared.engine()
        return _engine.Plan(self.allocator, dict(self.scalars), pools, shared)


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """The recording a plan was made from."""

    trace: str  # its name, for people
    content: str  # "sha256:..." over what decides a replay (heapfit.trace_content)
    events: int


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan with all that generate, verify and a reader need to know of it. Sizes in bytes."""

    name: str  # a letter, then letters, digits, "_" and "-"
    plan: Plan
    region: int | None  # R_safe on the trace it was trained on; None: not searched, or none found
    r_min: int | None
    base_alignment: int  # of the region's start: at least the plan's and the trace's largest
    u_max: int  # most live bytes of the trace
    pointer_bits: int  # of the recorded program: 32, 64 or 0 (unknown)
    trained_on: TrainedOn
    heapfit_version: str
