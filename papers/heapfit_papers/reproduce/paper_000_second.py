# SPDX-License-Identifier: Apache-2.0
"""Cebeci 2019, rows 11 to 17: the second allocator, coalescing and with exact lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import mean

from heapfit_papers.reproduce.finding import Finding, holds, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.paper_000_first import JUDGES as FIRST
from heapfit_papers.reproduce.paper_000_first import Judge, deviating, judge_runs, report_runs
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.slotbuf import REPORT_REGION
from heapfit_papers.slotbuf.benchmark import (
    REPORT_HEADER,
    Slotbuf,
    SlotbufSpec,
    report_version,
    run_slotbuf,
)
from heapfit_papers.slotbuf.measures import (
    OTHER_SIZES,
    REPORT_ITERATIONS,
    REPORT_SLOTS,
    SIZES,
    ReportRuns,
    spread,
)

VERY_BIG = 1024  # bytes: "very big blocks", of which the report gives no measure
_OTHER_READINGS: tuple[dict[str, int], ...] = (
    {},
    {"upward": 1},
    {"exact_lists": 8},
    {"exact_lists": 32},
)


def judge(runs: ReportRuns) -> tuple[Finding, ...]:
    """Every figure that the runs decide, in the order of the rows."""
    return tuple(one(runs) for one in (*FIRST, *_JUDGES))


def merging(runs: ReportRuns) -> Finding:
    worst = {run.counts.free.worst for run in runs.growth.values()}
    longest = max(run.free_blocks for run in runs.growth.values())
    return holds(
        "000-11",
        "cost",
        max(worst) > min(worst) + 2,
        f"at most {max(worst)} accesses in a free, whatever the free list's length (up to "
        f"{longest:,})",
        "Better than told: with the sizes of both neighbours at hand the merge is O(1), and "
        "neighbours of a merged block are never free, so there is nothing to recurse into.",
    )


def readings(laboratory: Laboratory) -> list[float]:
    """The free blocks of row 14, shortened, for each reading of section 3.2."""
    seeds = range(1, 4 if laboratory.is_small else 11)
    lengths = []
    for tunables in _OTHER_READINGS:
        plan = report_version(2, tunables)
        spec = SlotbufSpec(REPORT_SLOTS, 50_000, plan, *SIZES)
        lengths.append(mean(run_slotbuf(replace(spec, seed=seed)).free_blocks for seed in seeds))
    return lengths


def list_readings(lengths: Sequence[float]) -> list[Finding]:
    taken, upward, few, many = lengths
    facts = (
        f"{taken:.0f} free blocks as taken (16 lists, general list first); upward through the "
        f"exact lists {upward:.0f}, 8 lists {few:.0f}, 32 lists {many:.0f}"
    )
    why = (
        f"Row 000-14 publishes {figure('000-14', 'blocks').number:.0f} blocks of one run, which "
        "8 lists and 16 both explain: runs differ by some 4. 16 is taken."
    )
    return [unknown("000-12", "lists", why, facts)]


def internal(runs: ReportRuns) -> Finding:
    first = [run for some in runs.version_1.values() for run in some]
    inside = spread([run.usable - run.counts.live for run in first])
    apart = spread([run.free_bytes - int(run.free_sizes.max()) for run in first])
    return holds(
        "000-13",
        "internal",
        inside.mean > apart.mean,
        f"internal (inside live blocks) {inside.mean:,.0f} B, external (free, but not together) "
        f"{apart.mean:,.0f} B",
        "What the report calls internal is external fragmentation in today's words (Wilson et al. "
        "1995); its explanation is right.",
    )


def overhead(runs: ReportRuns) -> Finding:
    narrow = runs.narrow_header
    wide = next(run for run in runs.version_2[SIZES] if run.spec.seed == narrow.spec.seed)
    return unknown(
        "000-13",
        "overhead",
        "The report measures no reduction. Size, two flags and a boundary tag in free chunks take "
        "4 B; the links lie in the free block itself.",
        f"version 2 still has headers of {REPORT_HEADER} B; with 4 B the same run leaves "
        f"{narrow.free_bytes - wide.free_bytes:,} B more free",
    )


def list_length(runs: ReportRuns) -> Finding:
    return _compare_version_2(runs, "blocks", " blocks", _lengths)


def mean_block(runs: ReportRuns) -> Finding:
    return _compare_version_2(runs, "mean", " B", _means)


def free_space(runs: ReportRuns) -> Finding:
    return _compare_version_2(runs, "free", " KiB", _free_kib)


def large_blocks(runs: ReportRuns) -> Finding:
    second = runs.version_2[SIZES]
    shares = [
        float(run.free_sizes[run.free_sizes > VERY_BIG].sum()) / run.free_bytes for run in second
    ]
    count = spread([int((run.free_sizes > VERY_BIG).sum()) for run in second])
    facts = f"{spread(shares).mean:.0%} of it in {count.mean:.0f} blocks above {VERY_BIG:,} B"
    return holds("000-15", "large", min(shares) > 0.5, facts)


def two_thousand(runs: ReportRuns) -> Finding:
    lasting = [s for s, some in runs.limits.items() if all(r.counts.refused is None for r in some)]
    failing = [s for s, some in runs.limits.items() if all(r.counts.refused for r in some)]
    its = figure("000-16", "limit")
    return holds(
        "000-16",
        "limit",
        its.agrees(float(min(failing))),
        f"{REPORT_ITERATIONS:,} loops pass at a buffer of {max(lasting):,} and fail at "
        f"{min(failing):,}",
        f"The limit is the buffer, but not 2K: {REPORT_REGION // (REPORT_HEADER + 8):,} is how "
        "many chunks of the smallest size, 24 + 8 B, fit into 64 KB, and half of a buffer is live.",
    )


def utilisation(runs: ReportRuns) -> Finding:
    filled = runs.version_2[SIZES][0].counts.live_peak / REPORT_REGION
    smallest = runs.smallest
    best = smallest.counts.live_peak / smallest.spec.region
    return holds(
        "000-17",
        "utilisation",
        filled > 0.8,
        f"at most {filled:.0%} of the region are live bytes; {best:.0%} in the smallest region "
        f"that lasts, {smallest.spec.region:,} B",
        "Headers of 24 B weigh on requests of 90 B on average.",
    )


def services(runs: ReportRuns) -> Finding:
    shortest, longest = runs.growth[min(runs.growth)], runs.growth[max(runs.growth)]
    lists = longest.free_blocks / shortest.free_blocks
    steps = longest.counts.alloc.worst / shortest.counts.alloc.worst
    return holds(
        "000-17",
        "services",
        steps < lists**0.5,
        f"the worst palloc takes {shortest.counts.alloc.worst} accesses with "
        f"{shortest.free_blocks} free blocks and {longest.counts.alloc.worst} with "
        f"{longest.free_blocks}",
        "pree is O(1). palloc is O(1) for a request of an exact list, but first fit walks the "
        "general list for larger ones: linear at worst.",
    )


_JUDGES: tuple[Judge, ...] = (
    *(merging, internal, overhead, list_length, mean_block, free_space),
    *(large_blocks, two_thousand, utilisation, services),
)

ROWS: Rows = {
    "000-11": Row(report_runs, judge_runs(merging)),
    "000-12": Row(readings, list_readings, "16 lists; the general list before larger exact ones"),
    "000-13": Row(report_runs, judge_runs(internal, overhead)),
    "000-14": Row(
        report_runs,
        judge_runs(list_length, mean_block, free_space),
        "the sizes of row 2; 16 to 300 B beside, which come out alike; 16 lists make the number "
        "of blocks; 10 seeds",
    ),
    "000-15": Row(report_runs, judge_runs(large_blocks), f"very big is above {VERY_BIG:,} B"),
    "000-16": Row(report_runs, judge_runs(two_thousand), "a buffer passes if 3 seeds of 3 do"),
    "000-17": Row(
        report_runs, judge_runs(utilisation, services), "steps are loads and stores of metadata"
    ),
}


def _compare_version_2(
    runs: ReportRuns, name: str, unit: str, figures: Callable[[Sequence[Slotbuf]], list[float]]
) -> Finding:
    """A figure of section 4: theirs is one run, so it holds within two deviations of ours."""
    its = figure("000-14", name)
    spreads = {sizes: spread(figures(some)) for sizes, some in runs.version_2.items()}
    assert set(spreads) == {SIZES, OTHER_SIZES}
    facts = "; ".join(
        f"{deviating(one)}{unit} for {least} to {most} B" for (least, most), one in spreads.items()
    )
    ours = spreads[SIZES]
    why = "16 lists were chosen by it." if not its.kind.can_match else ""
    return holds("000-14", name, abs(its.number - ours.mean) < 2 * ours.deviation, facts, why)


def _lengths(some: Sequence[Slotbuf]) -> list[float]:
    return [float(run.free_blocks) for run in some]


def _means(some: Sequence[Slotbuf]) -> list[float]:
    return [run.mean_free for run in some]


def _free_kib(some: Sequence[Slotbuf]) -> list[float]:
    return [run.free_bytes / 1024 for run in some]
