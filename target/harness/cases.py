# SPDX-License-Identifier: Apache-2.0
"""What to replay: plans as `heapfit compare` makes them from a trace, in regions they run in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.verify import Case
from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import load_plan
from heapfit.trace.loaded import LoadedTrace


def list_shipped() -> list[str]:
    """The allocators that firmware can have, in the order of their list."""
    return [info.name for info in _engine.allocators() if info.ships]


def cases_of(
    loaded: LoadedTrace,
    allocators: Sequence[str],
    plans: Sequence[Path] = (),
    region: int | None = None,
) -> list[Case]:
    """One case for each plan that these names and files stand for, in `region` or R_safe."""
    portfolio = build_portfolio(loaded, allocators, [load_plan(path) for path in plans])
    return [_case(candidate, loaded, region) for candidate in portfolio.candidates]


def _case(candidate: Candidate, loaded: LoadedTrace, region: int | None) -> Case:
    plan = candidate.plan
    base = max(_engine.HOST_BASE_ALIGNMENT, plan.alignment, loaded.trace.largest_alignment)
    if region is None:
        found = _engine.Trial(plan.engine(), loaded.events_for(plan), base).scan()
        region = found.r_safe if found.r_safe is not None else found.r_min
    if region is None:
        raise HeapfitError(f"{candidate.name}: no region serves this trace (give one by --region)")
    return Case(candidate.name, plan, region, base)
