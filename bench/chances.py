#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often what commands print of chances and intervals holds; docs/evidence/chances.md has them.

Each statement is made many times of data drawn from the model that it names, by the code that the
command runs, and compared with the truth of that model. A bound or an interval is kept if it holds
as often as it says, less two standard errors. `--trials` sets how often the quick ones are made (a
fifth of it the slow ones), `--only WORD` judges those in whose names the word occurs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import exp, factorial, log, sqrt
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.checks.prospect import find_prospect
from heapfit.fitting.verify.loop import MOST_LOOKS, Verification
from heapfit.fitting.verify.survival import Survival, find_surviving_size
from heapfit.forecast.log.outlook import Outlook, find_outlook
from heapfit.forecast.log.states import Clock, HeapState, TelemetryLog
from heapfit.forecast.trend import find_trend
from heapfit.plan.plan import Plan
from heapfit.simulation.arrivals import poisson
from heapfit.simulation.closed_form import exact_metrics
from heapfit.simulation.holding import exponential
from heapfit.simulation.metrics import Observation
from heapfit.simulation.replication import Task, estimate_metric, is_another_round, replicate
from heapfit.simulation.scenario import RunSettings
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import UniformSize
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.demand import Demand, measure_demand, smallest_that_fits
from heapfit.sizing.families import families_for
from heapfit.sizing.from_traffic import Aim, size_family
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sizing.run_out import least_count, run_out
from heapfit.workloads.synthetic import generate_workload, parse_workload

Random = np.random.Generator
Numbers = NDArray[np.float64]
Judge = Callable[[Random], bool | None]  # does what is said hold? None: nothing was said
NORMAL = NormalDist()
SURE, NINE_OF_TEN = 95, 90
TRIALS, SLOWER = 1000, 5


