# SPDX-License-Identifier: Apache-2.0
"""Cebeci 2019, rows 1 to 10: the benchmark and its first allocator.

Judged by the runs of slotbuf_measures, which the laboratory does once.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit_papers.reproduce.finding import Finding, holds, near
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.slotbuf import REPORT_REGION, STANDARD_LEAST, STANDARD_MOST
from heapfit_papers.slotbuf.benchmark import (
    Slotbuf,
    SlotbufSpec,
    draw_sizes,
    report_version,
    run_slotbuf,
    write_distribution,
)
from heapfit_papers.slotbuf.measures import (
    BUFFERS,
    REPORT_SLOTS,
    SIZES,
    ReportRuns,
    Spread,
    measure_report,
    spread,
)

Judge: TypeAlias = Callable[[ReportRuns], Finding]

SMALL = 64  # bytes: "small size", of which the report gives no measure
SAMPLES = 10_000  # sizes of figure 1


_DRAWN = SlotbufSpec(1, 1, report_version(1))  # whose sizes figure 1 shows


def report_runs(laboratory: Laboratory) -> ReportRuns:
    """All runs of both versions."""
    return measure_report(laboratory.progress)


def judge_runs(*judges: Judge) -> Callable[[ReportRuns], list[Finding]]:
    """What judges a row that the report's runs decide."""
    return lambda runs: [judge(runs) for judge in judges]


def deviating(one: Spread) -> str:
    """A mean with its deviation.

    >>> deviating(Spread(1896.5, 119.8)), deviating(Spread(46.2, 4.47))
    ('1,896 ± 120', '46.2 ± 4.5')
    """
    digits = 0 if one.mean >= 100 else 1
    return f"{one.mean:,.{digits}f} ± {one.deviation:,.{digits}f}"


def live_half(runs: ReportRuns) -> Finding:
    live = spread([run.counts.live_blocks for run in runs.version_2[SIZES]])
    facts = f"{deviating(live)} of {REPORT_SLOTS}"
    return near("000-1", "live", live.mean / REPORT_SLOTS, facts=facts)


def almost_all_freed(runs: ReportRuns) -> Finding:
    calls = runs.version_2[SIZES][0].counts
    freed = calls.free.calls / calls.alloc.calls
    return holds("000-1", "freed", freed > 0.99, f"{freed:.2%} of the blocks are freed")


def draw_law(_: Laboratory) -> NDArray[np.uint64]:
    return draw_sizes(_DRAWN, SAMPLES)


def size_law(sizes: NDArray[np.uint64]) -> list[Finding]:
    """Row 2; sizes are whole bytes, so the lowest three tenths are too coarse to count."""
    spec = _DRAWN
    drawn = np.log(sizes + 0.5)  # the middle of what is rounded down to it
    edges = np.linspace(math.log(spec.least), math.log(spec.most + 1), 11)
    counts, _ = np.histogram(drawn, edges)
    off = float(np.abs(counts[3:] / (SAMPLES / 10) - 1).max())
    middle = float(np.median(np.exp(drawn)))
    facts = f"median {middle:.0f} B of {spec.least} to {spec.most} B; tenths within {off:.0%}"
    return [holds("000-2", "law", off < 0.15 and int(counts.sum()) == SAMPLES, facts)]


def free_lists(_: Laboratory) -> dict[str, list[int]]:
    """Free lists of version 1 with two slots of 8 B, before anything and after the first pree."""
    workload = _engine.SlotWorkload(2, 8, 8, 1)
    buffer = _engine.SlotBuffer(report_version(1).engine(), REPORT_REGION, workload)
    whole = buffer.free_sizes().tolist()
    while buffer.counts.free.calls == 0:
        buffer.run(1)
    return {"before": whole, "after": buffer.free_sizes().tolist()}


def judge_free_list(lists: Mapping[str, Sequence[int]]) -> list[Finding]:
    """Row 3: the block freed last is in front of the list of version 1."""
    whole, after = len(lists["before"]), lists["after"]
    facts = f"{whole} free block at first; after one pree {len(after)}, the freed one in front"
    return [holds("000-3", "outputs", whole == 1 and after[0] == 8, facts)]


def short_run(_: Laboratory) -> tuple[Slotbuf, list[tuple[int, int]]]:
    """A run of version 1, with its dist.dat read back: (size, count)."""
    run = run_slotbuf(SlotbufSpec(50, 1000, report_version(1)))
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        path = Path(folder) / "dist.dat"
        write_distribution(path, run)
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return run, [(int(size), int(count)) for size, count in lines]


def four_outputs(outputs: tuple[Slotbuf, list[tuple[int, int]]]) -> list[Finding]:
    run, listed = outputs
    calls = run.counts.alloc.calls + run.counts.free.calls
    agree = (
        calls == run.counts.loops
        and sum(count for _, count in listed) == run.free_blocks
        and sum(size * count for size, count in listed) == run.free_bytes
    )
    facts = f"{calls:,} calls, list of {run.free_blocks}, {run.free_bytes:,} B free in dist.dat too"
    return [holds("000-4", "outputs", agree, facts)]


