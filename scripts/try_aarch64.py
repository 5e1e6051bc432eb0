#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the recorder and a planned heap on aarch64, under qemu-user; `make test-long`.

Debian's cross compiler is unpacked into a folder of its own, so the machine's packages stay. One
program is recorded on both machines: its requests must be equal, and so must the first request
that is out of memory on a plan's heap.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from heapfit.checks.host_run import PlannedProgram, planned_program
from heapfit.checks.run import Refusal
from heapfit.importers import import_file
from heapfit.importers.record import record
from heapfit.plan.plan_file import load_plan
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build/aarch64"
TOOLS = PLACE / "root"
TARGET = TOOLS / "usr/aarch64-linux-gnu"
PACKAGES = [
    *("gcc-12-aarch64-linux-gnu", "gcc-12-aarch64-linux-gnu-base", "cpp-12-aarch64-linux-gnu"),
    *("binutils-aarch64-linux-gnu", "gcc-12-cross-base", "libgcc-12-dev-arm64-cross"),
    *("libgcc-s1-arm64-cross", "libc6-dev-arm64-cross", "libc6-arm64-cross"),
    *("linux-libc-dev-arm64-cross", "qemu-user"),
]
REGIONS = (14_000, 20_000, 26_000)
LIBRARY = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin"]
LIBRARY += ["-ftls-model=initial-exec", "-static-libgcc", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"]
PLAN = 'name = "planned"\nregion = 262144\n[plan]\nallocator = "good_fit"\nalignment = 8\n'


def unpack_tools() -> None:
    if (TOOLS / "usr/bin/qemu-aarch64").exists():
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=PLACE, check=True)
    for package in sorted(PLACE.glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, TOOLS], check=True)


def compile_there(output: Path, *words: Path | str) -> Path:
    folders = (TOOLS / "usr/lib/gcc-cross/aarch64-linux-gnu/12", TARGET / "lib", TARGET / "bin")
    tools = {"LD_LIBRARY_PATH": str(TOOLS / "usr/lib/x86_64-linux-gnu")}
    command = [TOOLS / "usr/bin/aarch64-linux-gnu-gcc-12", *(f"-B{one}/" for one in folders)]
    command += [f"--sysroot={TOOLS}", "-isystem", TARGET / "include", f"-L{TARGET}/lib"]
    done = [*command, *words, "-o", output, "-lpthread", "-ldl"]
    subprocess.run(done, check=True, env=os.environ | tools)
    return output


def emulate(library: Path, place: Path, *command: Path | str) -> None:
    words = [TOOLS / "usr/bin/qemu-aarch64", "-L", TARGET]
    words += ["-E", f"LD_PRELOAD={library}", "-E", f"HEAPFIT_RECORD={place}", *command]
    subprocess.run(words, check=True)


def requests_of(trace: Trace) -> list[tuple[str, int]]:
    table = trace.to_arrow()
    return list(zip(table["op"].to_pylist(), table["size"].to_pylist(), strict=True))


def record_there(program: Path) -> Trace:
    sources = ("preload", "recording", "lane", "wire_file", "next_heap", "site")
    files = [ROOT / f"recorder/{name}.c" for name in sources]
    library = compile_there(PLACE / "librecord.so", *LIBRARY, *files)
    raw = PLACE / "raw"
    raw.mkdir(exist_ok=True)
    for old in raw.iterdir():
        old.unlink()
    emulate(library, raw, program)
    (wire,) = raw.iterdir()
    return import_file(wire, PLACE / "there.parquet")


def refuse_there(here: PlannedProgram, program: Path) -> list[Refusal | None]:
    """The first refusals on aarch64, by the library that was made here, compiled for there."""
    generated = [*here.folder.rglob("*.c")]
    names = ("preload", "planned_heap", "next_heap", "site")
    files = [*generated, *(ROOT / f"recorder/{name}.c" for name in names)]
    flags = [*LIBRARY, "-DHFIT_PLANNED_HEAP", f"-I{here.folder}", "-include", "run_heap.h"]
    library = compile_there(PLACE / "libplanned.so", *flags, *files)
    found = []
    for region in REGIONS:
        file = PLACE / "run"
        here.write_request(file, region)
        emulate(library, file, program)
        found.append(here.read_run(file, region, 0, 0.0).first)
    return found


def main() -> None:
    unpack_tools()
    source = ROOT / "tests/python/programs/drilled.c"
    flags = ["-O0", "-fno-builtin", "-w"]
    there = compile_there(PLACE / "drilled-there", *flags, source)
    here = PLACE / "drilled-here"
    subprocess.run(["cc", *flags, source, "-o", here], check=True)
    recorded = record([str(here)], PLACE / "here.parquet").trace
    assert recorded is not None, "the program asks for memory"
    if requests_of(recorded) != requests_of(record_there(there)):
        sys.exit("aarch64: the recording has other requests than x86-64's")
    (PLACE / "plan.toml").write_text(PLAN)
    with planned_program(load_plan(PLACE / "plan.toml"), [str(here)]) as program:
        expected = [program.run(region, 60).first for region in REGIONS]
        if refuse_there(program, there) != expected or None in expected:
            sys.exit("aarch64: other requests are out of memory than on x86-64")
    print(f"aarch64: {recorded.info.events} events and {len(REGIONS)} refusals as on x86-64")


if __name__ == "__main__":
    main()
