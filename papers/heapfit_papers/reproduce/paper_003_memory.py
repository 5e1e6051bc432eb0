# SPDX-License-Identifier: Apache-2.0
"""Lee and Yi 2008, rows 10 to 17: table 2, and eleven allocators on it (figures 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TypeAlias

from heapfit import _engine
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.reproduce.table_2 import (
    ALLOCATORS,
    BUDGETED,
    EVENTS,
    LEA,
    LEA_STEP,
    MODELS,
    OTHERS,
    STATIC,
    TLSF,
    WALK,
    WORKLOADS,
    Case,
    Measured,
    Shrunk,
    measure_case,
    other_lengths,
    other_models,
    relative,
    shrink_heap,
    table_2,
)

# What the sizes of workload 5 are divided by in figure 7; the paper begins at "about 200".
SCALES = (2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
_SMALL_SCALES = (1000, 500, 200, 1)
_START = 200
_SMALL_EVENTS = 20_000
_TIE = 0.005  # R closer than this is called equal
_QUITE_LARGE = 3  # among the eleven: the place that code has at least
_DYNAMIC = tuple(name for name in OTHERS if name != STATIC)


Bars: TypeAlias = Mapping[str, Mapping[int, float]]  # R over budgeted's, by allocator and workload


def _workload_sizes(number: int) -> tuple[float, ...]:
    values = _engine.WorkloadSource(f"t2_w{number}", {}, 1).parameters
    return tuple(float(values[f"size_{i}"]) for i in range(1, 5))


@dataclass(frozen=True, slots=True)
class Workloads:
    """Table 2 as the workloads have it."""

    sizes: Mapping[int, tuple[float, ...]]  # by workload
    peaks: Sequence[int]  # P_i,max of all


def workload_sizes(laboratory: Laboratory) -> Workloads:
    peaks = [peak for one in laboratory.measure_once(table_2) for peak in one.peaks]
    return Workloads({number: _workload_sizes(number) for number in WORKLOADS}, peaks)


def workloads(found: Workloads) -> list[Finding]:
    each = [near("003-10", f"w{number}", sizes) for number, sizes in found.sizes.items()]
    return [*each, near("003-10", "limit", float(max(found.peaks)))]


def find_known(_: Laboratory) -> list[str]:
    """Which of the eleven there are."""
    known = {info.name for info in _engine.allocators()}
    return [name for name in ALLOCATORS if name in known]


def allocators(found: Sequence[str]) -> list[Finding]:
    return [near("003-11", "count", float(len(found)), facts=", ".join(found))]


def static(found: Sequence[Measured]) -> list[Finding]:
    over = max(abs(one.region(STATIC) / one.worst_case - 1) for one in found)
    first = [one for one in found if one.case.seed == found[0].case.seed]
    facts = ", ".join(f"w{one.case.workload} {one.region(STATIC):,}" for one in first)
    return [holds("003-12", "static", over < 0.01, f"{facts} B; at most {over:.2%} off the sum")]


def trials(laboratory: Laboratory) -> dict[int, Shrunk]:
    """TLSF's heap shrunk by trial and error on each workload."""
    numbers = (2, 4) if laboratory.is_small else WORKLOADS
    cases = [Case(number, 1, 2000) for number in numbers]
    shrunk = laboratory.map("trial and error", shrink_heap, cases)
    return dict(zip(numbers, shrunk, strict=True))


def trial(found: Mapping[int, Shrunk]) -> list[Finding]:
    close = all(abs(one.reached - one.r_safe) <= one.step for one in found.values())
    facts = "; ".join(
        f"w{number} {one.reached:,} B by 8 B, {one.r_safe:,} B by steps of {one.step:,} B"
        for number, one in found.items()
    )
    why = "Success is not monotone: where they are apart, regions between those searched fail."
    return [holds("003-13", "trial", close, facts, why)]


@dataclass(frozen=True, slots=True)
class Figure5:
    """What figure 5 is judged by."""

    walk: Sequence[Measured]
    models: Sequence[Measured]  # the other ones
    lengths: Sequence[Measured]  # other ones, of the walk

    def bars(self) -> dict[str, Bars]:
        """The bars of each model."""
        return {model: bars_of(some) for model, some in self.group_by_model().items()}

    def group_by_model(self) -> dict[str, list[Measured]]:
        """What was measured of each model."""
        some = [*self.walk, *self.models]
        return {model: [one for one in some if one.case.model == model] for model in MODELS}


def figure_5_runs(laboratory: Laboratory) -> Figure5:
    return Figure5(
        laboratory.measure_once(table_2),
        laboratory.measure_once(other_models),
        laboratory.measure_once(other_lengths),
    )


