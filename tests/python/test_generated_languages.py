# SPDX-License-Identifier: Apache-2.0
"""Generated code in C, C++ and Rust places every block where the engine's replay does.

In C on 64 and on 32 bits: random traces, those of examples/, and two of the corpus where
HEAPFIT_CORPUS names it. An allocator has enough room for every other trace, too little for the
rest; HEAPFIT_ALL_PAIRS=1 replays each trace in both, and every trace on every allocator. C++ runs
on a Cortex-M4, too, without exceptions, type information and guards of statics, as firmware is
built.
"""

import os
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from generated_code import (
    HERE,
    NO_MEMSET,
    PLANS,
    ROOT,
    SIZED,
    TLSF,
    compile_objects,
    plan_file,
)

from grid import ALL, thin
from harness.board import BOARDS
from harness.emulator import emulate
from harness.image import link_image
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.generate import GenerateOptions, generate
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.allocators import is_for_any_program
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.stored import Trace
from program import leave_unmeasured

pytestmark = pytest.mark.usefixtures("unmeasured")
ENOUGH, TOO_LITTLE = 2.0, 0.6  # of the live bytes' peak
ALLOCATORS = [info.name for info in _engine.allocators() if is_for_any_program(info)]
CORPUS_TRACES = ("heap/lwip32-ram-b.heap.gz", "heap/curl-multi.heap.gz")
EVENT = np.dtype(
    [("size", "u8"), ("object", "u4"), ("alignment", "u4"), ("op", "u4"), ("tag", "u4")]
)
ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)

FOR_CXX, FOR_RUST = GenerateOptions(("c++",)), GenerateOptions(("rust",))


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


def region_for(plan: Plan, trace: Recording, room: float) -> int:
    """`room` times the live bytes' peak, and what the heap takes itself."""
    return plan.engine().smallest_region + int(trace.live_peak * room) // 8 * 8 + 4096


def replayed(plan: Plan, region: int, trace: Recording, base: int = 64) -> list[int]:
    """Placement hash, refusals and footprint, as the engine has them."""
    replay = _engine.Replay(plan.engine(), region, base_alignment=base, keep_going=True)
    assert replay.feed(trace.events())
    found = replay.result()
    return [found.placement_hash, found.refusals, found.footprint]


def told(program: Path, trace: Recording, *words: str) -> list[int]:
    """The same, as a program prints them that is given the events, and words or their number."""
    events = program.parent / "events"
    trace.rows.tofile(events)
    words = words or (str(int(trace.rows["object"].max()) + 1),)
    done = subprocess.run(
        [program, events, *words], check=True, capture_output=True, text=True, timeout=120
    )
    return [int(word) for word in done.stdout.split()]


def objects_that_show_the_region(code: Path, objects: Path, *options: str) -> list[str]:
    made = compile_objects(code, objects, *options)
    [wrapper] = [path for path in made if path.stem == "app_heap"]
    subprocess.run(["objcopy", "--globalize-symbol=app_heap_region", str(wrapper)], check=True)
    return [*map(str, made)]


# ---- C


def check_generated(plan: Plan, trace: Recording, room: float, folder: Path, *more: str) -> None:
    """Generated C and the engine place alike."""
    region = region_for(plan, trace, room)
    expected = replayed(plan, region, trace)
    assert expected[1] > 0 or room > 1
    generate(plan_file(plan, region, base_alignment=64), folder / "code")
    for bits in ("-m64", "-m32"):
        objects = objects_that_show_the_region(folder / "code", folder / bits, bits, "-Os")
        program = [str(HERE / "generated_replay.c"), *objects, "-o", str(folder / "replay")]
        command = ["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", bits, *more]
        subprocess.run([*command, f"-I{folder / 'code'}", *program], check=True)
        assert told(folder / "replay", trace) == expected, bits


def rooms_of(number: int, allocator: str) -> tuple[float, ...]:
    if ALL:
        return ENOUGH, TOO_LITTLE
    return (TOO_LITTLE if (number + ALLOCATORS.index(allocator)) % 2 else ENOUGH,)


@pytest.mark.parametrize(("name", "allocator"), thin(14, TRACES, ALLOCATORS))
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


