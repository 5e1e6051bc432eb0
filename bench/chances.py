#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the probabilities and intervals that commands print hold; docs/chances.md has them.

Each statement is made many times of data drawn from the model that it names, by the code that the
command runs, and compared with the truth of that model. A bound or an interval is kept if it holds
as often as it says, less two standard errors; a chance told without one if no more comes than is
told, and two standard errors. `--trials` sets how often the quick ones are made (a fifth of it the
slow ones), `--only WORD` judges those in whose names the word occurs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import exp, factorial, log, sqrt
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from page_tables import add_option, write_result

from heapfit.checks.prospect import find_prospect
from heapfit.comparison.failure_share import bound_failures
from heapfit.fitting.verify.loop import MOST_ROUNDS, Verification
from heapfit.fitting.verify.survival import Survival, find_surviving_size
from heapfit.forecast.extremes import Gumbel, predict_level
from heapfit.forecast.horizon import Forecast, LongerRuns, Refusal, expect_further_runs
from heapfit.forecast.log.clock import Clock
from heapfit.forecast.log.outlook import Outlook, Reserve, find_outlook
from heapfit.forecast.log.states import HeapState, TelemetryLog
from heapfit.forecast.trend import find_trend
from heapfit.plan.plan import Plan
from heapfit.simulation.arrivals import Poisson
from heapfit.simulation.closed_form import exact_metrics
from heapfit.simulation.holding import ExponentialHolding
from heapfit.simulation.replication import Task, estimate_metric, is_another_round, replicate
from heapfit.simulation.scenario import RunSettings
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import UniformSize
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.demand import Demand, measure_demand, smallest_that_fits
from heapfit.sizing.families import families_for, load_of
from heapfit.sizing.from_traffic import Aim, _FamilySearch
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sizing.run_out import least_count, run_out
from heapfit.workloads.synthetic import generate_workload, parse_workload

Random = np.random.Generator
Numbers = NDArray[np.float64]
Judge = Callable[..., float | None]  # of a bound: does it hold? of a chance: what comes, or is told
NORMAL = NormalDist()
SURE, NINE_OF_TEN = 95, 90
TRIALS, SLOWER = 1000, 5
CHANCES = (0.01, 0.1)


