# SPDX-License-Identifier: Apache-2.0
"""The design space of a recording and its Pareto front, as `heapfit fit --front` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from heapfit.cli.printing.ranking import NOT_APPLICABLE
from heapfit.cli.printing.verdict import verdict_parts
from heapfit.comparison.costs.instruction_model import ModelError
from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measures
from heapfit.design.effort import Effort
from heapfit.design.front.design_front import Configuration, Front, cost_of_choice
from heapfit.design.front.pareto import Dominance
from heapfit.plan.plan import plan_table
from heapfit.results.parts import Column, Fields, Line, Part, Table


def front_parts(
    front: Front,
    choice: Configuration | None,
    effort: Effort,
    written: tuple[Sequence[Path], Path],  # plans, page
) -> Iterator[Part]:
    """Every configuration, those of the front first, and what the figures mean."""
    paths, page = written
    configurations = front.configurations
    yield Fields({"u_max": front.comparison.u_max, "by": front.by})
    yield from verdict_parts(front.comparison, effort)
    yield Table(
        _columns(front), configurations, "configurations", sorted(configurations, key=_order)
    )
    yield from map(Line, _explain_figures(front))
    yield from _choice(front, choice)
    left_out = front.comparison.not_applicable
    yield Table(NOT_APPLICABLE, left_out, "not_applicable")
    yield Fields({"plans": paths, "page": page})
    yield Line(f"plans  {page.parent}", is_copied=True)
    yield Line(f"page   {page}", is_copied=True)


def _explain_figures(front: Front) -> Iterator[str]:
    """What the columns mean, and why configurations were skipped: a line for each reason."""
    yield (
        f"{len(front.members)} of {len(front.configurations)} on the front of "
        f"{', '.join(MEASURE_TEXTS[measure].title for measure in front.by)}; U_max "
        f"{front.comparison.u_max:,} B."
    )
    yield (
        "instructions: modelled for a Cortex-M4 at -O2, mean of a call and of the longest call of "
        "this replay (no bound)."
    )
    yield "+-: largest error of the model on hold-out traces."
    if any(configuration.row.beaten_by is not None for configuration in front.configurations):
        yield ">=: not searched further, as a better one costs a tenth less in each call."
    yield "-: not measured. energy: 1 is the best row. code: init, alloc and free at -Os, bytes."
    if any(configuration.row.trained_on_this_trace for configuration in front.configurations):
        yield "* trained on this trace: another run may need more."
    names_by_reason: dict[str, list[str]] = {}
    for candidate in front.comparison.not_applicable:
        names_by_reason.setdefault(candidate.why, []).append(candidate.name)
    for why, names in names_by_reason.items():
        yield f"{', '.join(names)} skipped: {why}."


def _choice(front: Front, choice: Configuration | None) -> Iterator[Part]:
    cost = None if choice is None else cost_of_choice(front, choice)
    yield Fields({"chosen": None if choice is None else choice.name, "cost_of_choice": cost})
    if choice is not None:
        yield Line(f"chosen: {choice.name}, {cost}.")


def _order(configuration: Configuration) -> tuple[bool, bool, int]:
    """The sort key: the front first, then by memory, those without a region last."""
    memory = configuration.measures.memory
    return not configuration.is_on_front, memory is None, memory or 0


def _columns(front: Front) -> list[Column[Configuration]]:
    return [
        Column("name", "configuration", shown=_name_with_mark),
        Column(
            "standing",
            "front",
            lambda configuration: configuration.place.standing,
            lambda configuration: "front" if configuration.is_on_front else "",
        ),
        Column("reason", value=lambda one: one.row.reason),
        Column("axes"),
        Column("code"),
        Column("memory", "R_safe", lambda one: one.measures.memory, _format_region),
        Column("r_safe_at_least", value=lambda one: one.row.r_safe_at_least),
        _figure("accesses", "accesses"),
        Column("energy", "energy", front.energy_over_least),
        _figure("time", "instructions", lambda one: _format_estimate(one.time, one.time_off)),
        _figure(
            "longest", "longest call", lambda one: _format_estimate(one.longest, one.longest_off)
        ),
        _figure("size", "code"),
        _figure("time_off"),
        _figure("longest_off"),
        Column(
            "by",
            "better",
            lambda one: _find_better(front, one),
            lambda one: _describe_better(front, one),
        ),
        Column("trained_on_this_trace", value=lambda one: one.row.trained_on_this_trace),
        Column("is_cut_to_trace", value=lambda one: one.row.is_cut_to_trace),
        Column("is_searched_further", value=lambda one: one.row.is_searched_further),
        Column("plan", value=lambda one: plan_table(one.row.plan)),
    ]


def _format_region(configuration: Configuration) -> int | str | None:
    """R_safe, or its lower bound where it was not searched."""
    at_least = configuration.row.r_safe_at_least
    return configuration.measures.memory if at_least is None else f">={at_least:,}"


def _name_with_mark(configuration: Configuration) -> str:
    return f"{configuration.name}{'*' if configuration.row.trained_on_this_trace else ''}"


def _figure(
    field: str, heading: str = "", shown: Callable[[Measures], object] | None = None
) -> Column[Configuration]:
    """A column of one of the measures."""
    return Column(field, heading, shown=shown).adapt(lambda one: one.measures)


def _find_better(front: Front, configuration: Configuration) -> str | None:
    """The name of a configuration that is as good or better; None on the front."""
    by = configuration.place.by
    return None if by is None else front.configurations[by].name


def _describe_better(front: Front, configuration: Configuration) -> str:
    name = _find_better(front, configuration)
    if name is None:
        return "not comparable" if configuration.place.standing is Dominance.UNKNOWN else ""
    return f"as {name}" if configuration.place.standing is Dominance.SAME else name


def _format_estimate(value: float | None, off: ModelError | None) -> str | None:
    """A figure of the model with its largest known error."""
    if value is None:
        return None
    return f"{value:,.0f}" if off is None else f"{value:,.0f} +-{100 * off.worst:.0f} %"
