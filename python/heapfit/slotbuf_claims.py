# SPDX-License-Identifier: Apache-2.0
"""What Cebeci 2019 says of its two allocators, beside what the runs of slotbuf_measures show.

Each verdict is computed from the runs; a claim that does not hold is told as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

from heapfit.slotbuf import REPORT_HEADER, REPORT_REGION
from heapfit.slotbuf_measures import (
    BUFFERS,
    REPORT_ITERATIONS,
    REPORT_SLOTS,
    SIZES,
    Spread,
    spread,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heapfit.slotbuf import Slotbuf
    from heapfit.slotbuf_measures import ReportRuns

SMALL = 64  # bytes: "small size", of which the report gives no measure
VERY_BIG = 1024  # bytes: "very big blocks", likewise


class Verdict(StrEnum):
    """How a claim stands."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    BETTER = "better than told"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the report and what was found."""

    section: str  # of the report
    statement: str
    published: str
    found: str
    verdict: Verdict
    remark: str = ""


def judge(runs: ReportRuns) -> tuple[Claim, ...]:
    """Every claim, in the order of the report."""
    return tuple(claim(runs) for claim in _CLAIMS)


def _half_occupied(runs: ReportRuns) -> Claim:
    live = spread([run.counts.live_blocks for run in runs.version_2[SIZES]])
    calls = runs.version_2[SIZES][0].counts
    freed = calls.free.calls / calls.alloc.calls
    return Claim(
        "1.2",
        "About half of the buffer is allocated, and almost every block is freed.",
        f"{REPORT_SLOTS // 2} of {REPORT_SLOTS}",
        f"{_shown(live)} of {REPORT_SLOTS}; {freed:.2%} of the blocks are freed",
        _verdict(abs(live.mean - REPORT_SLOTS / 2) < REPORT_SLOTS / 20 and freed > 0.99),
    )


def _constant_free(runs: ReportRuns) -> Claim:
    worst = max(run.counts.free.worst for run in _all(runs))
    every = {max(run.counts.free.worst for run in runs.version_1[slots]) for slots in BUFFERS}
    return Claim(
        "2.1",
        "pree runs in constant time, palloc need not (version 1).",
        "constant",
        f"at most {worst} accesses to metadata in any free of version 1, for every buffer",
        _verdict(len(every) == 1),
    )


def _small_blocks(runs: ReportRuns) -> Claim:
    shares = [_share(run.free_sizes <= SMALL) for run in _all(runs)]
    middle = median(float(median(run.free_sizes.tolist())) for run in _all(runs))
    return Claim(
        "2.2",
        "Most free blocks are small (figure 2, version 1).",
        "figure 2",
        f"{spread(shares).mean:.0%} of them have at most {SMALL} B; the middle one has "
        f"{middle:.0f} B",
        _verdict(min(shares) > 0.5),
    )


def _out_of_memory(runs: ReportRuns) -> Claim:
    loops = {slots: _loops(runs.version_1[slots]) for slots in BUFFERS}
    told = ", ".join(f"{slots}: {_shown(loops[slots])}" for slots in BUFFERS)
    return Claim(
        "2.2",
        "The program runs out of memory after about 2,000 loops (version 1).",
        "around 2,000",
        f"by buffer {told}",
        _verdict(all(1500 < one.mean < 2500 for one in loops.values())),
    )


def _slow_change(runs: ReportRuns) -> Claim:
    first, last = (_loops(runs.version_1[slots]).mean for slots in (BUFFERS[0], BUFFERS[-1]))
    factor = BUFFERS[-1] // BUFFERS[0]
    return Claim(
        "2.2",
        "That loop count changes very slowly with the buffer (version 1).",
        "very slowly",
        f"{last / first - 1:+.0%} while the buffer grows {factor} times",
        _verdict(abs(last / first - 1) < 0.25),
    )


def _unused(runs: ReportRuns) -> Claim:
    share = spread([run.share_unused for run in _all(runs)])
    return Claim(
        "2.2",
        "The free list is 80 % as long as there were calls of pree (version 1).",
        "80 %",
        f"{share.mean:.1%} ± {share.deviation:.1%}",
        _verdict(abs(share.mean - 0.8) < 0.03),
    )


