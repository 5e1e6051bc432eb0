# SPDX-License-Identifier: Apache-2.0
"""Elsayed and Galal, part 2: fixed buffers against partitions (figures 5 to 9).

The plots are lost; statements remain. Whether the partitions of a group lie together is not told.
Verdicts are of scattered ones, with which every statement about partitions comes out; groups that
lie together, taken first fit, stand beside, and where they fail a statement the row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from heapfit.plan.plan import Plan
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.simulate import Result, solve
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.partition_study import (
    ADMISSION,
    CHAINED,
    FIXED,
    MEMORY,
    TOGETHER,
    Curves,
    Experiment,
    experiments,
    scenario_of,
)
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows

_ALL = 0.995  # admitted: told as 100 %
_SURE = 0.97  # of the points within their 99 % interval
_PUBLISHED_OVERHEAD = 32  # bytes a partition, by the "almost equal" memories
_BOARDS = ("cortex-m4", "cortex-m0", "rv32imac")
_WEIGHED = ("fixed_pool", "partition_pool", "chained_pool")

_RATE, _HOLDING = 500, 1.0  # of figure 6: requests a unit of time, units of time
_NOT_TOGETHER = "Groups that lie together do not:"

Study: TypeAlias = Mapping[str, Experiment]  # by figure


def curves_of(figure_name: str) -> Callable[[Laboratory], Curves]:
    """What measures a row that one figure decides."""
    return lambda laboratory: laboratory.measure_once(experiments)[figure_name].curves()


def two_roads(study: Study) -> list[Finding]:
    """Row 1: every simulated figure that mathematics knows too."""
    inside = total = 0
    for experiment in study.values():
        for one in experiment.all_results():
            for metric, exact in one.exact.items():
                answers = one.estimates[metric]
                is_none_refused = answers.mean == 1 and 1 - exact < 1e-9
                inside += answers.holds(exact) or is_none_refused
                total += 1
    facts = f"{inside} of {total} figures of fixed and scattered pools within their 99 % interval"
    why = "Holding times are exponential; by theory these pools do not mind which law they have."
    return [holds("002-1", "method", inside >= _SURE * total, facts, why)]


def pools(_: Laboratory) -> dict[str, dict[str, int]]:
    """Bytes of figure 5's two pools, by scheme; the region's include overhead."""
    schemes = scenario_of("figure-5").points[0].schemes
    return {
        "capacity": {one.name: one.capacity() for one in schemes},
        "region": {one.name: one.region for one in schemes},
    }


def judge_fixed_bytes(measured: Mapping[str, Mapping[str, int]]) -> list[Finding]:
    return [near("002-2", "bytes", float(measured["capacity"][FIXED]))]


def variable_bytes(measured: Mapping[str, Mapping[str, int]]) -> list[Finding]:
    return [near("002-3", "bytes", float(measured["capacity"][CHAINED]))]


def equal_memory(measured: Mapping[str, Mapping[str, int]]) -> list[Finding]:
    fixed, variable = measured["region"][FIXED], measured["region"][CHAINED]
    why = "36 B a partition and 16 B a buffer were chosen so."
    is_so = abs(fixed / variable - 1) < 0.01
    return [holds("002-4", "difference", is_so, f"{fixed:,} and {variable:,} B", why)]


def metrics(study: Study) -> list[Finding]:
    """Row 5: the metrics by hand, from sums of bytes and from Little's law.

    A rate times a mean holding time is how many blocks are live, so live bytes follow from the
    bytes admitted, without looking at a heap.
    """
    off = [
        abs(one.estimates[name].mean / by_hand - 1)
        for one in study["figure-6"].all_results()
        for name, by_hand in _compute_metrics(one).items()
    ]
    facts = "; ".join(METRICS[name].definition for name in _DEFINED)
    why = f"Ours: {METRICS['combined_utility'].definition}"
    told = f"{len(off)} values of figure 6 are at most {max(off):.2%} off a count by hand"
    return [
        holds("002-5", "definitions", max(off) < 0.01, f"{told}. {facts}"),
        unknown("002-5", "utility", why),
    ]


def figure_5(experiment: Curves) -> list[Finding]:
    at = experiment.axis.index(0.003)
    fixed, together, chained = (experiment.values(name)[at] for name in (FIXED, TOGETHER, CHAINED))
    return [
        near("002-6", "fixed", fixed, facts=_percent([fixed], 2)),
        near("002-6", "variable", chained, facts=f"{chained:.2%}; together {together:.2%}"),
        _always_better(experiment, "002-6"),
        _maximum(experiment),
    ]


def figure_6(experiment: Curves) -> list[Finding]:
    fixed, chained = experiment.values(FIXED), experiment.values(CHAINED)
    crossings = [_crossing(experiment, metric) for metric in (ADMISSION, MEMORY)]
    facts = ", in utilisation ".join(f"between {low:g} and {high:g} B" for low, high in crossings)
    return [
        holds("002-7", "fixed", max(fixed) - min(fixed) < 0.01, _percent(fixed)),
        _rises(experiment, FIXED, "fixed_use"),
        holds("002-7", "variable", _falls_always(chained), _format_admissions(experiment)),
        _rises(experiment, CHAINED, "variable_use"),
        holds("002-7", "crossing", all(low < high for low, high in crossings), facts),
    ]


def figure_7(experiment: Curves) -> list[Finding]:
    fixed = experiment.values(FIXED)
    its = figure("002-8", "fixed")
    farthest = max(fixed, key=lambda one: abs(one - its.number))
    all_admitted = {
        size: used
        for size, admitted, used in zip(
            experiment.axis,
            experiment.values(CHAINED),
            experiment.values(CHAINED, MEMORY),
            strict=True,
        )
        if admitted >= _ALL
    }
    facts = ", ".join(f"{used:.1%} at {size:g} B" for size, used in all_admitted.items())
    in_range = any(figure("002-8", "utilisation").agrees(used) for used in all_admitted.values())
    return [
        near("002-8", "fixed", farthest, facts=_percent(fixed)),
        _always_better(experiment, "002-8"),
        holds("002-8", "utilisation", in_range, facts or "nowhere are all admitted"),
    ]


def partition_sizes(laboratory: Laboratory) -> list[Curves]:
    """Figure 8's two configurations."""
    return [curves_of(f"figure-8-same-{what}")(laboratory) for what in ("total", "number")]


