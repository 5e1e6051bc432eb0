# SPDX-License-Identifier: Apache-2.0
"""The page of a design space: its front over any two measures, and every figure in tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.costs.instruction_model import ModelError
from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measure
from heapfit.comparison.verdict import describe_extended_search, verdict
from heapfit.design.front.axes import AXES
from heapfit.design.front.design_front import Configuration, Front, cost_of_choice, verdict_of
from heapfit.design.front.pareto import Dominance
from heapfit.fitting.answer import Answer
from heapfit.plan.energy import Sram, load_sram
from heapfit.results import html
from heapfit.results.front.charts import axis_titles, front_chart
from heapfit.results.number_text import NOT_MEASURED, count, percent, rate

_TEMPLATE = Path(__file__).with_name("front.html.j2")
_TILES = (Measure.RAM, Measure.TIME, Measure.ENERGY, Measure.FLASH)


@dataclass(frozen=True, slots=True)
class ConfigurationLine:
    """A configuration's line in a table."""

    name: str
    reason: str
    is_trained: bool
    is_chosen: bool
    figures: tuple[str, ...]  # in the order of Measure
    axes: tuple[str, ...]  # in the order of AXES
    better: str  # who dominates it, or why it cannot be compared


@dataclass(frozen=True, slots=True)
class Tile:
    """The member with the least of a measure; of memory, the member of the verdict."""

    title: str
    value: str
    name: str


def render(
    front: Front, subject: str, choice: Configuration | None, command: str, sram: Sram | None = None
) -> str:
    """The page as text, the same for the same front.

    `subject` names the trace, `command` is what was typed.
    """
    chart = front_chart(front, choice)
    others = [one for one in front.configurations if not one.is_on_front]
    cost = None if choice is None else f"Chosen: {choice.name}, {cost_of_choice(front, choice)}"
    return html.render(
        _TEMPLATE,
        f"design space of {subject}",
        [chart],
        own_scripts={_TEMPLATE.with_name("front.js"): None},
        chart_shown=chart,
        choices=[(measure.value, title) for measure, title in axis_titles().items()],
        subject=subject,
        total=len(front.configurations),
        by=", ".join(MEASURE_TEXTS[measure].title for measure in front.by),
        chosen=cost,
        verdict=_verdict(front),
        tiles=[tile for measure in _TILES if (tile := _tile(front, measure)) is not None],
        members=_lines(front, choice, front.members),
        others=_lines(front, choice, others),
        measures=list(MEASURE_TEXTS.values()),
        axes=AXES,
        offs=_deviation_sentences(front),
        sram=(sram or load_sram()).source,
        command=command,
    )


def _verdict(front: Front) -> list[str]:
    """The sentences of the screen on the size to set, and who has the shortest calls."""
    chosen = verdict_of(front).row
    if chosen.r_safe is None:
        return ["No configuration serves the recording."]
    time = _tile(front, Measure.TIME)
    sentences = []
    if chosen.heap_size is not None:
        sentences += Answer(chosen.heap_size, chosen.known, None).sentences()
    sentences += [verdict(front.comparison), *describe_extended_search(front.comparison)]
    if time is not None:
        sentences.append(f"{time.name} has the shortest calls: {time.value} instructions, mean.")
    return sentences


def _tile(front: Front, measure: Measure) -> Tile | None:
    candidates = [verdict_of(front)] if measure is Measure.RAM else front.members
    known = [
        (value, one) for one in candidates if (value := one.measures.figure(measure)) is not None
    ]
    if not known:
        return None
    least = min(known, key=lambda pair: (pair[0], pair[1].name))[1]
    about = MEASURE_TEXTS[measure]
    if measure is Measure.ENERGY:
        return Tile("least energy", "1 x", least.name)
    return Tile(
        f"least {about.title}", f"{_figure(front, least, measure)} {about.unit}", least.name
    )


def _lines(
    front: Front, choice: Configuration | None, shown: Sequence[Configuration]
) -> tuple[ConfigurationLine, ...]:
    return tuple(
        ConfigurationLine(
            name=configuration.name,
            reason=configuration.row.reason,
            is_trained=configuration.row.trained_on_this_trace,
            is_chosen=configuration is choice,
            figures=tuple(_figure(front, configuration, measure) for measure in Measure),
            axes=tuple(configuration.axes.values()),
            better=_describe_better(front, configuration),
        )
        for configuration in shown
    )


def _figure(front: Front, configuration: Configuration, measure: Measure) -> str:
    value = configuration.measures.figure(measure)
    at_least = configuration.row.r_safe_at_least
    if measure is Measure.RAM and at_least is not None:
        return f"≥ {count(at_least)}"
    if measure is Measure.ENERGY:
        value = front.energy_over_least(configuration)
    if value is None:
        return NOT_MEASURED
    if measure in (Measure.ACCESSES, Measure.ENERGY):
        return rate(value)
    off = {
        Measure.TIME: configuration.measures.time_off,
        Measure.LONGEST: configuration.measures.longest_off,
    }
    return f"{count(value)}{_deviation(off.get(measure))}"


def _deviation(off: ModelError | None) -> str:
    return "" if off is None else f" ± {off.worst * 100:.0f} %"


def _describe_better(front: Front, configuration: Configuration) -> str:
    if configuration.place.standing is Dominance.UNKNOWN:
        missing = [
            MEASURE_TEXTS[measure].title
            for measure in front.by
            if configuration.measures.figure(measure) is None
        ]
        return f"not comparable, without a figure: {', '.join(missing)}"
    if configuration.place.by is None:
        return ""
    name = front.configurations[configuration.place.by].name
    return f"as {name}" if configuration.place.standing is Dominance.SAME else name


def _deviation_sentences(front: Front) -> tuple[str, ...]:
    """The deviations of the cost model over the codes of this space."""
    sentences = []
    for subject, offs in (
        ("The mean of a trace's calls", [one.measures.time_off for one in front.configurations]),
        ("Its longest call", [one.measures.longest_off for one in front.configurations]),
    ):
        known = [off for off in offs if off is not None]
        if known:
            mean = sum(off.mean for off in known) / len(known)
            worst = max(off.worst for off in known)
            sentences.append(
                f"{subject}: off by {percent(mean)} in the mean, by {percent(worst)} at most."
            )
    return tuple(sentences)
