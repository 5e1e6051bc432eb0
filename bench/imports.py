#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What importing costs: instructions an event and bytes held, beside another revision's.

    python bench/imports.py --against OTHER/.venv/bin/python

Valgrind counts the instructions of each import in a process that has imported all forms before.
Times differ by a fifth from run to run, these counts, of one thread, by a thousandth. A ratio above
1 is more than the other's.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from heapfit.cli.printing import console

EVENTS = 100_000
LIVE = 2000  # blocks
SCRIPT = """
import gc, os, re, sys
from pathlib import Path
from heapfit.importers import ImportOptions, import_file
gc.disable()  # a collection would count for the import that it meets
for source in sys.argv[2:]:
    os.getppid()
    import_file(Path(source), Path(sys.argv[1]), ImportOptions())
os.getppid()
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
COUNTER = ("valgrind", "--tool=callgrind", "--dump-before=getppid")  # a file for each import
STEADY = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def calls() -> Iterator[tuple[int, int]]:
    """Addresses, and the sizes that are asked for there; 0: freed."""
    chance, live = random.Random(1), list[int]()
    for event in range(EVENTS):
        if len(live) >= LIVE or (live and chance.random() < 0.4):
            yield live.pop(chance.randrange(len(live))), 0
        else:
            live.append(0x20000000 + 64 * event)
            yield live[-1], chance.randrange(1, 1500)


def lines_of(served: str, freed: str, head: str = "") -> bytes:
    lines = ((served if size else freed).format(a=address, s=size) for address, size in calls())
    return (head + "".join(lines)).encode()


def capture() -> bytes:
    """Ethernet frames with an IPv4 header each, one microsecond after another."""
    content = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    frame = bytes(12) + b"\x08\x00\x45\x00"
    records = []
    for event, (_, size) in enumerate(calls()):
        length = 20 + size
        record = [event // 10**6, event % 10**6, 34, 14 + length]
        header = b"".join(value.to_bytes(4, "little") for value in record)
        records.append(
            header + frame + length.to_bytes(2, "big") + bytes(4) + b"\x40\x11" + bytes(10)
        )
    return content + b"".join(records)


def forms(only: str) -> dict[str, bytes]:
    text = lines_of("a {a} {s}\n", "f {a}\n")
    made = {
        "text": text,
        "text, gzip": gzip.compress(text, 6),
        "CSV": lines_of("alloc,{a},{s}\n", "free,{a},\n", "op,object,size\n"),
        "heaplog": lines_of("hl{{m,{s},{a:x}}}\n", "hl{{f,{a:x}}}\n"),
        "calls": lines_of("malloc({s}) = 0x{a:x}\n", "free(0x{a:x})\n"),
        "calls among text": lines_of("I (7) app: ok\nmalloc({s}) = 0x{a:x}\n", "free(0x{a:x})\n"),
        "pcap": capture(),
    }
    return {form: content for form, content in made.items() if only in form}


def run(python: str, sources: Sequence[Path], *counter: str) -> int:
    """Imports files one behind the other in one process; the KiB that it held at most."""
    output = sources[0].with_name("out.parquet")
    words = [*counter, python, "-c", SCRIPT, str(output), *map(str, sources)]
    environment = os.environ | STEADY
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return int(ran.stdout)


def count(python: str, sources: Sequence[Path]) -> list[int]:
    """The instructions of the import of each form."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, [*sources, *sources], *COUNTER, f"--callgrind-out-file={folder}/out")
        dumps = [
            Path(folder, f"out.{2 + len(sources) + i}").read_text() for i in range(len(sources))
        ]
    return [int(re.findall(r"^(?:totals|summary): (\d+)", dump, re.M)[-1]) for dump in dumps]


def measure(python: str, sources: Sequence[Path]) -> list[tuple[float, int]]:
    """Of each form instructions an event, and bytes held at most by a process of its own."""
    work = count(python, sources)
    return [(one / EVENTS, run(python, [s]) << 10) for one, s in zip(work, sources, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Import's work and memory beside another's.")
    parser.add_argument("--against", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--only", default="", help="forms in whose name this occurs")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        sources = []
        for form, content in forms(asked.only).items():
            sources.append(Path(name) / form)
            sources[-1].write_bytes(content)
        ours, theirs = (measure(python, sources) for python in (sys.executable, asked.against))
    rows = [
        (source.name, round(work), work / other, held, held / other_held)
        for source, (work, held), (other, other_held) in zip(sources, ours, theirs, strict=True)
    ]
    console.print_table(["form", "instr./event", "of the other's", "bytes held", "of its"], rows)


if __name__ == "__main__":
    main()
