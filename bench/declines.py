#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `heapfit forecast` says of logs that fall in any shape, and of logs that do not.

    python bench/declines.py [--seeds 200] [--first 1000] [--only WORD]

Each row is a shape of free bytes and a number of states: how often it is called falling, "cannot
be told" or "does not fall". A shape that falls is tried with 80 % and 20 % of the start lost. Dates
are judged of logs that end at nine tenths of the life, which ends with the first state of fewer
than 1,024 B: whether that is before the interval ends, and not before it begins; and the interval's
median width over the life that is left.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.log.outlook import Finding, Outlook, find_outlook
from heapfit.forecast.log.states import Clock, HeapState, TelemetryLog

Numbers = NDArray[Any]
Random = np.random.Generator
Shape = Callable[[Random, Numbers], Numbers]  # by the time, 0 to 1: lost, or gained by the load

START = 100_000  # bytes free
NOISE = 0.02  # deviation, of the start
LENGTHS = (40, 100, 300)
NEEDED = 1024  # bytes; with fewer the life ends
LIVED = 0.9  # of the life, in logs that are to get a date


def step_down(random: Random, time: Numbers, steps: int) -> Numbers:
    """So many losses of different size at random times, the last near the end."""
    at = np.append(np.sort(random.random(steps - 1)), 1.0) if steps > 1 else np.ones(1)
    return np.asarray((time[:, None] >= at) @ random.exponential(1, steps))


def gather(random: Random, time: Numbers) -> Numbers:
    """60 clients come; two of three stay for good, the others for a tenth of the log."""
    comes = random.random(60)
    goes = np.where(random.random(60) < 2 / 3, np.inf, comes + random.exponential(0.1, 60))
    is_there = (time[:, None] >= comes) & (time[:, None] < goes)
    return np.asarray(is_there @ random.uniform(0.5, 1.5, 60))


def depend(random: Random, time: Numbers, neighbours: float) -> Numbers:
    """Noise of the first order, of deviation 1."""
    values = random.normal(size=len(time))
    for i in range(1, len(time)):
        values[i] = neighbours * values[i - 1] + np.sqrt(1 - neighbours**2) * values[i]
    return values


def cycle(random: Random, time: Numbers, fewest: float) -> Numbers:
    turns = np.exp(random.uniform(np.log(fewest), np.log(20)))
    return np.asarray(np.sin(2 * np.pi * (turns * time + random.random())))


def collect(random: Random, time: Numbers) -> Numbers:
    """Garbage that is collected 5 to 20 times, at distances that differ by a fifth."""
    turns = np.exp(random.uniform(np.log(5), np.log(20)))
    ends = np.cumsum(np.maximum(0.2, random.normal(1, 0.2, 200))) / turns
    return np.asarray((time - np.append(0, ends)[np.searchsorted(ends, time, "right")]) * turns)


FALLING: dict[str, Shape] = {
    "line": lambda _, t: t,
    "x^2": lambda _, t: t**2,
    "x^3": lambda _, t: t**3,
    "exponential": lambda _, t: np.expm1(4 * t),
    "second half": lambda _, t: np.maximum(0, t - 0.5),
    "last quarter": lambda _, t: np.maximum(0, t - 0.75),
    "root": lambda _, t: np.sqrt(t),
    "slowing": lambda _, t: -np.expm1(-3 * t),
    "12 steps": lambda r, t: step_down(r, t, 12),
    "30 steps": lambda r, t: step_down(r, t, 30),
    "clients": gather,
    "hole": lambda _, t: t,
    "cycle": lambda _, t: t,
}
STRAIGHT = {"line", "second half", "last quarter", "hole", "cycle"}  # at the end
LEVEL: dict[str, Shape] = {  # in parts of the start
    "noise": lambda r, t: 0.02 * r.normal(size=len(t)),
    "noise of a tenth": lambda r, t: 0.1 * r.normal(size=len(t)),
    "dependence 0.7": lambda r, t: 0.04 * depend(r, t, 0.7),
    "dependence 0.95": lambda r, t: 0.04 * depend(r, t, 0.95),
    "dependence 0.995": lambda r, t: 0.04 * depend(r, t, 0.995),
    "heavy tails": lambda r, t: np.minimum(0.01 * r.pareto(1.5, len(t)), 0.9),
    "bursts": lambda r, t: 0.3 * (r.random(len(t)) < 0.1),
    "cycles": lambda r, t: 0.1 * cycle(r, t, 1.5),
    "sawtooth": lambda r, t: 0.3 * ((r.uniform(3, 20) * t + r.random()) % 1),
    "uneven sawtooth": lambda r, t: 0.3 * collect(r, t),
    "sawtooth of few": lambda r, t: 0.3 * ((r.uniform(1.5, 3) * t + r.random()) % 1),
    "filled": lambda r, t: 0.4 * np.minimum(1, t / r.uniform(0.05, 0.2)),
    "filled slowly": lambda r, t: -0.4 * np.expm1(-t * r.uniform(12, 30)),
}
WORDS = {Finding.UNCLEAR: "unclear", Finding.TOO_SHORT: "unclear"}
WORDS |= {Finding.FALLS: "falls", Finding.SHRINKS: "falls"}


