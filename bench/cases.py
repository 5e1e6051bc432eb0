#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twenty inputs that once failed, and whether each is answered rightly now: N of 20.

They lie in HEAPFIT_CORPUS/cases, where EXPECTED.md has the right values. Each has
patterns here of what must be printed, at an exit status of 0; own-malloc.c, which cannot be
recorded, has 1. Its programs are compiled by gcc, without optimisation. Those whose names begin
with a letter and a digit came later: tests/python/test_log_forms.py judges those of telemetry, and
nothing here those of calls.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CASES = Path(os.environ["HEAPFIT_CORPUS"]) / "cases"
CAPTURE = "import CASE -o out.parquet --queue fill-drain:9"
RECORD = "record -o out.parquet -- ./program"
CHILDREN = "record --children -o out -- ./program"


@dataclass(frozen=True, slots=True)
class Case:
    """An input, the command that it is given to, and what that must print, in this order."""

    name: str
    command: str
    patterns: tuple[str, ...]


ANSWERED = (
    Case(
        "slow-leak.heap",
        "fit CASE",
        ("Leak: the program keeps 24 B blocks", r"is full about 10,\d+ events"),
    ),
    Case("tiny-now-tlsf.heap", "fit CASE --now mattconte-tlsf", ("need 3,264 B of TLSF",)),
    Case("tiny-now-tlsf.heap", "fit CASE --now tlsf", ("own: those of others are mattconte-",)),
    Case("size-4GiB.heap", "fit CASE", ("Event 2 asks for 4,294,967,295 B",)),
    Case("size-0-heap_4.heap", "fit CASE --now heap_4", ("1 of 2 requests is of 0 B",)),
    Case("ltrace.log", "profile CASE", ("U_max 160 B", r"1 never freed \(60 B\)")),
    Case("esp-riscv-freed.log", "profile CASE", (r"1 never freed \(12 B\)", "3 blocks were freed")),
    Case("boot-then-heaplog.log.gz", "profile CASE", ("3 events", "U_max 48 B", "1,600 lines")),
    Case("two-on-a-line.log", "profile CASE", ("3 events", "U_max 48 B")),
    Case("esp-block-dump.log", "profile CASE", (r"2 never freed \(1,324 B\)",)),
    Case("cut-last-record.pcap", CAPTURE, ("2 events", "inside this record")),
    Case("one-bad-origlen.pcap", CAPTURE, ("3 events", "1 packet said to be shorter")),
    Case("mpls-ip.pcap", CAPTURE, ("2 events",)),
    Case("ieee802154.pcap", f"{CAPTURE} --whole-frames", ("2 events",)),
    Case("socketcan.pcap", f"{CAPTURE} --whole-frames", ("3 events",)),
    Case("minimalloc-gaps.csv", "profile CASE", ("U_max 8 B",)),
    Case("align-32MiB.c", RECORD, ("100,000 events", "1 request for an alignment above 16 MiB")),
    Case("daemon.c", RECORD, ("2 events", "goes on after its parent", "--environment")),
    Case("own-malloc.c", RECORD, ("brings its own malloc",)),
    Case("cpp-empty.cpp", RECORD, ("2 events", "72704 B, left out")),
    Case("parent-asks-nothing.c", CHILDREN, ("20 events of", "The program itself,.* asked for no")),
)


def is_answered(case: Case) -> bool:
    """Runs the command in a folder of its own; what it printed is shown where it is wrong."""
    source = CASES / case.name
    with tempfile.TemporaryDirectory() as folder:
        if source.suffix in (".c", ".cpp"):
            options = ["-O0", "-fno-builtin", "-w", "-o", "program"]
            subprocess.run(
                ["g++" if source.suffix == ".cpp" else "gcc", *options, source],
                cwd=folder,
                check=True,
            )
        words = [str(source) if word == "CASE" else word for word in case.command.split()]
        ran = subprocess.run(
            [sys.executable, "-m", "heapfit", *words],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    printed = " ".join(ran.stdout.split())
    is_right = all(re.search(pattern, printed) for pattern in case.patterns)
    is_right &= ran.returncode == (case.name == "own-malloc.c")
    print(f"{'right' if is_right else 'WRONG'}  {case.name}: heapfit {case.command}", flush=True)
    if not is_right:
        print(f"  status {ran.returncode}: {printed}")
    return is_right


def main() -> int:
    """1 if a case is answered wrongly."""
    wrong = {case.name for case in ANSWERED if not is_answered(case)}
    names = {case.name for case in ANSWERED}
    files = {path.name for path in CASES.iterdir() if not re.match(r"[A-Z]\d-", path.name)}
    unknown = files - names - {"EXPECTED.md"}
    print(f"{len(names - wrong)} of {len(names | unknown)} cases have their right values")
    return int(bool(wrong or unknown))


if __name__ == "__main__":
    sys.exit(main())
