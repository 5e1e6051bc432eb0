# SPDX-License-Identifier: Apache-2.0
"""`heapfit check` on examples/check: false alarms of clean runs, and mistakes that turn it red.

    bench/check.py [--clean 20] [--folder FOLDER]

The heap is planned from four recordings. Then as many clean ones as are asked for, once more with
10 % more load, and one of each mistake are checked against the plan. Exit status 1 if an aim is not
reached.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.checks.check import WARNINGS, Check, CheckFinding, CheckOptions, check_recordings
from heapfit.cli.printing import console
from heapfit.plan.plan_file import load_plan

RUN = Path(__file__).parents[1] / "examples/check/run"
GROWTH = 12.0  # percent, as in `run`
MOST_REPLAYED = 1.1  # times the events of a recording that passes


@dataclass(frozen=True)
class Group:
    """Recordings of one kind, checked together."""

    name: str
    check: Check

    @property
    def red(self) -> int:
        return sum(1 for one in self.check.recordings if is_red(one.findings))

    @property
    def replayed(self) -> float:
        """Events replayed over those of the recordings."""
        events = sum(one.run.trace.events for one in self.check.recordings)
        return self.check.events_replayed / events

    @property
    def needs(self) -> float | None:
        """Of a search, the region over the plan's."""
        found = [one.needed.r_safe or 0 for one in self.check.recordings if one.needed]
        region = self.check.plan.region
        return max(found) / region if found and all(found) and region else None


def is_red(findings: tuple[CheckFinding, ...]) -> bool:
    return not WARNINGS.issuperset(findings)


def groups(folder: Path) -> Iterator[Group]:
    plan = load_plan(folder / "fit/plan.toml")
    options = CheckOptions(tuple(sorted(folder.glob("base-*.parquet"))), GROWTH)
    for name in ("clean", "more", "leak", "keep"):
        recordings = sorted(folder.glob(f"{name}*.parquet"))
        yield Group(name, check_recordings(recordings, plan, options))


def print_groups(found: list[Group]) -> None:
    columns = ("recordings", "number", "red", "replayed / n", "peak over base", "needs / heap")
    console.print_table(
        columns,
        [
            (
                one.name,
                len(one.check.recordings),
                one.red,
                one.replayed,
                f"{max(each.growth or 0 for each in one.check.recordings):+.1f} %",
                one.needs,
            )
            for one in found
        ],
        width=console.WIDE,
    )


def aims(found: list[Group]) -> dict[str, bool]:
    clean, more, leak, keep = found
    number = len(clean.check.recordings) + len(more.check.recordings)
    (kept,) = keep.check.recordings
    return {
        f"false alarms: {clean.red + more.red} of {number}": clean.red + more.red == 0,
        "the leak is red": leak.red == 1,
        "kept messages are red, under no higher peak": keep.red == 1 and (kept.growth or 0) <= 0,
        f"at most {MOST_REPLAYED} n events are replayed where all pass": max(
            clean.replayed, more.replayed
        )
        <= MOST_REPLAYED,
    }


def judged(clean: int, folder: Path) -> bool:
    """Records and plans by the example's own script, and tells the figures."""
    done = subprocess.run([RUN, str(clean), folder], stdout=subprocess.DEVNULL, check=False)
    found = list(groups(folder))
    print_groups(found)
    reached = {"examples/check/run ends with 0": done.returncode == 0, **aims(found)}
    for aim, is_reached in reached.items():
        print(f"{aim}: {'reached' if is_reached else 'not reached'}")
    return all(reached.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clean", type=int, default=20, help="clean runs of either load [20]")
    parser.add_argument("--folder", type=Path, help="to keep recordings and plan in")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapfit-") as temporary:
        sys.exit(0 if judged(told.clean, (told.folder or Path(temporary)).resolve()) else 1)


if __name__ == "__main__":
    main()
