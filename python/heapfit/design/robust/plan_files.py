# SPDX-License-Identifier: Apache-2.0
"""The plans made from several traces, each kept in a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit import _engine
from heapfit.design.robust.design import RobustDesigns, RobustRow
from heapfit.plan.plan_file import PlanFile, SeenTrace, TrainedOn, save_plan


def save_robust_plans(
    designs: RobustDesigns, name: str, names: Sequence[str], folder: Path
) -> tuple[Path, ...]:
    """Writes one plan file for each row into `folder`.

    `name` is the traces' together, `names` are theirs, for people.
    Its region is what the objective says of the traces, without a margin.
    """
    joined = designs.joined
    seen = (SeenTrace(*one) for one in zip(names, designs.contents, strict=True))
    trained_on = TrainedOn(name, designs.content, joined.events, joined.kind, tuple(seen))
    paths = tuple(folder / f"{row.name}.toml" for row in designs.rows)
    for row, path in zip(designs.rows, paths, strict=True):
        save_plan(path, _plan_file(row, designs, trained_on))
    return paths


def _plan_file(row: RobustRow, designs: RobustDesigns, trained_on: TrainedOn) -> PlanFile:
    return PlanFile(
        name=row.name,
        plan=row.plan,
        region=row.region,
        r_min=None,
        base_alignment=designs.base_alignment,
        u_max=designs.u_max_objective,
        pointer_bits=designs.joined.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
