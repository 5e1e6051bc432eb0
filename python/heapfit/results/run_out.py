# SPDX-License-Identifier: Apache-2.0
"""Columns that show how often a count runs out, of a pool or of a setting."""

from __future__ import annotations

from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column
from heapfit.sizing.run_out import RunOut
from heapfit.sizing.unseen import Chance


def format_interval(chance: RunOut | Chance) -> str:
    """The confidence interval of a share, as text."""
    return f"{format_share(chance.lowest)} to {format_share(chance.highest)}"


RUN_OUT: tuple[Column[RunOut], ...] = (
    Column("count", "count"),
    Column(
        "runs_out",
        "runs out",
        lambda run_out: run_out.share,
        lambda run_out: format_share(run_out.share) + ("*" if run_out.is_beyond else ""),
    ),
    Column("lowest"),
    Column("highest"),
    Column(heading="95 %", shown=format_interval),
    Column("independent"),
    Column("in_bursts", "bursts", shown=lambda run_out: format_share(run_out.in_bursts)),
    Column("beyond_trace", value=lambda run_out: run_out.is_beyond),
    Column(
        "time_full",
        "time full",
        lambda run_out: run_out.time_share,
        lambda run_out: None if run_out.time_share is None else format_share(run_out.time_share),
    ),
)