@dataclass(frozen=True, slots=True)
class Statement:
    """A bound or an interval, and of what it is made here."""

    name: str
    commands: str
    model: str
    stated: int  # percent of the times that it holds, at least
    judge: Judge
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often a statement was made, and held."""

    statement: Statement
    made: int
    held: int

    @property
    def share(self) -> float:
        return 100 * self.held / max(self.made, 1)

    @property
    def error(self) -> float:
        """The standard error of the share if it is what is stated, in percent."""
        stated = self.statement.stated
        return sqrt(stated * (100 - stated) / max(self.made, 1))

    def is_kept(self, errors: float = 2) -> bool:
        """True if it holds as often as stated, less so many standard errors."""
        return self.made > 0 and self.share >= self.statement.stated - errors * self.error


def judge_statement(statement: Statement, trials: int, seed: int = 1) -> Coverage:
    """Makes a statement so often, each time of other data."""
    random = np.random.default_rng(seed)
    found = [statement.judge(random) for _ in range(trials)]
    said = [one for one in found if one is not None]
    return Coverage(statement, len(said), sum(said))


# ---- shares of all runs that fail, by counts


def judge_verify(distinct: int, random: Random) -> bool | None:
    """Plans that fail just more often than may be told; each look has a new one."""
    for look in range(1, MOST_LOOKS + 1):
        rounds = (SimpleNamespace(distinct=distinct),)
        verified = Verification(rounds, (), distinct, look, Path(), None)  # type: ignore[arg-type]
        told = verified.most_refused
        assert told is not None
        if not random.binomial(distinct, min(1.0, 1.0001 * told)):
            return False
    return True


def judge_survival(runs: int, random: Random) -> bool:
    """Two heaps, in the smallest sizes that serve the same runs; need is what a run takes."""
    told = Survival(None, 0, runs, runs).most_refused
    for spread in (0.02, 0.2):
        needs = 20_000 * np.exp(random.normal(0, spread, runs))
        size = find_surviving_size(partial(serves_all, needs), 100, 200_000)
        assert size is not None
        if 1 - NORMAL.cdf(log(size / 20_000) / spread) > told:
            return False
    return True


def serves_all(needs: Numbers, size: int) -> bool:
    return bool(needs.max() <= size)


# ---- chances and levels by a law


def judge_margin_end(growth: float, random: Random) -> bool | None:
    """Needs of 20 recordings that grow by a part of their spread."""
    runs, ahead = 20, 30
    needs = 1e6 + 1000 * (growth * np.arange(runs) + random.normal(size=runs))
    end = find_prospect(list(needs), 0, round(1e6 + 1000 * growth * (runs - 1 + ahead))).margin_end
    if end is None:
        return None
    return end.earliest <= ahead and (end.latest is None or ahead <= end.latest)


# ---- trends


def judge_slope(neighbours: float, random: Random) -> bool:
    """48 troughs around a line."""
    trend = find_trend(10 * np.arange(48) + draw_noise(random, 48, neighbours))
    return trend.low <= 10 <= trend.high


def draw_noise(random: Random, count: int, neighbours: float) -> Numbers:
    noise = 100 * random.normal(size=count)
    for i in range(1, count):
        noise[i] = neighbours * noise[i - 1] + sqrt(1 - neighbours**2) * noise[i]
    return noise


def read_free_bytes(free: Numbers) -> Outlook:
    """What a log of free bytes shows, one state a minute."""
    states = [
        HeapState(i, 0, 60.0 * i, round(one), None, None, None, None) for i, one in enumerate(free)
    ]
    return find_outlook(TelemetryLog("", states, Clock.UPTIME, 0, ()))


def judge_log(what: str, random: Random) -> bool | None:
    """960 states that fall by 1 B a second, with noise of 1,000 B."""
    minutes = np.arange(960)
    found = read_free_bytes(200_000 - 60 * minutes + random.normal(0, 1000, 960))
    if found.decline is None or found.run_out is None:
        return None
    if what == "rate":
        return found.decline.low <= 1 <= found.decline.high
    further = np.arange(1, 4000)
    free = 200_000 - 60 * (959 + further) + random.normal(0, 1000, len(further))
    is_short = free < found.run_out.bytes_left
    end, latest = 60 * further[np.argmax(is_short)], found.run_out.latest
    return bool(found.run_out.earliest <= end and (latest is None or end <= latest))


# ---- pools and traffic


def judge_pool(count: int, random: Random) -> bool:
    """10 blocks live on average; a pool that never refuses."""
    demand = poisson_demand(random)
    found = run_out(demand, count)
    true = 1 - sum(exp(-10) * 10**k / factorial(k) for k in range(count))
    return bool(found.lowest <= true <= found.highest)


def poisson_demand(random: Random) -> Demand:
    workload = parse_workload(WORKLOAD.format(40_000), int(random.integers(2**31)))
    with tempfile.TemporaryDirectory() as folder:
        trace = generate_workload(workload, Path(folder) / "trace")
        (demand,) = measure_demand(trace, 1, smallest_that_fits([(2000, False)]))
    return demand


WORKLOAD = "poisson_500:rate=20,holding_us=500000,events={}"  # 10 live on average


def judge_unseen(random: Random) -> bool:
    """Counts on other seeds of a workload, against Erlang's formula."""
    workload = parse_workload(WORKLOAD.format(20_000), int(random.integers(2**31)))
    with tempfile.TemporaryDirectory() as folder:
        trace = generate_workload(workload, Path(folder) / "trace")
        (pool,) = size_pools(trace, 0.95, PoolOptions(sizes=[2000])).pools
    true = exact_metrics(TRAFFIC, fixed_pool(pool.count))
    assert true is not None
    return pool.unseen.lowest <= 1 - true["request_admission"] <= pool.unseen.highest


TRAFFIC = Traffic(poisson(0.05), UniformSize(2000, 2000), exponential(0.5))


def fixed_pool(blocks: int) -> Scheme:
    plan = Plan("fixed_pool", {"block_size": 2000, "blocks": blocks})
    return Scheme("one", plan, plan.engine().smallest_region)


