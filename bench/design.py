# SPDX-License-Identifier: Apache-2.0
"""How long exact budgets take and what greedy ones lose, on walks drawn from fixed seeds.

    python bench/design.py            table 1 of Lee and Yi 2008, and more sizes
    python bench/design.py --large    64 sizes, 50,000 events

Times are ratios within one run: every combination tried, as the paper did, over branch and bound.
The paper gives neither sizes nor traces of table 1, so these are drawn anew. This is no test.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from heapfit import _engine
from heapfit.design.budgets.certified import Budgets, Method, find_budgets

ALIGNMENT = 8
SEEDS = range(3)
TABLE_1 = ((4, 10), (4, 20), (5, 10))  # n, P_i,max
EVENTS = 2000
GROWING = (4, 8, 12, 16, 24, 32)
LARGE = (64, 10, 50_000)  # n, P_i,max, events

Result = TypeVar("Result")


def draw_sizes(count: int, random: np.random.Generator) -> list[int]:
    sizes: list[int] = (
        8 * np.sort(random.choice(np.arange(2, 450), count, replace=False))
    ).tolist()
    return sizes


def draw_walk(
    sizes: list[int], most_live: int, events: int, random: np.random.Generator
) -> _engine.EventArray:
    """Phases of 500 events, each with a level that every size walks about."""
    live: list[list[int]] = [[] for _ in sizes]
    rows = []
    born = 0
    for t in range(events):
        if t % 500 == 0:
            level = random.integers(0, most_live + 1, len(sizes))
        i = int(random.integers(len(sizes)))
        blocks = live[i]
        is_growing = random.random() < (0.8 if len(blocks) < level[i] else 0.2)
        if blocks and (len(blocks) == most_live or not is_growing):
            rows.append((4, blocks.pop(int(random.integers(len(blocks)))), 0))
        else:
            rows.append((0, born, sizes[i]))
            blocks.append(born)
            born += 1
    ops, objects, asked = zip(*rows, strict=True)
    array = _engine.EventArray()
    array.append(
        np.array(ops, np.uint8), np.array(objects, np.uint32), np.array(asked, np.uint64), None
    )
    return array


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def show(n: int, most_live: int, events: int, seconds: float, exact: Budgets) -> str:
    proof = "proven" if exact.is_proven else f"gap {exact.gap:.2%}"
    return f"n {n:3}  P {most_live:3}  {events:7,} events: exact {seconds * 1000:10.2f} ms, {proof}"


def table_1() -> None:
    print("Table 1: exact against every combination")
    for n, most_live in TABLE_1:
        for seed in SEEDS:
            random = np.random.default_rng(seed)
            sizes = draw_sizes(n, random)
            trace = draw_walk(sizes, most_live, EVENTS, random)
            search = partial(find_budgets, trace, sizes, alignment=ALIGNMENT)
            exact, quick = timed(search)
            tried, slow = timed(partial(search, method=Method.EXHAUSTIVE))
            assert exact.dedicated == tried.dedicated
            print(
                f"{show(n, most_live, EVENTS, quick, exact)}; "
                f"every combination {slow * 1000:9.1f} ms, {slow / quick:8,.0f} times as long"
            )


def growing() -> None:
    print("What greedy budgets lose as sizes get more")
    for n in GROWING:
        for seed in SEEDS:
            random = np.random.default_rng(seed)
            sizes = draw_sizes(n, random)
            report(sizes, 20, 10_000, random)


def large() -> None:
    n, most_live, events = LARGE
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        report(draw_sizes(n, random), most_live, events, random)


def report(sizes: list[int], most_live: int, events: int, random: np.random.Generator) -> None:
    trace = draw_walk(sizes, most_live, events, random)
    exact, taken = timed(lambda: find_budgets(trace, sizes, alignment=ALIGNMENT))
    greedy = find_budgets(trace, sizes, alignment=ALIGNMENT, method=Method.GREEDY)
    lost = 1 - greedy.dedicated / exact.dedicated
    print(
        f"{show(len(sizes), most_live, events, taken, exact)}; greedy loses {lost:6.2%}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="64 sizes, 50,000 events")
    if parser.parse_args().large:
        large()
    else:
        table_1()
        growing()


if __name__ == "__main__":
    main()
