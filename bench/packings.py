# SPDX-License-Identifier: Apache-2.0
"""How many placements branch and bound tries for instances that can be packed without waste.

Each is a rectangle of as many time steps as lifetimes, cut at random: half of them by cuts from
side to side alone (guillotine), half with pinwheels of five, too. `--seed 2` makes 100 others.
`--instances FOLDER` takes minimalloc's CSV files there, into the bytes that their names end with
(NAME.BYTES.csv). Every placement is checked pair by pair. This exits 1 if one is wrong.

`--rival PROGRAM` is a minimalloc that you built. It packs the same instances in turn with us, on
one core, each three times, of which the best counts, for at most `--seconds` of CPU. Its time has
its start and the reading of its CSV, ours has not.

`--zones` packs recordings by the zone search alone, the repository's own and those of
HEAPFIT_CORPUS, with 5 million pairs of effort. It exits 1 if a packing is higher than in
bench/zone_heights.csv, which `--write` renews.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

Part: TypeAlias = tuple[int, int, int, int]  # from, until, bottom, top
Lifetime: TypeAlias = tuple[int, int, int]  # from, until, size
HEIGHT = 1024
COUNTS = (20, 50, 100, 200, 300)
TIMES = 3
PAIRS = 5_000_000
EXAMPLES = Path(__file__).parents[1] / "examples"
HEIGHTS = Path(__file__).with_name("zone_heights.csv")  # recording, most live bytes, height


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


def run_rival(
    program: Path, lifetimes: list[Lifetime], height: int, seconds: int
) -> tuple[float, bool]:
    """The CPU seconds of a minimalloc, and whether it found a placement of that height."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.csv"), Path(folder, "found.csv")
        rows = (f"{i},{a},{b},{size}" for i, (a, b, size) in enumerate(lifetimes))
        given.write_text("\n".join(("id,lower,upper,size", *rows, "")))
        options = f"--capacity={height}", f"--input={given}", f"--output={found}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = ["prlimit", f"--cpu={seconds}", str(program), *options]
        subprocess.run(words, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        if not found.exists():
            return spent, False
        with found.open(newline="") as file:
            places = {int(row["id"]): int(row["offset"]) for row in csv.DictReader(file)}
    offsets = [places.get(i, height) for i in range(len(lifetimes))]
    top = max(at + size for at, (_, _, size) in zip(offsets, lifetimes, strict=True))
    return spent, top <= height and is_placement(lifetimes, offsets)


def compare_in_turn(
    instances: Iterator[tuple[str, list[Lifetime], int]], program: Path, chosen: argparse.Namespace
) -> bool:
    """Prints both CPU times of each instance; true if a placement of ours is wrong."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    for name, lifetimes, height in instances:
        ours, theirs = [], []
        for _ in range(TIMES):
            ours.append(line(name, lifetimes, height, chosen.placements))
            theirs.append(run_rival(program, lifetimes, height, chosen.seconds))
        ours_took, took = min(one[3] for one in ours), min(spent for spent, _ in theirs)
        is_solved = any(done for _, done in theirs)
        rows.append((name, len(lifetimes), ours_took, took, ours[0][4], is_solved))
    headings = ("instance", "lifetimes", "CPU s", "rival's", "", "rival")
    cells = [
        (*row[:2], f"{row[2]:.3f}", f"{row[3]:.3f}", row[4], "solved" if row[5] else "-")
        for row in rows
    ]
    console.print_table(headings, cells, width=console.WIDE)
    ours_spent, spent = sum(row[2] for row in rows), sum(row[3] for row in rows)
    print(
        f"\n{sum(row[4] == 'solved' for row in rows)} of {len(rows)} solved, rival "
        f"{sum(row[5] for row in rows)}; CPU {ours_spent:.2f} s over {spent:.2f} s: "
        f"{ours_spent / max(spent, 1e-9):.3f}"
    )
    return any(row[4] == "WRONG" for row in rows)


def list_recordings() -> list[Path]:
    corpus = os.environ.get("HEAPFIT_CORPUS")
    others = Path(corpus).rglob("*.heap*") if corpus else ()
    return [*sorted(EXAMPLES.glob("*/*.parquet")), *sorted(others)]


def pack_by_zones(recording: Path) -> tuple[str, int, int]:
    """The name, the most live bytes and the height of a packing, checked."""
    print(f"  {recording.name}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_trace(open_any(recording, ImportOptions(), Path(folder)))
    lifetimes = _engine.Lifetimes(loaded.events)
    packed = _engine.pack(lifetimes, _engine.PackingEffort(1, PAIRS, 0))
    height = _engine.check_placement(lifetimes, packed.offsets)
    return recording.name.partition(".")[0], loaded.profile.u_max, height


def compare_heights(recordings: Sequence[Path], is_written: bool) -> bool:
    """Prints packings over the most live bytes; true if one is higher than before."""
    with HEIGHTS.open(newline="") as file:
        before = {(name, int(u_max)): int(height) for name, u_max, height in csv.reader(file)}
    found = {(name, u_max): height for name, u_max, height in map(pack_by_zones, recordings)}
    if is_written:
        rows = sorted((*key, height) for key, height in (before | found).items())
        with HEIGHTS.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    known = [key for key in found if key in before]
    higher = [key[0] for key in known if found[key] > before[key]]
    over = sorted(height / u_max for (_, u_max), height in found.items())
    print(
        f"{len(found)} recordings, {len(known)} of them known: {len(higher)} higher, "
        f"{sum(found[key] < before[key] for key in known)} lower; over U_max "
        f"{over[0]:.4f} to {over[-1]:.4f}, median {statistics.median(over):.4f}"
    )
    for name in higher:
        print(f"higher: {name}")
    return bool(higher)


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
    arguments.add_argument("--rival", type=Path, metavar="PROGRAM", help="a minimalloc")
    arguments.add_argument(
        "--seconds", type=int, default=60, help="of CPU for the rival, an instance"
    )
    arguments.add_argument("--zones", action="store_true", help="recordings, by the zone search")
    arguments.add_argument("--write", action="store_true", help="renew bench/zone_heights.csv")
    chosen = arguments.parse_args()
    if chosen.zones:
        sys.exit(compare_heights(list_recordings(), chosen.write))
    instances = all_stored(chosen.instances) if chosen.instances else all_made(chosen.seed)
    if chosen.rival:
        sys.exit(compare_in_turn(instances, chosen.rival.resolve(), chosen))
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
