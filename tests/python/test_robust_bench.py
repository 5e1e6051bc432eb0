# SPDX-License-Identifier: Apache-2.0
"""bench/robust.py, a small form of it: the plan chosen from some traces holds on others."""

import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench/robust.py"


def ratios(*arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, str(BENCH), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^  (\S.*?) +([0-9.]+)$", done.stdout, re.MULTILINE)
    return {name.partition(":")[0]: float(ratio) for name, ratio in found}


def test_the_chosen_plan_needs_less_on_unseen_traces_than_any_plain_allocator() -> None:
    size = ("--training", "4", "--unseen", "100", "--events", "5000")
    found = ratios("phases_w4", *size)
    assert found["chosen"] <= 1.02
    assert found["chosen"] <= found["greedy (1 trace) over tlsf"]
    assert found["chosen"] < min(found["tlsf"], found["best_fit"])


def test_a_heap_below_the_live_bytes_is_never_told_to_do() -> None:
    found = ratios("phases_x16", "--training", "2", "--unseen", "20", "--events", "1000")
    assert min(found.values()) >= 1
