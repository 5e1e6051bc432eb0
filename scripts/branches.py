# SPDX-License-Identifier: Apache-2.0
"""Measures which branches of core its unit and contract tests take, at safety level 1.

    branches.py [STEPS]   contract steps an allocator, 20,000 if not told; prints what is not taken
                          and keeps the counts in scripts/mutants/kept/branches.csv

A branch is one outcome of a condition that stands in the source: of a term of && and || where it
has such, so that each is seen to decide. Copies of an inlined function are one. clang counts them
(-fcoverage-mapping) and llvm-cov tells them.

Set apart are constant tests, which have but one outcome in any program: those that clang folds
(HFIT_SAFETY, other macros, sizeof), and HFIT_ASSERT, whose failures tests/core/asserts shows.
"""

import csv
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/branches"
KEPT = ROOT / "scripts/mutants/kept/branches.csv"
COUNTERS = "-O1 -fprofile-instr-generate -fcoverage-mapping"
CONSTANT = re.compile(r"HFIT_(?:SAFETY|ASSERT)\b|\bsizeof\b")
Branches = dict[tuple[str, int, int], list[int]]  # file, line, column: true, not


def programs(steps: str) -> dict[str, list[str]]:
    """The unit tests and one contract an allocator, by names of their own."""
    units = sorted(file.stem for file in (ROOT / "tests/core").glob("test_*.c"))
    lines = (ROOT / "core/allocators.def").read_text().splitlines()
    names = [line[15:-1] for line in lines if line.startswith("HFIT_ALLOCATOR(")]
    contracts = {f"contract_{name}": ["tests/contract/contract1", name, steps] for name in names}
    return {**{unit: [f"tests/core/{unit}"] for unit in units}, **contracts}


def run_tests(runs: dict[str, list[str]]) -> None:
    """Builds core and its tests with counters, and runs them."""
    setup = ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DHFIT_BUILD_TESTS=ON",
             "-DHFIT_INSTALL=OFF", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=",
             f"-DCMAKE_C_FLAGS={COUNTERS}"]  # fmt: skip
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL)
    targets = sorted({run[0] for run in runs.values()})
    build = ["ninja", "-C", BUILD, "-j1", *targets]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    for name, (program, *arguments) in runs.items():
        to = {"LLVM_PROFILE_FILE": str(BUILD / f"{name}.profraw")}
        command = [BUILD / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=to)


def taken_branches(runs: dict[str, list[str]]) -> Branches:
    """Of core's sources, from what the programs have counted."""
    found: Branches = defaultdict(lambda: [0, 0])
    for program in sorted({run[0] for run in runs.values()}):
        counted = [BUILD / f"{name}.profraw" for name, run in runs.items() if run[0] == program]
        merged = BUILD / "merged.profdata"
        merge = ["llvm-profdata", "merge", "-o", merged, *counted]
        subprocess.run(merge, check=True)
        export = ["llvm-cov", "export", f"-instr-profile={merged}", BUILD / program]
        told = subprocess.run(export, check=True, capture_output=True).stdout
        for file in json.loads(told)["data"][0]["files"]:
            add_branches(found, file)
    return found


def add_branches(found: Branches, file: dict) -> None:
    """Adds what one program says of one source; other folders' are no part of this."""
    path = Path(file["filename"]).resolve()
    if not path.is_relative_to(ROOT / "core/src"):
        return
    name = str(path.relative_to(ROOT / "core/src"))
    lines = path.read_text().splitlines()
    for line, column, last, end, taken, not_taken, *_ in file["branches"]:
        text = " ".join(lines[line - 1 : last])
        condition = text[column - 1 : end - 1 if line == last else None]
        if not CONSTANT.search(condition) and "HFIT_ASSERT" not in lines[line - 1]:
            counts = found[name, line, column]
            counts[0] += taken
            counts[1] += not_taken


def main() -> None:
    """Measures, prints and keeps; see above."""
    runs = programs(sys.argv[1] if len(sys.argv) > 1 else "20000")
    run_tests(runs)
    by_file: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (name, number, column), counts in sorted(taken_branches(runs).items()):
        by_file[name][0] += sum(count > 0 for count in counts)
        by_file[name][1] += len(counts)
        if not all(counts):
            text = (ROOT / "core/src" / name).read_text().splitlines()[number - 1]
            print(f"{name}:{number}: true {counts[0]}, false {counts[1]}: {text[column - 1 :]}")
    with KEPT.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("file", "taken", "branches"))
        writer.writerows((name, *counts) for name, counts in sorted(by_file.items()))
    taken, branches = (sum(counts[i] for counts in by_file.values()) for i in (0, 1))
    print(f"{taken} of {branches} branches taken ({taken / branches:.1%})")


if __name__ == "__main__":
    main()