@dataclass(frozen=True, slots=True)
class Statement:
    """A bound, an interval or a chance, and of what it is made here."""

    name: str
    commands: str
    model: str
    stated: float  # percent of the times that it holds, at least; or the chance
    judge: Judge
    is_slow: bool
    is_chance: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often a statement was made, and what came."""

    statement: Statement
    made: int
    share: float  # percent: of the times that it held; or the mean chance
    error: float  # its standard error: of a share, if it is what is stated

    def is_kept(self, errors: float = 2) -> bool:
        """True if what comes is what is stated or safer, but for so many standard errors."""
        better = self.share - self.statement.stated
        better = -better if self.statement.is_chance else better
        return self.made > 0 and better >= -errors * self.error


def judge_statement(statement: Statement, trials: int, seed: int = 1) -> Coverage:
    """Makes a statement so often, each time of other data."""
    random = np.random.default_rng(seed)
    found = [statement.judge(random=random) for _ in range(trials)]
    came = 100 * np.array([one for one in found if one is not None], np.float64)
    made, stated = len(came), statement.stated
    spread = float(np.std(came)) if statement.is_chance else sqrt(stated * (100 - stated))
    return Coverage(statement, made, float(np.mean(came)) if made else 0, spread / sqrt(made or 1))


STATEMENTS: list[Statement] = []  # in the order of the page


def register(
    judge: Judge,
    words: tuple[str, str, str],
    stated: float | None,
    *cases: tuple[object, ...],
    is_slow: bool = False,
) -> None:
    """Registers a statement by its name, its commands and its model, once for each case.

    The judge takes a case's values first, and the model names them. `stated` None: a chance, which
    is the last value of a case.
    """
    name, commands, model = words
    for case in cases or ((),):
        said = 100 * float(str(case[-1])) if stated is None else stated
        said_of = model.format(*case)
        STATEMENTS.append(
            Statement(name, commands, said_of, said, partial(judge, *case), is_slow, stated is None)
        )


# ---- shares of all runs that fail, by counts


def judge_verify(distinct: int, random: Random) -> bool | None:
    """Plans that fail just more often than may be told; each look has a new one."""
    for look in range(1, MOST_ROUNDS + 1):
        rounds = (SimpleNamespace(distinct=distinct),)
        told = Verification(rounds, (), distinct, look, Path()).most_refused  # type: ignore[arg-type]
        assert told is not None
        if not random.binomial(distinct, min(1.0, 1.0001 * told)):
            return False
    return True


register(judge_verify, ("runs out of memory at most", "verify",
    "{} runs that differ, each of five plans fails just above the bound"), SURE, (2,), (10,),
    (30,))  # fmt: skip


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


register(judge_survival, ("fails at these sizes at most", "verify --now",
    "{} runs whose needs are log-normal, both heaps"), SURE, (10,))  # fmt: skip


def serves_all(needs: Numbers, size: int) -> bool:
    return bool(needs.max() <= size)


def judge_folds(runs: int, random: Random) -> bool | None:
    """A region 2 % above the most of the others serves each run; then that of all of them."""
    needs = np.exp(random.normal(0, 0.1, runs))
    order = np.sort(needs)
    if order[-1] > 1.02 * order[-2]:
        return None
    return bool(1 - NORMAL.cdf(log(1.02 * order[-1]) / 0.1) <= bound_failures(0, runs))


register(judge_folds, ("all runs do at most", "fit --plans --folds",
    "{} runs whose needs are log-normal, margin 2 %"), SURE, (12,))  # fmt: skip


def judge_few_runs(runs: int, random: Random) -> bool | None:
    """A region that runs fail in just more often than may be told."""
    told = find_prospect([1.0] * runs, 0, 2).highest_chance
    assert told is not None
    return bool(random.binomial(runs, 1.0001 * told))


register(judge_few_runs, ("a chance of up to", "check, 3 to 7 recordings",
    "{} recordings that fail just above the bound"), SURE, (5,))  # fmt: skip


# ---- chances and levels by a law


LAWS: dict[str, tuple[Callable[[Random, int], Numbers], Callable[[float], float]]] = {
    "normal": (lambda random, count: random.normal(size=count), lambda p: NORMAL.inv_cdf(1 - p)),
    "Gumbel's": (lambda random, count: random.gumbel(size=count), lambda p: -log(-log(1 - p))),
    "exponential": (lambda random, count: random.exponential(size=count), lambda p: -log(p)),
}


def judge_chance(law: str, runs: int, chance: float, random: Random) -> bool | None:
    draw, level = LAWS[law]
    needs = 10_000_000 + 1_000_000 * draw(random, runs)
    found = find_prospect(list(needs), 0, round(10_000_000 + 1_000_000 * level(chance)))
    if found.interval is None:
        return None
    low, high = found.interval
    return low <= chance <= high


register(judge_chance, ("runs out with a chance of, interval", "check, 8 recordings and more",
    "{1} needs of a law that is {0}, true chance {2:.0%}"), NINE_OF_TEN,
    *product(LAWS, (8, 40), CHANCES))  # fmt: skip


def judge_margin_end(growth: float, random: Random) -> bool | None:
    """Needs of 20 recordings that grow by a part of their spread."""
    runs, ahead = 20, 30
    needs = 1e6 + 1000 * (growth * np.arange(runs) + random.normal(size=runs))
    end = find_prospect(list(needs), 0, round(1e6 + 1000 * growth * (runs - 1 + ahead))).margin_end
    if end is None:
        return None
    return end.earliest <= ahead and (end.latest is None or ahead <= end.latest)


register(judge_margin_end, ("the margin is eaten after, interval", "check, 8 recordings and more",
    "20 needs around a line, each {:g} deviations above the one before"), NINE_OF_TEN, (0.2,),
    (0.5,))  # fmt: skip


def draw_maxima(random: Random, count: int, neighbours: float) -> Numbers:
    """Maxima by Gumbel's law, of which neighbours correlate so much (normal scores)."""
    scores = random.normal(size=count)
    for i in range(1, count):
        scores[i] = neighbours * scores[i - 1] + sqrt(1 - neighbours**2) * scores[i]
    below = [NORMAL.cdf(score) for score in scores]
    return 100_000 - 5_000 * np.log(-np.log(np.array(below)))


LAW = Gumbel(100_000, 5_000)


def judge_region(neighbours: float, times: float, chance: float, random: Random) -> bool:
    maxima = draw_maxima(random, 48, neighbours)
    longer = LongerRuns(0, maxima.astype(np.int64), 48.0)
    low, high = ends_of(longer.forecast(times, chance))
    return low <= LAW.level(48 * times, chance) <= high


register(judge_region, ("region of longer runs, 9 times of 10", "fit",
    "48 Gumbel maxima, correlation of neighbours {:g}; {} x, {:.0%}"), NINE_OF_TEN,
    *product((0, 0.4), (1, 10, 100), CHANCES))  # fmt: skip


def judge_job(runs: int, random: Random) -> bool:
    longer = expect_further_runs(draw_maxima(random, runs, 0).astype(np.int64).tolist())
    assert isinstance(longer, LongerRuns)
    low, high = ends_of(longer.forecast(10, 0.01))
    level = LAW.level(10, 0.01)
    # What is told is never below what was needed: that alone may lift the lower end.
    return low <= max(level, longer.region + 8) and level <= high