# ---- C++

CXX = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror")
# What operator new promises is no more than the plans' alignment.
NEW_ALIGNED = {"g++": "-faligned-new=8", "clang++": "-fnew-alignment=8"}
# Allocators, room (of the live bytes' peak, enough or too little) and bits.
CASES = [
    ("tailored", 2.0, "-m64"),
    ("class_pools", 0.6, "-m32"),
    *((name, 0.6, "-m32") for name in SIZED),
]


@pytest.fixture(scope="module")
def drawn() -> Recording:
    return recording(random_rows(1, 20_000))


def cxx_program(folder: Path, source: Path, *options: str, compiler: str = "g++") -> Path:
    """A C++ program linked with all of a generated folder, whose region it can see."""
    bits = [option for option in options if option.startswith("-m")]
    objects = objects_that_show_the_region(folder, source.parent / "objects", *bits, "-Os")
    events = source.parent / "objects/events.o"
    own = ["gcc", "-std=c11", *bits, "-c", str(HERE / "generated_events.c"), "-o", str(events)]
    subprocess.run(own, check=True)
    made = source.parent / "program"
    files = (str(source), str(events), str(folder / "app_new.cpp"), *objects)
    command = [compiler, *CXX, NEW_ALIGNED[compiler], f"-I{folder}", f"-I{HERE}", *options, *files]
    subprocess.run([*command, "-o", str(made)], check=True, capture_output=True, text=True)
    return made


def copied(name: str, folder: Path) -> Path:
    """A source beside this file, where it is built."""
    (folder / name).write_text((HERE / name).read_text())
    return folder / name


@pytest.mark.parametrize(("allocator", "room", "bits"), CASES)
def test_cxx_places_every_block_as_the_engine_does(
    drawn: Recording, allocator: str, room: float, bits: str, tmp_path: Path
) -> None:
    plan = plan_for(allocator, drawn)
    region = region_for(plan, drawn, room)
    generate(plan_file(plan, region, base_alignment=64), tmp_path / "code", options=FOR_CXX)
    expected = replayed(plan, region, drawn)
    assert expected[1] > 0 or room > 1
    source = copied("generated_replay.cpp", tmp_path)
    told_sizes = f"-DAPP_IS_SIZED={int(allocator in SIZED)}"
    made = cxx_program(tmp_path / "code", source, bits, told_sizes)
    for way in ("new", "resource", "allocator"):
        assert told(made, drawn, way) == expected, way
    if bits == "-m32":
        quiet = (told_sizes, "-fno-exceptions", "-fno-rtti")
        assert (
            told(cxx_program(tmp_path / "code", source, bits, *quiet), drawn, "quiet") == expected
        )


