# SPDX-License-Identifier: Apache-2.0
"""Lee and Yi 2008, rows 10 to 17: table 2, and eleven allocators on it (figures 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from heapfit import _engine
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, Verdict, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row
from heapfit_papers.reproduce.table_2 import (
    ALLOCATORS,
    BUDGETED,
    EVENTS,
    LEA,
    LEA_STEP,
    OTHERS,
    STATIC,
    TLSF,
    WORKLOADS,
    Case,
    Measured,
    measured,
    other_lengths,
    relative,
    table_2,
    trial_and_error,
)

# What the sizes of workload 5 are divided by in figure 7; the paper begins at "about 200".
SCALES = (2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
_SMALL_SCALES = (1000, 500, 200, 1)
_START = 200
_TIE = 0.005  # R closer than this is called equal
_DYNAMIC = tuple(name for name in OTHERS if name != STATIC)


def workloads(laboratory: Laboratory) -> list[Finding]:
    """Row 10."""
    measured = []
    for number in WORKLOADS:
        values = _engine.WorkloadSource(f"t2_w{number}", {}, 1).parameters
        sizes = tuple(float(values[f"size_{i}"]) for i in range(1, 5))
        measured.append(near("003-10", f"w{number}", sizes))
    peaks = [peak for one in laboratory.once(table_2) for peak in one.peaks]
    return [*measured, near("003-10", "limit", float(max(peaks)))]


def allocators(_: Laboratory) -> list[Finding]:
    """Row 11."""
    known = {info.name for info in _engine.allocators()}
    facts = ", ".join(ALLOCATORS)
    return [near("003-11", "count", float(len(known.intersection(ALLOCATORS))), facts=facts)]


def static(laboratory: Laboratory) -> list[Finding]:
    """Row 12."""
    measured = laboratory.once(table_2)
    over = max(abs(one.region(STATIC) / one.worst_case - 1) for one in measured)
    first = [one for one in measured if one.case.seed == measured[0].case.seed]
    facts = ", ".join(f"w{one.case.workload} {one.region(STATIC):,}" for one in first)
    return [holds("003-12", "static", over < 0.01, f"{facts} B; at most {over:.2%} off the sum")]


def trial(laboratory: Laboratory) -> list[Finding]:
    """Row 13."""
    trials = laboratory.map(
        "trial and error", trial_and_error, [Case(number, 1, 10_000) for number in WORKLOADS]
    )
    close = all(0 <= one.reached - one.r_safe <= one.step for one in trials)
    lower = max(1 - one.r_min / one.r_safe for one in trials)
    facts = (
        f"shrinking stops within the step of R_safe on {len(trials)} workloads; a smaller heap "
        f"works again {lower:.1%} below on one of them"
    )
    return [holds("003-13", "trial", close, facts)]


def figure_5(laboratory: Laboratory) -> list[Finding]:
    """Row 14."""
    measured = laboratory.once(table_2)
    bars = bars_of(measured)
    own_best = {name: _own_best(bars, name) for name in ("test1", "test3", "test4", "test6", TLSF)}
    return [
        _always_least(laboratory, bars),
        *_less_than_lea(measured),
        _lea_is_steady(bars),
        *(_efficient_in(bars, name, best) for name, best in own_best.items()),
        _never_best(bars),
        _alike(bars),
    ]


def code(_: Laboratory) -> list[Finding]:
    """Row 15."""
    missing = code_sizes.why_not()
    if missing is not None:
        return [unknown("003-15", "large", f"Not weighed: {missing}.")]
    sizes = all_code()
    facts = ", ".join(f"{_short(name)} {sizes[name]:,}" for name in ALLOCATORS)
    is_so = sizes[BUDGETED] > sizes[TLSF]
    return [holds("003-15", "large", is_so, f"{facts} B ({code_sizes.HOW})")]


def figure_7(laboratory: Laboratory) -> list[Finding]:
    """Row 16."""
    missing = code_sizes.why_not()
    if missing is not None:
        why = f"Not weighed: {missing}."
        return [unknown("003-16", "start", why), unknown("003-16", "crossing", why)]
    totals = scaled_totals(laboratory)
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
    facts = f"{ours:.1f} KB, 1/{first} of the sizes; {_before(before, totals)}"
    static_wins = [f"1/{scale}" for scale in totals if _is_beaten(totals[scale], STATIC)]
    why = (
        "Against the dynamic allocators. Static pools, less code, need less at "
        f"{', '.join(static_wins) or 'no scale'}. Code sizes are another compiler's."
    )
    return near("003-16", "crossing", ours, why, facts)


def _before(scales: Sequence[int], totals: Mapping[int, Mapping[str, float]]) -> str:
    """Who needs least at the largest scale that is not won."""
    if not scales:
        return "no smaller one was tried"
    mine = totals[min(scales)]
    least = min(_DYNAMIC, key=mine.__getitem__)
    return f"at 1/{min(scales)} {_short(least)} needs {1 - mine[least] / mine[BUDGETED]:.1%} less"


def _is_beaten(mine: Mapping[str, float], name: str) -> bool:
    return mine[BUDGETED] > (1 + _TIE) * mine[name]


def saving(laboratory: Laboratory) -> list[Finding]:
    """Row 17."""
    [_, most] = _less_than_lea(laboratory.once(table_2))
    its = figure("003-17", "saving")
    return [Finding(its, most.ours, most.verdict, most.why, most.number)]


ROWS = {
    "003-10": Row(workloads, "a capped walk: sizes alike, a coin, a random victim"),
    "003-11": Row(allocators, "test2 to test6 from descriptions; only test1's name is certain"),
    "003-12": Row(static, "sum of S_i P_i,max"),
    "003-13": Row(trial, "the step of the scan of 128 regions"),
    "003-14": Row(
        figure_5,
        f"walks of {EVENTS:,} events, alignment 8, control structures charged. 'Efficient in': "
        "where the allocator stands best against budgeted, as many workloads as are named",
    ),
    "003-15": Row(code, code_sizes.HOW),
    "003-16": Row(figure_7, f"sizes divided by {SCALES}; equal is within {_TIE:.1%}"),
    "003-17": Row(saving, "of Lea's allocator, by the high-water mark"),
}


def bars_of(measured: Sequence[Measured]) -> dict[str, dict[int, float]]:
    """Figure 5: by allocator and workload, R over that of budgeted."""
    return {
        name: {number: relative(list(measured), number, name) for number in WORKLOADS}
        for name in ALLOCATORS
    }


def all_code() -> dict[str, int]:
    """Figure 6: bytes of code by allocator; budgeted has its shared allocator's too."""
    sizes = code_sizes.code_sizes(ALLOCATORS)
    return sizes | {BUDGETED: sizes[BUDGETED] + sizes[TLSF]}


