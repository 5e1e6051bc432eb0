# SPDX-License-Identifier: Apache-2.0
"""Every command, where its output cannot be written: one line and status 1, never a traceback."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import small_scenarios

from heapfit.cli import main

ROOT = Path(__file__).parents[2]

# Of each command the shortest run that has a result.
RUNS = {
    "fit": "small.heap -o out",
    "record": "-o recorded.parquet -- sh -c :",
    "import": "small.heap -o imported.parquet",
    "workload": "",
    "profile": "small.heap",
    "sites": "small.heap",
    "design": "small.heap -o designs",
    "front": "small.heap -o front",
    "bounds": "small.heap",
    "adversary": "small.heap fixed_pool:block_size=104,blocks=40",
    "compare": "small.heap tlsf",
    "check": "small.heap --plan plan.toml",
    "size": "small.heap",
    "size settings": "lwip small.heap",
    "size traffic": "scenario.toml",
    "verify": "large.toml --qemu image/firmware.elf --build ./build --for freertos --times 1 "
    "--icount shift=6,sleep=off -o verified -- {run} 1",
    "generate": "plan.toml -o code",
    "simulate": "scenario.toml",
    "allocators": "tlsf",
    "league": "small.heap --allocators tlsf --alignment 8 --no-designs -o league",
    "reproduce": "000-1 --small",
    "slotbuf": "10 10",
}
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
BUILD = f"""#!/bin/sh
make -s -C {ROOT}/examples/firmware HEAP=$PWD/verified/code RECORD=1 SYSTEM=loop BUILD=$PWD/image
"""
TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))
FREES = "".join(f"f {i}\n" for i in range(0, 30, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "small.heap").write_text(TRACE + FREES)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "large.toml").write_text(PLAN.replace("8192", "65536"))
    (folder / "build").write_text(BUILD)
    (folder / "build").chmod(0o755)
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(folder, *few).rename(folder / "scenario.toml")
    return folder


def heapfit(words, folder, stdout, stderr=subprocess.PIPE):
    shutil.rmtree(folder / "verified", ignore_errors=True)
    return subprocess.run(
        [sys.executable, "-m", "heapfit", *words.split()],
        stdout=stdout,
        stderr=stderr,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        text=True,
        check=False,
        timeout=300,
    )


def test_every_command_has_a_run():
    others = {name for name, _ in main.commands_of_others()}
    assert RUNS.keys() == {main.typed_name(module) for module in main.COMMANDS} | others


@pytest.mark.parametrize("name", RUNS)
def test_an_output_that_is_full_is_one_line_of_every_command(folder, name):
    with Path("/dev/full").open("w") as full:
        done = heapfit(f"{name} {RUNS[name]}", folder, full)
    *_, last = done.stderr.splitlines()
    assert (done.returncode, last) == (1, "heapfit: output: No space left on device")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", RUNS)
def test_a_reader_that_goes_away_is_no_traceback_of_any_command(folder, name):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = heapfit(f"{name} {RUNS[name]}", folder, writer)
    finally:
        os.close(writer)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("words", ["profile nosuch", "generate plan.toml -o code"])
def test_messages_that_cannot_be_written_change_no_status(folder, words):
    told = heapfit(words, folder, subprocess.DEVNULL)
    with Path("/dev/full").open("w") as full:
        assert heapfit(words, folder, subprocess.DEVNULL, full).returncode == told.returncode


def test_closed_streams_change_no_status(folder):
    command = f"{sys.executable} -m heapfit profile small.heap >&- 2>&- <&-"
    assert subprocess.run(["sh", "-c", command], cwd=folder, check=False).returncode == 0