def figure_5(found: Figure5) -> list[Finding]:
    bars = found.bars()
    return [
        _always_least(found, bars),
        *_less_than_lea(found),
        _lea_is_steady(bars),
        *(_efficient_in(bars, name) for name in ("test1", "test3", "test4", "test6", TLSF)),
        _judge_others_best(bars),
        _judge_equal_pair(bars),
    ]


def all_code(_: Laboratory) -> code_sizes.Weighed:
    """Figure 6: bytes of code by allocator, each alone."""
    return code_sizes.weigh(ALLOCATORS)


def with_shared(weighed: code_sizes.Weighed) -> dict[str, int]:
    """Bytes of code by allocator; budgeted has its shared allocator's too."""
    sizes = weighed.sizes
    return {**sizes, BUDGETED: sizes[BUDGETED] + sizes[TLSF]} if sizes else {}


def code(weighed: code_sizes.Weighed) -> list[Finding]:
    if weighed.missing:
        return [unknown("003-15", "large", f"Not weighed: {weighed.missing}.")]
    sizes = with_shared(weighed)
    facts = ", ".join(f"{_short(name)} {sizes[name]:,}" for name in ALLOCATORS)
    place = 1 + sum(size > sizes[BUDGETED] for size in sizes.values())
    told = f"place {place} of {len(sizes)}: {facts} B ({code_sizes.HOW})"
    return [holds("003-15", "large", place <= _QUITE_LARGE, told)]


@dataclass(frozen=True, slots=True)
class Figure7:
    """What figure 7 is judged by. Bytes."""

    regions: Mapping[int, Mapping[str, float]]  # R by scale and allocator, mean of the seeds
    weighed: code_sizes.Weighed

    def totals(self) -> dict[int, dict[str, float]]:
        """R and code by scale and allocator; nothing if no code was weighed."""
        code = with_shared(self.weighed)
        if not code:
            return {}
        return {
            scale: {name: region + code[name] for name, region in mine.items()}
            for scale, mine in self.regions.items()
        }


def figure_7_runs(laboratory: Laboratory) -> Figure7:
    weighed = laboratory.measure_once(all_code)
    if weighed.missing:
        return Figure7({}, weighed)
    scales = _SMALL_SCALES if laboratory.is_small else SCALES
    seeds = (1,) if laboratory.is_small else (1, 2, 3)
    events = _SMALL_EVENTS if laboratory.is_small else EVENTS
    full = [int(size) for size in figure("003-10", "w5").numbers]
    cases = [
        Case(5, seed, events, tuple(max(round(size / scale), 1) for size in full))
        for scale in scales
        for seed in seeds
    ]
    results = laboratory.map("figure 7", measure_case, cases)
    each = {scale: results[i * len(seeds) : (i + 1) * len(seeds)] for i, scale in enumerate(scales)}
    return Figure7(
        {
            scale: {name: mean(one.region(name) for one in mine) for name in ALLOCATORS}
            for scale, mine in each.items()
        },
        weighed,
    )


def figure_7(found: Figure7) -> list[Finding]:
    totals = found.totals()
    if not totals:
        why = f"Not weighed: {found.weighed.missing}."
        return [unknown("003-16", "start", why), unknown("003-16", "crossing", why)]
    start = totals[_START][BUDGETED] / 1024
    why = (
        "Our walk comes near 10 blocks of every size at once, 10.4 KiB at 1/200 without any code; "
        "so theirs, which is not told, does not."
    )
    return [near("003-16", "start", start, why, f"{start:.1f} KB"), _crossing(totals)]


def _crossing(totals: Mapping[int, Mapping[str, float]]) -> Finding:
    """The budgeted total from which on no larger scale has a dynamic allocator below it."""
    wins = {
        scale: mine[BUDGETED] <= (1 + _TIE) * min(mine[name] for name in _DYNAMIC)
        for scale, mine in totals.items()
    }
    lasting = [scale for scale in totals if all(wins[other] for other in totals if other <= scale)]
    if not lasting:
        why = "Another dynamic allocator needs less even at the full sizes."
        return holds("003-16", "crossing", False, "never", why)
    first = max(lasting)
    ours = totals[first][BUDGETED] / 1024
    before = [scale for scale in totals if scale > first]
    facts = f"{ours:.1f} KB, 1/{first} of the sizes; {_describe_smaller_scale(before, totals)}"
    static_wins = [f"1/{scale}" for scale in totals if _is_beaten(totals[scale], STATIC)]
    why = (
        "Against the dynamic allocators. Static pools, less code, need less at "
        f"{', '.join(static_wins) or 'no scale'}. Code sizes are another compiler's."
    )
    return near("003-16", "crossing", ours, why, facts)