def scaled_totals(laboratory: Laboratory) -> dict[int, dict[str, float]]:
    """Figure 7: by scale and allocator, R and code, mean of the seeds."""
    return laboratory.once(_scaled_totals)


def _scaled_totals(laboratory: Laboratory) -> dict[int, dict[str, float]]:
    scales = _SMALL_SCALES if laboratory.is_small else SCALES
    seeds = (1,) if laboratory.is_small else (1, 2, 3)
    full = [int(size) for size in figure("003-10", "w5").numbers]
    cases = [
        Case(5, seed, EVENTS, tuple(max(round(size / scale), 1) for size in full))
        for scale in scales
        for seed in seeds
    ]
    results = laboratory.map("figure 7", measured, cases)
    weights = all_code()
    each = {scale: results[i * len(seeds) : (i + 1) * len(seeds)] for i, scale in enumerate(scales)}
    return {
        scale: {name: mean(one.region(name) for one in mine) + weights[name] for name in ALLOCATORS}
        for scale, mine in each.items()
    }


def _always_least(laboratory: Laboratory, bars: Mapping[str, Mapping[int, float]]) -> Finding:
    is_so, facts = _least(bars)
    others = laboratory.once(other_lengths)
    lengths = sorted({one.case.events for one in others})
    beside = "; with ".join(
        f"{length:,} events "
        + _least(bars_of([one for one in others if one.case.events == length]))[1]
        for length in lengths
    )
    why = (
        "Where the peak has P_i,max of every size at once, all is dedicated and budgeted is the "
        "static allocator. Where it is one small block short of that, equation 5 costs whole large "
        f"blocks, and static pools need less. With {beside}."
    )
    return holds("003-14", "always_least", is_so, facts, why)


