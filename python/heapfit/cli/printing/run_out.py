# SPDX-License-Identifier: Apache-2.0
"""How often a count runs out, in a table of pools and beside a setting."""

from __future__ import annotations

from heapfit.cli.printing.parts import Column
from heapfit.sizing.run_out import RunOut
from heapfit.sizing.settings import share_told

RUN_OUT: tuple[Column[RunOut], ...] = (
    Column("count", "count"),
    Column(
        "runs_out",
        "runs out",
        lambda one: one.share,
        lambda one: share_told(one.share) + ("*" if one.is_beyond else ""),
    ),
    Column("lowest"),
    Column("highest"),
    Column(
        heading="95 %",
        shown=lambda one: f"{share_told(one.lowest)} to {share_told(one.highest)}",
    ),
    Column("beyond_trace", value=lambda one: one.is_beyond),
    Column(
        "time_full",
        "time full",
        lambda one: one.time_share,
        lambda one: None if one.time_share is None else share_told(one.time_share),
    ),
)
