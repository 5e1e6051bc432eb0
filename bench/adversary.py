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

from heapfit.comparison.jobs import Contestants
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


def shown(attack: Attack, u_max: int) -> str:
    on_trace = attack.on_trace.over_u_max or 0
    worst = attack.worst
    if worst is None:
        broken = "-"
    elif worst.is_refused_in_any or worst.r_safe is None:
        broken = "any"
    else:
        broken = f"{worst.r_safe / u_max:.3f}"
    proven = "-" if attack.proven is None else f"{attack.proven.size / u_max:.3f}"
    return f"{attack.name:22} {on_trace:10.3f} {broken:>12} {proven:>12}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--search", type=int, default=20, help="million events for each plan")
    events = parser.parse_args().search * 1_000_000
    for recording in RECORDINGS:
        with tempfile.TemporaryDirectory() as folder:
            trace = open_any(EXAMPLES / recording, ImportOptions(), Path(folder))
            attacks = attack_plans(
                trace,
                Contestants(ALLOCATORS),
                AdversaryOptions(Path(folder) / "found", events=events, trace_name=recording),
            )
        least = attacks.least_of_any / attacks.u_max
        print(f"{recording}: U_max {attacks.u_max:,}; any allocator, any number: {least:.3f}")
        print(f"{'over U_max':22} {'on trace':>10} {'worst found':>12} {'proven':>12}")
        for attack in attacks.attacks:
            print(shown(attack, attacks.u_max), flush=True)


if __name__ == "__main__":
    main()