def judge_simulation(half_width: float | None, random: Random) -> bool:
    """The admission of 10 buffers at 10 erlangs, against Erlang's formula."""
    run = RunSettings(
        requests=2000, warm_up=1000, half_width=half_width, metric="request_admission",
        seed=int(random.integers(2**31)),
    )  # fmt: skip
    scheme = fixed_pool(10)
    exact = exact_metrics(TRAFFIC, scheme)
    assert exact is not None
    seen: list[Observation] = []
    while is_another_round(seen, run):
        numbers = range(len(seen), len(seen) + run.replications)
        seen += [replicate(Task(TRAFFIC, scheme, run, i)) for i in numbers]
    estimate = estimate_metric(seen, "request_admission", run.confidence)
    assert estimate is not None
    return estimate.holds(exact["request_admission"])


def judge_memory(random: Random) -> bool:
    """The least buffers for an admission of 99 %, found by simulation and by Erlang's formula."""
    (family,) = (one for one in families_for(TRAFFIC) if one.name == "fixed_pool")
    aim = Aim(0.99, seed=int(random.integers(2**31)))
    with ThreadPoolExecutor(1) as executor:
        exact, found = (
            size_family(
                TRAFFIC,
                family,
                aim=aim,
                executor=executor,
                admissions=[aim.admission],
                is_exact=is_exact,
            )[0]
            for is_exact in (True, False)
        )
    assert exact.memory is not None
    return found.lowest <= exact.memory <= found.highest


# ---- estimates, which are printed without a bound


Told = tuple[float, float]  # the chance that is told, and what comes


def exceed_reserve(times: int, random: Random) -> Told | None:
    """The chance that less is left than nine of ten runs are told to leave."""
    reserve = read_reserve(200_000, times, random)
    return None if reserve is None else (0.1, chance_below(reserve, 200_000, times))


def read_reserve(most: float, times: int, random: Random) -> float | None:
    """What a log of 960 states says of such runs: exponential below `most` free bytes."""
    found = read_free_bytes(most - 4_000 * random.exponential(size=960))
    return found.reserves.get(times)


def chance_below(free: float, most: float, times: int) -> float:
    """The chance that one of the states of such a run has less free."""
    return 1 - (1 - exp((free - most) / 4_000)) ** (864 * times)


def refuse_in_recording(random: Random) -> Told:
    """A count for one refusal in ten recordings, tried on another recording."""
    demand = poisson_demand(random)
    found = least_count(demand, 1 + log(1 - 0.1) / demand.requests)
    return 0.1, float(poisson_demand(random).peak > found.count)