register(judge_job, ("region of further runs, 9 times of 10", "fit, jobs",
    "{} Gumbel needs, 10 runs, 1%"), NINE_OF_TEN, (8,))  # fmt: skip


def ends_of(forecast: Forecast | Refusal) -> tuple[int, int]:
    assert isinstance(forecast, Forecast)
    return forecast.low, forecast.high


# ---- trends


def judge_slope(neighbours: float, random: Random) -> bool:
    """48 troughs around a line."""
    trend = find_trend(10 * np.arange(48) + draw_noise(random, 48, neighbours))
    return trend.low <= 10 <= trend.high


register(judge_slope, ("growth of live bytes, slowest to fastest", "fit, profile",
    "48 values around a line, correlation of neighbours {:g}"), SURE, (0,), (0.4,))  # fmt: skip


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
    return find_outlook(TelemetryLog("", states, Clock.UPTIME, 0, (), 0))


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
    end, latest = 60 * further[np.argmax(free <= 0)], found.run_out.latest
    return bool(found.run_out.earliest <= end and (latest is None or end <= latest))


register(judge_log, ("free memory falls by, interval", "forecast",
    "960 states around a line that falls"), SURE, ("rate",))  # fmt: skip
register(judge_log, ("nothing is free after, interval", "forecast",
    "960 states around a line that falls"), SURE, ("end",))  # fmt: skip


FREE = Gumbel(-200_000, 4_000)  # of a state's free bytes, negative


def read_reserve(times: int, random: Random) -> tuple[Reserve, int] | None:
    """What 960 states say, and how many such a run has behind its start."""
    states = random.gumbel(FREE.location, FREE.scale, 960)
    reserves = [one for one in read_free_bytes(-states).reserves if one.times == times]
    return (reserves[0], 864 * times) if reserves else None


def judge_reserve(times: int, random: Random) -> bool | None:
    found = read_reserve(times, random)
    return found and found[0].low <= -FREE.level(found[1], 0.1) <= found[0].high


register(judge_reserve, ("9 of 10 such runs leave, interval", "forecast",
    "960 independent Gumbel states, {} x"), NINE_OF_TEN, (1,), (10,))  # fmt: skip


# ---- pools and traffic


def judge_pool(count: int, random: Random) -> bool:
    """10 blocks live on average; a pool that never refuses."""
    demand = poisson_demand(random)
    found = run_out(demand, count)
    true = 1 - sum(exp(-10) * 10**k / factorial(k) for k in range(count))
    return found.lowest <= true <= found.highest


register(judge_pool, ("runs out for, interval", "size, settings",
    "Poisson arrivals, 10 live in the mean, {} buffers"), SURE, (10,), (14,), (18,), (24,),
    is_slow=True)  # fmt: skip


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


register(judge_unseen, ("hold-out", "size", "the same, other seeds"), SURE,
    is_slow=True)  # fmt: skip


TRAFFIC = Traffic(Poisson(0.05), UniformSize(2000, 2000), ExponentialHolding(0.5))


def fixed_pool(blocks: int) -> Scheme:
    plan = Plan("fixed_pool", {"block_size": 2000, "blocks": blocks})
    return Scheme("one", plan, plan.engine().smallest_region)


def judge_simulation(method: str, half_width: float | None, _: str, random: Random) -> bool:
    """The admission of 10 buffers at 10 erlangs, against Erlang's formula."""
    run = RunSettings(
        requests=2000, warm_up=1000, half_width=half_width, metric="request_admission",
        method=method, seed=int(random.integers(2**31)),
    )  # fmt: skip
    scheme = fixed_pool(10)
    exact = exact_metrics(TRAFFIC, scheme)
    assert exact is not None
    seen = []
    while is_another_round(seen, run):
        numbers = range(len(seen), len(seen) + run.replications)
        if method == "batches":
            seen = replicate(Task(TRAFFIC, scheme, run, 0))
            break
        seen += [one for i in numbers for one in replicate(Task(TRAFFIC, scheme, run, i))]
    estimate = estimate_metric(seen, "request_admission", run.confidence)
    assert estimate is not None
    return estimate.holds(exact["request_admission"])


register(judge_simulation, ("admission, interval", "simulate, size from traffic",
    "Erlang's loss system, {0}{2}"), SURE, ("replications", None, ""), ("batches", None, ""),
    ("replications", 0.004, " until the interval is narrow enough"), is_slow=True)  # fmt: skip


