# SPDX-License-Identifier: Apache-2.0
"""Columns of the JSON that tell how often a count runs out, of a pool or of a setting."""

from __future__ import annotations

from heapfit.results.parts import Column
from heapfit.sizing.run_out import RunOut

RUN_OUT: tuple[Column[RunOut], ...] = (
    Column("count"),
    Column("runs_out", value=lambda run_out: run_out.share),
    Column("lowest"),
    Column("highest"),
    Column("independent"),
    Column("in_bursts"),
    Column("beyond_trace", value=lambda run_out: run_out.is_beyond),
)
