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

from heapfit.comparison.heap_map import HeapMap, map_live
from heapfit.errors import HeapfitError, os_error_reason
from heapfit.results.document import Document
from heapfit.results.html import render
from heapfit.results.number_text import count, marked, size
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMap as MapPart
from heapfit.trace.live import LiveHeap

_LOOPBACK = "127.0.0.1"
_SOONEST = 2.0  # seconds until a page asks again
_PATIENCE = 10  # times that it took to draw: then drawing takes a tenth of the time at most


def live_page(heap_map: HeapMap | None, allocator: str, is_paused: bool = False) -> Document:
    """The page of what was recorded so far, in the heap of an allocator; None: nothing was."""
    sentence, sections = "The recording has begun: nothing was requested yet.", []
    if heap_map is not None:
        region = size(heap_map.heaps[0].own.region)
        sentence = f"{count(heap_map.events)} events so far, in {allocator} of {region}."
        sections = [MapPart(pack_map(heap_map), link="")]
    place, name = ("/", "Go on") if is_paused else ("/paused", "Pause")
    return Document(
        command="record",
        title="A recording while it is made",
        sentences=(sentence,),
        remarks=(marked('<a href="{}">{}</a>', place, name),),
        sections=sections,
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
            page = render(live_page(map_live(heap), heap.plan.allocator, is_paused)).encode()
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
