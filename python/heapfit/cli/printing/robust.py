# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of several recordings, as `heapfit fit --plans` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.failure_share import bound_failures, count_runs_for
from heapfit.comparison.row import MARGINS, Row
from heapfit.comparison.verdict import select_row
from heapfit.design.robust.design import count_folds
from heapfit.plan.plan import plan_table
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Line, Part, Table
from heapfit.results.ranking import inapplicable_parts

_ONE_IN = 0.001  # the share of failures that a device can live with


def robust_table(
    designs: Comparison,
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


def _fields(designs: Comparison) -> dict[str, object]:
    return {
        "traces": len(designs.peaks),
        "folds": count_folds(len(designs.peaks)),
        "u_max": designs.peaks,
        "base_alignment": designs.base_alignment,
        "margins_percent": MARGINS,
        "failure_bound_if_none_failed": _bound_failures(designs),
        "traces_for_one_in_1000": count_runs_for(_ONE_IN),
    }


_NAME: Column[Row] = Column("name", "candidate")
_SAFE_REGION: Column[Row] = Column("safe_region", "none fails in")


def _regions(designs: Comparison) -> Iterator[Part]:
    yield Table(_region_columns(designs.peaks), designs.rows, "rows")
    yield Line(
        f"Regions in bytes that serve every trace of {len(designs.peaks)}; "
        f"U_max {designs.u_max:,} (from {min(designs.peaks):,} to {designs.u_max:,})."
    )
    yield Line("R_safe of each run is the smallest found, to 0.02 % of U_max.")
    yield Line("over U_max: the largest R_safe / U_max of any run.")
    yield Line("* learned from the runs; hold-out: learned without the run it is measured on.")
    if any(row.r_safe is None or row.unseen_r_safe is None for row in designs.rows):
        yield Line("-: no region serves them; a larger region adds no blocks to pools.")


def _region_columns(u_max: Sequence[int]) -> list[Column[Row]]:
    return [
        replace(_NAME, shown=lambda row: f"{row.name}{'*' if row.trained_on_this_trace else ''}"),
        Column("reason"),
        Column("plan", value=lambda row: plan_table(row.plan)),
        Column("is_trained", value=lambda row: row.trained_on_this_trace),
        Column("regions", value=lambda row: row.needs),
        Column("region", "region, recorded", lambda row: row.r_safe),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.needs, u_max)),
        Column("unseen_regions", value=lambda row: row.unseen),
        Column("unseen_region", "region, hold-out", lambda row: row.unseen_r_safe),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.unseen, u_max)),
        Column("run_out"),
        Column("held"),
        Column("safe_margin"),
        _SAFE_REGION.with_heading(""),
    ]


def _curves(designs: Comparison) -> Iterator[Part]:
    runs = len(designs.peaks)
    columns = [
        _NAME,
        *(_run_out_column(i, runs) for i in range(len(MARGINS))),
        _SAFE_REGION,
    ]
    yield Line("")
    yield Line("Share of hold-out runs out of memory, by margin above the region of the others:")
    yield Table(columns, designs.rows)
    yield Line(
        f"{runs} runs in {count_folds(runs)} folds. Where none ran out of memory, "
        f"{format_share(_bound_failures(designs))} of all runs do at most (95 % confidence)."
    )
    yield Line(
        "The row and margin must be chosen beforehand. To claim 1 in 1,000 takes "
        f"{count_runs_for(_ONE_IN):,} runs without a failure, as varied as runs in the field."
    )


def _bound_failures(designs: Comparison) -> float:
    """The share of all runs that may fail where none has."""
    return bound_failures(0, len(designs.peaks))


def _run_out_column(index: int, traces: int) -> Column[Row]:
    """A column: the percentage of traces that run out with one of the margins."""
    heading = f"+{MARGINS[index]} %"
    return Column(heading=heading, shown=lambda row: format_share(row.run_out[index] / traces))


def verdicts(designs: Comparison) -> list[str]:
    """The plan to take, and every saving that is none on hold-out traces."""
    best, chosen = designs.rows[0], select_row(designs)
    plain = next((row for row in designs.rows if not row.trained_on_this_trace), None)
    if best.unseen_r_safe is None:
        return ["No plan serves every trace in the holdout check."]
    over = best.unseen_r_safe / max(designs.u_max, 1)
    lines = [f"Least on hold-out runs: {best.name}, {best.unseen_r_safe:,} B ({over:.3f} x U_max)."]
    if not chosen.plan.filled_pools:
        lines.append(_describe_without_pools(chosen, designs))
    safe = [row for row in designs.rows if row.safe_region is not None]
    safest = min(safe, key=lambda row: row.safe_region or 0, default=None)
    if safest is not None:
        lines.append(
            f"Least region that served all of them: {safest.name}, {safest.safe_region:,} B "
            f"(+{safest.safe_margin} %)."
        )
    if plain is not None:
        lines += [line for row in designs.rows if (line := _describe_loss(row, plain)) is not None]
    return lines


def _describe_without_pools(chosen: Row, designs: Comparison) -> str:
    """The plan to take without pools, and why not one that needs less."""
    sentence = f"No pools here: {chosen.name}"
    if chosen is designs.rows[0]:
        return f"{sentence}."
    return f"{sentence}. No plan with pools served every hold-out run and saved 1 % of U_max there."


def _describe_loss(row: Row, plain: Row) -> str | None:
    """A saving over the best plain allocator that is a loss on hold-out traces."""
    if not row.trained_on_this_trace or plain.r_safe is None or plain.unseen_r_safe is None:
        return None
    saving = 1 - row.r_safe / plain.r_safe if row.r_safe is not None else 0.0
    if saving <= 0:
        return None
    saved = f"{format_share(saving)} of {plain.name}'s region"
    sentence = f"{row.name} saves {saved} on the runs it is learned from"
    if row.unseen_r_safe is None:
        return f"{sentence}, but serves the hold-out runs in no region."
    cost = row.unseen_r_safe / plain.unseen_r_safe - 1
    return (
        f"{sentence}, and needs {format_share(cost)} more on hold-out runs." if cost > 0 else None
    )


def _largest_ratio(regions: Sequence[int | None], u_max: Sequence[int]) -> float | None:
    """The largest region over U_max of its trace; None if a region is missing."""
    if not regions or None in regions or 0 in u_max:
        return None
    return max((region or 0) / own for region, own in zip(regions, u_max, strict=True))
