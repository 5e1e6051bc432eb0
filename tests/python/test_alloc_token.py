# SPDX-License-Identifier: Apache-2.0
"""Tags by the compiler: examples/alloc-token, recorded, fitted and run on its heap, unedited.

Needs clang 22, which scripts/install-packages installs where the system has it; elsewhere the
example says so, and that is what is tested.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from heapfit.plan.plan_file import load_plan

HERE = Path(__file__).parents[2] / "examples/alloc-token"
CLANG = "clang-22"
HAS_TOKENS = shutil.which(CLANG) is not None
OURS = {"__alloc_token_malloc", "__alloc_token_calloc", "__alloc_token_realloc", "app_free"}
HEAP_OF_C = {"malloc", "calloc", "realloc", "free"}


def build(folder, clang):
    heapfit = Path(sysconfig.get_path("scripts")) / "heapfit"
    environment = {**os.environ, "CLANG": clang, "HEAPFIT": str(heapfit), "PYTHON": sys.executable}
    words = ["sh", str(HERE / "build.sh"), str(folder)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def undefined(path):
    """The names that a program or object asks of others."""
    told = subprocess.run(["nm", "-u", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in told.splitlines()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokens")
    done = build(folder, CLANG)
    assert (done.returncode == 0) == HAS_TOKENS, done.stderr
    assert HAS_TOKENS or "install clang 22" in done.stderr
    return folder if HAS_TOKENS else None


def test_a_compiler_without_tokens_is_told(tmp_path):
    done = build(tmp_path, "cc")
    assert done.returncode == 1
    assert done.stderr == (
        "build.sh: cc: has no -fsanitize=alloc-token (install clang 22 and name it by CLANG)\n"
    )


def test_the_program_runs_on_its_heap_alone(built):
    if built is not None:
        assert OURS - {"__alloc_token_realloc"} <= undefined(built / "broker_fitted.o")
        assert undefined(built / "fitted").isdisjoint(HEAP_OF_C)
        assert (built / "found").read_text() == (built / "expected").read_text() != ""


def test_the_plan_places_by_token(built):
    """Subscriptions and messages have one size, and different ends."""
    if built is not None:
        plan = load_plan(built / "fit/plan.toml").plan
        assert set(plan.sites) <= set(range(1, 32))
        assert len(plan.sites) == 5
        tags = (built / "tags.h").read_text().removeprefix("#define TAGS_OF_TOKENS ").split(", ")
        assert {site: int(tag) for site, tag in enumerate(tags, 1)} == dict(plan.sites)
        assert plan.scalars["tag_high"] not in (0, sum(1 << tag for tag in plan.sites.values()))


def test_bare_metal_is_compiled_to_the_same_calls(tmp_path):
    if HAS_TOKENS:
        tokens = ["-fsanitize=alloc-token", "-Xclang", "-falloc-token-mode=increment"]
        target = [
            "--target=thumbv7m-none-eabi",
            "-isystem",
            "/usr/include/newlib",
            "-Dfree=app_free",
        ]
        words = [CLANG, *target, "-Os", *tokens, "-c", HERE / "broker.c", "-o", tmp_path / "arm.o"]
        subprocess.run(words, check=True)
        asked = undefined(tmp_path / "arm.o")
        assert asked >= OURS
        assert asked.isdisjoint(HEAP_OF_C)
