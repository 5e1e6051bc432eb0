# SPDX-License-Identifier: Apache-2.0
"""Columns of the JSON that tell how often a count runs out, of a pool or of a setting."""

from __future__ import annotations

from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column
from heapfit.sizing.run_out import RunOut
from heapfit.sizing.unseen import Chance


def format_interval(chance: RunOut | Chance) -> str:
    """The confidence interval of a share, as text."""
    return f"{format_share(chance.lowest)} to {format_share(chance.highest)}"


RUN_OUT: tuple[Column[RunOut], ...] = (
    Column("count"),
    Column("runs_out", value=lambda run_out: run_out.share),
    Column("lowest"),
    Column("highest"),
    Column("independent"),
    Column("in_bursts"),
    Column("beyond_trace", value=lambda run_out: run_out.is_beyond),
)
