#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces drawn from one recording against fresh ones of the model it came from: the true answer.

For each recording, U_max of drawn and of fresh traces over the mean of fresh ones; then the curve
of `best_fit` and of greedy budgets made from the recording: the share of traces that run out in
the region that the recording and 16 drawn traces need, and a margin. Means over the recordings.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.comparison.trial import runs_in
from heapfit.design.budgets.certified import find_budgets
from heapfit.design.budgets.choice import PUBLISHED_BUDGETS
from heapfit.design.budgets.greedy_budgets import frequent_classes, plan_from_budgets
from heapfit.design.robust.row import MARGINS, with_margin
from heapfit.plan.plan import Plan
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.draw import resample_trace
from heapfit.workloads.drawn_set import resample_traces
from heapfit.workloads.model import fit_model
from heapfit.workloads.synthetic import WorkloadSpec, generate_events, generate_workload

WORKLOADS = ("phases_w1", "phases_w3", "phases_w4", "phases_w5", "phases_x16", "t2_w1", "zg_cdf",
             "zg_markov", "zg_time")  # fmt: skip
FRESH_SEEDS = DRAW_SEEDS = 1_000_000  # the first of those not trained on
ALIGNMENT = 4
PLANS = ("best_fit", "greedy")
PAGE_MARGINS = (0, 2, 5, 10)  # percent, of MARGINS


@dataclass(frozen=True, slots=True)
class Size:
    recordings: int
    training: int
    unseen: int
    events: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """Of one recording: peaks, and the share of drawn and of fresh traces that run out."""

    recorded: int
    drawn: Sequence[int]
    fresh: Sequence[int]
    curves: dict[str, tuple[list[float], list[float]]]


def u_max_of(events: _engine.EventArray) -> int:
    profile = _engine.Profile(1)
    profile.feed(events)
    return int(profile.result().u_max)


def plans_of(trace: Trace) -> dict[str, Plan]:
    loaded = load_trace(trace, ALIGNMENT)
    sizes = frequent_classes(loaded.profile, ALIGNMENT)
    counts = find_budgets(loaded.events, sizes, ALIGNMENT, PUBLISHED_BUDGETS.methods[0])
    best_fit = Plan("best_fit", {"alignment": ALIGNMENT})
    budgets = plan_from_budgets(sizes, counts.counts, ALIGNMENT)
    return dict(zip(PLANS, (best_fit, budgets or best_fit), strict=True))


def curve(plan: Plan, region: int, traces: Sequence[_engine.EventArray]) -> list[float]:
    """Percent that run out at each margin."""
    return [
        100 * np.mean([not runs_in(plan, one, with_margin(region, margin)) for one in traces])
        for margin in MARGINS
    ]


def measured(job: tuple[str, int, Size]) -> Recorded:
    name, seed, size = job

    def spec(number: int) -> WorkloadSpec:
        return WorkloadSpec(name, number, {"events": size.events})

    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        trace = generate_workload(spec(seed), Path(folder) / "recorded.parquet")
        known = [trace, *resample_traces(trace, size.training, 1, Path(folder)).traces]
        training = [one.events() for one in known]
        model, path = fit_model(trace), Path(folder) / "unseen.parquet"
        drawn = [
            resample_trace(model, DRAW_SEEDS + i, path, trace.info).events()
            for i in range(size.unseen)
        ]
        plans = plans_of(trace)
    fresh = [generate_events(spec(FRESH_SEEDS + i)) for i in range(size.unseen)]
    curves = {}
    for plan_name, plan in plans.items():
        needs = [_engine.Trial(plan.engine(), one).scan().r_safe or 0 for one in training]
        curves[plan_name] = curve(plan, max(needs), drawn), curve(plan, max(needs), fresh)
    peaks = [u_max_of(one) for one in drawn], [u_max_of(one) for one in fresh]
    return Recorded(u_max_of(training[0]), *peaks, curves)


def report(name: str, recordings: Sequence[Recorded]) -> None:
    mean = float(np.mean([one.fresh for one in recordings]))
    print(f"{name}: U_max over the mean of fresh traces")
    print(f"  recorded {figures([one.recorded / mean for one in recordings])}")
    for kind in ("drawn", "fresh"):
        peaks = [np.array(getattr(one, kind)) / mean for one in recordings]
        spread = np.mean([one.std() for one in peaks])
        high = np.mean([np.quantile(one, 0.99) for one in peaks])
        print(f"  {kind:8} mean {np.mean(peaks):.3f}  spread {spread:.3f}  q99 {high:.3f}")
    print("  percent that run out" + "".join(f"{f'+{margin}%':>8}" for margin in MARGINS))
    for plan in PLANS:
        for i, kind in enumerate(("drawn", "fresh")):
            shares = np.mean([one.curves[plan][i] for one in recordings], axis=0)
            print(f"  {plan:10} {kind:9}" + "".join(f"{share:8.2f}" for share in shares))


def page_row(name: str, recordings: Sequence[Recorded]) -> tuple[str, ...]:
    """Budgets alone: of `best_fit` hardly any trace runs out."""
    mean = float(np.mean([one.fresh for one in recordings]))
    drawn, fresh = (
        [np.array(getattr(one, kind)) / mean for one in recordings] for kind in ("drawn", "fresh")
    )
    shares = np.mean([one.curves["greedy"] for one in recordings], axis=0)
    shares = shares[:, [MARGINS.index(margin) for margin in PAGE_MARGINS]]
    return (
        name,
        figures([one.recorded / mean for one in recordings]),
        f"{np.mean(drawn):.3f}",
        *(f"{np.mean([one.std() for one in peaks]):.3f}" for peaks in (drawn, fresh)),
        *(f"{of_drawn:.1f}, {of_fresh:.1f}" for of_drawn, of_fresh in shares.T),
    )


def figures(values: Sequence[float]) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--recordings", type=int, default=5)
    parser.add_argument("--training", type=int, default=16)
    parser.add_argument("--unseen", type=int, default=200)
    parser.add_argument("--events", type=int, default=20_000)
    add_option(parser)
    asked = parser.parse_args()
    size = Size(asked.recordings, asked.training, asked.unseen, asked.events)
    names = asked.workloads or WORKLOADS
    with Sweep() as sweep:
        jobs = [(name, seed, size) for name in names for seed in range(1, size.recordings + 1)]
        results = sweep.map("recordings", measured, jobs)
    by_name = {
        name: results[i * size.recordings : (i + 1) * size.recordings]
        for i, name in enumerate(names)
    }
    for name, found in by_name.items():
        report(name, found)
    if asked.write:
        columns = ("workload", "recorded", "drawn: mean", "drawn: spread", "fresh: spread",
                   *(f"+{margin} %: drawn, fresh" for margin in PAGE_MARGINS))  # fmt: skip
        write_result("bootstrap", columns, [page_row(*one) for one in by_name.items()])


if __name__ == "__main__":
    import bootstrap  # by whose name workers know what they run

    bootstrap.main()
