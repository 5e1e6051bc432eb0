#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records each program of programs.toml under each of its loads, with `heapfit record`.

NAME-1.parquet, NAME-2.parquet, ... appear in the output folder. Nothing is installed: --packages
prints what Debian 12 has to have. --programs names another such file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from clients import CLIENTS, HOST
from inputs import GENERATORS

from heapfit.errors import HeapfitError
from heapfit.trace.stored import COLUMNS, Trace, write_trace

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST_EVENTS = 250_000
START_PATIENCE = 20.0  # seconds until a server listens

# The environment lies on some programs' heaps: the same for all.
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": "/nonexistent"}

Table = Mapping[str, Any]


def record(entry: Table, load: Table, output: Path, depth: int = 1) -> Trace:
    """One run of the program under one load; `depth` is --site-depth."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        folder = Path(name)
        values = {**load, "port": port, "root": ROOT, "folder": folder}
        prepare(entry, load, values, folder)
        command = [sys.executable, "-m", "heapfit", "record", "-o", "trace"]
        command += entry.get("recorded_by", ["--site-depth", str(depth)])
        command += ["--", *filled(entry["command"], values)]
        is_fed = "input" in entry and "file" not in entry
        with (
            (folder / "input" if is_fed else Path(os.devnull)).open("rb") as source,
            (folder / "output").open("wb") as sink,
            subprocess.Popen(
                command, cwd=folder, stdin=source, stdout=sink, stderr=sink, env=environment(entry)
            ) as recorder,
        ):
            if "client" in entry:
                serve(entry, load, recorder, port)
        ended = [0, 128 + signal.SIGTERM] if "client" in entry else [0]  # servers are asked to end
        if recorder.returncode not in entry.get("accepted", ended):
            raise HeapfitError((folder / "output").read_text(errors="replace")[-500:].strip())
        return keep_first(Trace.open(folder / "trace"), output, entry.get("events", MOST_EVENTS))


def prepare(entry: Table, load: Table, values: Table, folder: Path) -> None:
    """Puts what the program reads into its folder."""
    random = Random(load["seed"])
    if "input" in entry:
        lines = GENERATORS[entry["input"]](random, **handed_on(entry, load))
        (folder / entry.get("file", "input")).write_text("\n".join(lines) + "\n")
    for name in entry.get("copied", []):
        shutil.copy(name, folder)
    for name, text in entry.get("files", {}).items():
        (folder / name).write_text(text.format_map(values))
    for number in range(load.get("pages", 0)):
        (folder / f"{number}.html").write_text("page " * random.randrange(4000))
    for words in entry.get("before", []):
        subprocess.run(filled(words, values), cwd=folder, check=True, stdout=subprocess.DEVNULL)


def handed_on(entry: Table, load: Table) -> dict[str, Any]:
    """What of a load the generator or client takes."""
    return {name: load[name] for name in load.keys() - {"seed", *entry.get("own", ())}}


def filled(words: list[str], values: Table) -> list[str]:
    return [word.format_map(values) for word in words]


def environment(entry: Table) -> dict[str, str]:
    return {**ENVIRONMENT, **entry.get("environment", {})}


def serve(entry: Table, load: Table, recorder: subprocess.Popen[bytes], port: int) -> None:
    """Waits for the server, puts the load on it, ends it."""
    deadline = time.monotonic() + START_PATIENCE
    while not is_listening(port):
        if time.monotonic() > deadline or recorder.poll() is not None:
            recorder.kill()
            raise HeapfitError("does not listen")
        time.sleep(0.1)
    try:
        CLIENTS[entry["client"]](Random(load["seed"]), port, **handed_on(entry, load))
    finally:
        for child in children(recorder.pid):
            os.kill(child, signal.SIGTERM)


def is_listening(port: int) -> bool:
    """Whether something has the port, seen without talking to it."""
    lines = (Path("/proc/net/tcp").read_text() + Path("/proc/net/udp").read_text()).splitlines()
    return any(line.split()[1].endswith(f":{port:04X}") for line in lines)


def children(process: int) -> list[int]:
    return [
        int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def keep_first(trace: Trace, output: Path, most: int) -> Trace:
    """The trace, without what comes after its first events."""

    def batches() -> Iterator[dict[str, Any]]:
        left = most
        for batch in trace.batches(tuple(COLUMNS)):
            if left > 0:
                yield {name: values[:left] for name, values in batch.items()}
                left -= len(batch["op"])

    return write_trace(output, batches(), trace.info, lambda: trace.chains)


def record_all(entry: Table, folder: Path, depth: int = 1) -> bool:
    """Whether all runs were recorded."""
    for number, load in enumerate(entry["loads"], 1):
        output = folder / f"{entry['name']}-{number}.parquet"
        try:
            told = record(entry, load, output, depth)
        except (HeapfitError, OSError, subprocess.CalledProcessError) as error:
            reason = str(error).rpartition("\n")[2]
            packages = " and ".join(entry["packages"])
            print(f"{output.stem}: {reason}; it takes Debian's {packages}", file=sys.stderr)
            return False
        print(f"{output.stem}: {told.info.events:,} events", flush=True)
    return True


def programs_of(file: Path) -> list[Table]:
    """The programs of a file, whose folder has what they take along."""
    table = tomllib.loads(file.read_text())
    common = {"events": table.get("events", MOST_EVENTS)}
    return [
        {**common, **one, "copied": [file.parent / name for name in one.get("copied", [])]}
        for one in table["program"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--programs", dest="file", type=Path, default=HERE / "programs.toml")
    parser.add_argument("-o", "--output", type=Path, default=Path(), help="folder of the traces")
    parser.add_argument("--site-depth", type=int, default=1, help="as of heapfit record")
    parser.add_argument("--packages", action="store_true", help="print Debian's packages and end")
    told = parser.parse_args()
    entries = programs_of(told.file)
    entries = [one for one in entries if not told.programs or one["name"] in told.programs]
    if told.packages:
        print(*sorted({package for entry in entries for package in entry["packages"]}))
        return
    folder = told.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    recorded = [record_all(entry, folder, told.site_depth) for entry in entries]
    sys.exit(0 if all(recorded) else 1)


if __name__ == "__main__":
    main()
