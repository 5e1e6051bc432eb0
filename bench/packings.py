# SPDX-License-Identifier: Apache-2.0
"""How many placements branch and bound tries for instances that can be packed without waste.

Each is a rectangle of as many time steps as lifetimes, cut at random: half of them by cuts from
side to side alone (guillotine), half with pinwheels of five, too. `--seed 2` makes 100 others.
`--instances FOLDER` takes minimalloc's CSV files there, into the bytes that their names end with
(NAME.BYTES.csv). Every placement is checked pair by pair. This exits 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from heapfit import _engine
from heapfit.cli.printing import console

Part: TypeAlias = tuple[int, int, int, int]  # from, until, bottom, top
Lifetime: TypeAlias = tuple[int, int, int]  # from, until, size
HEIGHT = 1024
COUNTS = (20, 50, 100, 200, 300)


def cut(part: Part, draw: random.Random) -> list[Part]:
    begin, end, bottom, top = part
    ways = "t" * (end - begin > 1) + "b" * (top - bottom > 1)
    if not ways:
        return [part]
    if draw.choice(ways) == "t":
        at = draw.randrange(begin + 1, end)
        return [(begin, at, bottom, top), (at, end, bottom, top)]
    at = draw.randrange(bottom + 1, top)
    return [(begin, end, bottom, at), (begin, end, at, top)]


def pinwheel(part: Part, draw: random.Random) -> list[Part]:
    begin, end, bottom, top = part
    if end - begin < 3 or top - bottom < 3:
        return cut(part, draw)
    a, b = sorted(draw.sample(range(begin + 1, end), 2))
    c, d = sorted(draw.sample(range(bottom + 1, top), 2))
    middle = (a, b, c, d)
    if draw.random() < 0.5:
        return [
            (begin, b, bottom, c),
            (b, end, bottom, d),
            (a, end, d, top),
            (begin, a, c, top),
            middle,
        ]
    return [
        (begin, a, bottom, d),
        (begin, b, d, top),
        (b, end, c, top),
        (a, end, bottom, c),
        middle,
    ]


def made(count: int, with_pinwheels: bool, seed: int) -> list[Lifetime]:
    draw = random.Random(seed)
    parts: list[Part] = [(0, count, 0, HEIGHT)]
    while len(parts) < count:
        areas = [(end - begin) * (top - bottom) for begin, end, bottom, top in parts]
        (chosen,) = draw.choices(range(len(parts)), areas)
        is_pinwheel = with_pinwheels and count - len(parts) >= 4 and draw.random() < 0.5
        parts[chosen : chosen + 1] = (pinwheel if is_pinwheel else cut)(parts[chosen], draw)
    draw.shuffle(parts)
    return [(begin, end, top - bottom) for begin, end, bottom, top in parts]


def all_made(seed: int) -> Iterator[tuple[str, list[Lifetime], int]]:
    for count in COUNTS:
        for number in range(20):
            kind = "pinwheels" if number % 2 else "guillotine"
            lifetimes = made(count, number % 2 == 1, (seed * 1000 + count) * 100 + number)
            yield f"{kind}-{count}-{number}", lifetimes, HEIGHT


def all_stored(folder: Path) -> Iterator[tuple[str, list[Lifetime], int]]:
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            rows = [
                (int(row["lower"]), int(row["upper"]), int(row["size"]))
                for row in csv.DictReader(file)
            ]
        yield path.stem, rows, int(path.stem.rpartition(".")[2])


def is_placement(lifetimes: list[Lifetime], offsets: list[int]) -> bool:
    placed = list(zip(lifetimes, offsets, strict=True))
    return not any(
        a[0] < b[1] and b[0] < a[1] and at < bt + b[2] and bt < at + a[2]
        for i, (a, at) in enumerate(placed)
        for b, bt in placed[:i]
    )


def line(
    name: str, lifetimes: list[Lifetime], height: int, placements: int
) -> tuple[str, int, int, float, str]:
    print(f"  {name}", file=sys.stderr, flush=True)
    ordered = sorted(lifetimes)
    columns = (np.array(column, np.uint64) for column in zip(*ordered, strict=True))
    begun = time.process_time()
    effort = _engine.PackingEffort(1, 0, 2 * placements, height)
    packed = _engine.pack(_engine.Lifetimes(*columns), effort)
    seconds = time.process_time() - begun
    is_right = is_placement(ordered, packed.offsets.tolist())
    solved = "solved" if packed.height <= height else f"{packed.height / height:.4f}"
    return name, len(lifetimes), packed.placements, seconds, solved if is_right else "WRONG"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--placements", type=int, default=5_000_000, help="at most, of each")
    arguments.add_argument("--instances", type=Path, help="a folder of minimalloc's CSV files")
    chosen = arguments.parse_args()
    instances = all_stored(chosen.instances) if chosen.instances else all_made(chosen.seed)
    found = [line(*one, chosen.placements) for one in instances]
    cells = [(*one[:2], f"{one[2]:,}", f"{one[3]:.2f}", one[4]) for one in found]
    headings = ("instance", "lifetimes", "placements", "CPU s", "")
    console.print_table(headings, cells, width=console.WIDE)
    tried = [one[2] for one in found if one[-1] == "solved"]
    print(
        f"\n{len(tried)} of {len(found)} solved in {sum(one[3] for one in found):.1f} s of CPU; "
        f"placements tried: median {statistics.median(tried):,.0f}, most {max(tried):,}"
    )
    sys.exit(any(one[-1] == "WRONG" for one in found))


if __name__ == "__main__":
    main()
