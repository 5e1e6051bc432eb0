# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, rows 10 to 17: what the pools cost beside other allocators.

The paper's "Linux allocator" is Lea's as it understands it: 40 B come out of blocks of 64 B and
1500 B out of blocks of 4096 B, which nothing joins or splits. Lea's allocator as published does no
such thing, so both are run: the paper's model of it, and `lea`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, pstdev

from heapfit.compare.candidate import Candidate, Portfolio
from heapfit.compare.comparison import compare, energies_over_least
from heapfit.design.pools.special_pools import special_pools_plan
from heapfit.design.portfolio import named_portfolio
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.paper_001_pools import TRACES
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row
from heapfit_papers.reproduce.small_heap import refusals

LEA_AS_DESCRIBED = (64, 128, 256, 512, 1024, 4096)  # the blocks its requests are said to come from
MODEL = "lea as described"
POOLS = "class_pools"
STACK = "class_pools:search=1"  # a free block in one step; the paper traverses the pool
_SMALL_TRACES = 6


@dataclass(frozen=True, slots=True)
class Cost:
    """One allocator on one trace."""

    requested: int  # bytes, U_max
    footprint: int  # R_safe
    accesses: float  # metadata words per operation
    energy: float  # over that of the pools


def costs_of(seed: int) -> dict[str, Cost]:
    """A queue of 1,000 packets filled and drained, on each allocator."""
    spec = parse_workload("queue_fill:packets=1000", seed)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        loaded = load_trace(generate_workload(spec, Path(folder) / "queue.parquet"))
        rows = compare(loaded, _contestants(loaded)).rows
    energies = energies_over_least(rows, load_sram())
    [pools] = [energy for row, energy in zip(rows, energies, strict=True) if row.name == POOLS]
    return {
        row.name: Cost(
            row.u_max,
            row.r_safe or 0,
            row.accesses_per_operation or 0.0,
            (energy or 0.0) / (pools or 1.0),
        )
        for row, energy in zip(rows, energies, strict=True)
    }


def costs(laboratory: Laboratory) -> list[dict[str, Cost]]:
    """One for each of the traces."""
    seeds = range(1, (_SMALL_TRACES if laboratory.is_small else TRACES) + 1)
    return laboratory.map("packet pools", costs_of, list(seeds))


def mean_cost(some: list[dict[str, Cost]], name: str) -> Cost:
    """Over the traces."""
    mine = [one[name] for one in some]
    return Cost(
        round(mean(one.requested for one in mine)),
        round(mean(one.footprint for one in mine)),
        mean(one.accesses for one in mine),
        mean(one.energy for one in mine),
    )


def over_requested(some: list[dict[str, Cost]], name: str) -> float:
    """How much more than what is requested an allocator needs, mean of the traces."""
    return mean(one[name].footprint / one[name].requested for one in some) - 1


def linux_model(laboratory: Laboratory) -> list[Finding]:
    """Row 10."""
    measured = laboratory.once(costs)
    model, lea = over_requested(measured, MODEL), over_requested(measured, "lea")
    why = f"The paper's model explains its number; Lea's allocator as published needs {lea:+.1%}."
    return [near("001-10", "model", model, why, f"{model:+.1%} for the model, {lea:+.1%} for lea")]


def execution_time(laboratory: Laboratory) -> list[Finding]:
    """Row 11: time is not ours to give; accesses are what it depends on."""
    measured = laboratory.once(costs)
    saved = [1 - one[POOLS].accesses / one["lea"].accesses for one in measured]
    stack = mean(1 - one[STACK].accesses / one["lea"].accesses for one in measured)
    why = "Machine and clock are not told. Accesses to metadata stand beside the published time."
    facts = f"{mean(saved):.0%} fewer accesses than lea; {stack:.0%} with a stack of free blocks"
    return [
        unknown("001-11", "mean", why, facts),
        unknown("001-11", "best", why, f"{max(saved):.0%} fewer at best"),
        unknown("001-11", "pools", why),
    ]


def footprints(laboratory: Laboratory) -> list[Finding]:
    """Row 12."""
    measured = laboratory.once(costs)
    pools, model = mean_cost(measured, POOLS), mean_cost(measured, MODEL)
    requested, ours, linux = (
        figure("001-12", name).number for name in ("requested", "footprint", "linux")
    )
    more = over_requested(measured, POOLS)
    saved = mean(1 - one[POOLS].footprint / one[MODEL].footprint for one in measured)
    against_lea = mean(one[POOLS].footprint / one["lea"].footprint for one in measured) - 1
    return [
        near("001-12", "arithmetic", (ours / requested - 1, linux / requested - 1)),
        near("001-12", "requested", float(pools.requested)),
        near("001-12", "footprint", float(pools.footprint)),
        near(
            "001-12",
            "linux",
            float(model.footprint),
            facts=f"{model.footprint:,} B, their model",
        ),
        near("001-12", "pools", more),
        near(
            "001-12",
            "saved",
            saved,
            f"Against their model of Linux only: beside lea the pools need {against_lea:+.1%}.",
        ),
    ]