@pytest.fixture(scope="module")
def cxx_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated code of a small heap, not to be changed."""
    made = tmp_path_factory.mktemp("generated") / "code"
    with pytest.MonkeyPatch.context() as patch:
        leave_unmeasured(patch.setattr)
        generate(plan_file(PLANS["tlsf"], 4096), made, options=FOR_CXX)
    return made


@pytest.mark.parametrize("page", ["README.md", ROOT / "docs/languages.md"])
def test_the_cxx_program_of_a_page_runs(cxx_folder: Path, tmp_path: Path, page: str | Path) -> None:
    [text] = re.findall(r"```cpp\n(.*?)```", (cxx_folder / page).read_text(), re.DOTALL)
    (tmp_path / "main.cpp").write_text(text)
    subprocess.run([cxx_program(cxx_folder, tmp_path / "main.cpp", compiler="clang++")], check=True)


def test_new_of_a_larger_alignment_than_the_plan_refuses_to_compile(cxx_folder: Path) -> None:
    command = ["g++", "-std=c++17", "-fsyntax-only", "-faligned-new=16", "app_new.cpp"]
    done = subprocess.run(command, cwd=cxx_folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "compile the whole program with -faligned-new=8" in done.stderr


@pytest.mark.parametrize(("option", "code"), [("-fexceptions", 0), ("-fno-exceptions", -6)])
def test_a_full_heap_calls_the_handler_then_throws_or_aborts(
    cxx_folder: Path, tmp_path: Path, option: str, code: int
) -> None:
    made = cxx_program(cxx_folder, copied("generated_exhausted.cpp", tmp_path), option)
    assert subprocess.run([made], check=False).returncode == code
    assert subprocess.run([made, "leave"], check=False).returncode == 42


def test_arrays_of_a_heap_that_is_told_sizes_keep_their_own(tmp_path: Path) -> None:
    generate(plan_file(Plan("sized")), tmp_path / "code", options=FOR_CXX)
    source = copied("generated_arrays.cpp", tmp_path)
    made = cxx_program(tmp_path / "code", source, "-fsized-deallocation")
    assert subprocess.run([made], check=False).returncode == 0
    assert subprocess.run([made, "unsized"], check=False).returncode == -6


def test_cxx_files_of_another_plan_refuse_to_compile(cxx_folder: Path, tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"], 8192), tmp_path / "code", options=FOR_CXX)
    (tmp_path / "code/app_heap.hpp").write_bytes((cxx_folder / "app_heap.hpp").read_bytes())
    command = ["g++", "-std=c++17", "-fsyntax-only", "-faligned-new=8", "app_new.cpp"]
    done = subprocess.run(
        command, cwd=tmp_path / "code", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "#error" in done.stderr and "Regenerate" in done.stderr


def test_cxx_refuses_a_prefix_whose_names_it_reserves(tmp_path: Path) -> None:
    for prefix in ("a__b", "app_"):
        with pytest.raises(HeapfitError, match=r"must not hold two _ side by side"):
            generate(plan_file(PLANS["tlsf"]), tmp_path / "code", prefix, FOR_CXX)
        generate(plan_file(PLANS["tlsf"]), tmp_path / prefix, prefix)
    assert not (tmp_path / "code").exists()


# ---- C++ on a board

M4 = BOARDS["cortex-m4"]
FLAGS = (*M4.flags, "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-I.")
COMPILE_C = (f"{M4.tools}gcc", *FLAGS, "-std=c11", NO_MEMSET)
COMPILE_CXX = (
    *(f"{M4.tools}g++", *FLAGS, "-std=c++17", "-fno-exceptions", "-fno-rtti"),
    *("-fno-threadsafe-statics", "-faligned-new=8", "-Wall", "-Wextra", "-Werror"),
    *("-DAPP_IS_SIZED=0", f"-I{HERE}"),
)


def board_objects(folder: Path) -> list[Path]:
    """The objects of a generated folder and of a replay, which can see the region."""
    c = [*folder.glob("*.c"), *folder.glob("src/*/*.c")]
    cxx = [folder / "app_new.cpp", HERE / "generated_replay.cpp", HERE / "generated_board.cpp"]
    objects = []
    for source in (*c, *cxx):
        objects.append(folder.parent / f"{source.stem}.o")
        command = COMPILE_C if source in c else COMPILE_CXX
        run([*command, "-c", source, "-o", objects[-1]], folder)
    made_visible = "--globalize-symbol=app_heap_region"
    run([f"{M4.tools}objcopy", made_visible, folder.parent / "app_heap.o"], folder)
    return objects


def test_cxx_on_a_cortex_m4_places_every_block_as_the_engine_does(tmp_path: Path) -> None:
    few = recording(random_rows(1, 5_000))
    plan = plan_for("tailored", few)
    region = region_for(plan, few, 2.0)
    generate(plan_file(plan, region, base_alignment=64), tmp_path / "code", options=FOR_CXX)
    image = link_image(
        Workbench(tmp_path), M4, Build("Os"), tmp_path, board_objects(tmp_path / "code")
    )
    few.rows.tofile(tmp_path / "events")
    for way in ("new", "quiet", "resource", "allocator"):
        printed = dict(line.split() for line in emulate(image, ("events", way)).splitlines())
        names = ("placement_hash", "refusals", "footprint")
        found = [int(printed[name], 16 if name == "placement_hash" else 10) for name in names]
        assert found == replayed(plan, region, few), way


# ---- Rust

BASE = 1 << 23  # bytes; more than any region here
LOCKED = 'critical-section = { version = "1", features = ["std"] }\n'


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where cargo builds for all tests here, so that it builds each package once."""
    return tmp_path_factory.mktemp("cargo")