def _describe_smaller_scale(
    scales: Sequence[int], totals: Mapping[int, Mapping[str, float]]
) -> str:
    """Who needs least at the largest scale that is not won."""
    if not scales:
        return "no smaller one was tried"
    mine = totals[min(scales)]
    least = min(_DYNAMIC, key=mine.__getitem__)
    return f"at 1/{min(scales)} {_short(least)} needs {1 - mine[least] / mine[BUDGETED]:.1%} less"


def _is_beaten(mine: Mapping[str, float], name: str) -> bool:
    return mine[BUDGETED] > (1 + _TIE) * mine[name]


def saving(found: Figure5) -> list[Finding]:
    [_, most] = _less_than_lea(found)
    is_so = most.verdict == holds("003-14", "lea_most", True, "").verdict
    return [holds("003-17", "saving", is_so, most.ours, most.why)]


_BY_MODEL = (
    f"models {', '.join(MODELS)}, {EVENTS:,} events, alignment 8, control structures charged; a "
    "statement matches if it holds in more than half of the models, and figures are the walk's"
)

ROWS: Rows = {
    "003-10": Row(workload_sizes, workloads, "a capped walk: sizes alike, a coin, a random victim"),
    "003-11": Row(
        find_known,
        allocators,
        "test2 to test6 from descriptions; only test1's name is certain",
    ),
    "003-12": Row(table_2, static, "sum of S_i P_i,max"),
    "003-13": Row(trials, trial, "walks of 2,000 events; the step of the scan of 128 regions"),
    "003-14": Row(
        figure_5_runs,
        figure_5,
        f"{_BY_MODEL}. 'Efficient in': where the allocator stands best against budgeted, as many "
        "workloads as are named",
    ),
    "003-15": Row(all_code, code, code_sizes.HOW),
    "003-16": Row(
        figure_7_runs, figure_7, f"sizes divided by {SCALES}; equal is within {_TIE:.1%}"
    ),
    "003-17": Row(
        figure_5_runs, saving, f"of Lea's allocator, by the high-water mark; {_BY_MODEL}"
    ),
}


def bars_of(measured: Sequence[Measured]) -> dict[str, dict[int, float]]:
    """Figure 5: by allocator and workload, R over that of budgeted."""
    return {
        name: {number: relative(list(measured), number, name) for number in WORKLOADS}
        for name in ALLOCATORS
    }


def _judge_models(name: str, is_so: Mapping[str, bool], facts: str, why: str = "") -> Finding:
    """A statement that holds in some models; it matches if these are most."""
    where = [model for model, holds_there in is_so.items() if holds_there]
    told = f"in {len(where)} of {len(is_so)} models ({', '.join(where) or 'none'}). {facts}"
    return holds("003-14", name, 2 * len(where) > len(is_so), told, why)


def _always_least(found: Figure5, bars: Mapping[str, Bars]) -> Finding:
    is_so = {model: _least(mine)[0] > 1 - _TIE for model, mine in bars.items()}
    lengths = sorted({one.case.events for one in found.lengths})
    beside = "; with ".join(
        f"{length:,} events {_format_least(_least(_walk_of(found.lengths, length)))}"
        for length in lengths
    )
    why = (
        "Where the peak has P_i,max of every size at once, all is dedicated and budgeted is the "
        "static allocator. Where it is one small block short of that, equation 5 costs whole large "
        f"blocks, and static pools need less. With {beside}."
    )
    models = ", ".join(f"{model} {_format_least(_least(mine))}" for model, mine in bars.items())
    return _judge_models("always_least", is_so, f"The least of the others: {models}", why)


def _walk_of(lengths: Sequence[Measured], events: int) -> Bars:
    return bars_of([one for one in lengths if one.case.events == events])


def _least(bars: Bars) -> tuple[float, str, int]:
    """The lowest bar of another allocator, its name and workload."""
    return min((bars[name][n], name, n) for name in OTHERS for n in WORKLOADS)


def _format_least(least: tuple[float, str, int]) -> str:
    lowest, name, number = least
    return f"{_short(name)} on w{number} {lowest:.3f}"


