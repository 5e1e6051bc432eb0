# SPDX-License-Identifier: Apache-2.0
"""What a comparison comes to, in one sentence with the figures that decide."""

from __future__ import annotations

from heapfit.comparison import Comparison, Row


def verdict(comparison: Comparison) -> str:
    """Which plan needs the least memory, beside the best of the other kind."""
    winner = comparison.rows[0]
    has_pools = bool(winner.plan.pools)
    other = next((row for row in comparison.rows if bool(row.plan.pools) != has_pools), None)
    opening = _pools_pay(winner, other) if has_pools else "No pools here"
    return f"{opening}: {_needs(winner)}; {_beside(other, has_pools, comparison)}."


def _pools_pay(winner: Row, other: Row | None) -> str:
    if winner.r_safe is None or other is None or other.r_safe is None:
        return "Pools pay"
    return f"Pools save {1 - winner.r_safe / other.r_safe:.1%}"


def _beside(other: Row | None, has_pools: bool, comparison: Comparison) -> str:
    if other is None:
        whys = "; ".join(f"{one.name}: {one.why}" for one in comparison.not_applicable)
        return f"no plan with pools applies ({whys})" if whys else "no other plan was tried"
    return f"{'without' if has_pools else 'with'} pools, {_needs(other)}"


def _needs(row: Row) -> str:
    if row.r_safe is None:
        return f"{row.name} has no safe region"
    over = "" if row.over_u_max is None else f"{row.over_u_max:.2f} x U_max, "
    step = f", step {row.step:,}" if row.step else ""
    return f"{row.name} needs {row.r_safe:,} B ({over}alignment {row.alignment}{step})"
