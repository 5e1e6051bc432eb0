# SPDX-License-Identifier: Apache-2.0
"""What recording costs: CPU time an event over heaptrack's in the same run, and bytes on disk.

A Lua program of examples/ and a C program that only allocates run plain, under heaptrack (Debian's,
where it is installed) and under heapfit's recorder, in turn; the least user and system time of each
counts. `--against LIBRARY` measures another build of the recorder, too.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from heapfit import _engine
from heapfit.importers import preload

ROOT = Path(__file__).parents[1]
CHURN = r"""
#include <stdlib.h>
int main(void) {
    void *slots[1024] = {0};
    unsigned random = 1;
    for (long i = 0; i < 2000000; i++) {
        random = random * 1103515245u + 12345u;
        unsigned slot = random >> 16 & 1023;
        free(slots[slot]);
        slots[slot] = malloc(1 + (random >> 8 & 511));
    }
    return 0;
}
"""


def cpu_time(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Seconds of user and system time of the program and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def recorded(command: Sequence[str], library: Path, folder: Path) -> float:
    for old in folder.iterdir():
        old.unlink()
    variables = {"LD_PRELOAD": str(library), "HEAPFIT_RECORD": str(folder)}
    return cpu_time(command, {**os.environ, **variables})


def size_and_events(folder: Path) -> tuple[int, int]:
    """Bytes of the largest recording up to its last that is not 0, and its events."""
    content = max(folder.glob("*.wire"), key=lambda path: path.stat().st_size).read_bytes()
    reader = _engine.WireTrace(drop_unknown=True)
    reader.feed(content)
    reader.finish()
    return len(content.rstrip(b"\0")), len(reader.take()["op"])


def measure(name: str, command: Sequence[str], rounds: int, libraries: Sequence[Path]) -> None:
    heaptrack = shutil.which("heaptrack")
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        wires = folder / "wires"
        wires.mkdir()
        times: dict[str, list[float]] = {}
        for _ in range(rounds):
            times.setdefault("plain", []).append(cpu_time(command, os.environ))
            if heaptrack is not None:
                traced = [heaptrack, "--raw", "-o", str(folder / "track"), *command]
                times.setdefault("heaptrack", []).append(cpu_time(traced, os.environ))
            for library in libraries:
                times.setdefault(str(library), []).append(recorded(command, library, wires))
        size, events = size_and_events(wires)
    least = {way: min(seconds) for way, seconds in times.items()}
    print(f"{name}: {events:,} events; {size / events:.1f} B an event on disk")
    added = {way: (seconds - least["plain"]) / events * 1e9 for way, seconds in least.items()}
    for way, cost in added.items():
        share = f", {cost / added['heaptrack']:.2f} of heaptrack's" if heaptrack else ""
        print(
            f"  {Path(way).name}: {cost:.0f} ns an event{share}" if way != "plain" else "", end=""
        )
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    libraries = [*arguments.against, preload.LIBRARY]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "churn.c"), Path(folder, "churn")
        source.write_text(CHURN)
        subprocess.run(["cc", "-O1", "-fno-builtin", source, "-o", program], check=True)
        measure("C", [str(program)], arguments.rounds, libraries)
    lua = shutil.which("lua5.4")
    if lua is not None:
        script = ROOT / "examples/lua/sensors.lua"
        measure("Lua", [lua, str(script)], arguments.rounds, libraries)


if __name__ == "__main__":
    main()