@pytest.fixture(scope="module")
def for_rust() -> Recording:
    """Without alignment where a block is resized: Rust keeps it by a copy, C does not keep it."""
    rows = random_rows(2, 20_000)
    resized = np.isin(rows["object"], rows["object"][rows["op"] == RESIZE])
    rows["alignment"][resized & (rows["op"] == ALIGNED)] = 1
    return recording(rows)


def built(folder: Path, program: str, target: Path, features: str = "") -> Path:
    """A program with the crate in `folder`/code, as the README names it."""
    package = folder / "program"
    (package / "src").mkdir(parents=True, exist_ok=True)
    (package / "src/main.rs").write_text(program)
    (package / "Cargo.toml").write_text(
        '[package]\nname = "program"\nversion = "0.0.0"\nedition = "2021"\n'
        f'[dependencies]\n{LOCKED if features else ""}[dependencies.app_heap]\npath = "../code"\n'
        f"features = [{features}]\n"
    )
    command = ["cargo", "build", "--quiet", "--target-dir", str(target)]
    environment = os.environ | {"RUSTFLAGS": "-Dwarnings -Cdebuginfo=0"}
    subprocess.run(
        command,
        cwd=package,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return target / "debug/program"


@pytest.mark.parametrize(
    ("allocator", "room", "features"),
    [
        ("tailored", 2.0, ""),
        ("class_pools", 0.6, '"critical-section"'),
        *((name, 0.6, "") for name in SIZED),
    ],
)
def test_rust_places_every_block_as_the_engine_does(
    for_rust: Recording, allocator: str, room: float, features: str, target: Path, tmp_path: Path
) -> None:
    plan = plan_for(allocator, for_rust)
    region = region_for(plan, for_rust, room)
    assert region < BASE
    generate(plan_file(plan, region, base_alignment=BASE), tmp_path / "code", options=FOR_RUST)
    expected = replayed(plan, region, for_rust, BASE)
    assert expected[1] > 0 or room > 1
    program = built(tmp_path, (HERE / "generated_replay.rs").read_text(), target, features)
    assert told(program, for_rust) == expected


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    """A generated crate, to be changed, in `code` of a folder."""
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=FOR_RUST)
    return tmp_path


def test_the_rust_programs_of_our_pages_run(crate: Path, target: Path) -> None:
    for page in (crate / "code/README.md", ROOT / "docs/languages.md"):
        [text] = re.findall(r"```rust\n(.*?)```", page.read_text(), re.DOTALL)
        subprocess.run([built(crate, text, target)], check=True)


def test_what_cargo_builds_is_replaced_and_what_people_write_is_not(crate: Path) -> None:
    plan = plan_file(PLANS["tlsf"])
    for name in ("Cargo.lock", "target/debug/anything"):
        (crate / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (crate / "code" / name).write_text("built")
    generate(plan, crate / "code", options=FOR_RUST)
    assert not (crate / "code/target").exists()
    (crate / "code/notes.rs").write_text("mine")
    with pytest.raises(HeapfitError, match=r"notes\.rs: was not written by heapfit generate"):
        generate(plan, crate / "code", options=FOR_RUST)


def test_a_folder_of_c_is_never_what_cargo_builds(tmp_path: Path) -> None:
    plan = plan_file(PLANS["tlsf"])
    generate(plan, tmp_path / "code")
    (tmp_path / "code/Cargo.lock").write_text("mine")
    with pytest.raises(HeapfitError, match=r"Cargo\.lock: was not written by heapfit generate"):
        generate(plan, tmp_path / "code")


@pytest.mark.parametrize("file", ["app_heap.h", "lib.rs"])
def test_a_crate_with_files_of_another_plan_refuses_to_compile(
    crate: Path, target: Path, file: str
) -> None:
    generate(plan_file(PLANS["tlsf"], 8192), crate / "other", options=FOR_RUST)
    (crate / "code" / file).write_bytes((crate / "other" / file).read_bytes())
    with pytest.raises(subprocess.CalledProcessError) as refused:
        built(crate, "fn main() {}", target)
    assert f"Regenerate: {file} is of another plan than build.rs" in refused.value.stderr
