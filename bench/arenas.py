# SPDX-License-Identifier: Apache-2.0
"""The arenas of networks over their most live bytes: by the packing, and by greedy by size.

Eleven are made here, as operators and the shapes of their tensors: chains, residual blocks, dense
blocks, U-Nets, branches. MODEL... adds models (heapfit[networks]). This exits 1 if a packing lies
above greedy by size.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heapfit.bounds.trace_bounds import Bounds, find_bounds
from heapfit.cli.printing import console
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

PAIRS = 10_000_000


class Network:
    """Operators in order; each makes one tensor from others."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.begins: list[int] = []
        self.ends: list[int] = []

    def add(self, size: int, *inputs: int) -> int:
        now = len(self.sizes)
        for one in inputs:
            self.ends[one] = now
        self.sizes.append(-(-size // 16) * 16)
        self.begins.append(now)
        self.ends.append(now)
        return now

    def csv(self) -> str:
        rows = zip(self.begins, self.ends, self.sizes, strict=True)
        lines = (f"{i},{begin},{end + 1},{size}" for i, (begin, end, size) in enumerate(rows))
        return "\n".join(("id,lower,upper,size", *lines)) + "\n"


def chain(draw: random.Random) -> Network:
    net = Network()
    last = net.add(96 * 96 * 3)
    for _ in range(30):
        last = net.add(draw.randrange(1_000, 60_000), last)
    return net


def residual(draw: random.Random) -> Network:
    net = Network()
    last = net.add(32 * 32 * 16)
    for _ in range(12):
        size = draw.choice([4_096, 8_192, 16_384])
        wide = net.add(size * draw.choice([1, 4, 6]), last)
        last = net.add(size, net.add(size, wide), last)
    return net


def dense(draw: random.Random) -> Network:
    net = Network()
    made = [net.add(24 * 24 * 12)]
    for _ in range(14):
        made.append(net.add(draw.randrange(1_500, 7_000), net.add(12_000, *made)))
    return net


def u_net(draw: random.Random) -> Network:
    net, kept = Network(), []
    last = net.add(64 * 64 * 4)
    for level in range(6):
        last = net.add(65_536 >> level, net.add(draw.randrange(30_000, 80_000) >> level, last))
        kept.append(last)
    for level in range(5, -1, -1):
        last = net.add(draw.randrange(30_000, 80_000) >> level, last, kept[level])
    return net


def branches(draw: random.Random) -> Network:
    net = Network()
    last = net.add(40_000)
    for _ in range(8):
        ends = []
        for _ in range(4):
            arm = last
            for _ in range(draw.randrange(1, 4)):
                arm = net.add(draw.randrange(500, 16_000), arm)
            ends.append(arm)
        last = net.add(draw.randrange(8_000, 30_000), *ends)
    return net


def bounds_of(source: Path, folder: Path) -> Bounds:
    loaded = load_trace(open_any(source, ImportOptions(), folder))
    return find_bounds(loaded, pairs=PAIRS)


def all_bounds(models: list[Path]) -> Iterator[tuple[str, Bounds]]:
    makers = (chain, residual, dense, u_net, branches)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(11):
            make = makers[number % len(makers)]
            path = Path(folder, f"{make.__name__}-{number}.csv")
            path.write_text(make(random.Random(number)).csv())
            yield path.stem, bounds_of(path, Path(folder))
        for model in models:
            yield model.stem, bounds_of(model, Path(folder))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("models", nargs="*", type=Path, metavar="MODEL")
    found = list(all_bounds(arguments.parse_args().models))
    cells = [
        (
            name,
            f"{one.packing.height / one.u_max:.4f}",
            f"{(one.greedy or 0) / one.u_max:.4f}",
            "proven" if one.packing.height == one.floor else "",
        )
        for name, one in found
    ]
    console.print_table(("network", "packing", "greedy", ""), cells, width=console.WIDE)
    proven = sum(one.packing.height == one.floor for _, one in found)
    above = sum(one.packing.height > (one.greedy or 0) for _, one in found)
    print(f"\n{proven} of {len(found)} proven least, {above} above greedy by size")
    sys.exit(above > 0)


if __name__ == "__main__":
    main()
