#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What importing costs: events a second of CPU time and bytes held, beside another revision's.

    python bench/imports.py --against OTHER/.venv/bin/python

Each form is imported by a process of its own, by the one and the other in turn; the best of
--rounds counts. A ratio above 1 is faster, or holds more, than the other.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heapfit.cli.printing import console

EVENTS = 400_000
LIVE = 2000  # blocks
SCRIPT = """
import json, re, sys, time
from pathlib import Path
from heapfit.importers import ImportOptions, import_file
import_file(Path(sys.argv[2]), Path(sys.argv[3]), ImportOptions())
def held():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
start = time.process_time()
events = import_file(Path(sys.argv[1]), Path(sys.argv[3]), ImportOptions()).info.events
print(json.dumps([events / (time.process_time() - start), held()]))
"""


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


def measure(python: str, files: tuple[Path, Path, Path]) -> tuple[float, int]:
    """Events a second, and KiB held at most."""
    command = [python, "-c", SCRIPT, *map(str, files)]
    rate, held = json.loads(subprocess.check_output(command, text=True))
    return float(rate), int(held)


def main() -> None:
    parser = argparse.ArgumentParser(description="Import's rate and memory beside another's.")
    parser.add_argument("--against", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="forms in whose name this occurs")
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small"
        small.write_bytes(b"a 0 8\nf 0\n")
        for form, content in forms(asked.only).items():
            (folder / "source").write_bytes(content)
            files = (folder / "source", small, folder / "out.parquet")
            runs = [
                (measure(sys.executable, files), measure(asked.against, files))
                for _ in range(asked.rounds)
            ]
            ours, theirs = (
                (max(run[i][0] for run in runs), min(run[i][1] for run in runs)) for i in (0, 1)
            )
            rows.append(
                (form, round(ours[0]), ours[0] / theirs[0], ours[1] << 10, ours[1] / theirs[1])
            )
    console.print_table(["form", "events/s", "of the other's", "bytes held", "of its"], rows)


if __name__ == "__main__":
    main()
