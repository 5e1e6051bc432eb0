# SPDX-License-Identifier: Apache-2.0
"""Generated C places every block where the engine's replay does, on 64 and on 32 bits.

The traces are random ones, those of examples/, and two of the corpus where HEAPFIT_CORPUS names it.
An allocator has enough room for every other trace, too little for the rest; HEAPFIT_ALL_PAIRS=1
replays each trace in both, and every trace on every allocator.
"""

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from generated_code import HERE, ROOT, TLSF, compile_objects, plan_file

from grid import ALL, thin
from heapfit import _engine
from heapfit.generate import generate
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.allocators import is_for_any_program
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.stored import Trace

ENOUGH, TOO_LITTLE = 2.0, 0.6  # of the live bytes' peak
ALLOCATORS = [info.name for info in _engine.allocators() if is_for_any_program(info)]
CORPUS_TRACES = ("heap/lwip32-ram-b.heap.gz", "heap/curl-multi.heap.gz")
EVENT = np.dtype(
    [("size", "u8"), ("object", "u4"), ("alignment", "u4"), ("op", "u4"), ("tag", "u4")]
)
ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)


pytestmark = pytest.mark.usefixtures("unmeasured")


@dataclass(frozen=True)
class Recording:
    """A trace's events for both replays."""

    rows: np.ndarray  # of EVENT
    live_peak: int

    def events(self) -> _engine.EventArray:
        events = _engine.EventArray()
        columns = {name: np.ascontiguousarray(self.rows[name]) for name in EVENT.names or ()}
        events.append(
            columns["op"].astype(np.uint8),
            columns["object"],
            columns["size"],
            columns["alignment"],
            columns["tag"].astype(np.uint16),
        )
        return events


def recording(rows: np.ndarray) -> Recording:
    replay = _engine.Replay(TLSF.engine(), 1 << 30, base_alignment=64)
    assert replay.feed(Recording(rows, 0).events())
    return Recording(rows, replay.result().live_peak)


def random_rows(seed: int, count: int) -> np.ndarray:
    """All five kinds of request, a few frequent sizes, now and then a large one."""
    chance = random.Random(seed)
    live: list[int] = []
    rows = []
    objects = 0
    for _ in range(count):
        frequent = chance.choice((0, 24, 40, 64, 100, 1500))
        size = frequent if chance.random() < 0.7 else int(chance.paretovariate(1.1) * 8) % 5000
        kind = chance.random()
        if live and kind < 0.44:
            rows.append((0, live.pop(chance.randrange(len(live))), 0, FREE, 0))
        elif live and kind < 0.52:
            place = chance.randrange(len(live))
            rows.append((size, live[place], 0, RESIZE, 0))
            if size == 0:
                live.pop(place)
        else:
            op = chance.choices((ALLOC, ZEROED, ALIGNED), (8, 1, 1))[0]
            alignment = chance.choice((1, 4, 8, 16, 64)) if op == ALIGNED else 0
            rows.append((size, objects, alignment, op, 0))
            live.append(objects)
            objects += 1
    return np.array(rows, EVENT)


def stored_rows(trace: Trace) -> np.ndarray:
    parts = []
    for batch in trace.batches(("op", "object", "size", "alignment")):
        rows = np.zeros(len(batch["op"]), EVENT)
        for name, column in batch.items():
            rows[name] = column
        parts.append(rows)
    return np.concatenate(parts)


def trace_names() -> Iterator[str]:
    yield from ("random 1", "random 2")
    yield from (str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("examples/*/*.parquet")))
    if "HEAPFIT_CORPUS" in os.environ:
        yield from CORPUS_TRACES


@cache
def named_recording(name: str) -> Recording:
    if name.startswith("random"):
        return recording(random_rows(int(name.split()[1]), 20_000))
    if name.startswith("examples"):
        return recording(stored_rows(Trace.open(ROOT / name)))
    source = Path(os.environ["HEAPFIT_CORPUS"]) / name
    with tempfile.TemporaryDirectory() as folder:
        return recording(stored_rows(open_any(source, ImportOptions(), Path(folder))))


TRACES = list(trace_names())


