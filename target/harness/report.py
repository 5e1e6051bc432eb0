# SPDX-License-Identifier: Apache-2.0
"""Measured calls as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from harness.replay import OPERATIONS
from harness.verify import Case, Verification


def lines_of(case: Case, done: Verification) -> Iterator[str]:
    """What one plan does on one board, a line for each function that was called."""
    build = done.build
    yield (
        f"{case.name}  {done.board.name} -{build.optimisation} HFIT_SAFETY={build.safety}"
        f"  region {case.region:,} B  refusals {done.target.refusals:,}"
    )
    yield "function           calls  mean instr.    p99.9    worst  loads  stores  stack B"
    for operation in OPERATIONS:
        spread = done.calls.spread(operation)
        if spread is None:
            continue
        loads = done.calls.total("heap_loads", operation) / spread.calls
        stores = done.calls.total("heap_stores", operation) / spread.calls
        stack = done.calls.deepest_stack(done.target.stack, operation)
        yield (
            f"{operation:13} {spread.calls:10,} {spread.mean:12.1f} {spread.p999:8,} "
            f"{spread.worst:8,} {loads:6.2f} {stores:7.2f} {stack:8}"
        )
    yield from (f"DIFFERS: {difference}" for difference in done.differences)
    if build.places_as_host and not done.differences:
        accesses = " and as many accesses" if build.compares_accesses else ""
        yield f"same placements{accesses} as the host"
