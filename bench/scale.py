# SPDX-License-Identifier: Apache-2.0
"""Memory of `import`, `profile` and `fit` against the length of a recording, input by a pipe.

A stream of `--events` events in the text form is written into a pipe and never held: blocks of our
own workloads in an order drawn from the seed, each ended by the frees of what it left, beside
sessions that live for millions of events and whose number wanders. Then `import /dev/stdin`,
`profile` and `fit` run one after the other. Printed is the most memory resident in each command's
process, also an event, and its processor time. Counts of bytes are alike on quiet and busy
machines. Nothing fails: what is above the aim says so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.workloads.synthetic import parse_workload

SEED = 1
AIM = 1 << 30  # bytes resident in any command, whatever the events
WORKLOADS = (
    "slotbuf:events=60000",
    "poisson_500:events=60000",
    "djgpp_test:events=60000",
    "zg_size:events=60000",
)
_BLOCKS = 12  # different ones, repeated in random order
_SESSIONS = 10_000_000  # ids of what outlives a block begin here
_MOST_SESSIONS = 6_000
_LETTERS = "acmrf"


def blocks() -> list[tuple[int, bytes]]:
    """So many events, and their lines; nothing lives after them."""
    return [_block(WORKLOADS[i % len(WORKLOADS)], seed=SEED + i) for i in range(_BLOCKS)]


def _block(workload: str, seed: int) -> tuple[int, bytes]:
    source = parse_workload(workload, seed).source()
    lines: list[str] = []
    live: dict[int, None] = {}
    while len((columns := source.take(1 << 16))["op"]):
        values = (columns[name].tolist() for name in ("op", "object", "size"))
        for op, one, size in zip(*values, strict=True):
            lines.append(f"f {one}" if op == 4 else f"{_LETTERS[op]} {one} {size}")
            if op == 4:
                del live[one]
            else:
                live[one] = None
    lines += [f"f {one}" for one in live]
    return len(lines), ("\n".join(lines) + "\n").encode()


@dataclass
class Sessions:
    """What lives across blocks: its number wanders, each is freed in no order."""

    random: Random
    live: list[int]
    born: int = 0

    def change(self) -> list[str]:
        """Some begin, some end, none at the least and the most."""
        wanted = self.random.randrange(_MOST_SESSIONS)
        wanted = (3 * len(self.live) + wanted) // 4
        lines = [f"f {self._leaves()}" for _ in range(max(len(self.live) - wanted, 40))]
        return lines + [self._enters() for _ in range(max(wanted - len(self.live), 40))]

    def _enters(self) -> str:
        self.born += 1
        one = _SESSIONS + self.born
        self.live.append(one)
        return f"a {one} {self.random.choice((24, 96, 200, 512, 1480))}"

    def _leaves(self) -> int:
        i = self.random.randrange(len(self.live)) if self.live else 0
        self.live[i], self.live[-1] = self.live[-1], self.live[i]
        return self.live.pop()


def stream(events: int) -> Iterator[bytes]:
    """Lines of so many events, a block at a time, and the rest of the last block beyond."""
    known, random = blocks(), Random(SEED)
    sessions = Sessions(random, [])
    yield "".join(sessions._enters() + "\n" for _ in range(1_000)).encode()
    done = 1_000
    while done < events:
        count, lines = random.choice(known)
        changes = sessions.change()
        yield ("\n".join(changes) + "\n").encode()
        yield lines
        done += count + len(changes)


@dataclass(frozen=True)
class Ran:
    """A command that ended: the most bytes resident in its process, and seconds of processors."""

    resident: int
    seconds: float


def run(command: list[str], **given: object) -> Ran:
    """HeapfitError is the command's own line; a failure ends the measurement."""
    process = subprocess.Popen(command, **given)  # type: ignore[call-overload]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: ended with {process.returncode}")
    return Ran(usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)


def measured(events: int, folder: Path, commands: list[str]) -> Iterator[tuple[str, Ran]]:
    """Each command on the same stream, as it ends."""
    heapfit = [sys.executable, "-m", "heapfit"]
    trace = folder / "scale.parquet"
    writer = subprocess.Popen(
        [sys.executable, __file__, "--stream", "--events", str(events)], stdout=subprocess.PIPE
    )
    yield "import", run([*heapfit, "import", "/dev/stdin", "-o", str(trace)], stdin=writer.stdout)
    writer.wait()
    quiet = {"stdout": subprocess.DEVNULL}
    if "profile" in commands:
        yield "profile", run([*heapfit, "profile", str(trace)], **quiet)
    if "fit" in commands:
        yield "fit", run([*heapfit, "fit", str(trace), "-o", str(folder / "out")])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=float, default=1e9)
    parser.add_argument("--commands", default="profile,fit", help="beside import")
    parser.add_argument("--folder", type=Path, help="to keep what is written")
    parser.add_argument("--stream", action="store_true", help="only write the events")
    add_option(parser)
    asked = parser.parse_args()
    events = int(asked.events)
    if asked.stream:
        for lines in stream(events):
            sys.stdout.buffer.write(lines)
        return
    with tempfile.TemporaryDirectory(prefix="heapfit-") as scratch:
        folder = asked.folder or Path(scratch)
        table, figures = [], []
        for name, ran in measured(events, folder, asked.commands.split(",")):
            within = "below 1 GiB" if ran.resident < AIM else "ABOVE 1 GiB"
            an_event = f"{ran.resident / events:,.2f}"
            table.append([name, f"{ran.resident:,}", an_event, f"{ran.seconds:,.1f}", within])
            print(*table[-1], sep="\t", flush=True)
            figures.append((events, name, round(ran.resident / 1e6), f"{ran.seconds:.1f}"))
    console.print_table(("command", "resident B", "B an event", "CPU s", "aim"), table)
    if asked.write:
        write_result("scale", ("events", "command", "MB resident", "processor s"), figures, keys=2)


if __name__ == "__main__":
    main()
