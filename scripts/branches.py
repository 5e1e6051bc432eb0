# SPDX-License-Identifier: Apache-2.0
"""Measures which branches of core its unit tests, the contract and damaged words take, at level 1.

    branches.py [STEPS]   contract steps an allocator, 20,000 if not told; prints what is not taken
                          and keeps the counts in scripts/mutants/kept/branches.csv

A branch is one outcome of a condition that stands in the source: of a term of && and || where it
has such, so that each is seen to decide. Copies of an inlined function are one. clang counts them
(-fcoverage-mapping) and llvm-cov tells them.

Set apart are constant tests, which have but one outcome at this level: those that clang folds
(HFIT_SAFETY, other macros, sizeof), calls of functions that return but one value, and HFIT_ASSERT,
whose failures tests/core/asserts shows. And what only other levels have: conditions for which clang
makes no instruction at level 1, not even unoptimized. Programs of other levels do not count.
"""

import csv
import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/branches"
KEPT = ROOT / "scripts/mutants/kept/branches.csv"
COUNTERS = "-O1 -fprofile-instr-generate -fcoverage-mapping"
CONSTANT = re.compile(r"\b(?:HFIT_SAFETY|HFIT_ASSERT|HAS_LIVE_MAP|sizeof)\b")
# Functions that are true at level 1, or false at any: they tell of misuse.
ONE_VALUE = re.compile(r"!?(?:is_heap_sound|is_walked_by|keeps_bits|refuse)\(")
OTHER_LEVELS = ("test_every_plan", "test_guarded", "test_guarded_random")
LEVEL_1 = "contract/CMakeFiles/hfit_level1.dir"
_FOLDER = re.compile(r'^include_directories\[ *(\d+)\] = "(.*)"')
_NAME = re.compile(r'^ *name: "(.*)"')
_IN = re.compile(r"^ *dir_index: (\d+)")
_ROW = re.compile(r"^0x[0-9a-f]+ +(\d+) +(\d+) +(\d+) ")
Branches = dict[tuple[str, int, int], list[int]]  # file, line, column: true, not
Places = dict[str, set[tuple[int, int]]]  # line and column of what there are instructions for


def programs(steps: str) -> dict[str, list[str]]:
    """The unit tests, one contract an allocator and damaged words, by names of their own."""
    units = sorted(
        {file.stem for file in (ROOT / "tests/core").glob("test_*.c")} - set(OTHER_LEVELS)
    )
    lines = (ROOT / "core/allocators.def").read_text().splitlines()
    names = [line[15:-1] for line in lines if line.startswith("HFIT_ALLOCATOR(")]
    contracts = {f"contract_{name}": ["tests/contract/contract1", name, steps] for name in names}
    damaged = {
        "every_plan": ["tests/core/test_every_plan1"],
        "damaged_words": ["tests/attack/damaged_words", steps],
    }
    return {**{unit: [f"tests/core/{unit}"] for unit in units}, **contracts, **damaged}


def run_tests(runs: dict[str, list[str]]) -> None:
    """Builds core and its tests with counters, and runs them."""
    setup = ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DHFIT_BUILD_TESTS=ON",
             "-DHFIT_INSTALL=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
             "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=",
             f"-DCMAKE_C_FLAGS={COUNTERS}"]  # fmt: skip
    subprocess.run(setup, check=True, stdout=subprocess.DEVNULL)
    targets = sorted({run[0] for run in runs.values()})
    build = ["ninja", "-C", BUILD, "-j1", *targets]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    for name, (program, *arguments) in runs.items():
        to = {"LLVM_PROFILE_FILE": str(BUILD / f"{name}.profraw")}
        command = [BUILD / program, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=to)


def places_at_level_1() -> Places:
    """Where core's sources stand for instructions at level 1, by files from core/src."""
    found: Places = defaultdict(set)
    for one in json.loads((BUILD / "compile_commands.json").read_text()):
        if LEVEL_1 in one["command"]:
            words = [word for word in shlex.split(one["command"]) if word not in COUNTERS.split()]
            made = BUILD / "unoptimized.o"
            words[words.index("-o") + 1] = str(made)
            subprocess.run([*words, "-O0", "-g"], cwd=one["directory"], check=True)
            add_places(found, made)
    return found


def add_places(found: Places, made: Path) -> None:
    """Adds those of an object's line table."""
    dump = ["llvm-dwarfdump", "--debug-line", made]
    told = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
    folders: dict[str, str] = {}
    names: list[str] = []
    files: list[str] = []
    for line in told.splitlines():
        if match := _FOLDER.match(line):
            folders[match[1]] = match[2]
        elif match := _NAME.match(line):
            names.append(match[1])
        elif match := _IN.match(line):
            files.append(name_of(Path(folders["0"], folders[match[1]], names[-1])))
        elif match := _ROW.match(line):
            found[files[int(match[3])]].add((int(match[1]), int(match[2])))


def name_of(path: Path) -> str:
    """From core/src, where it lies there."""
    path, top = path.resolve(), ROOT / "core/src"
    return str(path.relative_to(top) if path.is_relative_to(top) else path)


def taken_branches(runs: dict[str, list[str]]) -> Branches:
    """Of core's sources, from what the programs have counted."""
    found: Branches = defaultdict(lambda: [0, 0])
    places = places_at_level_1()
    for program in sorted({run[0] for run in runs.values()}):
        counted = [BUILD / f"{name}.profraw" for name, run in runs.items() if run[0] == program]
        merged = BUILD / "merged.profdata"
        merge = ["llvm-profdata", "merge", "-o", merged, *counted]
        subprocess.run(merge, check=True)
        export = ["llvm-cov", "export", f"-instr-profile={merged}", BUILD / program]
        told = subprocess.run(export, check=True, capture_output=True).stdout
        for file in json.loads(told)["data"][0]["files"]:
            add_branches(found, file, places)
    return found


def add_branches(found: Branches, file: dict, places: Places) -> None:
    """Adds what one program says of one source; other folders' are no part of this."""
    name = name_of(Path(file["filename"]))
    if name.startswith("/"):
        return
    lines = (ROOT / "core/src" / name).read_text().splitlines()
    for line, column, last, end, taken, not_taken, *_ in file["branches"]:
        text = " ".join(lines[line - 1 : last])
        condition = text[column - 1 : end - 1 if line == last else None]
        is_met = taken or not_taken
        is_met = is_met or any((line, column) <= one < (last, end) for one in places[name])
        is_constant = CONSTANT.search(condition) or ONE_VALUE.match(condition)
        if is_met and not is_constant and "HFIT_ASSERT" not in lines[line - 1]:
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
