# SPDX-License-Identifier: Apache-2.0
"""`record --watch`: a line a second of what a recording comes to, and its map in a browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heapfit.cli.printing import console
from heapfit.comparison.incumbents.heaps import TLSF
from heapfit.errors import HeapfitError
from heapfit.importers.followed import Listener
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.live import FollowedRecording, LiveFigures, LiveHeap

_INTERVAL = 1.0  # seconds
_NO_PLAN = Plan(TLSF, {"alignment": 8})  # quick, and no plan is needed to know its holes


def watch_on_terminal(plan: PlanFile | None) -> tuple[LiveHeap, Listener]:
    """A heap that follows a recording, and the listener that feeds it and prints its figures."""
    heap = LiveHeap(_NO_PLAN) if plan is None else LiveHeap(plan.plan, plan.region)

    @contextmanager
    def listen(followed: FollowedRecording) -> Iterator[None]:
        end, begun = threading.Event(), time.monotonic()

        def look() -> None:
            figures = heap.look(followed)
            console.note(_describe(round(time.monotonic() - begun), figures))

        thread = threading.Thread(target=_repeat, args=(look, end), daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            followed.close()

    return heap, listen


def _repeat(look: Callable[[], None], end: threading.Event) -> None:
    """Looks each second, and once more at the end; a damaged recording ends it."""
    try:
        while not end.wait(_INTERVAL):
            look()
        look()
    except HeapfitError as error:
        console.note(f"--watch: {error}; the recording goes on")


def _describe(seconds: int, now: LiveFigures) -> str:
    """The figures as a line.

    >>> from heapfit.trace.live import LiveTotals
    >>> _describe(3, LiveFigures(LiveTotals(9, 5000, 4, 6000), 70, 65536, 6000, True, 0))
    '3 s: 5,000 B in 4 blocks, +70 B; largest hole 6,000 in a footprint of 65,536 B; lost 0'
    """
    within = "in a footprint of" if now.is_unbounded else "of"
    hole = (
        "out of memory in"
        if now.largest_hole is None
        else f"largest hole {now.largest_hole:,} {within}"
    )
    return (
        f"{seconds:,} s: {now.live.size:,} B in {now.live.count:,} blocks, {now.growth:+,} B; "
        f"{hole} {now.room:,} B; lost {now.lost:,}"
    )