def _free_at_the_end(runs: ReportRuns) -> Claim:
    free = {slots: _free(runs.version_1[slots]).mean / 1024 for slots in BUFFERS}
    told = ", ".join(f"{slots}: {free[slots]:.1f} KiB" for slots in BUFFERS)
    return Claim(
        "2.3",
        "In the end 40 KB of the 64 KB are free (version 1).",
        "40 KB",
        f"by buffer {told}",
        _verdict(min(free.values()) < 40 < max(free.values())),
    )


def _sixteen_bytes(runs: ReportRuns) -> Claim:
    refused = [run.counts.refused or 0 for run in _all(runs)]
    enough = [int((run.free_sizes >= 16).sum()) for run in _all(runs)]
    return Claim(
        "2.3",
        "Then a block of 16 bytes cannot be allocated (version 1).",
        "16 B",
        f"the smallest request refused in {len(refused)} runs had {min(refused)} B; at least "
        f"{min(enough)} free blocks held 16 B or more",
        _verdict(min(refused) <= 16),
        "First fit refuses only what is larger than every block on its list, so never 16 B while "
        "there is a block of 16 B. What fails are requests near the largest.",
    )


def _internal(runs: ReportRuns) -> Claim:
    inside = spread([_internal_bytes(run) for run in _all(runs)])
    apart = spread([run.free_bytes - int(run.free_sizes.max()) for run in _all(runs)])
    return Claim(
        "2.3",
        "The waste is internal fragmentation (version 1).",
        "internal",
        f"internal (inside live blocks) {inside.mean:,.0f} B, external (free, but not together) "
        f"{apart.mean:,.0f} B",
        _verdict(inside.mean > apart.mean),
        "What the report calls internal is external fragmentation in today's words (Wilson et al. "
        "1995); its explanation is right.",
    )


def _overhead(runs: ReportRuns) -> Claim:
    narrow = runs.narrow_header
    wide = next(run for run in runs.version_2[SIZES] if run.spec.seed == narrow.spec.seed)
    return Claim(
        "3",
        "A goal is to reduce the overhead of headers and alignment.",
        "goal",
        f"version 2 still has headers of {REPORT_HEADER} B; with 4 B the same run leaves "
        f"{narrow.free_bytes - wide.free_bytes:,} B more free",
        Verdict.NOT_SHOWN,
        "The report measures no reduction. Size, two flags and a boundary tag in free chunks take "
        "4 B; the links lie in the free block itself.",
    )


def _logarithmic_merge(runs: ReportRuns) -> Claim:
    worst = {run.counts.free.worst for run in runs.growth.values()}
    longest = max(run.free_blocks for run in runs.growth.values())
    return Claim(
        "3.1",
        "A freed block is merged with its neighbours in O(log n) (version 2).",
        "O(log n)",
        f"at most {max(worst)} accesses in a free, whatever the free list's length (up to "
        f"{longest:,})",
        Verdict.BETTER if max(worst) <= min(worst) + 2 else Verdict.FAILS,
        "With the sizes of both neighbours at hand the merge is O(1). Neighbours of a merged block "
        "are never free, so there is nothing to recurse into either.",
    )


def _list_length(runs: ReportRuns) -> Claim:
    return _of_version_2(
        runs, "The free lists have 50 blocks together (version 2).", 50.0, "", _lengths
    )


def _free_space(runs: ReportRuns) -> Claim:
    return _of_version_2(runs, "46 KB are free (version 2).", 46.0, " KB", _free_kib)


def _mean_block(runs: ReportRuns) -> Claim:
    return _of_version_2(
        runs, "A free block has 925 bytes on average (version 2).", 925.0, " B", _means
    )


def _large_blocks(runs: ReportRuns) -> Claim:
    shares = [
        float(run.free_sizes[run.free_sizes > VERY_BIG].sum()) / run.free_bytes
        for run in runs.version_2[SIZES]
    ]
    count = spread([int((run.free_sizes > VERY_BIG).sum()) for run in runs.version_2[SIZES]])
    return Claim(
        "4",
        "A great portion of the free space is in large blocks (figure 3, version 2).",
        "figure 3",
        f"{spread(shares).mean:.0%} of it in {count.mean:.0f} blocks above {VERY_BIG:,} B",
        _verdict(min(shares) > 0.5),
    )


