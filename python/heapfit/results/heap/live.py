# SPDX-License-Identifier: Apache-2.0
"""The page of a recording while it is made, served on the loopback interface alone.

It is drawn anew for each request, of all that was recorded until then, by the code of every other
heap map, and asks again by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from typing import Any

from heapfit import _engine
from heapfit.comparison.heap_map import map_of, subject_from_heap
from heapfit.comparison.incumbents.heap import Heap
from heapfit.errors import HeapfitError, os_error_reason
from heapfit.outputs.scratch import scratch_folder
from heapfit.results.document import Document
from heapfit.results.html import render
from heapfit.results.number_text import count, marked, size
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMap
from heapfit.trace.live import LiveHeap
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import TraceInfo, write_trace

_LOOPBACK = "127.0.0.1"
_FIRST_REGION = 1 << 16  # bytes, of a heap whose region is not given
_SOONEST = 2.0  # seconds until a page asks again
_PATIENCE = 10  # times that it took to draw: then drawing takes a tenth of the time at most


def live_map(heap: LiveHeap) -> dict[str, Any] | None:
    """The record of the map of what was recorded so far; None where that is nothing."""
    batches = heap.recording.columns() if heap.recording else iter(())
    first = next(batches, None)
    if first is None:
        return None
    with scratch_folder() as folder:
        trace = write_trace(Path(folder) / "live.parquet", chain((first,), batches), TraceInfo())
        shown = load_trace(trace)
        region = heap.region or _find_region(heap, shown)
        subject = subject_from_heap(
            heap.plan.allocator, Heap(heap.plan.allocator, heap.plan), shown, (region, heap.base)
        )
        return pack_map(map_of(shown, [subject]))


def _find_region(heap: LiveHeap, shown: LoadedTrace) -> int:
    """The first of 64 KiB, 128 KiB and so on that serves all that was recorded."""
    events, region = shown.events_for(heap.plan), _FIRST_REGION
    while not _engine.Replay(
        heap.plan.engine(), region, base_alignment=heap.base, metered=False
    ).feed(events):
        region *= 2
    return region


def live_page(heap: LiveHeap, is_paused: bool = False) -> Document:
    """The page of what was recorded so far."""
    record = live_map(heap)
    sentence = "The recording has begun: nothing was requested yet."
    if record is not None:
        events, region = count(record["events"]), size(record["heaps"][0]["own"]["region"])
        sentence = f"{events} events so far, in {heap.plan.allocator} of {region}."
    place, name = ("/", "Go on") if is_paused else ("/paused", "Pause")
    return Document(
        command="record",
        title="A recording while it is made",
        sentences=(sentence,),
        remarks=(marked('<a href="{}">{}</a>', place, name),),
        sections=[HeapMap(record, link="")] if record else (),
    )


@contextmanager
def serve_live(heap: LiveHeap, port: int) -> Iterator[int]:
    """Serves the page while the body runs; yields the port, which the system chooses for 0."""
    try:
        server = ThreadingHTTPServer((_LOOPBACK, port), _handler_of(heap))
    except OSError as error:
        reason = os_error_reason(error)
        raise HeapfitError(f"--page {port}: {reason} (choose another port)") from error
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


def _handler_of(heap: LiveHeap) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers with the page; other hosts' names, which a foreign page may use, are refused."""

        def do_GET(self) -> None:
            """Draws the page."""
            host = self.headers.get("Host", "").partition(":")[0]
            if host not in (_LOOPBACK, "localhost"):
                self.send_error(403)
            elif self.path not in ("/", "/paused"):
                self.send_error(404)
            else:
                self._answer()

        def _answer(self) -> None:
            is_paused, begun = self.path == "/paused", time.monotonic()
            page = render(live_page(heap, is_paused)).encode()
            wait = max(_SOONEST, _PATIENCE * (time.monotonic() - begun))
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Cache-Control", "no-store")
            if not is_paused:
                self.send_header("Refresh", str(round(wait)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Prints nothing: stderr is the recording's."""

    return Handler
