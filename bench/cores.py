# SPDX-License-Identifier: Apache-2.0
"""Wall time of `heapfit fit` on two cores over that on one, whole commands by turns.

    .venv/bin/python bench/cores.py RECORDING... [--times 3]

A ratio of one run, of use only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from heapfit.cli.printing import console
from heapfit.trace.names import source_name

WORKERS = (1, 2)
HEADS = ("recording", *(f"s on {count}" for count in WORKERS), "ratio")


def wall(recording: Path, workers: int, folder: Path) -> float:
    """Seconds of one command; on one core it is bound to that."""
    words = [sys.executable, "-m", "heapfit", "fit", str(recording), "--workers", str(workers)]
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:workers])
    try:
        begin = time.perf_counter()
        subprocess.run([*words, "-o", str(folder)], check=True, capture_output=True)
        return time.perf_counter() - begin
    finally:
        os.sched_setaffinity(0, before)


def row_of(recording: Path, times: int) -> list[str]:
    """Medians, and the median of the ratios of pairs."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        pairs = [
            [wall(recording, count, Path(folder) / str(count)) for count in WORKERS]
            for _ in range(times)
        ]
    one, two = (statistics.median(pair[i] for pair in pairs) for i in range(len(WORKERS)))
    ratio = statistics.median(two / one for one, two in pairs)
    return [source_name(recording), f"{one:.1f}", f"{two:.1f}", f"{ratio:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    console.print_table(HEADS, [row_of(one, asked.times) for one in asked.recordings])


if __name__ == "__main__":
    main()
