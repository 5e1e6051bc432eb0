# SPDX-License-Identifier: Apache-2.0
"""What one `fit` of a fleet's recordings takes: events replayed over those of all, and CPU.

Devices of three kinds run one synthetic program each, with seeds of their own: diverse sizes in
phases, a table of slots with resizes, and small slots at random. Counts are equal on every
machine; the seconds are CPU of all processes together. With --store the recordings come from an
object store, a process of its own (moto's server), whose seconds are told apart.
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.cli.printing import console
from heapfit.fitting.fit import fit
from heapfit.fitting.result import Fit
from heapfit.importers.many import list_recordings
from heapfit.results.fit_page import write_report
from heapfit.workloads.synthetic import generate_workload, parse_workload

KINDS = (
    "phases_x16:limit=10",
    "djgpp_test:slots=120",
    "slotbuf:slots=120,smallest=8,largest=512",
)
HEADS = (
    *("devices", "events", "plans", "regions", "beside", "judged", "all", "CPU s", "us an event"),
    *("MB here", "store's CPU s", "refused"),
)


@dataclass(frozen=True)
class Measured:
    """One fit, and what it took."""

    devices: int
    events: int  # of all recordings
    fit: Fit
    seconds: float  # of CPU
    store: float = 0.0  # of CPU of the object store

    def row(self) -> list[str]:
        work, held = self.fit.work, self.fit.holdout
        parts = (work.plans, work.regions, work.beside, work.judged, work.events)
        shown = [f"{part / self.events:,.1f}" for part in parts]
        each = f"{1e6 * self.seconds / self.events:.1f}"
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        beside = [f"{most:,}", f"{self.store:.1f}", f"{held.seen_refused} of {held.seen:,}"]
        return [
            *(f"{self.devices:,}", f"{self.events:,}", *shown, f"{self.seconds:.1f}", each),
            *beside,
        ]


def fleet(count: int, events: int, folder: Path) -> list[Path]:
    """So many devices' recordings, of the three kinds by turns."""
    return [
        generate_workload(
            parse_workload(f"{KINDS[i % len(KINDS)]},events={events}", seed=i + 1),
            folder / f"device-{i + 1}.parquet",
        ).path
        for i in range(count)
    ]


def measured(recordings: Sequence[Path], events: int, folder: Path) -> Measured:
    """As `heapfit fit` does it."""
    before = cpu_seconds()
    fitted = fit(recordings, folder, write_page=write_report)
    seconds = cpu_seconds() - before
    return Measured(len(recordings), events * len(recordings), fitted, seconds)


def cpu_seconds() -> float:
    """Of this process and of all that it has waited for."""
    mine, theirs = (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


@contextmanager
def serve_store() -> Iterator[int]:
    """An empty bucket `fleet` of a server of this machine, whose process is given."""
    import boto3  # type: ignore[import-untyped]

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.1)
        boto3.client("s3").create_bucket(Bucket="fleet")
        yield server.pid
    finally:
        server.kill()
        server.wait()


def measure_in_store(count: int, events: int, folder: Path) -> Measured:
    """The fit of recordings that are moved to a store one by one."""
    import boto3

    with serve_store() as pid:
        bucket = boto3.client("s3")
        for path in fleet(count, events, folder):
            bucket.put_object(Bucket="fleet", Key=path.name, Body=path.read_bytes())
            path.unlink()
        before = process_seconds(pid)
        one = measured(list_recordings(["s3://fleet/"]), events, folder / "out")
        return replace(one, store=process_seconds(pid) - before)


def process_seconds(pid: int) -> float:
    """CPU of a process that runs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("devices", nargs="*", type=int, default=[3, 10, 30])
    parser.add_argument("--events", type=int, default=20_000, help="of each recording")
    parser.add_argument("--store", action="store_true", help="recordings of an object store")
    asked = parser.parse_args()
    table = []
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        folder = Path(name)
        for count in asked.devices if asked.store else ():
            one = measure_in_store(count, asked.events, folder)
            table.append([*one.row(), one.fit.winner.name])
        here = [] if asked.store else asked.devices
        recordings = fleet(max(here, default=0), asked.events, folder)
        for count in here:
            one = measured(recordings[:count], asked.events, folder / f"out-{count}")
            table.append([*one.row(), one.fit.winner.name])
    console.print_table((*HEADS, "winner"), table, width=console.WIDE)


if __name__ == "__main__":
    main()
