# SPDX-License-Identifier: Apache-2.0
"""The plans made from several traces, each kept in a file of its own."""

from __future__ import annotations

from pathlib import Path

from heapfit import _engine
from heapfit.design.robust import RobustDesigns, RobustRow
from heapfit.plan import PlanFile, TrainedOn, save_plan


def save_robust_plans(designs: RobustDesigns, name: str, folder: Path) -> tuple[Path, ...]:
    """Writes one plan file for each row into `folder`; `name` is the traces', for people.

    Its region is what the objective says of the traces, without a margin.
    """
    paths = tuple(folder / f"{row.name}.toml" for row in designs.rows)
    for row, path in zip(designs.rows, paths, strict=True):
        save_plan(path, _plan_file(row, designs, name))
    return paths


def _plan_file(row: RobustRow, designs: RobustDesigns, name: str) -> PlanFile:
    joined = designs.joined
    return PlanFile(
        name=row.name,
        plan=row.plan,
        region=row.region,
        r_min=None,
        base_alignment=designs.base_alignment,
        u_max=designs.u_max_objective,
        pointer_bits=joined.pointer_bits,
        trained_on=TrainedOn(name, designs.content, joined.events, joined.kind),
        heapfit_version=_engine.version,
    )