def figure_8(found: Sequence[Curves]) -> list[Finding]:
    total, number = found
    return [_smaller(total), _drop(total), _judge_monotony(number)]


def overhead_curves(_: Laboratory) -> dict[str, list[float]]:
    """Figure 9: by scheme, from 16 to 1024 B."""
    experiment = solve(scenario_of("figure-9")).results
    names = [scheme.name for scheme in experiment[0].point.schemes]
    return {
        name: [one.overhead_ratio or 0.0 for one in experiment if one.scheme.name == name]
        for name in names
    }


def overheads(curves: Mapping[str, Sequence[float]]) -> list[Finding]:
    smaller = all(_falls_always(curve) for curve in curves.values())
    fixed = all(
        theirs < ours
        for total in ("64K", "512K")
        for theirs, ours in zip(curves[f"fixed-{total}"], curves[f"chained-{total}"], strict=True)
    )
    facts = "; ".join(
        f"{name.replace('chained', 'variable')} {curve[0]:.0%} to {curve[-1]:.1%}"
        for name, curve in curves.items()
    )
    why = "The same bytes for every size, so it follows."
    more = "36 B a partition and 16 B a buffer are inferred, so it was put in."
    return [
        holds("002-10", "smaller", smaller, facts, why),
        holds(
            "002-10", "fixed", fixed, "at all sizes, 16 B a buffer against 36 B a partition", more
        ),
    ]


def answers(_: Laboratory) -> int:
    """How many points of figure 5 a closed form answers."""
    return sum(bool(one.exact) for one in solve(scenario_of("figure-5")).results)


def tool(points: int) -> list[Finding]:
    """Row 11: advice, of which nothing can be measured."""
    facts = f"heapfit simulate --closed-form answers {points} points of figure 5 at once"
    return [holds("002-11", "tool", points > 0, facts, "It is advice: there is such a tool.")]


def portable_code(_: Laboratory) -> dict[str, code_sizes.Weighed]:
    """Weighs the code for each instruction set, linked with no library."""
    return {board: code_sizes.weigh(_WEIGHED, board) for board in _BOARDS}


