# SPDX-License-Identifier: Apache-2.0
"""A generated heap from C++: every block where the engine's replay puts it, by every form."""

import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from generated_code import HERE, PLANS, ROOT, SIZED, compile_objects, plan_file
from test_generate_replay import Recording, plan_for, random_rows, recording

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.generate import generate
from heapfit.generate.names import Text
from heapfit.generate.platforms import templates_of
from heapfit.generate.tables import HeapDesign, design_from_plan_file
from heapfit.generate.texts import added_texts
from heapfit.plan.plan import Plan
from heapfit.plan.targets import Language

pytestmark = pytest.mark.usefixtures("unmeasured")

STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror")
# What operator new promises is no more than the plans' alignment.
ALIGNED = {"g++": "-faligned-new=8", "clang++": "-fnew-alignment=8"}
BASE = 64  # bytes
# Allocators, room (of the live bytes' peak, enough or too little) and bits.
CASES = [
    ("tailored", 2.0, "-m64"),
    ("class_pools", 0.6, "-m32"),
    *((name, 0.6, "-m32") for name in SIZED),
]


@pytest.fixture(scope="module")
def trace() -> Recording:
    return recording(random_rows(1, 20_000))


def replayed(plan: Plan, region: int, trace: Recording) -> tuple[int, int, int]:
    """Placement hash, refusals and footprint, as the engine has them."""
    replay = _engine.Replay(plan.engine(), region, base_alignment=BASE, keep_going=True)
    assert replay.feed(trace.events())
    found = replay.result()
    return found.placement_hash, found.refusals, found.footprint


def program(folder: Path, source: Path, *options: str, compiler: str = "g++") -> Path:
    """A C++ program linked with all of a generated folder, whose region it can see."""
    bits = [option for option in options if option.startswith("-m")]
    objects = compile_objects(folder, source.parent / "objects", *bits, "-Os")
    [wrapper] = [path for path in objects if path.stem == "app_heap"]
    subprocess.run(["objcopy", "--globalize-symbol=app_heap_region", str(wrapper)], check=True)
    events = source.parent / "objects/events.o"
    own = ["gcc", "-std=c11", *bits, "-c", str(HERE / "generated_events.c"), "-o", str(events)]
    subprocess.run(own, check=True)
    made = source.parent / "program"
    files = (str(source), str(events), str(folder / "app_new.cpp"), *map(str, objects))
    command = [compiler, *STRICT, ALIGNED[compiler], f"-I{folder}", f"-I{HERE}", *options, *files]
    subprocess.run([*command, "-o", str(made)], check=True, capture_output=True, text=True)
    return made


def told(made: Path, trace: Recording, way: str) -> tuple[int, int, int]:
    events = made.parent / "events"
    trace.rows.tofile(events)
    run = [str(made), str(events), way]
    output = subprocess.run(run, check=True, capture_output=True, text=True, timeout=120).stdout
    placement_hash, refusals, footprint = map(int, output.split())
    return placement_hash, refusals, footprint


