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

from heapfit.bounds.adversary import Attack, attack_plan
from heapfit.bounds.worst_cases import Limits, least_of_any
from heapfit.cli.printing import console
from heapfit.comparison.comparison import compare
from heapfit.comparison.row import Row
from heapfit.design.portfolio import build_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

EXAMPLES = Path(__file__).parents[1] / "examples"
RECORDINGS = (
    "lwip-echo/lwip-echo.parquet",
    "lua/lua.parquet",
    "sqlite/sqlite.parquet",
    "capture/network.pcap.gz",
)
ALLOCATORS = ("tlsf", "best_fit", "tailored", "budgeted", "class_pools")


COLUMNS = ("recording", "plan", "on the trace", "worst found", "proven at most")


def row(recording: str, on_trace: Row, attack: Attack, u_max: int) -> tuple[str, ...]:
    found = "none" if attack.broken is None else f"{attack.broken / u_max:.3f}"
    broken = "any region" if attack.breaks_any else found
    proven = "-" if attack.proven is None else f"{attack.proven.size / u_max:.1f}"
    return recording, on_trace.name, f"{on_trace.over_u_max or 0:.3f}", broken, proven


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--search", type=int, default=20, help="million events for each plan")
    add_option(parser)
    asked = parser.parse_args()
    events = asked.search * 1_000_000
    table = []
    for recording in RECORDINGS:
        name = recording.split("/")[1].split(".")[0]
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            loaded = load_trace(open_any(EXAMPLES / recording, ImportOptions(), Path(folder)))
            limits = Limits.of_trace(loaded)
            least = least_of_any(limits) / limits.live
            print(f"{recording}: U_max {limits.live:,}; any allocator, any number: {least:.3f}")
            for one in compare(loaded, build_portfolio(loaded, ALLOCATORS, [])).rows:
                base = loaded.trace.base_alignment_for(one.plan.alignment)
                attack = attack_plan(
                    one.plan, limits, region=one.r_safe, events=events, base_alignment=base
                )
                rows.append(row(name, one, attack, limits.live))
        console.print_table(COLUMNS, rows, width=console.WIDE)
        table += rows
    if asked.write:
        write_result("adversary", COLUMNS, table, keys=2)


if __name__ == "__main__":
    main()