def _least(bars: Mapping[str, Mapping[int, float]]) -> tuple[bool, str]:
    """Whether no bar is below that of budgeted, and the lowest other one."""
    name, number = min(
        ((name, number) for name in OTHERS for number in WORKLOADS),
        key=lambda one: bars[one[0]][one[1]],
    )
    lowest = bars[name][number]
    return (
        lowest > 1 - _TIE,
        f"the least of the others is {_short(name)} on w{number}: {lowest:.3f}",
    )


def _less_than_lea(measured: Sequence[Measured]) -> list[Finding]:
    """The smallest and the largest saving; and if Lea's grew by its own step."""
    by_workload = [[one for one in measured if one.case.workload == number] for number in WORKLOADS]
    saved = [
        mean(1 - one.region(BUDGETED) / one.region(LEA) for one in some) for some in by_workload
    ]
    stepped = [
        mean(1 - one.region(BUDGETED) / _in_steps(one.needs[LEA].high_water) for one in some)
        for some in by_workload
    ]
    at = max(range(len(stepped)), key=stepped.__getitem__)
    facts = ", ".join(f"w{n} {one:.1%}" for n, one in zip(WORKLOADS, saved, strict=True))
    steps = (
        f"If Lea's allocator takes memory {LEA_STEP // 1024} KiB at a time, as dlmalloc's does by "
        f"default, savings are {min(stepped):.1%} to {max(stepped):.1%}, the most on "
        f"w{WORKLOADS[at]}: the published 49.5 % may be that step (inferred), not fragmentation."
    )
    return [
        near("003-14", "lea_least", min(saved), steps, f"{min(saved):.1%} ({facts})"),
        near("003-14", "lea_most", max(saved), steps, f"{max(saved):.1%}"),
    ]


def _in_steps(size: int) -> int:
    return -(-size // LEA_STEP) * LEA_STEP


def _lea_is_steady(bars: Mapping[str, Mapping[int, float]]) -> Finding:
    over = [bars[LEA][n] / min(bars[name][n] for name in _DYNAMIC) - 1 for n in WORKLOADS]
    facts = f"{min(over):.1%} to {max(over):.1%} above the best of the dynamic comparators"
    return holds("003-14", "lea_steady", max(over) < 0.15, facts)


def _own_best(bars: Mapping[str, Mapping[int, float]], name: str) -> list[int]:
    """The workloads on which an allocator stands best, as many as the paper names."""
    mine = bars[_registered(name)]
    count = len(figure("003-14", name).numbers)
    return sorted(sorted(WORKLOADS, key=mine.__getitem__)[:count])


def _efficient_in(
    bars: Mapping[str, Mapping[int, float]], name: str, best: Sequence[int]
) -> Finding:
    mine = bars[_registered(name)]
    least = [n for n in WORKLOADS if mine[n] <= (1 + _TIE) * min(bars[o][n] for o in _DYNAMIC)]
    its = figure("003-14", name)
    listed = ", ".join(f"w{n} {mine[n]:.3f}" for n in WORKLOADS)
    facts = f"best in {_named(best)} ({listed})"
    why = f"By the other reading, least of the dynamic comparators: in {_named(least)}."
    is_so = tuple(map(float, best)) == its.numbers
    return Finding(its, facts, Verdict.MATCHES if is_so else Verdict.DIFFERS, why)


def _never_best(bars: Mapping[str, Mapping[int, float]]) -> Finding:
    over = [
        min(bars[name][n] / min(bars[o][n] for o in _DYNAMIC) for n in WORKLOADS)
        for name in ("djgpp_test2", "kingsley")
    ]
    facts = f"at least {over[0] - 1:.0%} and {over[1] - 1:.0%} above the least comparator"
    why = "So not every allocator has a workload of its own, as section V also claims."
    return holds("003-14", "never_best", min(over) > 1 + _TIE, facts, why)


def _alike(bars: Mapping[str, Mapping[int, float]]) -> Finding:
    apart = max(abs(bars["djgpp_test4"][n] / bars["djgpp_test5"][n] - 1) for n in WORKLOADS)
    return holds("003-14", "alike", apart < _TIE, f"at most {apart:.2%} apart")


def _registered(name: str) -> str:
    return name if name in ALLOCATORS else f"djgpp_{name}"


def _short(name: str) -> str:
    return name.removeprefix("djgpp_")


def _named(workloads: Sequence[int]) -> str:
    return " and ".join(f"w{number}" for number in workloads) or "none"
