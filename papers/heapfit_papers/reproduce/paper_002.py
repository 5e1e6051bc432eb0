# SPDX-License-Identifier: Apache-2.0
"""Elsayed and Galal, part 2: fixed buffers against partitions (figures 5 to 9).

The plots are lost; statements remain. Whether the partitions of a group lie together is not told:
verdicts are of groups that do, taken first fit, and scattered ones stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from heapfit.plan.plan import Plan
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.simulate import solve
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, Verdict, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.partition_study import (
    ADMISSION,
    CHAINED,
    FIXED,
    MEMORY,
    TOGETHER,
    Experiment,
    experiments,
    scenario_of,
)
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row

_ALL = 0.995  # admitted: told as 100 %
_SURE = 0.97  # of the points within their 99 % interval
_PUBLISHED_OVERHEAD = 32  # bytes a partition, by the "almost equal" memories


def two_roads(laboratory: Laboratory) -> list[Finding]:
    """Row 1: every simulated figure that mathematics knows too."""
    inside = total = 0
    for experiment in laboratory.once(experiments).values():
        for one in experiment.all_results():
            for metric, exact in one.exact.items():
                answers = one.estimates[metric]
                is_none_refused = answers.mean == 1 and 1 - exact < 1e-9
                inside += answers.holds(exact) or is_none_refused
                total += 1
    facts = f"{inside} of {total} figures of fixed and scattered pools within their 99 % interval"
    why = "Holding times are exponential; by theory these pools do not mind which law they have."
    return [holds("002-1", "method", inside >= _SURE * total, facts, why)]


def fixed_bytes(_: Laboratory) -> list[Finding]:
    """Row 2."""
    return [near("002-2", "bytes", float(_capacity(FIXED)))]


def variable_bytes(_: Laboratory) -> list[Finding]:
    """Row 3."""
    return [near("002-3", "bytes", float(_capacity(TOGETHER)))]


def equal_memory(_: Laboratory) -> list[Finding]:
    """Row 4."""
    schemes = {one.name: one for one in scenario_of("figure-5").points[0].schemes}
    fixed, together = schemes[FIXED].region, schemes[TOGETHER].region
    facts = f"{fixed:,} and {together:,} B"
    return [holds("002-4", "difference", abs(fixed / together - 1) < 0.01, facts)]


def metrics(_: Laboratory) -> list[Finding]:
    """Row 5."""
    wanted = ("bandwidth_admission", "memory_utilisation", "pool_utilisation")
    facts = "; ".join(METRICS[name].definition for name in wanted)
    why = f"Ours: {METRICS['combined_utility'].definition}"
    return [
        holds("002-5", "definitions", set(wanted) <= set(METRICS), facts),
        unknown("002-5", "utility", why),
    ]


def figure_5(laboratory: Laboratory) -> list[Finding]:
    """Row 6."""
    experiment = laboratory.once(experiments)["figure-5"]
    at = experiment.axis.index(0.003)
    fixed, together, chained = (experiment.values(name)[at] for name in (FIXED, TOGETHER, CHAINED))
    used = experiment.values(TOGETHER, MEMORY)
    peak = used.index(max(used))
    return [
        near("002-6", "fixed", fixed, facts=_percent([fixed], 2)),
        near("002-6", "variable", together, facts=f"{together:.2%}; scattered {chained:.2%}"),
        _always_better(experiment, "002-6"),
        holds(
            "002-6",
            "maximum",
            0 < peak < len(used) - 1,
            f"{used[peak]:.1%} at an inter-arrival time of {experiment.axis[peak]:g}",
        ),
    ]


def figure_6(laboratory: Laboratory) -> list[Finding]:
    """Row 7."""
    experiment = laboratory.once(experiments)["figure-6"]
    fixed, together = experiment.values(FIXED), experiment.values(TOGETHER)
    crossings = [_crossing(experiment, metric) for metric in (ADMISSION, MEMORY)]
    facts = ", in utilisation ".join(f"between {low:g} and {high:g} B" for low, high in crossings)
    return [
        holds("002-7", "fixed", max(fixed) - min(fixed) < 0.01, _percent(fixed)),
        holds("002-7", "variable", together == sorted(together, reverse=True), _beside(experiment)),
        holds("002-7", "crossing", all(low < high for low, high in crossings), facts),
    ]


def figure_7(laboratory: Laboratory) -> list[Finding]:
    """Row 8."""
    experiment = laboratory.once(experiments)["figure-7"]
    fixed = experiment.values(FIXED)
    its = figure("002-8", "fixed")
    farthest = max(fixed, key=lambda one: abs(one - its.number))
    all_admitted = {
        size: used
        for size, admitted, used in zip(
            experiment.axis,
            experiment.values(TOGETHER),
            experiment.values(TOGETHER, MEMORY),
            strict=True,
        )
        if admitted >= _ALL
    }
    facts = ", ".join(f"{used:.1%} at {size:g} B" for size, used in all_admitted.items())
    in_range = any(figure("002-8", "utilisation").agrees(used) for used in all_admitted.values())
    return [
        near("002-8", "fixed", farthest, facts=_percent(fixed)),
        _always_better(experiment, "002-8"),
        holds("002-8", "utilisation", in_range, facts),
    ]


def figure_8(laboratory: Laboratory) -> list[Finding]:
    """Row 9."""
    total, number = (
        laboratory.once(experiments)[f"figure-8-same-{what}"] for what in ("total", "number")
    )
    return [_smaller(total), _drop(total), _more_of_the_same(number)]


def overheads(_: Laboratory) -> list[Finding]:
    """Row 10."""
    curves = overhead_curves()
    smaller = all(curve == sorted(curve, reverse=True) for curve in curves.values())
    fixed = all(
        theirs < ours
        for total in ("64K", "512K")
        for theirs, ours in zip(curves[f"fixed-{total}"], curves[f"chained-{total}"], strict=True)
    )
    facts = "; ".join(
        f"{name.replace('chained', 'variable')} {curve[0]:.0%} to {curve[-1]:.1%}"
        for name, curve in curves.items()
    )
    why = "The bytes are inferred, so the curves' shape is compared and not their height."
    return [
        holds("002-10", "smaller", smaller, facts, why),
        holds("002-10", "fixed", fixed, "at all sizes, 16 B a buffer against 36 B a partition"),
    ]


def tool(_: Laboratory) -> list[Finding]:
    """Row 11."""
    answers = [one for one in solve(scenario_of("figure-5")).results if one.exact]
    facts = "heapfit simulate: these scenarios are in examples/partitions"
    return [holds("002-11", "tool", bool(answers), facts)]


def portable(_: Laboratory) -> list[Finding]:
    """Row 12."""
    missing = code_sizes.why_not()
    if missing is not None:
        return [unknown("002-12", "portable", f"Not compiled for a target here: {missing}.")]
    sizes = code_sizes.code_sizes(("fixed_pool", "partition_pool", "chained_pool"))
    facts = ", ".join(f"{name} {size:,} B" for name, size in sizes.items())
    return [holds("002-12", "portable", True, f"{facts}, no library ({code_sizes.HOW})")]


def better_structure(_: Laboratory) -> list[Finding]:
    """Row 13: two bits a partition, and 8 B a partition for the list."""
    each = {}
    for metadata in (0, 1):
        scalars = {"partition_size": 512, "partitions": 1024, "metadata": metadata}
        region = Plan("partition_pool", scalars).engine().smallest_region
        each[metadata] = (region - 1024 * 512) / 1024
    facts = f"{each[1]:.2f} B a partition with two bits each, {each[0]:.2f} B with a linked list"
    is_so = each[1] < each[0] < _PUBLISHED_OVERHEAD
    return [holds("002-13", "structure", is_so, facts)]


def overhead_curves() -> dict[str, list[float]]:
    """Figure 9: by scheme, from 16 to 1024 B."""
    experiment = solve(scenario_of("figure-9")).results
    names = [scheme.name for scheme in experiment[0].point.schemes]
    return {
        name: [one.overhead_ratio or 0.0 for one in experiment if one.scheme.name == name]
        for name in names
    }


_HOW = (
    "a unit of time is a second; exponential holding; groups lie together, first fit; 36 B of "
    "bookkeeping a partition, 16 B a buffer"
)

ROWS = {
    "002-1": Row(two_roads, "exponential holding times"),
    "002-2": Row(fixed_bytes),
    "002-3": Row(variable_bytes, "partitions of a group lie together; scattered ones beside"),
    "002-4": Row(equal_memory, "36 B a partition and 16 B a buffer, inferred from this statement"),
    "002-5": Row(metrics, "combined utility: admission times memory utilisation"),
    "002-6": Row(figure_5, f"{_HOW}; steps of 0.0005"),
    "002-7": Row(figure_6, _HOW),
    "002-8": Row(figure_7, f"{_HOW}; 100 % is {_ALL:.1%} or more"),
    "002-9": Row(figure_8, f"{_HOW}; 512 KiB in the first configuration"),
    "002-10": Row(overheads, "36 B a partition, 16 B a buffer; sizes by powers of two"),
    "002-11": Row(tool),
    "002-12": Row(portable, code_sizes.HOW),
    "002-13": Row(better_structure),
}


def _capacity(name: str) -> int:
    [scheme] = [one for one in scenario_of("figure-5").points[0].schemes if one.name == name]
    return scheme.capacity()


def _always_better(experiment: Experiment, row: str) -> Finding:
    better = all(
        ours > theirs
        for metric in (ADMISSION, MEMORY)
        for ours, theirs in zip(
            experiment.values(TOGETHER, metric), experiment.values(FIXED, metric), strict=True
        )
    )
    return holds(row, "better", better, _beside(experiment))


def _crossing(experiment: Experiment, metric: str) -> tuple[float, float]:
    """The sizes between which fixed buffers become better; equal ones if they never do."""
    pairs = zip(experiment.values(FIXED, metric), experiment.values(TOGETHER, metric), strict=True)
    better = [fixed > together for fixed, together in pairs]
    if better[0] or True not in better:
        return experiment.axis[0], experiment.axis[0]
    first = better.index(True)
    return experiment.axis[first - 1], experiment.axis[first]


def _smaller(total: Experiment) -> Finding:
    """From 4096 B down to 512 B; steps within the intervals of both are called equal."""
    points = list(zip(total.axis, total.results[TOGETHER], strict=True))
    wrong, equal = [], []
    for metric in (ADMISSION, MEMORY):
        for (small, mine), (large, other) in pairwise(points):
            ours, theirs = mine.estimates[metric], other.estimates[metric]
            slack = (ours.half_width or 0.0) + (theirs.half_width or 0.0)
            step = f"{metric.replace('_', ' ')} from {large:g} to {small:g} B"
            if small >= 512 and ours.mean < theirs.mean - slack:
                wrong.append(step)
            elif small >= 512 and ours.mean < theirs.mean + slack:
                equal.append(step)
    why = f"Not in {', '.join(wrong)}. " if wrong else ""
    why += f"Equal within the intervals: {', '.join(equal)}." if equal else ""
    return holds("002-9", "smaller", not wrong, _by_size(total), why)


def _drop(total: Experiment) -> Finding:
    together, chained = (total.values(name, MEMORY)[:2] for name in (TOGETHER, CHAINED))
    facts = f"{_percent(together)} at 256 and 512 B; scattered {_percent(chained)}"
    why = "Which speaks for groups that lie together, if weakly." if chained[0] > chained[1] else ""
    return holds("002-9", "drop", together[0] < together[1], facts, why)


def _more_of_the_same(number: Experiment) -> Finding:
    admitted, used = number.values(TOGETHER), number.values(TOGETHER, MEMORY)
    rises = admitted == sorted(admitted)
    falls = used == sorted(used, reverse=True)
    at_first = used[1:] == sorted(used[1:], reverse=True) and not falls
    why = "Utilisation rises from 256 to 512 B, by the bookkeeping, and falls from there."
    verdict = Verdict.MATCHES if rises and falls else Verdict.DIFFERS
    return Finding(
        figure("002-9", "count"), _by_size(number), verdict, why if at_first and rises else ""
    )


def _by_size(experiment: Experiment) -> str:
    sizes = ", ".join(f"{size:g}" for size in experiment.axis)
    admitted, used = (_percent(experiment.values(TOGETHER, one)) for one in (ADMISSION, MEMORY))
    return f"at {sizes} B admission {admitted}, utilisation {used}"


def _beside(experiment: Experiment) -> str:
    """Admission of all three."""
    names = ((TOGETHER, "together"), (CHAINED, "scattered"), (FIXED, "fixed"))
    return "; ".join(f"{facts} {_percent(experiment.values(name))}" for name, facts in names)


def _percent(values: Sequence[float], digits: int = 1) -> str:
    return ", ".join(f"{value * 100:.{digits}f}" for value in values) + " %"
