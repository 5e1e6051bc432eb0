# SPDX-License-Identifier: Apache-2.0
"""How far the worst that an adversary finds lies above R on the trace, for the recordings here.

    python bench/adversary.py                 20 million events for each plan
    python bench/adversary.py --search 5      a quarter of that

All over U_max: R on the trace, the worst found, what is proven to suffice. This is no test.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.comparison.jobs import ComparisonRequest
from heapfit.design.robust.adversary import AdversaryOptions, Attack, attack_plans
from heapfit.importers import ImportOptions, open_any

EXAMPLES = Path(__file__).parents[1] / "examples"
RECORDINGS = (
    "lwip-echo/lwip-echo.parquet",
    "lua/lua.parquet",
    "sqlite/sqlite.parquet",
    "capture/network.pcap.gz",
)
ALLOCATORS = ("tlsf", "best_fit", "tailored", "budgeted", "class_pools")


COLUMNS = ("recording", "plan", "on the trace", "worst found", "proven at most")


def row(recording: str, attack: Attack, u_max: int) -> tuple[str, ...]:
    worst = attack.worst
    if worst is None:
        broken = "none"
    elif worst.is_refused_in_any or worst.r_safe is None:
        broken = "any region"
    else:
        broken = f"{worst.r_safe / u_max:.3f}"
    proven = "-" if attack.proven is None else f"{attack.proven.size / u_max:.1f}"
    return recording, attack.name, f"{attack.on_trace.over_u_max or 0:.3f}", broken, proven


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--search", type=int, default=20, help="million events for each plan")
    add_option(parser)
    asked = parser.parse_args()
    events = asked.search * 1_000_000
    table = []
    for recording in RECORDINGS:
        with tempfile.TemporaryDirectory() as folder:
            trace = open_any(EXAMPLES / recording, ImportOptions(), Path(folder))
            attacks = attack_plans(
                trace,
                ComparisonRequest(ALLOCATORS),
                AdversaryOptions(Path(folder) / "found", events=events, trace_name=recording),
            )
        least = attacks.least_of_any / attacks.u_max
        print(f"{recording}: U_max {attacks.u_max:,}; any allocator, any number: {least:.3f}")
        name = recording.split("/")[1].split(".")[0]
        rows = [row(name, one, attacks.u_max) for one in attacks.attacks]
        console.print_table(COLUMNS, rows, width=console.WIDE)
        table += rows
    if asked.write:
        write_result("adversary", COLUMNS, table, keys=2)


if __name__ == "__main__":
    main()
