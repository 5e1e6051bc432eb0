# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, rows 10 to 17: what the pools cost beside other allocators.

The paper's "Linux allocator" is Lea's as it understands it, and its text and its number are two
allocators: blocks of 64 to 1024 B and of 4096 B that nothing splits explain the number; split and
coalesced, as the text has them, they need a tenth more than is requested. Lea's allocator as
published is run beside both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, pstdev
from typing import TypeAlias

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.row import energies_over_least
from heapfit.design.pools.special_pools import special_pools_plan
from heapfit.design.portfolio import build_portfolio
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload
from heapfit_papers.packets.described import BLOCKS, measure_footprint
from heapfit_papers.packets.instructions import CallInstructions, queue_instructions
from heapfit_papers.packets.mix import TRACES, queue_sizes, write_queue
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.finding import Finding, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.reproduce.small_heap import refusals

MODEL = "blocks as described, whole"
POOLS = "class_pools"
STACK = "class_pools:search=1"  # a free block in one step; the paper traverses the pool
_PACKETS = 1000  # in the queue
_SMALL_TRACES = 6
_Times: TypeAlias = tuple[
    Sequence[Mapping[str, "Cost"]], Mapping[int, Mapping[str, CallInstructions]]
]


@dataclass(frozen=True, slots=True)
class Cost:
    """One allocator on one trace."""

    requested: int  # bytes, U_max
    footprint: int  # R_safe
    accesses: float  # metadata words per operation
    energy: float  # over that of the pools


def costs_of(seed: int) -> dict[str, Cost]:
    """A queue of 1,000 packets of the fitted mix filled and drained, on each allocator."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        path = Path(folder) / "queue.parquet"
        return _costs_on(load_trace(write_queue(path, queue_sizes(seed, _PACKETS))))


def measure_uniform_sizes(seed: int) -> dict[str, Cost]:
    """Measures the queue with uniform sizes in between, as shares alone would have it."""
    spec = parse_workload(f"queue_fill:packets={_PACKETS}", seed)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        return _costs_on(load_trace(generate_workload(spec, Path(folder) / "queue.parquet")))


def measure_described(seed: int) -> dict[str, int]:
    """The same queue on the allocator that splits and coalesces, as the text has it. Bytes."""
    sizes = queue_sizes(seed, _PACKETS)
    return {"requested": int(sizes.sum()), "footprint": measure_footprint(sizes.tolist())}


def costs(laboratory: Laboratory) -> list[dict[str, Cost]]:
    """One for each of the traces."""
    return laboratory.map("packet pools", costs_of, _seeds(laboratory))


@dataclass(frozen=True, slots=True)
class Models:
    """The paper's Linux allocator: whole blocks, and as the text has it."""

    fitted: Sequence[Mapping[str, Cost]]
    described: Sequence[Mapping[str, int]]


def models(laboratory: Laboratory) -> Models:
    described = laboratory.map("blocks split and joined", measure_described, _seeds(laboratory))
    return Models(laboratory.measure_once(costs), described)


def both_mixes(laboratory: Laboratory) -> dict[str, Sequence[Mapping[str, Cost]]]:
    """Costs on the fitted mix, and on other sizes alike."""
    alike = laboratory.map("other sizes alike", measure_uniform_sizes, _seeds(laboratory))
    return {"fitted": laboratory.measure_once(costs), "alike": alike}


def times(laboratory: Laboratory) -> _Times:
    """What stands for time: costs, and instructions by trace."""
    return laboratory.measure_once(costs), queue_instructions()


def mean_cost(some: Sequence[Mapping[str, Cost]], name: str) -> Cost:
    """The mean cost of an allocator over the traces."""
    mine = [one[name] for one in some]
    return Cost(
        round(mean(one.requested for one in mine)),
        round(mean(one.footprint for one in mine)),
        mean(one.accesses for one in mine),
        mean(one.energy for one in mine),
    )


