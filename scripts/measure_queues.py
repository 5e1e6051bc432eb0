# SPDX-License-Identifier: Apache-2.0
"""Counts instructions on the papers' queues of packets, on an emulated Cortex-M4.

Writes papers/heapfit_papers/packets/instructions.csv, of which row 001-11 of `heapfit reproduce` is
told. Placements must equal the host's. Takes some two minutes.
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.board import BOARDS
from harness.cases import cases_of
from harness.image import replay_design, replay_image
from harness.packed_trace import pack
from harness.replay import count_replay
from harness.verify import host_replay
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.trace.loaded import load_trace
from heapfit_papers.packets.instructions import MEASURED, CallInstructions, save_instructions
from heapfit_papers.packets.mix import TRACES, queue_sizes, write_queue

HERE = Path(__file__).resolve().parents[1]
M4 = BOARDS["cortex-m4"]


def measure_queue(workbench: Workbench, trace: int) -> Iterator[CallInstructions]:
    """Every allocator on the queue of this seed, in the smallest region that is safe."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_trace(write_queue(Path(folder) / "queue.parquet", queue_sizes(trace)))
        packed = pack(loaded.trace)
        cases = cases_of(loaded, MEASURED)
    for case in cases:
        design = replay_design(case.plan, case.region, case.base_alignment)
        image = replay_image(workbench, M4, Build("O2", 1), design)
        target, calls = count_replay(image, case.plan.allocator, packed, workbench.plugin)
        if target.placement_hash != host_replay(case, packed).result.placement_hash:
            raise HeapfitError(f"{case.name}: placed elsewhere than on the host")
        alloc, free = calls.spread("alloc"), calls.spread("free")
        assert alloc is not None
        assert free is not None
        yield CallInstructions(trace, case.name, alloc.mean, free.mean)


def main() -> None:
    """Measures all queues."""
    with tempfile.TemporaryDirectory() as scratch:
        workbench = Workbench(Path(scratch))
        measured = [
            one for trace in range(1, TRACES + 1) for one in measure_queue(workbench, trace)
        ]
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    save_instructions(HERE / "papers/heapfit_papers/packets", day, measured)


if __name__ == "__main__":
    main()