def header(runs: ReportRuns) -> Finding:
    """Row 5: what neither a free block nor a live one can hold, a chunk."""
    over = [
        (run.spec.region - run.usable - run.free_bytes)
        // (run.counts.live_blocks + run.free_blocks)
        for run in _first(runs)
    ]
    return near("000-5", "header", float(median(over)), facts=f"{median(over):.0f} B a chunk")


def alignment(runs: ReportRuns) -> Finding:
    is_so = all(bool((run.free_sizes % 8 == 0).all()) for run in _first(runs))
    return near("000-5", "alignment", 8.0 if is_so else 1.0)


def constant_free(runs: ReportRuns) -> Finding:
    worst = {max(run.counts.free.worst for run in runs.version_1[slots]) for slots in BUFFERS}
    facts = f"at most {max(worst)} accesses to metadata in any free, for every buffer"
    return holds("000-5", "constant", len(worst) == 1, facts)


def small_blocks(runs: ReportRuns) -> Finding:
    shares = [float((run.free_sizes <= SMALL).mean()) for run in _first(runs)]
    middle = median(float(median(run.free_sizes.tolist())) for run in _first(runs))
    facts = (
        f"{spread(shares).mean:.0%} of them have at most {SMALL} B; the middle one has "
        f"{middle:.0f} B"
    )
    return holds("000-6", "small", min(shares) > 0.5, facts)


def judge_end_of_memory(runs: ReportRuns) -> Finding:
    loops = {slots: _loops(runs.version_1[slots]) for slots in BUFFERS}
    facts = ", ".join(f"{slots}: {deviating(loops[slots])}" for slots in BUFFERS)
    its = figure("000-7", "loops")
    is_so = all(its.agrees(one.mean) for one in loops.values())
    return holds("000-7", "loops", is_so, f"by buffer {facts}")


def slow_change(runs: ReportRuns) -> Finding:
    first, last = (_loops(runs.version_1[slots]).mean for slots in (BUFFERS[0], BUFFERS[-1]))
    factor = BUFFERS[-1] // BUFFERS[0]
    facts = f"{last / first - 1:+.0%} while the buffer grows {factor} times"
    return holds("000-8", "change", abs(last / first - 1) < 0.25, facts)


def judge_unused(runs: ReportRuns) -> Finding:
    share = spread([run.share_unused for run in _first(runs)])
    why = f"MAX {STANDARD_MOST} B was chosen by it."
    return near("000-9", "share", share.mean, why, f"{share.mean:.1%} ± {share.deviation:.1%}")


def free_at_the_end(runs: ReportRuns) -> Finding:
    free = {
        slots: spread([run.free_bytes for run in runs.version_1[slots]]).mean / 1024
        for slots in BUFFERS
    }
    facts = ", ".join(f"{slots}: {free[slots]:.1f} KiB" for slots in BUFFERS)
    is_so = min(free.values()) < figure("000-10", "free").number < max(free.values())
    return holds("000-10", "free", is_so, f"by buffer {facts}")


def sixteen_bytes(runs: ReportRuns) -> Finding:
    refused = [run.counts.refused or 0 for run in _first(runs)]
    enough = [int((run.free_sizes >= 16).sum()) for run in _first(runs)]
    return holds(
        "000-10",
        "request",
        min(refused) <= figure("000-10", "request").number,
        f"the smallest request refused in {len(refused)} runs had {min(refused)} B; at least "
        f"{min(enough)} free blocks held 16 B or more",
        "First fit refuses only what is larger than every block on its list, so never 16 B while "
        "there is a block of 16 B. What fails are requests near the largest.",
    )


JUDGES: tuple[Judge, ...] = (
    *(live_half, almost_all_freed, header, alignment, constant_free, small_blocks),
    *(judge_end_of_memory, slow_change, judge_unused, free_at_the_end, sixteen_bytes),
)

_CALIBRATED = (
    f"MIN {STANDARD_LEAST} is the course's own; MAX {STANDARD_MOST} makes row 9, as the course's "
    "4000 cannot last in 64 KB; 10 seeds"
)

ROWS: Rows = {
    "000-1": Row(
        report_runs,
        judge_runs(live_half, almost_all_freed),
        "the run of section 4; blocks left stay",
    ),
    "000-2": Row(draw_law, size_law, _CALIBRATED),
    "000-3": Row(free_lists, judge_free_list, "one count for each size, no bins"),
    "000-4": Row(short_run, four_outputs, "free space is what blocks could serve, headers apart"),
    "000-5": Row(
        report_runs,
        judge_runs(header, alignment, constant_free),
        "last freed first; split whenever 24 + 8 B are left; the front is returned",
    ),
    "000-6": Row(report_runs, judge_runs(small_blocks), f"buffers {BUFFERS}, each to its end"),
    "000-7": Row(report_runs, judge_runs(judge_end_of_memory), _CALIBRATED),
    "000-8": Row(report_runs, judge_runs(slow_change)),
    "000-9": Row(report_runs, judge_runs(judge_unused), _CALIBRATED),
    "000-10": Row(report_runs, judge_runs(free_at_the_end, sixteen_bytes)),
}


def _first(runs: ReportRuns) -> list[Slotbuf]:
    """Every run of version 1."""
    return [run for some in runs.version_1.values() for run in some]


def _loops(some: Sequence[Slotbuf]) -> Spread:
    return spread([run.counts.loops for run in some])