def compare_to_requested(some: Sequence[Mapping[str, Cost]], name: str) -> float:
    """How much more than what is requested an allocator needs, mean of the traces."""
    return mean(one[name].footprint / one[name].requested for one in some) - 1


def linux_model(measured: Models) -> list[Finding]:
    model, lea = (compare_to_requested(measured.fitted, name) for name in (MODEL, "lea"))
    described = mean(one["footprint"] / one["requested"] for one in measured.described) - 1
    return [
        near(
            "001-10",
            "model",
            model,
            "The mix was fitted to it. Whole blocks explain the published number.",
            f"{model:+.1%} for blocks of 64 to 1024 B and of 4096 B that nothing splits",
        ),
        near(
            "001-10",
            "described",
            described,
            "The text's allocator is not the number's: what is left of 4096 B serves the next "
            f"packets. Lea's allocator as published needs {lea:+.1%}.",
            f"{described:+.1%} for the same blocks, split best fit and coalesced",
        ),
    ]


def execution_time(measured: _Times) -> list[Finding]:
    """Row 11: time is not ours to give; accesses and instructions are what it depends on."""
    fitted, instructions = measured
    saved = [1 - one[POOLS].accesses / one["lea"].accesses for one in fitted]
    stack = mean(1 - one[STACK].accesses / one["lea"].accesses for one in fitted)
    facts = f"{mean(saved):.0%} fewer accesses than lea; {stack:.0%} with a stack of free blocks"
    each = {
        name: mean(one[name].each for one in instructions.values())
        for name in (POOLS, STACK, "best_fit", "tlsf")
    }
    counted = (
        f"{each[POOLS]:.0f} instructions a call, with a stack {each[STACK]:.0f}; best_fit "
        f"{each['best_fit']:.0f}, tlsf {each['tlsf']:.0f}"
    )
    told = "Machine and clock are not told. "
    why = (
        f"{told}Beside the published time stand accesses to metadata and instructions of an "
        "emulated Cortex-M4, where best_fit stands for Lea's allocator, which no board is built "
        "with."
    )
    best = max(1 - one[POOLS].each / one["best_fit"].each for one in instructions.values())
    return [
        unknown("001-11", "mean", why, f"{facts}; {counted}"),
        unknown(
            "001-11",
            "best",
            f"{told}Traversing a pool takes most of what finding it saves.",
            f"{max(saved):.0%} fewer accesses at best, {best:.0%} fewer instructions than best_fit",
        ),
        unknown("001-11", "pools", f"{told}No number of ours is a time."),
    ]


def footprints(measured: Mapping[str, Sequence[Mapping[str, Cost]]]) -> list[Finding]:
    fitted = measured["fitted"]
    pools, model = mean_cost(fitted, POOLS), mean_cost(fitted, MODEL)
    requested, ours, linux = (
        figure("001-12", name).number for name in ("requested", "footprint", "linux")
    )
    against_lea = mean(one[POOLS].footprint / one["lea"].footprint for one in fitted) - 1
    pools_alike, model_alike = (
        compare_to_requested(measured["alike"], name) for name in (POOLS, MODEL)
    )
    alike = f"With other sizes alike {pools_alike:+.1%} and, for whole blocks, {model_alike:+.1%}."
    saved = mean(1 - one[POOLS].footprint / one[MODEL].footprint for one in fitted)
    return [
        near("001-12", "arithmetic", (ours / requested - 1, linux / requested - 1)),
        near("001-12", "requested", float(pools.requested), _FITTED),
        near("001-12", "footprint", float(pools.footprint), _FITTED),
        near("001-12", "linux", float(model.footprint), f"{_FITTED} Of whole blocks."),
        near("001-12", "pools", compare_to_requested(fitted, POOLS), f"{_FITTED} {alike}"),
        near(
            "001-12",
            "saved",
            saved,
            f"{_FITTED} Against whole blocks only: beside lea the pools need {against_lea:+.1%}.",
        ),
    ]


