# SPDX-License-Identifier: Apache-2.0
"""Candidate plans of a trace as plan files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit import _engine
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.outputs.printable import printable
from heapfit.plan.plan_file import PlanFile, TrainingRecord, TrainingTrace, file_name, save_plan
from heapfit.trace.loaded import LoadedTrace

_LONGEST_NAME = 200  # characters, as a plan file takes them


def save_candidates(
    comparison: Comparison, trained_on: TrainingRecord, folder: Path
) -> tuple[Path, ...]:
    """Writes a plan file of each row, NAME.toml, into a folder that exists; returns their paths."""
    paths = tuple(folder / f"{file_name(row.name)}.toml" for row in comparison.rows)
    for row, path in zip(comparison.rows, paths, strict=True):
        save_plan(path, plan_file_of(row, comparison, trained_on))
    return paths


def training_record(
    names: Sequence[str], recordings: Sequence[LoadedTrace], comparison: Comparison
) -> TrainingRecord:
    """The record, in a plan file, of the traces that its plan was made from."""
    events, kind = sum(one.trace.info.events for one in recordings), comparison.trace.kind
    program = printable(comparison.trace.program)[:_LONGEST_NAME]
    if len(names) == 1:
        return TrainingRecord(names[0], recordings[0].content, events, kind, program=program)
    contents = [one.content for one in recordings]
    seen = [TrainingTrace(*pair) for pair in zip(names, contents, strict=True)]
    name = f"{names[0]}-and-{len(names) - 1}-more"
    return TrainingRecord(name, comparison.content, events, kind, tuple(seen), program)


def plan_file_of(
    row: Row, comparison: Comparison, trained_on: TrainingRecord, size: HeapSize | None = None
) -> PlanFile:
    """A row's plan and figures as a plan file; `size` overrides the row's own heap size."""
    size = size or row.heap_size
    return PlanFile(
        name=file_name(row.name),
        plan=row.plan,
        region=None if size is None else size.region,
        r_safe=row.r_safe,
        peak=None if size is None else size.peak,
        margin=None if size is None else size.margin,
        r_min=row.r_min,
        base_alignment=comparison.base_alignment,
        u_max=comparison.u_max,
        pointer_bits=comparison.trace.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
