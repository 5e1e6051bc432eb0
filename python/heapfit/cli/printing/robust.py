# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of several recordings, as `heapfit fit --plans` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.failure_share import bound_failures, count_runs_for
from heapfit.design.robust.design import RobustDesigns
from heapfit.design.robust.row import MARGINS, RobustRow
from heapfit.plan.plan import plan_table
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Line, Part, Table
from heapfit.results.ranking import inapplicable_parts

_ONE_IN = 0.001  # the share of failures that a device can live with


def robust_table(
    designs: RobustDesigns,
    written: tuple[Sequence[Path], Path],  # plans, page
) -> Iterator[Part]:
    """The ranking of the candidates, the curves, and what they mean."""
    paths, page = written
    yield Line("")
    yield Fields(_fields(designs))
    yield from _regions(designs)
    yield from _curves(designs)
    sentences = verdicts(designs)
    yield Fields({"verdicts": sentences, "plans": paths, "page": page})
    yield from map(Line, sentences)
    yield Line("")
    for row, path in zip(designs.rows, paths, strict=True):
        yield Line(str(path), is_copied=True)
        yield Line(f"  {row.reason}")
    yield Line(str(page), is_copied=True)
    yield from inapplicable_parts(designs.not_applicable)


def _fields(designs: RobustDesigns) -> dict[str, object]:
    return {
        "traces": designs.recordings,
        "folds": designs.folds,
        "u_max": designs.u_max,
        "base_alignment": designs.base_alignment,
        "margins_percent": MARGINS,
        "failure_bound_if_none_failed": _bound_failures(designs),
        "traces_for_one_in_1000": count_runs_for(_ONE_IN),
    }


_NAME: Column[RobustRow] = Column("name", "candidate")
_SAFE_REGION: Column[RobustRow] = Column("safe_region", "none fails in")


def _regions(designs: RobustDesigns) -> Iterator[Part]:
    yield Table(_region_columns(designs.u_max), designs.rows, "rows")
    yield Line(
        f"Regions in bytes that serve every trace of {designs.recordings}; "
        f"U_max {max(designs.u_max):,} (from {min(designs.u_max):,} to {max(designs.u_max):,})."
    )
    yield Line("R_safe of each run is the smallest found, to 0.02 % of U_max.")
    yield Line("over U_max: the largest R_safe / U_max of any run.")
    yield Line("* learned from the runs; hold-out: learned without the run it is measured on.")
    if any(row.region is None or row.unseen_region is None for row in designs.rows):
        yield Line("-: no region serves them; a larger region adds no blocks to pools.")


def _region_columns(u_max: Sequence[int]) -> list[Column[RobustRow]]:
    return [
        replace(_NAME, shown=lambda row: f"{row.name}{'*' if row.is_trained else ''}"),
        Column("reason"),
        Column("plan", value=lambda row: plan_table(row.plan)),
        Column("is_trained"),
        Column("regions"),
        Column("region", "region, recorded"),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.regions, u_max)),
        Column("unseen_regions"),
        Column("unseen_region", "region, hold-out"),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.unseen_regions, u_max)),
        Column("run_out"),
        Column("held"),
        Column("safe_margin"),
        _SAFE_REGION.with_heading(""),
    ]


def _curves(designs: RobustDesigns) -> Iterator[Part]:
    columns = [
        _NAME,
        *(_run_out_column(i, designs.recordings) for i in range(len(MARGINS))),
        _SAFE_REGION,
    ]
    yield Line("")
    yield Line("Share of hold-out runs out of memory, by margin above the region of the others:")
    yield Table(columns, designs.rows)
    yield Line(
        f"{designs.recordings} runs in {designs.folds} folds. Where none ran out of memory, "
        f"{format_share(_bound_failures(designs))} of all runs do at most (95 % confidence)."
    )
    yield Line(
        "The row and margin must be chosen beforehand. To claim 1 in 1,000 takes "
        f"{count_runs_for(_ONE_IN):,} runs without a failure, as varied as runs in the field."
    )


def _bound_failures(designs: RobustDesigns) -> float:
    """The share of all runs that may fail where none has; equal recordings count once."""
    return bound_failures(0, len(set(designs.contents)))


def _run_out_column(index: int, traces: int) -> Column[RobustRow]:
    """A column: the percentage of traces that run out with one of the margins."""
    heading = f"+{MARGINS[index]} %"
    return Column(heading=heading, shown=lambda row: format_share(row.run_out[index] / traces))


def verdicts(designs: RobustDesigns) -> list[str]:
    """The plan to take, and every saving that is none on hold-out traces."""
    best, plain = designs.rows[0], designs.best_plain
    if best.unseen_region is None:
        return ["No plan serves every trace in the holdout check."]
    over = best.unseen_region / max(*designs.u_max, 1)
    lines = [f"Least on hold-out runs: {best.name}, {best.unseen_region:,} B ({over:.3f} x U_max)."]
    if not designs.chosen.plan.filled_pools:
        lines.append(_describe_without_pools(designs.chosen, designs))
    safest = designs.safest
    if safest is not None:
        lines.append(
            f"Least region that served all of them: {safest.name}, {safest.safe_region:,} B "
            f"(+{safest.safe_margin} %)."
        )
    if plain is not None:
        lines += [line for row in designs.rows if (line := _describe_loss(row, plain)) is not None]
    return lines


def _describe_without_pools(chosen: RobustRow, designs: RobustDesigns) -> str:
    """The plan to take without pools, and why not one that needs less."""
    sentence = f"No pools here: {chosen.name}"
    if chosen is designs.rows[0]:
        return f"{sentence}."
    return f"{sentence}. No plan with pools served every hold-out run and saved 1 % of U_max there."


def _describe_loss(row: RobustRow, plain: RobustRow) -> str | None:
    """A saving over the best plain allocator that is a loss on hold-out traces."""
    if not row.is_trained or plain.region is None or plain.unseen_region is None:
        return None
    saving = 1 - row.region / plain.region if row.region is not None else 0.0
    if saving <= 0:
        return None
    saved = f"{format_share(saving)} of {plain.name}'s region"
    sentence = f"{row.name} saves {saved} on the runs it is learned from"
    if row.unseen_region is None:
        return f"{sentence}, but serves the hold-out runs in no region."
    cost = row.unseen_region / plain.unseen_region - 1
    return (
        f"{sentence}, and needs {format_share(cost)} more on hold-out runs." if cost > 0 else None
    )


def _largest_ratio(regions: Sequence[int | None], u_max: Sequence[int]) -> float | None:
    """The largest region over U_max of its trace; None if a region is missing."""
    if not regions or None in regions or 0 in u_max:
        return None
    return max((region or 0) / own for region, own in zip(regions, u_max, strict=True))