def make_free(name: str, random: Random, time: Numbers, lost: float) -> Numbers:
    """Free bytes; a falling shape has lost so much of the start at 1, and goes on behind it."""
    noise = NOISE * random.normal(size=len(time))
    if name in LEVEL:
        is_noise = name.startswith(("noise", "dependence"))
        return START * (1 - LEVEL[name](random, time) + (0 if is_noise else noise))
    shape = FALLING[name](random, np.append(time, [0.0, 1.0]))
    load = 0.1 * cycle(random, time, 3) if name == "cycle" else 0.0
    share = (shape[:-2] - shape[-2]) / (shape[-1] - shape[-2])
    return np.asarray(START * (1 - lost * share + noise + load))


def judge(time: Numbers, free: Numbers) -> Outlook:
    states = [
        HeapState(i, 0, 1e6 * at, max(0, round(one)), None, None, None, None)
        for i, (at, one) in enumerate(zip(time.tolist(), free.tolist(), strict=True))
    ]
    return find_outlook(TelemetryLog("", states, Clock.UPTIME, 0, ()))


def make_times(name: str, random: Random, count: int, end: float) -> Numbers:
    time = np.linspace(0, end, count)
    begin = random.uniform(0.1, 0.75)
    return time[(time < begin) | (time > begin + 1 / 8)] if name == "hole" else time


def count_findings(name: str, count: int, lost: float, seeds: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        random = np.random.default_rng([seed, count])
        time = make_times(name, random, count, 1.0)
        found[WORDS.get(judge(time, make_free(name, random, time, lost)).finding, "level")] += 1
    return found


def judge_dates(name: str, count: int, seeds: range) -> tuple[Numbers, int]:
    """Of logs with a date: not after the end, not before the beginning, width; and their number."""
    rows = []
    for seed in seeds:
        random = np.random.default_rng([seed, count])
        time = make_times(name, random, count * 3 // 2, 1.5)
        free = make_free(name, random, time, 1.0)
        life = time[np.argmax(free < NEEDED)]
        is_logged = time <= LIVED * life
        left = 1e6 * (life - time[is_logged][-1])
        run_out = judge(time[is_logged], free[is_logged]).run_out
        if run_out is not None:
            latest = np.inf if run_out.latest is None else run_out.latest
            width = (latest - run_out.earliest) / left
            rows.append((left <= latest, left >= run_out.earliest, width))
    table = np.array(rows or [(np.nan,) * 3], float)
    return np.array([*table[:, :2].mean(axis=0), np.median(table[:, 2])]), len(rows)


def list_logs(names: list[str]) -> Iterator[tuple[str, float, int]]:
    """Each shape with its losses and numbers of states."""
    for name, count in product(names, LENGTHS):
        for lost in (0.8, 0.2) if name in FALLING else (0.0,):
            yield name, lost, count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--only", default="", help="shapes in whose names it occurs")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    names = [name for name in [*FALLING, *LEVEL] if options.only in name]
    print("shape               lost  states   falls unclear  level")
    for name, lost, count in list_logs(names):
        found = count_findings(name, count, lost, seeds)
        shares = (found[word] / len(seeds) for word in ("falls", "unclear", "level"))
        print(f"{name:20}{lost:4.0%}{count:8}", *(f"{one:7.1%}" for one in shares), flush=True)
    print("\ndates at nine tenths  states  dates  by its end  from its beginning  width")
    for name in (one for one in names if one in FALLING):
        for count in LENGTHS:
            (end, begin, width), dates = judge_dates(name, count, seeds)
            begin_text = f"{begin:8.1%}" if name in STRAIGHT else f"({begin:.1%})"
            print(f"{name:20}{count:8}{dates:7}{end:12.1%}{begin_text:>20}{width:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
