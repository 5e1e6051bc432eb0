# SPDX-License-Identifier: Apache-2.0
"""Memory of commands does not grow with a recording that comes through a pipe (bench/scale.py).

HEAPFIT_SCALE_EVENTS asks for a longer one, of which fit is measured, too: `make test-long` has
10^8 events.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "scale.py"
EVENTS = int(float(os.environ.get("HEAPFIT_SCALE_EVENTS", "4.5e6")))
SHORT = 2_500_000  # more than two row groups: that many are held whole
COMMANDS = "profile,fit" if "HEAPFIT_SCALE_EVENTS" in os.environ else "profile"


@cache
def resident(events: int, commands: str) -> dict[str, int]:
    """The most bytes resident in each command's process. In a process of its own.

    A child begins with its parent's most, and that of a test run is large.
    """
    command = [sys.executable, BENCH, "--events", str(events), "--commands", commands]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t") for line in printed.splitlines() if line.count("\t") == 4]
    return {name: int(size.replace(",", "")) for name, size, *_ in lines}


def test_import_and_profile_hold_no_events():
    short, long = resident(SHORT, "profile"), resident(EVENTS, COMMANDS)
    for name in ("import", "profile"):
        growth = (long[name] - short[name]) / (EVENTS - SHORT)
        assert growth < 8, f"{name}: {growth:.1f} B an event more, as if columns were kept"


def test_every_command_stays_below_a_gibibyte():
    long = resident(EVENTS, COMMANDS)
    assert max(long.values()) < 1 << 30, long