def _less_than_lea(found: Figure5) -> list[Finding]:
    """The smallest and the largest saving; and if Lea's grew by its own step."""
    saved = {model: _savings(some) for model, some in found.group_by_model().items()}
    walk = saved[WALK]
    stepped = _savings(found.walk, in_steps=True)
    at = max(stepped, key=stepped.__getitem__)
    steps = (
        f"If Lea's allocator takes memory {LEA_STEP // 1024} KiB at a time, as dlmalloc's does by "
        f"default, savings are {min(stepped.values()):.1%} to {stepped[at]:.1%}, the most on "
        f"w{at}: the published 49.5 % may be that step (inferred), not fragmentation."
    )
    listed = ", ".join(f"w{number} {one:.1%}" for number, one in walk.items())
    findings = []
    for name, end in (("lea_least", min), ("lea_most", max)):
        its = figure("003-14", name)
        ends = {model: end(mine.values()) for model, mine in saved.items()}
        is_so = {model: its.agrees(one) for model, one in ends.items()}
        others = ", ".join(f"{model} {one:.1%}" for model, one in ends.items())
        findings.append(_judge_models(name, is_so, f"{others}; the walk's {listed}", steps))
    return findings


def _savings(some: Sequence[Measured], in_steps: bool = False) -> dict[int, float]:
    """How much less budgeted needs than Lea's allocator, by workload."""
    saved: dict[int, list[float]] = {number: [] for number in WORKLOADS}
    for one in some:
        lea = _round_to_step(one.needs[LEA].high_water) if in_steps else one.region(LEA)
        saved[one.case.workload].append(1 - one.region(BUDGETED) / lea)
    return {number: mean(mine) for number, mine in saved.items()}


def _round_to_step(size: int) -> int:
    return -(-size // LEA_STEP) * LEA_STEP


def _lea_is_steady(bars: Mapping[str, Bars]) -> Finding:
    over = {
        model: [mine[LEA][n] / min(mine[name][n] for name in _DYNAMIC) - 1 for n in WORKLOADS]
        for model, mine in bars.items()
    }
    facts = ", ".join(f"{model} {min(one):.1%} to {max(one):.1%}" for model, one in over.items())
    is_so = {model: max(one) < 0.15 for model, one in over.items()}
    return _judge_models("lea_steady", is_so, f"Above the best of the dynamic comparators: {facts}")


def _own_best(bars: Bars, name: str) -> tuple[int, ...]:
    """The workloads on which an allocator stands best, as many as the paper names."""
    mine = bars[_registry_name(name)]
    count = len(figure("003-14", name).numbers)
    return tuple(sorted(sorted(WORKLOADS, key=mine.__getitem__)[:count]))


def _efficient_in(bars: Mapping[str, Bars], name: str) -> Finding:
    best = {model: _own_best(mine, name) for model, mine in bars.items()}
    its = figure("003-14", name)
    is_so = {model: tuple(map(float, one)) == its.numbers for model, one in best.items()}
    told = ", ".join(f"{model} {_format_workloads(one)}" for model, one in best.items())
    mine = bars[WALK][_registry_name(name)]
    listed = ", ".join(f"w{n} {mine[n]:.3f}" for n in WORKLOADS)
    least = [
        n for n in WORKLOADS if mine[n] <= (1 + _TIE) * min(bars[WALK][o][n] for o in _DYNAMIC)
    ]
    names = _format_workloads(least)
    why = f"By the other reading, least of the dynamic comparators: the walk's {names}."
    return _judge_models(name, is_so, f"Best in: {told}; the walk's {listed}", why)


def _judge_others_best(bars: Mapping[str, Bars]) -> Finding:
    over = {
        model: [
            min(mine[name][n] / min(mine[o][n] for o in _DYNAMIC) for n in WORKLOADS)
            for name in ("djgpp_test2", "kingsley")
        ]
        for model, mine in bars.items()
    }
    told = ", ".join(
        f"{model} {one[0] - 1:.0%} and {one[1] - 1:.0%}" for model, one in over.items()
    )
    why = "So not every allocator has a workload of its own, as section V also claims."
    is_so = {model: min(one) > 1 + _TIE for model, one in over.items()}
    return _judge_models("never_best", is_so, f"Above the least comparator by {told} at least", why)


def _judge_equal_pair(bars: Mapping[str, Bars]) -> Finding:
    apart = {
        model: max(abs(mine["djgpp_test4"][n] / mine["djgpp_test5"][n] - 1) for n in WORKLOADS)
        for model, mine in bars.items()
    }
    told = ", ".join(f"{model} {one:.2%}" for model, one in apart.items())
    is_so = {model: one < _TIE for model, one in apart.items()}
    return _judge_models("alike", is_so, f"At most apart: {told}")


def _registry_name(name: str) -> str:
    return name if name in ALLOCATORS else f"djgpp_{name}"


def _short(name: str) -> str:
    return name.removeprefix("djgpp_")


def _format_workloads(workloads: Sequence[int]) -> str:
    return " and ".join(f"w{number}" for number in workloads) or "none"
