# SPDX-License-Identifier: Apache-2.0
"""What one `fit` of a fleet's recordings takes: events replayed over those of all, and CPU.

Devices of three kinds run one synthetic program each, with seeds of their own: diverse sizes in
phases, a table of slots with resizes, and small slots at random. Counts are equal on every
machine; the seconds are CPU of all processes together.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.cli.printing import console
from heapfit.fitting.fit import fit
from heapfit.fitting.result import Fit
from heapfit.results.fit_page import write_report
from heapfit.workloads.synthetic import generate_workload, parse_workload

KINDS = (
    "phases_x16:limit=10",
    "djgpp_test:slots=120",
    "slotbuf:slots=120,smallest=8,largest=512",
)
HEADS = ("devices", "events", "plans", "regions", "beside", "judged", "all", "CPU s", "us an event")


@dataclass(frozen=True)
class Measured:
    """One fit, and what it took."""

    devices: int
    events: int  # of all recordings
    fit: Fit
    seconds: float  # of CPU

    def row(self) -> list[str]:
        work = self.fit.work
        parts = (work.plans, work.regions, work.beside, work.judged, work.events)
        shown = [f"{part / self.events:,.1f}" for part in parts]
        each = f"{1e6 * self.seconds / self.events:.1f}"
        return [f"{self.devices:,}", f"{self.events:,}", *shown, f"{self.seconds:.1f}", each]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("devices", nargs="*", type=int, default=[3, 10, 30])
    parser.add_argument("--events", type=int, default=20_000, help="of each recording")
    asked = parser.parse_args()
    table = []
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        folder = Path(name)
        recordings = fleet(max(asked.devices), asked.events, folder)
        for count in asked.devices:
            one = measured(recordings[:count], asked.events, folder / f"out-{count}")
            table.append([*one.row(), one.fit.winner.name])
    console.print_table((*HEADS, "winner"), table, width=console.WIDE)


if __name__ == "__main__":
    main()