def frequent_sizes(trace: Recording, count: int) -> list[int]:
    """The most frequent requests, no two of which need the same block at alignment 8."""
    sizes, numbers = np.unique(trace.rows["size"][trace.rows["op"] < RESIZE], return_counts=True)
    frequent = sizes[np.argsort(-numbers, kind="stable")]
    by_block = {int(size + 7) // 8: int(size) for size in frequent[::-1] if size > 0}
    return sorted(size for size in by_block.values() if size in frequent[: 3 * count])[:count]


def plan_for(allocator: str, trace: Recording) -> Plan:
    """Pools that serve some of a trace's requests, and overflow."""
    sizes = frequent_sizes(trace, 6)
    if allocator == "budgeted":
        return Plan(allocator, pools=tuple(Pool(size, 20, True) for size in sizes), shared=TLSF)
    if allocator == "class_pools":
        pools = (Pool(size, 20, i % 2 == 0) for i, size in enumerate(sizes))
        scalars = {"search": 1} if trace.live_peak % 3 else {}
        return Plan(allocator, scalars, pools=tuple(pools), shared=TLSF)
    return Plan(allocator)


def generated_replay(folder: Path, trace: Recording, bits: str, *more: str) -> tuple[int, int, int]:
    """Placement hash, refusals and footprint of the trace on generated code."""
    objects = compile_objects(folder / "code", folder / bits, bits, "-Os")
    [wrapper] = [path for path in objects if path.stem == "app_heap"]
    subprocess.run(["objcopy", "--globalize-symbol=app_heap_region", str(wrapper)], check=True)
    program = [str(HERE / "generated_replay.c"), *map(str, objects), "-o", str(folder / "replay")]
    command = ["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", bits, *more]
    subprocess.run([*command, f"-I{folder / 'code'}", *program], check=True)
    trace.rows.tofile(folder / "events")
    count = str(int(trace.rows["object"].max()) + 1)
    run = [str(folder / "replay"), str(folder / "events"), count]
    output = subprocess.run(run, check=True, capture_output=True, text=True, timeout=120).stdout
    placement_hash, refusals, footprint = map(int, output.split())
    return placement_hash, refusals, footprint


def check_generated(plan: Plan, trace: Recording, room: float, folder: Path, *more: str) -> None:
    """Generated C and the engine place alike in a region of `room` times the live bytes' peak."""
    region = plan.engine().smallest_region + int(trace.live_peak * room) // 8 * 8 + 4096
    replay = _engine.Replay(plan.engine(), region, base_alignment=64, keep_going=True)
    assert replay.feed(trace.events())
    engine = replay.result()
    assert engine.refusals > 0 or room > 1
    generate(plan_file(plan, region, base_alignment=64), folder / "code")
    for bits in ("-m64", "-m32"):
        assert generated_replay(folder, trace, bits, *more) == (
            engine.placement_hash,
            engine.refusals,
            engine.footprint,
        ), bits


def rooms_of(number: int, allocator: str) -> tuple[float, ...]:
    if ALL:
        return ENOUGH, TOO_LITTLE
    return (TOO_LITTLE if (number + ALLOCATORS.index(allocator)) % 2 else ENOUGH,)


@pytest.mark.parametrize(("name", "allocator"), thin(7, TRACES, ALLOCATORS))
def test_generated_c_places_every_block_as_the_engine_does(
    name: str, allocator: str, tmp_path: Path
) -> None:
    trace = named_recording(name)
    for room in rooms_of(TRACES.index(name), allocator):
        check_generated(plan_for(allocator, trace), trace, room, tmp_path / str(room))


@pytest.mark.parametrize(
    ("layout", "index", "is_shared"), [(0, 1, False), (1, 0, False), (2, 0, False), (0, 0, True)]
)
def test_generated_c_of_every_layout_and_index_places_as_the_engine_does(
    layout: int, index: int, is_shared: bool, tmp_path: Path
) -> None:
    trace = recording(random_rows(3, 10_000))
    plan = Plan("tailored", {"layout": layout, "index": index, "ends": 2})
    if is_shared:
        pools = tuple(Pool(size, 20, True) for size in frequent_sizes(trace, 6))
        plan = Plan("budgeted", pools=pools, shared=plan)
    check_generated(plan, trace, 0.3, tmp_path)


def test_requests_with_tags_are_placed_as_the_engine_does(tmp_path: Path) -> None:
    rows = random_rows(3, 20_000)
    chance = np.random.default_rng(3)
    rows["tag"] = np.where(rows["op"] <= ZEROED, chance.integers(0, 8, len(rows)), 0)
    trace = recording(rows)
    scalars = {"ends": 2, "high_0": 0x0F3A5A5C, "high_1": 0, "tags": 5, "tag_high": 0b101010}
    plan = Plan("tailored", scalars, sites={0xB0B: 1, 0xA11CE: 5, 0xCAB: 5})
    check_generated(plan, trace, 2.0, tmp_path, "-DTAKES_TAGS=1")
    header = (tmp_path / "code/app_heap.h").read_text()
    assert "1: 00000b0b\n" in header
    assert "5: 00000cab\n *   5: 000a11ce\n" in header


def test_a_file_that_names_its_site_asks_with_the_tag(tmp_path: Path) -> None:
    """The same calls, once with the macro: what it stands for is placed at the other end."""
    plan = Plan("tailored", {"ends": 2, "high_0": 0, "tags": 1, "tag_high": 2}, sites={0xB0B: 1})
    generate(plan_file(plan), tmp_path / "code")
    objects = compile_objects(tmp_path / "code", tmp_path / "objects")
    program = tmp_path / "program.c"
    program.write_text(
        "#define APP_HEAP_SITE 1\n"
        '#include "app_heap.h"\n'
        "int main(void) {\n"
        "    char *tagged = app_heap_init() ? app_malloc(8) : NULL;\n"
        "    char *zeroed = app_calloc(2, 4);\n"
        "    char *other = (app_malloc)(8);\n"
        "    return tagged > other && zeroed > other ? 0 : 1;\n"
        "}\n"
    )
    made = [str(program), *map(str, objects), "-o", str(tmp_path / "program")]
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'code'}"]
    subprocess.run([*command, *made], check=True)
    subprocess.run([str(tmp_path / "program")], check=True, timeout=300)
