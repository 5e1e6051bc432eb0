# SPDX-License-Identifier: Apache-2.0
"""Designs for several traces as the tables, sentences and JSON that design prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heapfit.cli.printing import console
from heapfit.compare.gap import LEAST_SHARE
from heapfit.design.robust.design import (
    MARGINS,
    RobustDesigns,
    RobustRow,
    failure_bound,
    traces_for,
)
from heapfit.plan.plan import plan_table
from heapfit.workloads.drawn_set import LIMITS, DrawnSet, is_peak_repeated

_ONE_IN = 0.001  # the share of failures that a device can live with


def print_robust(
    designs: RobustDesigns, paths: Sequence[Path], drawn: DrawnSet | None = None
) -> None:
    """The ranking, the curves, and what they mean."""
    _print_regions(designs)
    if designs.folds:
        _print_curves(designs)
    if drawn is not None:
        for line in _told_of_drawn(designs, drawn):
            console.out(line)
    for line in verdicts(designs):
        console.out(line)
    console.out("")
    for row, path in zip(designs.rows, paths, strict=True):
        console.out(f"{path}: {row.reason}")
    for left_out in designs.not_applicable:
        console.out(f"{left_out.name} left out: {left_out.why}.")


def robust_json(
    designs: RobustDesigns, paths: Sequence[Path], drawn: DrawnSet | None = None
) -> dict[str, Any]:
    """The same for --json."""
    return {
        "traces": designs.traces,
        "drawn": None if drawn is None else _drawn_json(designs, drawn),
        "folds": designs.folds,
        "objective": designs.objective.share,
        "u_max": list(designs.u_max),
        "base_alignment": designs.base_alignment,
        "margins_percent": list(MARGINS),
        "failure_bound_if_none_failed": failure_bound(designs.traces),
        "traces_for_one_in_1000": traces_for(_ONE_IN),
        "rows": [_row_json(row) for row in designs.rows],
        "verdicts": verdicts(designs),
        "plans": [str(path) for path in paths],
        "not_applicable": [{"name": one.name, "why": one.why} for one in designs.not_applicable],
    }


def _told_of_drawn(designs: RobustDesigns, drawn: DrawnSet) -> Iterator[str]:
    """What the first trace is, what the others are, and how far they may be trusted."""
    recorded, *others = designs.u_max
    phases = "1 phase" if drawn.phases == 1 else f"{drawn.phases} phases"
    told = [
        f"Trace 1 is the recording; the other {len(others)} are drawn from it (seed {drawn.seed}): "
        f"{phases}, blocks of {drawn.block:,} requests; {drawn.kept:,} of {drawn.requests:,} "
        "objects outlive their phase and are kept as they were. U_max of the drawn ones from "
        f"{min(others):,} to {max(others):,}, of the recording {recorded:,}.",
        f"The percentages are of such traces. {LIMITS}",
    ]
    if not is_peak_repeated(recorded, others):
        told.append(
            "None of the drawn traces peaks where the recording does: the model does not hold for "
            "it, and the curve says little. Record more runs."
        )
    yield ""
    for text in told:
        yield from textwrap.wrap(text, console.WIDTH, break_on_hyphens=False)


def _drawn_json(designs: RobustDesigns, drawn: DrawnSet) -> dict[str, Any]:
    return {
        "traces": len(drawn.traces),
        "seed": drawn.seed,
        "phases": drawn.phases,
        "block": drawn.block,
        "requests": drawn.requests,
        "kept": drawn.kept,
        "is_peak_repeated": is_peak_repeated(designs.u_max[0], designs.u_max[1:]),
        "limits": LIMITS,
    }


def verdicts(designs: RobustDesigns) -> list[str]:
    """Which plan to take, and every saving that is none on traces not seen."""
    best, plain = designs.rows[0], designs.best_plain
    if not designs.folds:
        return ["Nothing is known of traces not seen (--folds)."]
    if best.unseen_region is None:
        return [f"No plan serves {designs.objective.told} unseen."]
    over = best.unseen_region / max(designs.u_max_objective, 1)
    lines = [
        f"Least on traces not seen: {best.name}, {best.unseen_region:,} B ({over:.3f} x U_max)."
    ]
    if not designs.chosen.plan.pools:
        lines.append(_no_pools(designs.chosen, designs))
    safest = designs.safest
    if safest is not None:
        lines.append(
            f"Least region in which none of them ran out: {safest.name}, {safest.safe_region:,} B "
            f"(+{safest.safe_margin}%)."
        )
    if plain is not None:
        lines += [line for row in designs.rows if (line := _loss(row, plain)) is not None]
    return lines


def _no_pools(chosen: RobustRow, designs: RobustDesigns) -> str:
    """Which plan to take without pools, and why not one that needs less."""
    told = f"No pools here: {chosen.name}"
    if chosen is designs.rows[0]:
        return f"{told}."
    return f"{told}; pools close less than {LEAST_SHARE:.0%} of its gap to U_max."


def _loss(row: RobustRow, plain: RobustRow) -> str | None:
    """A saving against the best plain allocator that is a loss on traces not seen."""
    if not row.is_trained or plain.region is None or plain.unseen_region is None:
        return None
    saving = 1 - row.region / plain.region if row.region is not None else 0.0
    if saving <= 0:
        return None
    told = f"{row.name} saves {saving:.1%} of {plain.name}'s region on the traces it is made from"
    if row.unseen_region is None:
        return f"{told}, but cannot serve all others in any region."
    cost = row.unseen_region / plain.unseen_region - 1
    return f"{told}, and costs {cost:.1%} more on those it has not seen." if cost > 0 else None


def _row_json(row: RobustRow) -> dict[str, Any]:
    safe = {"safe_margin": row.safe_margin, "safe_region": row.safe_region}
    return {**asdict(row), **safe, "plan": plan_table(row.plan)}


def _print_regions(designs: RobustDesigns) -> None:
    u_max = designs.u_max_objective
    console.out_table(
        ("candidate", "region, seen", "over U_max", "region, unseen", "over U_max"),
        [
            (
                f"{row.name}{'*' if row.is_trained else ''}",
                row.region,
                _over(row.region, u_max),
                row.unseen_region,
                _over(row.unseen_region, u_max),
            )
            for row in designs.rows
        ],
    )
    console.out(
        f"Regions in bytes that serve {designs.objective.told} of {designs.traces}; "
        f"U_max {u_max:,} (from {min(designs.u_max):,} to {max(designs.u_max):,})."
    )
    console.out("* made from the traces; unseen: made without the trace it is measured on.")
    if any(row.region is None or row.unseen_region is None for row in designs.rows):
        console.out("-: no region serves them, as where all blocks lie in pools.")


def _print_curves(designs: RobustDesigns) -> None:
    console.out("")
    console.out("Percent of unseen traces that run out, by margin above the region of seen ones:")
    console.out_table(
        ("candidate", *(f"+{margin}%" for margin in MARGINS), "none in"),
        [
            (row.name, *(100 * count / designs.traces for count in row.run_out), row.safe_region)
            for row in designs.rows
        ],
    )
    console.out(
        f"{designs.traces} traces in {designs.folds} folds. Where none of them ran out, at most "
        f"{failure_bound(designs.traces):.2%} of all do (95% sure, rule of three), for a row "
        "and margin chosen beforehand;"
    )
    console.out(
        f"to say so of 1 in 1,000 takes {traces_for(_ONE_IN):,} traces without a failure, of runs "
        "as different as those to come."
    )


def _over(region: int | None, u_max: int) -> float | None:
    return region / u_max if region is not None and u_max else None