def refuse_bursts(count: int, random: Random) -> Told:
    """The model of bursts, of requests that come one by one."""
    return run_out(poisson_demand(random), count).in_bursts, _engine.erlang_b(count, 10.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A chance that is told without an interval, and of what it is made here."""

    name: str
    commands: str
    model: str
    judge: Callable[[Random], Told | None]
    is_slow: bool = False


def list_estimates() -> list[Estimate]:
    """All of them, in the order of the page."""
    say = Estimate
    return [
        *(
            say("9 of 10 such runs leave", "forecast", f"960 exponential states, {times} x",
                partial(exceed_reserve, times))
            for times in (1, 10)
        ),
        say("at most with a chance of, a recording", "settings",
            "Poisson arrivals, 10 live in the mean", refuse_in_recording, is_slow=True),
        *(
            say("bursts", "size, settings",
                f"Poisson arrivals, 10 live in the mean, {count} buffers",
                partial(refuse_bursts, count), is_slow=True)
            for count in (10, 18)
        ),
    ]  # fmt: skip


def state_by_counts() -> list[Statement]:
    """Of all runs, by those that fail."""
    say = Statement
    return [
        *(
            say("runs out of memory at most", "verify",
                f"{runs} runs that differ, each of five plans fails just above the bound",
                SURE, partial(judge_verify, runs))
            for runs in (2, 10, 30)
        ),
        say("fails at these sizes at most", "verify --now",
            "10 runs whose needs are log-normal, both heaps", SURE, partial(judge_survival, 10)),
    ]  # fmt: skip


def state_by_needs() -> list[Statement]:
    """Of checked recordings, by what they need."""
    say = Statement
    return [
        *(
            say("the margin is eaten after, interval", "check, 8 recordings and more",
                f"20 needs around a line, each {growth:g} deviations above the one before",
                NINE_OF_TEN, partial(judge_margin_end, growth))
            for growth in (0.2, 0.5)
        ),
    ]  # fmt: skip


def state_by_trends() -> list[Statement]:
    """Of what grows or falls, and of logs."""
    say = Statement
    return [
        *(
            say("growth of live bytes, slowest to fastest", "fit, profile",
                f"48 values around a line, correlation of neighbours {neighbours:g}",
                SURE, partial(judge_slope, neighbours))
            for neighbours in (0, 0.4)
        ),
        *(
            say(name, "forecast", "960 states around a line that falls", SURE,
                partial(judge_log, what))
            for name, what in (("free memory falls by, interval", "rate"),
                               ("a request of 1,024 B fails after, interval", "end"))
        ),
    ]  # fmt: skip


def state_by_demand() -> list[Statement]:
    """Of pools and traffic."""
    say = Statement
    return [
        *(
            say("runs out for, interval", "size, settings",
                f"Poisson arrivals, 10 live in the mean, {count} buffers", SURE,
                partial(judge_pool, count), is_slow=True)
            for count in (10, 14, 18, 24)
        ),
        say("hold-out", "size", "the same, other seeds", SURE, judge_unseen, is_slow=True),
        say("memory, interval", "size from traffic", "Erlang's loss system, admission 99 %", SURE,
            judge_memory, is_slow=True),
        *(
            say("admission, interval", "simulate, size from traffic",
                f"Erlang's loss system, replications{words}", SURE,
                partial(judge_simulation, width), is_slow=True)
            for width, words in ((None, ""), (0.004, " until the interval is narrow enough"))
        ),
    ]  # fmt: skip


def list_statements() -> list[Statement]:
    """All of them, in the order of the page."""
    return [
        *state_by_counts(),
        *state_by_needs(),
        *state_by_trends(),
        *state_by_demand(),
    ]


COLUMNS = ("statement", "printed by", "made of", "stated: at least, %", "made", "held, %",
           "standard error")  # fmt: skip


def row_of(found: Coverage) -> tuple[object, ...]:
    one = found.statement
    return (
        *(one.name, one.commands, one.model, one.stated, found.made),
        *(f"{found.share:.1f}", f"{found.error:.1f}"),
    )


ESTIMATES = ("estimate", "printed by", "made of", "told, %", "made", "came, %")


def row_of_estimate(one: Estimate, trials: int) -> tuple[object, ...]:
    random = np.random.default_rng(1)
    found = [made for _ in range(trials) if (made := one.judge(random)) is not None]
    told, came = 100 * np.mean(found, axis=0)
    return one.name, one.commands, one.model, f"{told:.3g}", len(found), f"{came:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--only", default="")
    add_option(parser)
    given = parser.parse_args()

    def is_chosen(one: Statement | Estimate) -> bool:
        return given.only in f"{one.name}, {one.commands}"

    rows, estimates, missed = list[tuple[object, ...]](), list[tuple[object, ...]](), 0
    for one in filter(is_chosen, list_statements()):
        found = judge_statement(one, given.trials // (SLOWER if one.is_slow else 1))
        rows.append(row_of(found))
        missed += not found.is_kept()
        print("    " if found.is_kept() else "low ", *rows[-1], sep=" | ", flush=True)
    for told in filter(is_chosen, list_estimates()):
        trials = given.trials // (SLOWER if told.is_slow else 1)
        estimates.append(row_of_estimate(told, trials))
        print("    ", *estimates[-1], sep=" | ", flush=True)
    if given.write:
        write_result("chances", COLUMNS, rows, keys=3)
        write_result("chances-estimates", ESTIMATES, estimates, keys=4)
    print(f"{len(rows) - missed} of {len(rows)} hold as often as they say")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
