# SPDX-License-Identifier: Apache-2.0
"""Instructions, code and stack on emulated boards, beside what is aimed at and beside real peers.

Every allocator that ships replays five traces on every board; placements and accesses must equal
the host's. With HEAPFIT_CORPUS set the traces are those the peers were measured
on; without it they are drawn by the same laws from the seed printed. Nothing fails: what is not
reached says so.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory import SEED, corpus, opened
from page_tables import add_option, write_result
from peers_target import CODE, WORST

from harness.board import BOARDS, Board
from harness.calls import Spread
from harness.cases import cases_of, list_shipped
from harness.code_size import code_size
from harness.contract import LARGE, contract_image, run_contract
from harness.interrupts import interrupt_heaps
from harness.packed_trace import PackedTrace, pack
from harness.verify import Case, Verification, verify
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace

TRACES = ("slotbuf_100k", "t2_w2", "t2_w4", "queue_slide", "poisson_500")
FOUR_SIZES = "t2_w2"  # of 256, 512, 1024 and 2048 B, at most ten of each live
PEAK = 10
ROOM = 8192  # bytes of the shared heap behind pools that serve everything
M4 = BOARDS["cortex-m4"]
STEPS = 4000  # an allocator, in the contract suite

# Worst instructions of a call on a Cortex-M4 at -O2: (plan, operation): at safety level 0 and 1.
# Level 1 was estimated. The pools' are of the path that a set-aside block takes.
SPEED = {
    ("fixed_pool", "alloc"): (12, 20),
    ("fixed_pool", "free_sized"): (12, 26),
    ("class_pools", "alloc"): (12, None),
    ("class_pools", "free_sized"): (12, None),
    ("budgeted", "alloc"): (25, 35),
    ("budgeted", "free_sized"): (30, 42),
    ("tlsf", "alloc"): (190, 205),
    ("tlsf", "free"): (165, 190),
    ("tailored", "alloc"): (330, None),
    ("tailored", "free"): (300, None),
    ("tailored:layout=1", "alloc"): (330, None),
    ("tailored:layout=1", "free"): (300, None),
    ("good_fit", "alloc"): (140, None),
    ("good_fit", "free"): (100, None),
}

# Plans of `tailored` beside the standard one: layout and index.
TAILORED = {
    "tailored:index=1": {"index": 1},
    "tailored:layout=1": {"layout": 1},
}

# Bytes of init, alloc and free on a Cortex-M4 at -Os, linked, at safety level 0 and 1.
SIZES = {
    "fixed_pool": (120, 200),
    "class_pools": (350, 450),
    "tlsf": (1100, 1250),
    "budgeted": (1500, 1700),
    "best_fit": (1400, 1550),
    "tailored": (1600, None),
    "tailored:layout=1": (1600, None),
    "good_fit": (600, 750),
}


def verdict(value: int | None, most: int | None) -> str:
    if value is None or most is None:
        return ""
    return "reached" if value <= most else "not reached"


def shown(spread: Spread | None) -> str:
    return "-" if spread is None else f"{spread.mean:.0f}/{spread.p999}/{spread.worst}"


@dataclass
class Measured:
    """All that the tables at the end are made of."""

    worst: dict[tuple[str, str, int], int] = field(default_factory=dict)
    stack: dict[tuple[str, str], int] = field(default_factory=dict)

    def note(self, case: Case, done: Verification) -> None:
        for operation in ("alloc", "free", "free_sized"):
            spread = done.calls.spread(operation)
            name = case.name if case.name in TAILORED else case.plan.allocator
            key = (name, operation, done.build.safety)
            if spread is not None and done.board is M4:
                self.worst[key] = max(self.worst.get(key, 0), spread.worst)
        depth = done.calls.deepest_stack(done.target.stack, "alloc", "free", "free_sized")
        place = (case.plan.allocator, done.board.name)
        self.stack[place] = max(self.stack.get(place, 0), depth)


def row(case: Case, done: Verification) -> tuple[object, ...]:
    calls = done.calls
    spreads = [spread for op in ("alloc", "free") if (spread := calls.spread(op)) is not None]
    count = max(sum(spread.calls for spread in spreads), 1)
    return (
        case.name,
        done.board.name,
        done.build.safety,
        shown(calls.spread("alloc")),
        shown(calls.spread("free")),
        f"{calls.total('heap_loads', 'alloc', 'free') / count:.2f}",
        f"{calls.total('heap_stores', 'alloc', 'free') / count:.2f}",
        "; ".join(done.differences) or "as the host",
    )


def cases(loaded: LoadedTrace) -> Iterator[Case]:
    specs = [name.replace(":", ",").replace(",", ":", 1) for name in TAILORED]
    for allocator in [*list_shipped(), *specs]:
        print(f"  {allocator}", file=sys.stderr, flush=True)
        try:
            yield from cases_of(loaded, [allocator])
        except HeapfitError as error:
            print(f"{allocator}: {error}")


def replays(
    workbench: Workbench, case: Case, trace: PackedTrace, builds: Sequence[tuple[Board, Build]]
) -> Iterator[Verification]:
    for board, build in builds:
        yield verify(workbench, case, trace, board, build)


def trace_rows(
    workbench: Workbench, loaded: LoadedTrace, events: int, measured: Measured
) -> Iterator[tuple[object, ...]]:
    trace = pack(loaded.trace).first(events)
    builds = [(M4, Build(safety=0)), *((board, Build()) for board in BOARDS.values())]
    for case in cases(loaded):
        for done in replays(workbench, case, trace, builds):
            measured.note(case, done)
            yield row(case, done)


def peer_rows(name: str) -> Iterator[tuple[object, ...]]:
    for peer, figures in WORST.items():
        alloc, free = figures[name]
        yield (f"({peer})", M4.name, "", f"{alloc} at worst", f"{free} at worst", "", "", "")


def dedicated_cases(loaded: LoadedTrace) -> Iterator[Case]:
    """Pools of the four sizes that serve the whole trace, so that no other path is taken."""
    sizes = sorted(loaded.profile.sizes.tolist())
    pools = tuple(Pool(size, PEAK, True) for size in sizes)
    exact = {"search": 1, "overflow": 2}  # a stack a pool, and no other pool than the size's own
    plans = [
        Plan("class_pools", exact, pools=pools),
        Plan("budgeted", pools=pools, shared=Plan("tlsf")),
    ]
    if "fixed_pool" in list_shipped():
        block = {"block_size": max(sizes), "blocks": PEAK * len(sizes)}
        plans.append(Plan("fixed_pool", block))
    for plan in plans:
        region = plan.engine().smallest_region + (ROOM if plan.shared else 0)
        yield Case(plan.allocator, plan, region, _engine.HOST_BASE_ALIGNMENT)


def dedicated(workbench: Workbench, loaded: LoadedTrace, events: int) -> Measured:
    """Worst calls where every block is of a pool, freed by free and by free_sized."""
    measured = Measured()
    trace = pack(loaded.trace).first(events)
    builds = [
        (M4, Build("O2", safety, frees_by_size=sized))
        for safety in (0, 1)
        for sized in (False, True)
    ]
    for case in dedicated_cases(loaded):
        for done in replays(workbench, case, trace, builds):
            if done.differences or done.target.refusals:
                print(f"{case.name}: {done.target.refusals} refusals; {done.differences}")
            measured.note(case, done)
    return measured


def speed_rows(measured: Measured, pools: Measured) -> Iterator[tuple[object, ...]]:
    for (allocator, operation), aims in SPEED.items():
        source = pools if (allocator, operation, 0) in pools.worst else measured
        for safety, most in enumerate(aims):
            worst = source.worst.get((allocator, operation, safety))
            yield allocator, operation, safety, worst, most, verdict(worst, most)
        if operation == "free_sized":
            for safety in (0, 1):
                worst = source.worst.get((allocator, "free", safety))
                yield allocator, "free", safety, worst, None, ""


def size_rows(workbench: Workbench, plans: dict[str, Plan]) -> Iterator[tuple[object, ...]]:
    for name, plan in plans.items():
        sizes = [
            [code_size(workbench, board, Build("Os", level), plan).total for level in range(3)]
            for board in BOARDS.values()
        ]
        aims = SIZES.get(name, (None, None))
        verdicts = [verdict(*pair) for pair in zip(sizes[0], aims, strict=False)]
        aims_text = "/".join(map(str, aims)) if aims[0] else ""
        shown_sizes = ("/".join(map(str, of_board)) for of_board in sizes)
        yield (name, *shown_sizes, aims_text, ", ".join(filter(None, verdicts)))
    yield from ((f"({peer})", size, "", "", "", "") for peer, size in CODE.items())


def size_plans(loaded: LoadedTrace) -> dict[str, Plan]:
    """A plan of each allocator; of pools without a shared heap where they need none."""
    plans = {case.plan.allocator: case.plan for case in dedicated_cases(loaded)}
    plans |= {name: Plan(name) for name in list_shipped() if name not in plans}
    return plans | {name: Plan("tailored", scalars) for name, scalars in TAILORED.items()}


def out_interrupts(count: int, writes: bool) -> None:
    """The attack of `python -m harness interrupts`, as docs/evidence/attacks.md shows it."""
    columns = ("heap", "interrupts", "corrupt with a lock", "without")
    with tempfile.TemporaryDirectory() as scratch:
        rows = [
            (name, locked.inside, locked.corrupt, bare.corrupt)
            for name, locked, bare in interrupt_heaps(Workbench(Path(scratch)), count)
        ]
    console.print_table(columns, rows)
    if writes:
        write_result("interrupts", columns, rows)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=100_000, help="of each trace, at most")
    arguments.add_argument("--traces", nargs="*", default=TRACES, choices=TRACES)
    arguments.add_argument("--contract", action="store_true", help="the whole suite on each board")
    arguments.add_argument("--interrupts", type=int, help="so many a heap, and nothing else")
    add_option(arguments)
    wish = arguments.parse_args()
    if wish.interrupts:
        out_interrupts(wish.interrupts, wish.write)
        return
    print(f"traces: {corpus() or f'own generators, seed {SEED}'}, {wish.events:,} events at most")
    measured = Measured()
    with tempfile.TemporaryDirectory() as scratch:
        workbench = Workbench(Path(scratch))
        columns = ("plan", "board", "level", "alloc", "free", "loads", "stores", "replay")
        for name in wish.traces:
            print(name, file=sys.stderr, flush=True)
            loaded = load_trace(opened(name, Path(scratch)))
            print(f"\n{name}: instructions a call at -O2, mean/p99.9/worst; accesses a call")
            console.print_table(
                columns,
                [*trace_rows(workbench, loaded, wish.events, measured), *peer_rows(name)],
                width=console.WIDE,
            )
        loaded = load_trace(opened(FOUR_SIZES, Path(scratch)))
        print("\nworst instructions of a call, cortex-m4 -O2; pools: all blocks set aside")
        pools = dedicated(workbench, loaded, wish.events)
        speed = list(speed_rows(measured, pools))
        console.print_table(
            ("allocator", "operation", "level", "worst", "at most", ""), speed, width=console.WIDE
        )
        print("\ncode of init, alloc and free, -Os, bytes at level 0/1/2")
        sizes = list(size_rows(workbench, size_plans(loaded)))
        console.print_table(("allocator", *BOARDS, "at most 0/1", ""), sizes, width=console.WIDE)
        print("\nstack of alloc and free, -O2: the deepest byte touched below the caller's")
        names = dict.fromkeys(name for name, _ in measured.stack)
        stacks = [(one, *(measured.stack.get((one, board)) for board in BOARDS)) for one in names]
        console.print_table(("allocator", *BOARDS), stacks, width=console.WIDE)
        if wish.contract:
            for board in BOARDS.values():
                image = contract_image(workbench, board, Build("Os"), list_shipped(), LARGE)
                print(board.name, *run_contract(image, STEPS))


if __name__ == "__main__":
    main()
