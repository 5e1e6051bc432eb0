# SPDX-License-Identifier: Apache-2.0
"""bench/memory.py on our own generators: what its table says, and the aims no chance decides."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench/memory.py"


def bench(only: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "HEAPFIT_CORPUS"}
    return subprocess.run(
        [sys.executable, BENCH, "--only", only],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=300,
    )


@pytest.mark.parametrize("allocator", ["budgeted", "static_pools"])
def test_plans_made_for_table_2_need_what_is_aimed_at(allocator: str) -> None:
    table, _, _ = bench(f"{allocator} t2_").stdout.partition("\n\n")
    rows = [line for line in table.splitlines() if line.startswith(allocator)]
    assert len(rows) == 5
    assert all(row.endswith("  reached") and "not reached" not in row for row in rows), table


def test_the_bench_tells_its_traces_and_how_many_aims_are_reached() -> None:
    done = bench("tlsf t2_w2")
    assert done.stdout.startswith("traces: own generators, seed 1\n")
    assert "tlsf_espressif" in done.stdout
    assert "1.155 + 1" in done.stdout
    assert re.search(r"\n\d+ of 5 reached\n$", done.stdout)
    assert done.stderr.startswith("t2_w2\n")