def _two_thousand(runs: ReportRuns) -> Claim:
    lasting = [s for s, some in runs.limits.items() if all(r.counts.refused is None for r in some)]
    failing = [s for s, some in runs.limits.items() if all(r.counts.refused for r in some)]
    return Claim(
        "4",
        "The buffer limits the program, not the loop count: about 2K blocks (version 2).",
        "about 2K",
        f"{REPORT_ITERATIONS:,} loops pass at a buffer of {max(lasting):,} and fail at "
        f"{min(failing):,}",
        Verdict.HOLDS if min(failing) >= 1800 else Verdict.IN_PART,
        f"The limit is the buffer, but not 2K: {REPORT_REGION // (REPORT_HEADER + 8):,} is how "
        "many chunks of the smallest size, 24 + 8 B, fit into 64 KB, and half of a buffer is live.",
    )


def _utilisation(runs: ReportRuns) -> Claim:
    told = runs.version_2[SIZES][0].counts.live_peak / REPORT_REGION
    smallest = runs.smallest
    best = smallest.counts.live_peak / smallest.spec.region
    return Claim(
        "4",
        "It has very high memory utilisation (version 2).",
        "very high",
        f"at most {told:.0%} of the region are live bytes; {best:.0%} in the smallest region that "
        f"lasts, {smallest.spec.region:,} B",
        _verdict(told > 0.8),
        "Headers of 24 B weigh on requests of 90 B on average.",
    )


def _logarithmic_services(runs: ReportRuns) -> Claim:
    shortest, longest = runs.growth[min(runs.growth)], runs.growth[max(runs.growth)]
    lists = longest.free_blocks / shortest.free_blocks
    steps = longest.counts.alloc.worst / shortest.counts.alloc.worst
    return Claim(
        "4",
        "All services run in O(log n) (version 2).",
        "O(log n)",
        f"the worst palloc takes {shortest.counts.alloc.worst} accesses with "
        f"{shortest.free_blocks} free blocks and {longest.counts.alloc.worst} with "
        f"{longest.free_blocks}",
        _verdict(steps < lists**0.5),
        "pree is O(1). palloc is O(1) for a request of an exact list, but first fit walks the "
        "general list for larger ones: linear at worst.",
    )


_CLAIMS: tuple[Callable[[ReportRuns], Claim], ...] = (
    _half_occupied,
    _constant_free,
    _small_blocks,
    _out_of_memory,
    _slow_change,
    _unused,
    _free_at_the_end,
    _sixteen_bytes,
    _internal,
    _overhead,
    _logarithmic_merge,
    _list_length,
    _mean_block,
    _free_space,
    _large_blocks,
    _two_thousand,
    _utilisation,
    _logarithmic_services,
)


def _of_version_2(
    runs: ReportRuns,
    statement: str,
    published: float,
    unit: str,
    figures: Callable[[Sequence[Slotbuf]], list[float]],
) -> Claim:
    """A figure of section 4: it holds if it lies within two deviations of ours, for some sizes."""
    found = {sizes: spread(figures(some)) for sizes, some in runs.version_2.items()}
    told = "; ".join(
        f"{_shown(one)}{unit} for {least} to {most} B" for (least, most), one in found.items()
    )
    near = [abs(published - one.mean) < 2 * one.deviation for one in found.values()]
    return Claim("4", statement, f"{published:,.0f}{unit}", told, _verdict(any(near)))


def _lengths(some: Sequence[Slotbuf]) -> list[float]:
    return [float(run.free_blocks) for run in some]


def _means(some: Sequence[Slotbuf]) -> list[float]:
    return [run.mean_free for run in some]


def _free_kib(some: Sequence[Slotbuf]) -> list[float]:
    return [run.free_bytes / 1024 for run in some]


def _all(runs: ReportRuns) -> list[Slotbuf]:
    """Every run of version 1."""
    return [run for some in runs.version_1.values() for run in some]


def _loops(some: Sequence[Slotbuf]) -> Spread:
    return spread([run.counts.loops for run in some])


def _free(some: Sequence[Slotbuf]) -> Spread:
    return spread([run.free_bytes for run in some])


def _internal_bytes(run: Slotbuf) -> int:
    return run.usable - run.counts.live


def _share(is_so: NDArray[np.bool_]) -> float:
    return float(is_so.mean()) if len(is_so) else 0.0


def _verdict(is_so: bool) -> Verdict:
    return Verdict.HOLDS if is_so else Verdict.FAILS


def _shown(one: Spread) -> str:
    """A mean with its deviation.

    >>> _shown(Spread(1896.5, 119.8)), _shown(Spread(46.2, 4.47))
    ('1,896 ± 120', '46.2 ± 4.5')
    """
    digits = 0 if one.mean >= 100 else 1
    return f"{one.mean:,.{digits}f} ± {one.deviation:,.{digits}f}"
