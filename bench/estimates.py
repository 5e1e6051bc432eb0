# SPDX-License-Identifier: Apache-2.0
"""What a command's bar says is left, at a tenth, a quarter and a half of its work, over what is.

    .venv/bin/python bench/estimates.py [--command fit] RECORDING...

Work is CPU time of the command and of all that it started, by one worker. 1.0 is a true estimate.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from heapfit.cli.main import run
from heapfit.cli.printing import console, progress
from heapfit.trace.names import source_name

PARTS = (0.1, 0.25, 0.5)


def spent() -> float:
    """Seconds of CPU."""
    return sum(os.times()[:4])


def told_by(command: str, recording: Path) -> list[tuple[float, float]]:
    """Seconds since the command began, with the share that its bar showed; the last is its end."""
    told: list[tuple[float, float]] = []
    begin = spent()

    @contextmanager
    def bar(**_: object) -> Iterator[Callable[[str, float], None]]:
        yield lambda _, share: told.append((spent() - begin, share))

    progress._bar = bar  # type: ignore[assignment]
    with (
        tempfile.TemporaryDirectory(prefix="heapfit-") as folder,
        Path(os.devnull).open("w") as nothing,
    ):
        words = [command, str(recording), "--workers", "1", "-o", f"{folder}/out"]
        sys.argv = ["heapfit", *words]
        with redirect_stdout(nothing):
            try:
                run()
            except SystemExit as ended:
                assert ended.code in (0, None), f"heapfit {' '.join(words)}"
    return [*told, (spent() - begin, 1.0)]


def row_of(command: str, recording: Path) -> list[str]:
    """One estimate a part; "-" where nothing is shown yet."""
    told = told_by(command, recording)
    whole = told[-1][0]
    cells = []
    for part in PARTS:
        seconds, share = next(one for one in told if one[0] >= part * whole)
        is_shown = share >= progress._LEAST_KNOWN
        cells.append(f"{seconds / share / whole:.2f}" if is_shown else "-")
    return [f"{command} {source_name(recording)}", f"{whole:.1f}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--command", default="fit", choices=("fit", "front"))
    asked = parser.parse_args()
    heads = ("command", "CPU s", *(f"at {part:.0%}" for part in PARTS))
    console.out_table(heads, [row_of(asked.command, one) for one in asked.recordings])


if __name__ == "__main__":
    main()
