# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call as modelled beside those counted on an emulated Cortex-M4, as heaps ship.

    python bench/costs.py [--write]      some minutes; --write renews bench/results/costs.csv

Whole recordings that no model was fitted to, each in the region that the plan needs for it. Needs
the cross compiler and the emulator of target/README.md. Heaps of systems are counted beside their
own sources, which are not here: docs/costs.md has their table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "target"))

from page_tables import add_option, write_result  # noqa: E402

from harness.board import BOARDS  # noqa: E402
from harness.calls import Calls  # noqa: E402
from harness.codes import SHIPPED_BUILD  # noqa: E402
from harness.image import link_shipped_image, replay_design, replay_image  # noqa: E402
from harness.packed_trace import pack  # noqa: E402
from harness.replay import count_replay, count_shipped  # noqa: E402
from harness.workbench import Workbench  # noqa: E402
from heapfit import _engine  # noqa: E402
from heapfit.comparison.costs.heap_costs import estimate_costs  # noqa: E402
from heapfit.plan.plan import Plan  # noqa: E402
from heapfit.trace.loaded import LoadedTrace, load_trace  # noqa: E402
from heapfit.trace.stored import Trace  # noqa: E402

RECORDINGS = ("gateway-loop32-2", "gateway-tasks32-2", "terms32-2", "mruby-1", "cmark-1")
PLANS = {
    "tailored": Plan("tailored"),
    "good_fit": Plan("good_fit"),
    "first_fit:list=1": Plan("first_fit", {"list": 1}),
    "best_fit": Plan("best_fit"),
    "tlsf": Plan("tlsf"),
}
COLUMNS = ("recording", "plan", "counted", "of it glue", "modelled", "longest", "longest, modelled")
OPERATIONS = ("alloc", "free", "resize", "alloc_aligned")
COPY = 4  # instructions a byte that a resize copies: they are the program's, not the heap's
BASE = 16


def average_pairs(calls: Calls) -> float:
    """Instructions of malloc and free alone, in the mean."""
    return float(calls.of("alloc", "free")["instructions"].mean())


def measure(workbench: Workbench, plan: Plan, loaded: LoadedTrace) -> tuple[float, ...]:
    """Mean call: counted, glue and counts alone, modelled; longest call: counted, modelled."""
    region = _engine.Trial(plan.engine(), loaded.events, BASE).scan().r_safe
    assert region is not None
    design = replay_design(plan, region, BASE, counts=True)
    image = link_shipped_image(workbench, BOARDS["cortex-m4"], SHIPPED_BUILD, design)
    packed = pack(loaded.trace)
    shipped = count_shipped(image, packed, workbench.plugin)
    calls = shipped.of(*OPERATIONS)
    counted = calls["instructions"].astype(int) - COPY * calls["payload"].astype(int)
    core = replay_image(workbench, BOARDS["cortex-m4"], SHIPPED_BUILD, design)
    alone = count_replay(core, plan.allocator, packed, workbench.plugin)[1]
    costs = estimate_costs(plan, loaded, region)
    assert costs.mean is not None and costs.longest is not None
    glue = average_pairs(shipped) - average_pairs(alone)
    return counted.mean(), glue, costs.mean, counted.max(), costs.longest


def rows(folder: Path) -> Iterator[list[object]]:
    """A line for each recording of the folder and plan."""
    for name in RECORDINGS:
        loaded = load_trace(Trace.open(folder / f"{name}.parquet"))
        for label, plan in PLANS.items():
            with tempfile.TemporaryDirectory() as scratch:
                figures = measure(Workbench(Path(scratch)), plan, loaded)
            counted, glue, modelled, longest, longest_modelled = figures
            print(f"{name:18} {label:26} {counted:7.1f} {glue:5.1f} {modelled:7.1f}", flush=True)
            yield [
                name,
                label,
                f"{counted:.1f}",
                f"{glue:.1f}",
                f"{modelled:.1f}",
                longest,
                round(longest_modelled),
            ]


def main() -> None:
    """Counts all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help=f"of {', '.join(RECORDINGS)}")
    add_option(parser)
    wish = parser.parse_args()
    found = list(rows(wish.folder))
    if wish.write:
        write_result("costs", COLUMNS, found, keys=2)


if __name__ == "__main__":
    main()