def accesses(laboratory: Laboratory) -> list[Finding]:
    """Row 13."""
    measured = laboratory.once(costs)
    each = {name: mean_cost(measured, name).accesses for name in (POOLS, STACK, "lea", "tlsf")}
    facts = (
        f"per operation {each[POOLS]:.1f}, with a stack {each[STACK]:.1f}; lea {each['lea']:.1f}, "
        f"tlsf {each['tlsf']:.1f}"
    )
    return [holds("001-13", "fewer", each[POOLS] < min(each["lea"], each["tlsf"]), facts)]


def energy(laboratory: Laboratory) -> list[Finding]:
    """Row 14: a ratio, by an SRAM table of ours."""
    measured = laboratory.once(costs)
    lea, tlsf, stack = (mean_cost(measured, name).energy for name in ("lea", "tlsf", STACK))
    both = mean(
        1 - one[MODEL].accesses / (one["lea"].accesses * one[MODEL].energy) for one in measured
    )
    facts = (
        f"{1 - 1 / lea:.0%} less than lea, {1 - 1 / tlsf:.0%} less than tlsf; with a stack "
        f"{1 - stack / lea:.0%} and {1 - stack / tlsf:.0%}"
    )
    why = (
        f"lea's accesses in a memory of their model's size, both factors at once, give {both:.0%}. "
        "The published 16 J for 2,000 operations are implausible; ratios alone are compared."
    )
    return [near("001-14", "saved", 1 - 1 / lea, why, facts)]


def steadiness(laboratory: Laboratory) -> list[Finding]:
    """Row 15."""
    measured = laboratory.once(costs)
    varies = {
        name: pstdev([one[name].accesses for one in measured]) / mean_cost(measured, name).accesses
        for name in (POOLS, STACK, "lea")
    }
    facts = (
        f"accesses vary by {varies[POOLS]:.1%} for the pools, {varies[STACK]:.1%} with a stack, "
        f"{varies['lea']:.1%} for lea"
    )
    why = (
        "It is told of 18 captures, which are not to be had. Seeds of one mix are alike to every "
        "allocator; the pools' traversal even varies most."
    )
    return [unknown("001-15", "steady", why, facts)]


def object_code(_: Laboratory) -> list[Finding]:
    """Row 16."""
    missing = code_sizes.why_not()
    if missing is not None:
        return [unknown("001-16", "code", f"Not weighed: {missing}.")]
    size = code_sizes.code_sizes([POOLS])[POOLS]
    why = "Another instruction set and compiler, neither told; ours is what its tables need."
    return [near("001-16", "code", size / 1024, why, f"{size:,} B ({code_sizes.HOW})")]


def delegation(_: Laboratory) -> list[Finding]:
    """Row 17: 4000 B are beyond every pool."""
    alone = Plan(POOLS, pools=(Pool(40, 4, True),))
    beside = Plan(POOLS, pools=(Pool(40, 4, True),), shared=Plan("tlsf"))
    refused, served = refusals(alone, [40, 4000], 1 << 14), refusals(beside, [40, 4000], 1 << 14)
    facts = "4000 B are refused by pools alone, and served with TLSF behind them"
    return [holds("001-17", "rest", (refused, served) == (1, 0), facts)]


ROWS = {
    "001-10": Row(linux_model, "blocks of 64 to 1024 B and of 4096 B, neither split nor joined"),
    "001-11": Row(execution_time),
    "001-12": Row(footprints, "as many blocks a pool as are ever live at once"),
    "001-13": Row(accesses, "words of metadata, safety level 1"),
    "001-14": Row(energy, "one SRAM of the region's size, by docs/energy.md"),
    "001-15": Row(steadiness, "accesses for time"),
    "001-16": Row(object_code, code_sizes.HOW),
    "001-17": Row(delegation, "the plan names a shared allocator"),
}


def _contestants(loaded: LoadedTrace) -> Portfolio:
    blocks = [(size, False) for size in LEA_AS_DESCRIBED]
    plan = special_pools_plan(POOLS, loaded.events, blocks, loaded.alignment)
    named = named_portfolio(loaded, [POOLS, STACK, "lea", "tlsf"], [])
    return Portfolio((*named.candidates, Candidate(MODEL, plan, "", True)), ())
