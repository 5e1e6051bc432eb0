# SPDX-License-Identifier: Apache-2.0
"""`record --watch`: a line a second of what a recording comes to, and its map in a browser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heapfit.cli.printing.lines import note
from heapfit.comparison.incumbents.heaps import TLSF
from heapfit.errors import HeapfitError
from heapfit.importers.followed import Listener
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.results.live import describe_live
from heapfit.trace.live import FollowedRecording, LiveHeap

_INTERVAL = 1.0  # seconds
_NO_PLAN = Plan(TLSF, {"alignment": 8})  # quick, and no plan is needed to know its holes


def watch_on_terminal(plan: PlanFile | None) -> tuple[LiveHeap, Listener]:
    """A heap that follows a recording, and the listener that feeds it and prints its figures."""
    heap = LiveHeap(_NO_PLAN) if plan is None else LiveHeap(plan.plan, plan.region)

    @contextmanager
    def listen(followed: FollowedRecording) -> Iterator[None]:
        end, begun = threading.Event(), time.monotonic()

        def look() -> None:
            heap.look(followed)
            note(f"{time.monotonic() - begun:,.0f} s: {describe_live(heap, followed)}")

        thread = threading.Thread(target=_repeat, args=(look, end))
        try:
            thread.start()
            yield
        finally:
            end.set()  # then it ends before the engine goes, whatever interrupts what follows
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
        note(f"--watch: {error}; the recording goes on")