def portable(weighed: Mapping[str, code_sizes.Weighed]) -> list[Finding]:
    linked = [board for board, one in weighed.items() if all(one.sizes.get(n, 0) for n in _WEIGHED)]
    missing = [one.missing for one in weighed.values() if one.missing]
    first = weighed[_BOARDS[0]]
    if first.missing:
        why = f"Not compiled for a target here: {first.missing}."
        return [unknown("002-12", "portable", why)]
    sizes = ", ".join(f"{name} {size:,} B" for name, size in first.sizes.items())
    facts = f"on {', '.join(linked)} with no library; on the first: {sizes}"
    return [near("002-12", "portable", float(len(linked)), "; ".join(missing), facts)]


def list_and_bits(_: Laboratory) -> dict[str, float]:
    """Bytes of bookkeeping a partition: with two bits each, and with a linked list."""
    each = {}
    for metadata, name in enumerate(("list", "bits")):
        scalars = {"partition_size": 512, "partitions": 1024, "metadata": metadata}
        region = Plan("partition_pool", scalars).engine().smallest_region
        each[name] = (region - 1024 * 512) / 1024
    return each


def better_structure(each: Mapping[str, float]) -> list[Finding]:
    bits, links = each["bits"], each["list"]
    facts = f"{bits:.2f} B a partition with two bits each, {links:.2f} B with a linked list"
    return [holds("002-13", "structure", bits < links < _PUBLISHED_OVERHEAD, facts)]


_HOW = (
    "a unit of time is a second; exponential holding; partitions of a group are scattered, with "
    "which every statement comes out; 36 B of bookkeeping a partition, 16 B a buffer"
)

ROWS: Rows = {
    "002-1": Row(experiments, two_roads, "exponential holding times"),
    "002-2": Row(pools, judge_fixed_bytes),
    "002-3": Row(pools, variable_bytes),
    "002-4": Row(
        pools, equal_memory, "36 B a partition and 16 B a buffer, inferred from this statement"
    ),
    "002-5": Row(experiments, metrics, "combined utility: admission times memory utilisation"),
    "002-6": Row(curves_of("figure-5"), figure_5, f"{_HOW}; steps of 0.0005"),
    "002-7": Row(curves_of("figure-6"), figure_6, _HOW),
    "002-8": Row(curves_of("figure-7"), figure_7, f"{_HOW}; 100 % is {_ALL:.1%} or more"),
    "002-9": Row(partition_sizes, figure_8, f"{_HOW}; 512 KiB in the first configuration"),
    "002-10": Row(
        overhead_curves, overheads, "36 B a partition, 16 B a buffer; sizes by powers of two"
    ),
    "002-11": Row(answers, tool),
    "002-12": Row(portable_code, portable, code_sizes.HOW),
    "002-13": Row(list_and_bits, better_structure),
}

_DEFINED = (ADMISSION, MEMORY, "pool_utilisation")


def _compute_metrics(one: Result) -> dict[str, float]:
    """The three metrics, by the sums of bytes and the traffic alone."""
    admitted = sum(seen.admitted_bytes for seen in one.observations)
    requested = sum(seen.requested_bytes for seen in one.observations)
    live = _RATE * _HOLDING * admitted / one.requests
    return dict(
        zip(
            _DEFINED,
            (admitted / requested, live / one.scheme.region, live / one.capacity),
            strict=True,
        )
    )


def _always_better(experiment: Curves, row: str) -> Finding:
    better = {
        name: all(
            ours > theirs
            for metric in (ADMISSION, MEMORY)
            for ours, theirs in zip(
                experiment.values(name, metric), experiment.values(FIXED, metric), strict=True
            )
        )
        for name in (CHAINED, TOGETHER)
    }
    why = "" if better[TOGETHER] else _NOT_TOGETHER
    return holds(row, "better", better[CHAINED], _format_admissions(experiment), why)


