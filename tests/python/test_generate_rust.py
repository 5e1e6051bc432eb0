# SPDX-License-Identifier: Apache-2.0
"""A generated heap from Rust: every block where the engine's replay puts it."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from generated_code import HERE, PLANS, ROOT, SIZED, plan_file
from test_generate_replay import ALIGNED, RESIZE, Recording, plan_for, random_rows, recording

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.generate import generate
from heapfit.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("unmeasured")

BASE = 1 << 23  # bytes; more than any region here
LOCKED = 'critical-section = { version = "1", features = ["std"] }\n'


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where cargo builds for all tests here, so that it builds each package once."""
    return tmp_path_factory.mktemp("cargo")


@pytest.fixture(scope="module")
def trace() -> Recording:
    """Without alignment where a block is resized: Rust keeps it by a copy, C does not keep it."""
    rows = random_rows(2, 20_000)
    resized = np.isin(rows["object"], rows["object"][rows["op"] == RESIZE])
    rows["alignment"][resized & (rows["op"] == ALIGNED)] = 1
    return recording(rows)


def replayed(plan: Plan, region: int, trace: Recording) -> list[int]:
    """Placement hash, refusals and footprint, as the engine has them."""
    replay = _engine.Replay(plan.engine(), region, base_alignment=BASE, keep_going=True)
    assert replay.feed(trace.events())
    found = replay.result()
    return [found.placement_hash, found.refusals, found.footprint]


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
    trace: Recording, allocator: str, room: float, features: str, target: Path, tmp_path: Path
) -> None:
    plan = plan_for(allocator, trace)
    region = plan.engine().smallest_region + int(trace.live_peak * room) // 8 * 8 + 4096
    assert region < BASE
    generate(plan_file(plan, region, base_alignment=BASE), tmp_path / "code", language="rust")
    expected = replayed(plan, region, trace)
    assert expected[1] > 0 or room > 1
    program = built(tmp_path, (HERE / "generated_replay.rs").read_text(), target, features)
    trace.rows.tofile(tmp_path / "events")
    count = str(int(trace.rows["object"].max()) + 1)
    run = [str(program), str(tmp_path / "events"), count]
    output = subprocess.run(run, check=True, capture_output=True, text=True, timeout=120).stdout
    assert [int(word) for word in output.split()] == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A generated crate, to be changed, in `code` of a folder."""
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", language="rust")
    return tmp_path


def test_the_rust_programs_of_our_pages_run(folder: Path, target: Path) -> None:
    for page in (folder / "code/README.md", ROOT / "docs/languages.md"):
        [text] = re.findall(r"```rust\n(.*?)```", page.read_text(), re.DOTALL)
        subprocess.run([built(folder, text, target)], check=True)


def test_what_cargo_builds_is_replaced_and_what_people_write_is_not(folder: Path) -> None:
    plan = plan_file(PLANS["tlsf"])
    for name in ("Cargo.lock", "target/debug/anything"):
        (folder / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "code" / name).write_text("built")
    generate(plan, folder / "code", language="rust")
    assert not (folder / "code/target").exists()
    (folder / "code/notes.rs").write_text("mine")
    with pytest.raises(HeapfitError, match=r"notes\.rs: was not written by heapfit generate"):
        generate(plan, folder / "code", language="rust")


def test_a_folder_of_c_is_never_what_cargo_builds(tmp_path: Path) -> None:
    plan = plan_file(PLANS["tlsf"])
    generate(plan, tmp_path / "code")
    (tmp_path / "code/Cargo.lock").write_text("mine")
    with pytest.raises(HeapfitError, match=r"Cargo\.lock: was not written by heapfit generate"):
        generate(plan, tmp_path / "code")


@pytest.mark.parametrize("file", ["app_heap.h", "lib.rs"])
def test_a_crate_with_files_of_another_plan_refuses_to_compile(
    folder: Path, target: Path, file: str
) -> None:
    generate(plan_file(PLANS["tlsf"], 8192), folder / "other", language="rust")
    (folder / "code" / file).write_bytes((folder / "other" / file).read_bytes())
    with pytest.raises(subprocess.CalledProcessError) as refused:
        built(folder, "fn main() {}", target)
    assert f"Regenerate: {file} is of another plan than build.rs" in refused.value.stderr