def judge_memory(random: Random) -> bool:
    """The least buffers for an admission of 99 %, found by simulation and by Erlang's formula."""
    (family,) = (one for one in families_for(load_of(TRAFFIC)) if one.name == "fixed_pool")
    aim = Aim(0.99, "requests", seed=int(random.integers(2**31)))
    with ThreadPoolExecutor(1) as executor:
        search = _FamilySearch(TRAFFIC, family, aim, executor)
        exact = search.least(aim.admission).memory
        search._is_exact = False
        found = search.least(aim.admission)
    assert exact is not None
    return found.lowest <= exact <= found.highest


register(judge_memory, ("memory, interval", "size from traffic",
    "Erlang's loss system, admission 99 %"), SURE, is_slow=True)  # fmt: skip


# ---- chances


def exceed_region(times: float, chance: float, random: Random) -> float:
    """The chance that a longer run exceeds the region for this one."""
    maxima = draw_maxima(random, 48, 0).astype(np.int64)
    found = LongerRuns(0, maxima, 48.0).forecast(times, chance)
    assert isinstance(found, Forecast)
    return LAW.chance(found.region, 48 * times)


register(exceed_region, ("bytes for, runs out", "fit", "48 independent Gumbel maxima; {} x"), None,
    *product((10, 100), CHANCES))  # fmt: skip


def exceed_job(runs: int, chance: float, random: Random) -> float:
    longer = expect_further_runs(draw_maxima(random, runs, 0).astype(np.int64).tolist())
    assert isinstance(longer, LongerRuns)
    found = longer.forecast(10, chance)
    assert isinstance(found, Forecast)
    return LAW.chance(found.region, 10)


register(exceed_job, ("bytes for, runs out", "fit, jobs", "{} Gumbel needs, 10 runs"), None,
    *product((8,), CHANCES))  # fmt: skip


def exceed_need(law: str, runs: int, chance: float, random: Random) -> float:
    """A thousand further needs, in a region of which this chance is told."""
    needs = 10_000_000 + 1_000_000 * LAWS[law][0](random, runs + 1000)
    region = round(predict_level(needs[:runs], 1, chance))
    told = find_prospect(list(needs[:runs]), 0, region).chance
    assert told is None or abs(told - chance) < 0.001
    return float(np.mean(needs[runs:] > region))


register(exceed_need, ("runs out with a chance of", "check", "{1} needs of a law that is {0}"),
    None, *product(("normal", "Gumbel's"), (8, 40), CHANCES))  # fmt: skip


def exceed_reserve(times: int, _: float, random: Random) -> float | None:
    found = read_reserve(times, random)
    return found and FREE.chance(-found[0].free, found[1])


register(exceed_reserve, ("9 of 10 such runs leave", "forecast",
    "960 independent Gumbel states, {} x"), None, (1, 0.1), (10, 0.1))  # fmt: skip


def refuse_in_recording(chance: float, random: Random) -> float:
    """A count for one refusal in ten recordings, tried on another recording."""
    demand = poisson_demand(random)
    found = least_count(demand, 1 + log(1 - chance) / demand.requests)
    return float(poisson_demand(random).peak > found.count)


register(refuse_in_recording, ("with a chance of, a recording", "settings",
    "Poisson arrivals, 10 live in the mean"), None, (0.1,), is_slow=True)  # fmt: skip


COLUMNS = ("statement", "printed by", "made of", "stated: at least, %", "made", "held, %",
           "standard error")  # fmt: skip
ESTIMATES = ("estimate", "printed by", "made of", "told, %", "made", "came, %", "standard error")


def row_of(found: Coverage) -> tuple[object, ...]:
    one = found.statement
    digits = 2 if one.is_chance else 1
    return (
        *(one.name, one.commands, one.model, f"{one.stated:g}", found.made),
        *(f"{found.share:.{digits}f}", f"{found.error:.{digits}f}"),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--only", default="")
    parser.add_argument("--chances", action="store_true", help="not bounds and intervals")
    add_option(parser)
    given = parser.parse_args()
    rows: dict[bool, list[tuple[object, ...]]] = {False: [], True: []}
    missed = 0
    for one in STATEMENTS:
        if given.only not in f"{one.name}, {one.commands}" or given.chances > one.is_chance:
            continue
        found = judge_statement(one, given.trials // (SLOWER if one.is_slow else 1))
        rows[one.is_chance].append(row_of(found))
        missed += not found.is_kept()
        print("    " if found.is_kept() else "off ", *row_of(found), sep=" | ", flush=True)
    if given.write:
        write_result("chances", COLUMNS, rows[False], keys=3)
        write_result("chances-estimates", ESTIMATES, rows[True], keys=4)
    made = sum(map(len, rows.values()))
    print(f"{made - missed} of {made} hold as often as they say")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