@pytest.mark.parametrize(("allocator", "room", "bits"), CASES)
def test_cxx_places_every_block_as_the_engine_does(
    trace: Recording, allocator: str, room: float, bits: str, tmp_path: Path
) -> None:
    plan = plan_for(allocator, trace)
    region = plan.engine().smallest_region + int(trace.live_peak * room) // 8 * 8 + 4096
    generate(plan_file(plan, region, base_alignment=BASE), tmp_path / "code", language="c++")
    expected = replayed(plan, region, trace)
    assert expected[1] > 0 or room > 1
    source = tmp_path / "replay.cpp"
    source.write_text((HERE / "generated_replay.cpp").read_text())
    told_sizes = f"-DAPP_IS_SIZED={int(allocator in SIZED)}"
    made = program(tmp_path / "code", source, bits, told_sizes)
    for way in ("new", "resource", "allocator"):
        assert told(made, trace, way) == expected, way
    if bits == "-m32":
        quiet = (told_sizes, "-fno-exceptions", "-fno-rtti")
        made = program(tmp_path / "code", source, bits, *quiet)
        assert told(made, trace, "quiet") == expected


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated code of a small heap, not to be changed."""
    made = tmp_path_factory.mktemp("generated") / "code"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heapfit.generate.link_images", lambda *_: nullcontext({}))
        patch.setattr("heapfit.generate.call_bounds", lambda *_: None)
        generate(plan_file(PLANS["tlsf"], 4096), made, language="c++")
    return made


@pytest.mark.parametrize("page", ["README.md", ROOT / "docs/languages.md"])
def test_the_cxx_program_of_a_page_runs(folder: Path, tmp_path: Path, page: str | Path) -> None:
    [text] = re.findall(r"```cpp\n(.*?)```", (folder / page).read_text(), re.DOTALL)
    (tmp_path / "main.cpp").write_text(text)
    subprocess.run([program(folder, tmp_path / "main.cpp", compiler="clang++")], check=True)


def test_new_of_a_larger_alignment_than_the_plan_refuses_to_compile(folder: Path) -> None:
    command = ["g++", "-std=c++17", "-fsyntax-only", "-faligned-new=16", "app_new.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "compile the whole program with -faligned-new=8" in done.stderr


@pytest.mark.parametrize(("option", "code"), [("-fexceptions", 0), ("-fno-exceptions", -6)])
def test_a_full_heap_calls_the_handler_then_throws_or_aborts(
    folder: Path, tmp_path: Path, option: str, code: int
) -> None:
    source = tmp_path / "main.cpp"
    source.write_text((HERE / "generated_exhausted.cpp").read_text())
    made = program(folder, source, option)
    assert subprocess.run([made], check=False).returncode == code
    assert subprocess.run([made, "leave"], check=False).returncode == 42


# What a heap that is told its sizes has instead of free, here strict about them.
FREE_SIZED = """
#include <stdlib.h>
static inline void app_free_sized(void *block, size_t size) {
    const size_t usable = app_usable_size(block);
    if (block != NULL && (size > usable || usable - size >= 16)) {
        abort();
    }
    app_free(block);
}
"""


def test_arrays_of_a_heap_that_is_told_sizes_keep_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "code"
    generate(plan_file(PLANS["tlsf"]), folder, language="c++")
    monkeypatch.setattr(HeapDesign, "needs_size", True)
    design = design_from_plan_file(plan_file(PLANS["tlsf"]), Text("app"))
    for name, text in added_texts(design, templates_of(design, Language.CXX)).items():
        (folder / name).write_text(text)
    header = folder / "app_heap.hpp"
    header.write_text(header.read_text().replace("\nnamespace", FREE_SIZED + "\nnamespace", 1))
    source = tmp_path / "main.cpp"
    source.write_text((HERE / "generated_arrays.cpp").read_text())
    made = program(folder, source, "-fsized-deallocation")
    assert subprocess.run([made], check=False).returncode == 0
    assert subprocess.run([made, "unsized"], check=False).returncode == -6


def test_cxx_files_of_another_plan_refuse_to_compile(folder: Path, tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"], 8192), tmp_path / "code", language="c++")
    (tmp_path / "code/app_heap.hpp").write_bytes((folder / "app_heap.hpp").read_bytes())
    command = ["g++", "-std=c++17", "-fsyntax-only", "-faligned-new=8", "app_new.cpp"]
    done = subprocess.run(
        command, cwd=tmp_path / "code", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "#error" in done.stderr and "Regenerate" in done.stderr


def test_cxx_refuses_a_prefix_whose_names_it_reserves(tmp_path: Path) -> None:
    for prefix in ("a__b", "app_"):
        with pytest.raises(HeapfitError, match=r"must not hold two _ side by side"):
            generate(plan_file(PLANS["tlsf"]), tmp_path / "code", prefix, "c++")
        generate(plan_file(PLANS["tlsf"]), tmp_path / prefix, prefix)
    assert not (tmp_path / "code").exists()


def test_a_language_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match=r"language 'ada': must be one of c, c\+\+, rust"):
        generate(plan_file(PLANS["tlsf"]), tmp_path / "code", language="ada")
