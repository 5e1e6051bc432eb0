# SPDX-License-Identifier: Apache-2.0
"""The worst case of an allocator's functions beside the worst that a trace's calls did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.board import Board
from harness.calls import Calls
from harness.image import replay_design, replay_image
from harness.packed_trace import PackedTrace
from harness.replay import TargetReplay, count_replay
from harness.verify import Case
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import LinkedCode, require_equal_code
from heapfit.generate.worst_case.longest_path import PathCost

BOUNDED = ("alloc", "free", "free_sized", "resize", "resize_sized", "alloc_aligned")


@dataclass(frozen=True, slots=True)
class BoundedFunction:
    """One function on one board; nothing was seen of one that the trace does not call."""

    operation: str
    worst: PathCost | UnboundedError
    seen_instructions: int | None  # of one call, without those for bytes of payload
    seen_stack: int  # bytes


def bound_functions(
    workbench: Workbench, case: Case, trace: PackedTrace, board: Board, build: Build
) -> list[BoundedFunction]:
    """Builds the image that `count` counts, with and without marks, and replays the trace; from
    safety level 1 on a second time, by a program that writes to freed blocks.

    HeapfitError if marks make other code, or a call took more than its bound.
    """
    design = replay_design(case.plan, case.region, case.base_alignment)
    image = replay_image(workbench, board, build, design)
    marked = replay_image(workbench, board, replace(build, has_marks=True), design)
    require_equal_code(marked.path, image.path)
    cases = WorstCases(LinkedCode(marked.path, board.tools))
    traces = [trace, replace(trace, writes_after_free=True)] if build.safety >= 1 else [trace]
    replays = [
        count_replay(image, case.plan.allocator, one, workbench.plugin, build.frees_by_size)
        for one in traces
    ]
    found = [
        _pair_with_replays(operation, _worst(cases, case, operation), replays)
        for operation in BOUNDED
    ]
    for one in found:
        _require_below(case, board, one)
    return found


def _worst(cases: WorstCases, case: Case, operation: str) -> PathCost | UnboundedError:
    try:
        return cases.find(f"hfit_{case.plan.allocator}_{operation}")
    except UnboundedError as error:
        return error


def _pair_with_replays(
    operation: str, worst: PathCost | UnboundedError, replays: list[tuple[TargetReplay, Calls]]
) -> BoundedFunction:
    a_byte = worst.a_byte if isinstance(worst, PathCost) else 0
    seen = [_max_instructions(calls.of(operation), a_byte) for _, calls in replays]
    stacks = [calls.deepest_stack(target.stack, operation) for target, calls in replays]
    return BoundedFunction(operation, worst, max(filter(None, seen), default=None), max(stacks))


def _max_instructions(records: NDArray[Any], a_byte: int) -> int | None:
    """Instructions of the longest call, without those for bytes of payload; None without calls."""
    moved = records["payload"].astype(np.int64)
    seen = records["instructions"].astype(np.int64) - a_byte * moved
    return int(seen.max()) if len(seen) > 0 else None


def _require_below(case: Case, board: Board, one: BoundedFunction) -> None:
    if isinstance(one.worst, UnboundedError) or one.seen_instructions is None:
        return
    if one.seen_instructions > one.worst.instructions or one.seen_stack > one.worst.stack:
        raise HeapfitError(
            f"{case.name} on {board.name}: {one.operation} took {one.seen_instructions} "
            f"instructions and {one.seen_stack} B of stack, above the bound of "
            f"{one.worst.instructions} and {one.worst.stack} (a defect of heapfit: report it)"
        )


def bound_lines(
    case: Case, board: Board, build: Build, found: list[BoundedFunction]
) -> Iterator[str]:
    """What was found as lines of text, one for each function."""
    yield f"{case.name}  {board.name} -{build.optimisation} HFIT_SAFETY={build.safety}"
    yield "function       at most instr.  a byte     seen  stack B     seen"
    for one in found:
        if isinstance(one.worst, UnboundedError):
            yield f"{one.operation:13} no bound: {one.worst}"
            continue
        is_seen = one.seen_instructions is not None
        yield (
            f"{one.operation:13} {one.worst.instructions:15,} {one.worst.a_byte:7} "
            f"{f'{one.seen_instructions:,}' if is_seen else '-':>8} {one.worst.stack:8} "
            f"{one.seen_stack if is_seen else '-':>8}"
        )