def accesses(measured: Sequence[Mapping[str, Cost]]) -> list[Finding]:
    each = {name: mean_cost(measured, name).accesses for name in (POOLS, STACK, "lea", "tlsf")}
    facts = (
        f"per operation {each[POOLS]:.1f}, with a stack {each[STACK]:.1f}; lea {each['lea']:.1f}, "
        f"tlsf {each['tlsf']:.1f}"
    )
    return [holds("001-13", "fewer", each[POOLS] < min(each["lea"], each["tlsf"]), facts)]


def energy(measured: Sequence[Mapping[str, Cost]]) -> list[Finding]:
    """Row 14: a ratio, by an SRAM table of ours."""
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


def steadiness(measured: Sequence[Mapping[str, Cost]]) -> list[Finding]:
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
        "allocator."
    )
    return [unknown("001-15", "steady", why, facts)]


def pools_code(_: Laboratory) -> code_sizes.Weighed:
    return code_sizes.weigh([POOLS])


def object_code(weighed: code_sizes.Weighed) -> list[Finding]:
    if weighed.missing:
        return [unknown("001-16", "code", f"Not weighed: {weighed.missing}.")]
    size = weighed.sizes[POOLS]
    why = "Another instruction set and compiler, neither told; ours is what its tables need."
    return [near("001-16", "code", size / 1024, why, f"{size:,} B ({code_sizes.HOW})")]


def measure_delegation(_: Laboratory) -> dict[str, int]:
    """Refusals of requests of 40 B and of 4000 B, which is beyond every pool."""
    alone = Plan(POOLS, pools=(Pool(40, 4, True),))
    beside = Plan(POOLS, pools=(Pool(40, 4, True),), shared=Plan("tlsf"))
    plans = {"alone": alone, "beside": beside}  # a shared allocator
    return {name: refusals(plan, [40, 4000], 1 << 14) for name, plan in plans.items()}


def delegation(refused: Mapping[str, int]) -> list[Finding]:
    facts = (
        f"of 40 and 4000 B, pools alone refuse {refused['alone']}, with TLSF {refused['beside']}"
    )
    return [holds("001-17", "rest", refused == {"alone": 1, "beside": 0}, facts)]


_FITTED = "The mix was fitted to it."

ROWS: Rows = {
    "001-10": Row(models, linux_model, f"blocks of {', '.join(map(str, BLOCKS))} B"),
    "001-11": Row(times, execution_time),
    "001-12": Row(
        both_mixes,
        footprints,
        "of the packets that are neither 40 nor 1500 B, 53.6 % are alike in 1025 to 1424 B, 45.4 % "
        "in 41 to 72 B, 1 % anywhere: fitted to the totals; as many blocks a pool as are ever live "
        "at once",
    ),
    "001-13": Row(costs, accesses, "words of metadata, safety level 1"),
    "001-14": Row(costs, energy, "one SRAM of the region's size, by docs/evidence/energy.md"),
    "001-15": Row(costs, steadiness, "accesses for time"),
    "001-16": Row(pools_code, object_code, code_sizes.HOW),
    "001-17": Row(measure_delegation, delegation, "the plan names a shared allocator"),
}


def _seeds(laboratory: Laboratory) -> list[int]:
    return list(range(1, (_SMALL_TRACES if laboratory.is_small else TRACES) + 1))


def _costs_on(loaded: LoadedTrace) -> dict[str, Cost]:
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


def _contestants(loaded: LoadedTrace) -> Portfolio:
    blocks = [(size, False) for size in BLOCKS]
    plan = special_pools_plan(POOLS, loaded.events, blocks, loaded.alignment)
    named = build_portfolio(loaded, [POOLS, STACK, "lea", "tlsf"], [])
    return Portfolio((*named.candidates, Candidate(MODEL, Heap(MODEL, plan), "", True)), ())