def _maximum(experiment: Curves) -> Finding:
    """Judges figure 5b, which by its caption shows the fixed pool."""
    peaks = {}
    for name in (FIXED, CHAINED):
        used = experiment.values(name, MEMORY)
        peaks[name] = used.index(max(used))
    last = len(experiment.axis) - 1
    fixed, chained = (experiment.values(name, MEMORY) for name in (FIXED, CHAINED))
    at = peaks[CHAINED]
    inside = "has a maximum" if 0 < at < last else "has its most"
    why = (
        "By its caption figure 5b is of the fixed pool, which the more it is offered the more it "
        f"holds. The variable pool {inside}: {chained[at]:.1%} at {experiment.axis[at]:g}."
    )
    return holds("002-6", "maximum", 0 < peaks[FIXED] < last, f"fixed {_percent(fixed)}", why)


def _crossing(experiment: Curves, metric: str) -> tuple[float, float]:
    """The sizes between which fixed buffers become better; equal ones if they never do."""
    pairs = zip(experiment.values(FIXED, metric), experiment.values(CHAINED, metric), strict=True)
    better = [fixed > chained for fixed, chained in pairs]
    if better[0] or True not in better:
        return experiment.axis[0], experiment.axis[0]
    first = better.index(True)
    return experiment.axis[first - 1], experiment.axis[first]


def _rises(experiment: Curves, scheme: str, name: str) -> Finding:
    """A trend of figure 6: utilisation by the smallest request."""
    used = experiment.values(scheme, MEMORY)
    return holds("002-7", name, _falls_always(used[::-1]), _percent(used))


def _smaller(total: Curves) -> Finding:
    """Judges partitions from 4096 B down to 512 B."""
    wrong = {name: _wrong_steps(total, name) for name in (CHAINED, TOGETHER)}
    why = (
        f"Groups that lie together: not in {', '.join(wrong[TOGETHER])}." if wrong[TOGETHER] else ""
    )
    return holds("002-9", "smaller", not wrong[CHAINED], _format_sizes(total, CHAINED), why)


def _wrong_steps(total: Curves, scheme: str) -> list[str]:
    """Where a smaller partition admits less or is used less, by more than the intervals."""
    wrong = []
    for metric in (ADMISSION, MEMORY):
        curve = total.drawn[scheme][metric]
        points = list(zip(total.axis, curve.means, curve.half_widths, strict=True))
        for (small, ours, own), (large, theirs, other) in pairwise(points):
            if small >= 512 and ours < theirs - own - other:
                wrong.append(f"{metric.replace('_', ' ')} from {large:g} to {small:g} B")
    return wrong


def _drop(total: Curves) -> Finding:
    """Judges the drop by the closed form, as it is smaller than an interval."""
    together = total.values(TOGETHER, MEMORY)[:2]
    small, large = total.drawn[CHAINED][MEMORY].exact[:2]
    facts = f"{_percent([small, large], 2)} at 256 and 512 B; together {_percent(together)}"
    why = (
        "By the closed form, and by so little that 35 B a partition would not show it. Groups that "
        "lie together drop by more."
    )
    return holds("002-9", "drop", small < large, facts, why)


def _judge_monotony(number: Curves) -> Finding:
    is_so = {}
    for name in (CHAINED, TOGETHER):
        admitted, used = number.values(name), number.values(name, MEMORY)
        is_so[name] = admitted == sorted(admitted) and _falls_always(used)
    why = "" if is_so[TOGETHER] else f"{_NOT_TOGETHER} {_format_sizes(number, TOGETHER)}."
    return holds("002-9", "count", is_so[CHAINED], _format_sizes(number, CHAINED), why)


def _falls_always(values: Sequence[float]) -> bool:
    return all(after < before for before, after in pairwise(values))


def _format_sizes(experiment: Curves, scheme: str) -> str:
    sizes = ", ".join(f"{size:g}" for size in experiment.axis)
    admitted, used = (_percent(experiment.values(scheme, one)) for one in (ADMISSION, MEMORY))
    return f"at {sizes} B admission {admitted}, utilisation {used}"


def _format_admissions(experiment: Curves) -> str:
    """Admission of all three."""
    names = ((CHAINED, "scattered"), (TOGETHER, "together"), (FIXED, "fixed"))
    return "; ".join(f"{facts} {_percent(experiment.values(name))}" for name, facts in names)


def _percent(values: Sequence[float], digits: int = 1) -> str:
    return ", ".join(f"{value * 100:.{digits}f}" for value in values) + " %"
