#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes against instructions of the heaps that `fit` offers: docs/choosing.md.

Each recorded program is fitted once. A cell has the bytes to set over the peak, and the
instructions of a call (docs/evidence/costs.md has the model) of FreeRTOS heap_4, of our heaps that
learn nothing, of the one of least memory and of the one that `fit` takes. The last lines count
programs on which a heap saves a lot for little time. Recordings are those given, or the corpus,
which needs HEAPFIT_CORPUS; `--only WORD` keeps those in whose names the word occurs; `--prefer` is
`fit`'s; `--write` renews the table and docs/pictures/rungs.svg.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path

from memory import opened, recordings
from page_tables import ROOT, add_option, read_result, write_result

from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.heap_names import RUNGS
from heapfit.comparison.row import Row
from heapfit.design.preference import Preference
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.trace.loaded import load_trace

HEAP_4, LEAST, TAKEN = "FreeRTOS heap_4", "least memory", "taken"
HEAPS = (HEAP_4, *RUNGS, LEAST)
BOARD_LOCK = 31  # instructions of a call (docs/evidence/costs.md)
LONGEST, SAVED = 1.5, 0.03  # times heap_4's instructions at most, of heap_4's bytes at least
COLUMNS = ("recording", *HEAPS, TAKEN)
COLOURS = ("#555555", "#1b9e77", "#377eb8", "#984ea3", "#d95f02")
LEFT, RIGHT, TOP, BOTTOM = 60, 700, 20, 380  # of the plot, in pixels
TIMES, SIZES = (50, 100, 200, 500, 1000, 2000), (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)


def points_of(fitted: Fit) -> Iterator[tuple[str, str]]:
    """Each heap with its cell: bytes over the peak, and instructions of a call."""
    loaded, peak = load_trace(fitted.searched, fitted.options.alignment), fitted.answer.size.peak
    for one in fitted.references:
        if one.title == HEAP_4 and one.region is not None and one.costs.mean is not None:
            yield HEAP_4, f"{one.region / peak:.3f}; {one.costs.mean:.0f}"
    rows = [row for row in fitted.comparison.rows if row.heap_size and not row.is_cut_to_trace]
    titles = {row.name: [row.name] for row in rows if row.name in RUNGS}
    titles.setdefault(min(rows, key=region_of).name, []).append(LEAST)
    for row in rows:
        mean = estimate_costs(row.heap, loaded, row.r_safe).mean if row.name in titles else None
        cell = f"{region_of(row) / peak:.3f}; {mean:.0f}" if mean is not None else "-"
        yield from ((title, cell) for title in titles.get(row.name, ()))


def region_of(row: Row) -> int:
    return row.heap_size.region if row.heap_size else 0


def row_of(source: Path, made: Path, options: FitOptions) -> list[str]:
    fitted = fit([source], made / "out", options)
    cells, answer = dict(points_of(fitted)), fitted.answer
    taken = answer.heap.title if answer.is_kept else f"`{fitted.winner.name}`"
    return [source.stem, *(cells.get(heap, "-") for heap in HEAPS), taken, taken_cell(fitted)]


def taken_cell(fitted: Fit) -> str:
    """The cell of what is taken; "-" where the heap that many have is kept."""
    if fitted.answer.is_kept:
        return "-"
    loaded, size = load_trace(fitted.searched, fitted.options.alignment), fitted.answer.size
    mean = estimate_costs(fitted.winner.heap, loaded, size.r_safe).mean
    return "-" if mean is None else f"{size.region / size.peak:.3f}; {mean:.0f}"


def is_worth_it(cell: str, heap_4: str, lock: int) -> bool:
    ours, theirs = parsed(cell), parsed(heap_4)
    return (
        ours is not None
        and theirs is not None
        and ours[0] + lock <= LONGEST * (theirs[0] + lock)
        and ours[1] <= (1 - SAVED) * theirs[1]
    )


def count_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """On how many programs each heap saves a lot for little time, without and with the lock."""
    yield f"at most {LONGEST} times heap_4's instructions, {SAVED:.0%} less memory at least:"
    ours = range(2, len(COLUMNS) - 1)
    asked = [(HEAPS[at - 1], [at]) for at in ours]
    for title, places in [*asked, ("any of them", [*ours]), (TAKEN, [len(COLUMNS)])]:
        alone, locked = (
            sum(any(is_worth_it(row[at], row[1], lock) for at in places) for row in rows)
            for lock in (0, BOARD_LOCK)
        )
        yield f"{title} on {alone} of {len(rows)}, with FreeRTOS's lock in both {locked}"


def place(time: float, size: float) -> tuple[float, float]:
    """Pixels of a point; the time's axis is logarithmic. What lies beyond is put at the edge."""
    across = log(time / TIMES[0]) / log(TIMES[-1] / TIMES[0])
    up = (size - SIZES[0]) / (SIZES[-1] - SIZES[0])
    return (
        LEFT + (RIGHT - LEFT) * min(max(across, 0), 1),
        BOTTOM - (BOTTOM - TOP) * min(max(up, 0), 1),
    )


def parsed(cell: str) -> tuple[float, float] | None:
    """Instructions of a call, and bytes over the peak."""
    if cell == "-":
        return None
    size, time = cell.split(";")
    return float(time), float(size)


def svg_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A dot for each program and heap, and a ring at the median of each heap."""
    yield (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 430" font-family="sans-serif" '
        'font-size="12"><rect width="760" height="430" fill="white"/>'
    )
    for time in TIMES:
        x, _ = place(time, 1)
        yield f'<path d="M{x:.0f} {TOP}V{BOTTOM}" stroke="#ddd"/>'
        yield f'<text x="{x:.0f}" y="{BOTTOM + 16}" text-anchor="middle">{time:,}</text>'
    for size in SIZES:
        _, y = place(TIMES[0], size)
        yield f'<path d="M{LEFT} {y:.0f}H{RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{size:.1f}</text>'
    yield f'<text x="380" y="{BOTTOM + 38}" text-anchor="middle">instructions of a call</text>'
    yield f'<text x="{LEFT}" y="14">bytes to set, over the peak</text>'
    for i, (heap, colour) in enumerate(zip(HEAPS, COLOURS, strict=True)):
        known = [point for row in rows if (point := parsed(row[1 + i])) is not None]
        for x, y in (place(*point) for point in known):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="0.45"/>'
        time, size = (statistics.median(values) for values in zip(*known, strict=True))
        x, y = place(time, size)
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="none" stroke="{colour}" '
            f'stroke-width="3"/><circle cx="520" cy="{40 + 18 * i}" r="6" fill="{colour}"/>'
            f'<text x="534" y="{44 + 18 * i}">{heap}: {size:.2f}, {time:.0f}</text>'
        )
    yield "</svg>"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--alignment", type=int, default=8)
    parser.add_argument("--prefer", type=Preference, choices=Preference)
    add_option(parser)
    asked = parser.parse_args()
    options = FitOptions(asked.alignment, prefer=asked.prefer)
    rows = []
    with tempfile.TemporaryDirectory() as made:
        given = asked.recordings or (opened(one, Path(made)).path for one in recordings())
        for source in (one for one in given if asked.only in one.name):
            rows.append(row_of(source, Path(made), options))
            print(*rows[-1], sep="; ", flush=True)
    print(*count_lines(rows), sep="\n")
    if asked.write:
        write_result("rungs", COLUMNS, [row[: len(COLUMNS)] for row in rows])
        picture = "\n".join(svg_lines(read_result("rungs").rows)) + "\n"
        (ROOT / "docs/pictures/rungs.svg").write_text(picture)


if __name__ == "__main__":
    main()
